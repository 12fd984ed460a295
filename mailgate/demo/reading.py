"""Reads a client's commands off a stream: lines, literals, and the bounds on both (RFC 3501, 4.3; RFC 7888)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

from mailgate.demo.grammar import CommandText

MAX_LINE = 512 * 1024
"""Octets of a command's text, literals apart: a set of every other UID of a large folder fits."""
MAX_LITERALS = 8 * 1024 * 1024
"""Octets of all literals of one command."""

_ANNOUNCEMENT = re.compile(rb"\{(\d{1,10})(\+?)\}$")


class StreamLost(Exception):
    """The stream cannot be followed any more; the session says why in a BYE and ends."""


class LiteralRefused(Exception):
    """A synchronising literal is too large: no continuation is given, so the client drops the command (RFC 3501, 7.5).

    `line` is the command's text so far.
    """

    def __init__(self, line: bytes) -> None:
        super().__init__("literal too large")
        self.line = line


class CommandReader:
    """Turns a stream into commands. `proceed` sends the continuation that a synchronising literal waits for."""

    def __init__(
        self, stream: asyncio.StreamReader, proceed: Callable[[], Awaitable[None]], *, literal_plus: bool
    ) -> None:
        self._stream = stream
        self._proceed = proceed
        self._literal_plus = literal_plus

    async def line(self) -> bytes | None:
        """One line without its CRLF; `None` at the end of the stream. Only CRLF ends a line (RFC 3501, 2.2)."""
        try:
            return (await self._stream.readuntil(b"\r\n"))[:-2]
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError:
            raise StreamLost("line too long") from None

    async def command(self) -> CommandText | None:
        """The next command with its literals; `None` at the end of the stream.

        Raises `LiteralRefused` (the session goes on) and `StreamLost` (it cannot).
        """
        text, held = b"", 0
        literals: dict[int, bytes] = {}
        while True:
            line = await self.line()
            if line is None:
                return None
            text += line
            announced = _ANNOUNCEMENT.search(line)
            if announced is None:
                return CommandText(text, literals)
            size, at_once = int(announced.group(1)), bool(announced.group(2))
            held += size
            await self._admit(text, held, at_once=at_once)
            offset = len(text) - len(announced.group())
            try:
                literals[offset] = await self._stream.readexactly(size)
            except asyncio.IncompleteReadError:
                return None

    async def _admit(self, text: bytes, held: int, *, at_once: bool) -> None:
        """Lets a literal come, or refuses it. One that comes unasked and is unwanted leaves no way to follow."""
        if len(text) > MAX_LINE:
            raise StreamLost("command too long")
        if at_once and not self._literal_plus:
            raise StreamLost("non-synchronising literals are not supported")
        if held > MAX_LITERALS:
            if at_once:
                raise StreamLost("literal too large")
            raise LiteralRefused(text)
        if not at_once:
            await self._proceed()
