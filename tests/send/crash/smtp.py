"""The SMTP server of the crash rows: it can stop at any stage, answer anything, and counts final dots.

What a row sets is for the first connection only. A later one is served as a good server would, so that a second
message, should there ever be one, arrives and is counted.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Self

REACH_SECONDS = 60.0
LIMIT = 65_536


class Stage(StrEnum):
    """Where the server can stop: it has received this and has not answered."""

    CONNECT = "the connection"
    TLS = "the first octet of a TLS handshake"
    HELLO = "EHLO"
    AUTH = "AUTH"
    MAIL = "MAIL"
    RCPT = "RCPT"
    DATA = "DATA"
    BODY = "a part of the message"
    DOT = "the final dot"
    QUIT = "QUIT"


class Then(StrEnum):
    """What the server does after its words."""

    GO_ON = "go on"
    CLOSE = "close"
    SILENCE = "say nothing more"


@dataclass(frozen=True)
class Say:
    """Octets in place of the usual reply, and what comes after them."""

    words: bytes = b""
    then: Then = Then.GO_ON


SILENCE = Say(then=Then.SILENCE)
CLOSE = Say(then=Then.CLOSE)
_USUAL = {
    Stage.CONNECT: b"220 mx.example.org ESMTP\r\n",
    Stage.HELLO: b"250-mx.example.org\r\n250-SIZE 104857600\r\n250 AUTH PLAIN\r\n",
    Stage.AUTH: b"235 2.7.0 welcome\r\n",
    Stage.MAIL: b"250 2.1.0 ok\r\n",
    Stage.RCPT: b"250 2.1.5 ok\r\n",
    Stage.DATA: b"354 go ahead\r\n",
    Stage.DOT: b"250 2.0.0 taken\r\n",
    Stage.QUIT: b"221 bye\r\n",
}
_OF_VERB = {
    b"EHLO": Stage.HELLO,
    b"AUTH": Stage.AUTH,
    b"MAIL": Stage.MAIL,
    b"RCPT": Stage.RCPT,
    b"DATA": Stage.DATA,
    b"QUIT": Stage.QUIT,
}


class _Over(Exception):
    """This connection is over."""


@dataclass
class CountingSmtp:
    """`async with`. `dots`: final dots that arrived, on all connections. `stages`: what arrived, in order.

    `answers`: for the first connection. `refuses`: recipients that are answered with 550, on the first connection.
    """

    answers: Mapping[Stage, Say] = field(default_factory=dict)
    refuses: frozenset[str] = frozenset()
    hold: Stage | None = None
    window: int = 0
    """About how many octets the system takes before the server reads them; 0 leaves it to the system."""
    dots: int = 0
    connections: int = 0
    stages: list[Stage] = field(default_factory=list)
    port: int = 0

    async def __aenter__(self) -> Self:
        self._reached, self._released, self._over = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        listening = socket.socket()
        if self.window:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.window)
            # The sender's buffer grows with the size of the segments, which on loopback are large, and with how many
            # have been taken from it.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        listening.bind(("127.0.0.1", 0))
        self._server = await asyncio.start_server(self._serve, sock=listening, limit=self.window or LIMIT)
        self.port = listening.getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def reached(self) -> None:
        """Wait until the server stands where `hold` says."""
        async with asyncio.timeout(REACH_SECONDS):
            await self._reached.wait()

    def release(self) -> None:
        """Let the held connection go on."""
        self._released.set()

    async def counted(self) -> int:
        """Final dots, once everything has been read that was ever sent. For when nobody is left to send."""
        self._released.set()
        self._over.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=REACH_SECONDS)
        return self.dots

    # --- a connection ------------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        first = self.connections == 1
        try:
            await self._talk(reader, writer, first)
        except (_Over, ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # one side is gone, or the row is over
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bool) -> None:
        if first and self.hold is Stage.TLS:
            await reader.readexactly(1)
            await self._answer(Stage.TLS, reader, writer, first)
        await self._answer(Stage.CONNECT, reader, writer, first)
        while line := await reader.readline():
            stage = _OF_VERB.get(line[:4].upper())
            if stage is None:
                writer.write(b"250 ok\r\n")
                continue
            refused = first and stage is Stage.RCPT and any(name.encode() in line for name in self.refuses)
            if refused:
                writer.write(b"550 5.1.1 nobody here\r\n")
                continue
            await self._answer(stage, reader, writer, first)
            if stage is Stage.DATA and not (first and Stage.DATA in self.answers):
                await self._take(reader, writer, first)
            if stage is Stage.QUIT:
                return

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bool) -> None:
        begun, data = False, b"\r\n"
        while not data.endswith(b"\r\n.\r\n"):
            chunk = await reader.read(65_536)
            if not chunk:
                raise _Over
            data = (data + chunk)[-8:]
            if not begun and first and (self.hold is Stage.BODY or Stage.BODY in self.answers):
                await self._answer(Stage.BODY, reader, writer, first)
            begun = True
        self.dots += 1
        await self._answer(Stage.DOT, reader, writer, first)

    async def _answer(
        self, stage: Stage, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bool
    ) -> None:
        self.stages.append(stage)
        if first and self.hold is stage:
            self._reached.set()
            await self._released.wait()
        said = self.answers.get(stage) if first else None
        writer.write(_USUAL.get(stage, b"") if said is None else said.words)
        with suppress(ConnectionError):
            await writer.drain()
        if said is not None and said.then is Then.CLOSE:
            writer.close()
            await self._rest(reader)
        if said is not None and said.then is Then.SILENCE:
            await self._over.wait()
            if stage is not Stage.BODY:
                await self._rest(reader)

    async def _rest(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            await reader.read(-1)
        raise _Over
