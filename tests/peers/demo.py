"""The embedded demo mailbox as a peer: in a thread of its own, so that a blocking second client can talk to it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mailgate.demo.server import DemoServer
from mailgate.demo.store import DemoMailbox
from tests.peers.dovecot_config import SPECIAL_FOLDERS
from tests.peers.imap_user import ImapUser
from tests.peers.rawlog import SentCommand, parse_raw_log

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DemoUser(ImapUser):
    """One demo mailbox with the same special folders as the Dovecot peer."""

    peer: DemoPeer
    mailbox: DemoMailbox
    sent: list[bytes] = field(repr=False)

    def commands(self) -> list[SentCommand]:
        """Every command in order of arrival, those before the login too."""
        return [command for raw in list(self.sent) for command in parse_raw_log(raw)]

    def renew_uid_validity(self, folder: str, value: int) -> None:
        """The demo mailbox chooses the new value itself."""
        self.peer.run(_call(self.mailbox.renew_uid_validity, folder))


async def _call(function: Any, *arguments: Any) -> Any:
    return function(*arguments)


class DemoPeer:
    """An event loop in a thread with as many demo servers as there are users."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="demo-peer", daemon=True)
        self._thread.start()
        self._servers: list[DemoServer] = []

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine where the servers live, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    def new_user(self, *, without: frozenset[str] = frozenset()) -> DemoUser:
        """A mailbox of its own, on a port of its own; `without` names extensions it lacks."""
        mailbox = DemoMailbox()
        for name, role in SPECIAL_FOLDERS.items():
            mailbox.create(name, role)
        sent: list[bytes] = []
        name, password = f"demo{len(self._servers)}@example.org", "secret"
        server = DemoServer(mailbox, username=name, password=password, without=without, on_command=sent.append)
        _, port = self.run(server.start())
        self._servers.append(server)
        return DemoUser(name, password, port, self, mailbox, sent)

    def stop(self) -> None:
        """End every server and the thread."""
        for server in self._servers:
            self.run(server.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()
