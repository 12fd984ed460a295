"""Another client that acts at exactly the wrong moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.peers.imap_edit import ImapEdit


@dataclass(frozen=True, slots=True)
class Meanwhile(ImapEdit):
    """For the fault proxy: runs `act` once, when `command` comes by on its way up and before the server has it."""

    command: bytes = b""
    act: Callable[[], object] = lambda: None
    acted: list[bool] = field(default_factory=list)

    def upward(self, data: bytes) -> bytes:
        """What the client sends, unchanged."""
        if not self.acted and self.command in data:
            self.acted.append(True)
            self.act()
        return data
