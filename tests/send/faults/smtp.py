"""An SMTP server on loopback that counts: connections, DATA, final dots. It does what the test says at two moments."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

from tests.peers.scripted_smtp import unstuffed

Moment = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Taken:
    """A message that arrived whole."""

    recipients: tuple[str, ...]
    data: bytes


@dataclass
class CountingSmtp:
    """`async with CountingSmtp() as smtp:`; `ending` answers the dot, and None drops the connection there.

    `at_mail` runs before MAIL is answered, `at_dot` before the dot is. `commands`: every command line of everybody.
    """

    ending: str | None = "250 2.0.0 taken"
    refuses: tuple[str, ...] = ()
    password_is_wrong: bool = False
    at_mail: Moment | None = None
    at_dot: Moment | None = None
    connections: int = 0
    commands: list[str] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    octets: bytearray = field(default_factory=bytearray)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def __aenter__(self) -> CountingSmtp:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=2**24)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def dots(self) -> int:
        """Messages that arrived whole, whatever was answered."""
        return len(self.taken)

    def said(self, verb: str) -> int:
        """How often this command came."""
        return sum(line.upper().split(" ")[0] == verb for line in self.commands)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            await self._session(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client is gone, or the test is over
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _session(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        recipients: list[str] = []
        writer.write(b"220 mx.example.org ESMTP\r\n")
        while True:
            raw = await reader.readuntil(b"\r\n")
            self.octets += raw
            line = raw[:-2].decode("latin-1")
            self.commands.append(line)
            verb = line.upper().split(" ")[0]
            if verb == "DATA":
                writer.write(b"354 go ahead\r\n")
                if not await self._message(reader, writer, tuple(recipients)):
                    return
                recipients.clear()
            else:
                writer.write((await self._reply(verb, line, recipients)).encode() + b"\r\n")
            await writer.drain()
            if verb == "QUIT":
                return

    async def _reply(self, verb: str, line: str, recipients: list[str]) -> str:
        if verb == "EHLO":
            return "250-mx.example.org\r\n250 AUTH PLAIN"
        if verb == "AUTH":
            return "535 5.7.8 no" if self.password_is_wrong else "235 2.7.0 welcome"
        if verb == "MAIL":
            recipients.clear()
            if self.at_mail:
                await self.at_mail()
        if verb == "RCPT":
            address = line.partition("<")[2].rstrip(">")
            if address in self.refuses:
                return "550 5.1.1 nobody here"
            recipients.append(address)
        return "221 bye" if verb == "QUIT" else "250 ok"

    async def _message(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, recipients: tuple[str, ...]
    ) -> bool:
        data = await reader.readuntil(b"\r\n.\r\n")
        self.octets += data
        self.taken.append(Taken(recipients, unstuffed(data.removesuffix(b".\r\n"))))
        if self.at_dot:
            await self.at_dot()
        if self.ending is None:
            return False
        writer.write(self.ending.encode() + b"\r\n")
        return True
