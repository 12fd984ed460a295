"""One command under way, what it was answered, and those that were sent behind it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mailgate.errors import UpstreamProtocolError
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


@dataclass(frozen=True, slots=True)
class Request:
    """A command that is to be sent, and what is wanted of its answer.

    `keep_literal`: octets kept of each literal. `enough`: how many untagged responses to wait for at most. `heard` is
    told the answer to a command that goes along with another one's. `seconds`: its own deadline, where it has one.
    """

    command: Command
    keep_literal: int | None = None
    enough: int | None = None
    heard: Callable[[CommandResult], None] | None = None
    seconds: float | None = None


class Exchange:
    """One command under way. Futures give None when the connection failed."""

    def __init__(self, tag: str, request: Request, loop: asyncio.AbstractEventLoop) -> None:
        self.tag = tag
        self.request = request
        self.command = request.command
        self.pieces = request.command.pieces(tag)
        self.untagged: list[Response] = []
        self.tagged: asyncio.Future[Tagged | None] = loop.create_future()
        self.complete = len(self.pieces) == 1
        """Every octet has been handed to the transport: from here on the server may have done it."""
        self.go_ahead: asyncio.Future[bool] | None = None if self.complete else loop.create_future()
        self.cut = False

    def add(self, response: Response) -> None:
        """Keep an untagged response; at `enough` of them the command ends as if the server had said OK."""
        if self.cut:
            return
        self.untagged.append(response)
        if len(self.untagged) == self.request.enough:
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

    async def converse(self, write: Callable[[bytes], None]) -> Tagged | None:
        """Write what the server waits for, once the first piece has left, and wait for the end of the command."""
        for number, piece in enumerate(self.pieces[1:], start=2):
            if not await self._may_continue():
                break
            self.complete = number == len(self.pieces)
            self.go_ahead = None if self.complete else asyncio.get_running_loop().create_future()
            write(piece)
        tagged = await self.tagged
        if tagged is not None and tagged.status is Status.OK and not self.complete:
            raise UpstreamProtocolError("The mail server accepted a command before it was sent whole.")
        return tagged

    async def _may_continue(self) -> bool:
        """Wait for `+`. False when the server ended the command instead, which is its right (RFC 9051, 4.3)."""
        assert self.go_ahead is not None
        go = await self.go_ahead
        if go and self.tagged.done():
            # It asked for octets and ended the command in one breath: they would be read as a command of their own.
            raise UpstreamProtocolError()
        return go


def parts_of(flight: Sequence[Exchange]) -> Iterator[Sequence[Exchange]]:
    """What can leave together: behind a literal nothing can, until the server has asked for it."""
    begin = 0
    for end, exchange in enumerate(flight, start=1):
        if not exchange.complete or end == len(flight):
            yield flight[begin:end]
            begin = end


class Line:
    """What is under way on one connection, in the order sent. `expect` is told whose answer comes next."""

    def __init__(self, expect: Callable[[Exchange], None]) -> None:
        self._expect = expect
        self._following: deque[Exchange] = deque()
        self.current: Exchange | None = None

    def begin(self, flight: Iterable[Exchange]) -> None:
        """Expect the answers to these, after the one to what is still under way."""
        self._following.extend(flight)
        if self.current is None or self.current.tagged.done():
            self.advance()

    def advance(self) -> None:
        """The current command is over; the next one's answer begins."""
        if self._following:
            self.current = self._following.popleft()
            self._expect(self.current)

    def has_later(self, tag: str) -> bool:
        """Whether the tag is that of a command whose turn has not come."""
        return any(each.tag == tag for each in self._following)

    def break_off(self) -> None:
        """Nothing more will be answered."""
        for exchange in (self.current, *self._following):
            if exchange is not None:
                exchange.end(None)

    def finish(self) -> None:
        """Nothing is under way any more."""
        self.current = None
        self._following.clear()
