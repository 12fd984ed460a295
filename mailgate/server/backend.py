"""What a handler is given: the deployment, and this one call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mailgate.errors import NotConfigured
from mailgate.write.change import Change

if TYPE_CHECKING:
    from mailgate.policy import Principal
    from mailgate.read.cursor import CursorCodec
    from mailgate.send.desk import SendDesk
    from mailgate.server.catalog import Tool
    from mailgate.settings import Settings
    from mailgate.write.ports import Mailbox


@dataclass(frozen=True, slots=True)
class Backend:
    """What stays the same for every call. `connected` is None without mail settings, `desk` where nothing is sent."""

    settings: Settings
    connected: Connected | None = None
    desk: SendDesk | None = None


class Connected:
    """A configured mailbox and the codec for cursors into it. Both are made when a call first needs them."""

    def __init__(self, mailbox: Callable[[], Mailbox], cursors: Callable[[str], CursorCodec]) -> None:
        self._make_mailbox, self._make_cursors = mailbox, cursors

    @cached_property
    def mailbox(self) -> Mailbox:
        """The mailbox; it connects when it is asked something."""
        return self._make_mailbox()

    @cached_property
    def cursors(self) -> CursorCodec:
        """The codec for this mailbox."""
        return self._make_cursors(self.mailbox.identity)

    @property
    def used(self) -> Mailbox | None:
        """The mailbox, if there is one yet."""
        made: Mailbox | None = self.__dict__.get("mailbox")
        return made


def _fits(_value: Any) -> None:
    return


@dataclass(frozen=True, slots=True)
class Call:
    """One call: who calls, the table it was looked up in, and what it has set in motion so far.

    `require_fit` raises `LimitExceeded` for a value that could not be answered whole: for a handler that must know
    before it changes anything.
    """

    backend: Backend
    principal: Principal
    tools: tuple[Tool, ...]
    change: Change = field(default_factory=Change)
    require_fit: Callable[[Any], object] = _fits

    @property
    def settings(self) -> Settings:
        """The deployment's settings."""
        return self.backend.settings

    @property
    def connected(self) -> Connected:
        """The mailbox; `NotConfigured` without one, which the dispatcher has asked before."""
        if self.backend.connected is None:
            raise NotConfigured(self.settings.missing)
        return self.backend.connected

    @property
    def desk(self) -> SendDesk:
        """Where messages are prepared and sent; `NotConfigured` without one."""
        if self.backend.desk is None:
            raise NotConfigured((), "Nothing can be sent: this deployment has no store for prepared messages.")
        return self.backend.desk


@dataclass(frozen=True, slots=True)
class Cut:
    """How a handler's value is made smaller: `length` of what can go, and the value with at most that much of it."""

    length: Callable[[Any], int]
    to: Callable[[Any, int], Any]
