"""One command in flight, and what it was answered."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TypeVar

from mailgate.imap.commands import Command
from mailgate.imap.responses import Condition, Response, ResponseCode, Status, Tagged

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What one command was answered: the tagged response, and the untagged ones that came while it was in flight.

    An untagged response is not an answer by itself: it counts only if it names what was asked (a UID, a folder).
    """

    tagged: Tagged
    untagged: tuple[Response, ...]
    cut: bool = False
    """There was more than was wanted: the rest was not waited for, and the connection is gone."""

    @property
    def ok(self) -> bool:
        """Whether the server did what was asked."""
        return self.tagged.status is Status.OK

    @property
    def codes(self) -> tuple[ResponseCode, ...]:
        """The response codes of the untagged OK responses and of the tagged response, in order."""
        conditions = [row.code for row in self.of(Condition) if row.status is Status.OK]
        return tuple(code for code in (*conditions, self.tagged.code) if code is not None)

    def of(self, kind: type[_T]) -> list[_T]:
        """The untagged responses of one kind, in order."""
        return [response for response in self.untagged if isinstance(response, kind)]


class Exchange:
    """One command in flight. Futures give None when the connection failed."""

    def __init__(self, tag: str, command: Command, enough: int | None, loop: asyncio.AbstractEventLoop) -> None:
        self.tag = tag
        self.command = command
        self.enough = enough
        self.untagged: list[Response] = []
        self.tagged: asyncio.Future[Tagged | None] = loop.create_future()
        self.go_ahead: asyncio.Future[bool] | None = None
        self.complete = False
        """Every octet has been handed to the transport: from here on the server may have done it."""
        self.cut = False

    def add(self, response: Response) -> None:
        """Keep an untagged response; at `enough` of them the command ends as if the server had said OK."""
        if self.cut:
            return
        self.untagged.append(response)
        if len(self.untagged) == self.enough:
            self.end(Tagged(self.tag, Status.OK))
            self.cut = True

    def end(self, tagged: Tagged | None) -> None:
        """The command is over: its tagged response, or None when the connection failed."""
        if not self.tagged.done():
            self.tagged.set_result(tagged)
        self.proceed(False)

    def proceed(self, go: bool) -> bool:
        """Settle the wait for `+`; False when nobody waits."""
        if self.go_ahead is None or self.go_ahead.done():
            return False
        self.go_ahead.set_result(go)
        return True
