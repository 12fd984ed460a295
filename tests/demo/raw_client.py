"""An IMAP client that knows nothing but lines and literals, for tests that look at the wire itself."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from mailgate.demo.server import DemoServer
from mailgate.demo.store import DemoMailbox

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
USERNAME, PASSWORD = "robin@example.com", "open sesame"
MESSAGE = (
    b"From: Ann <ann@example.org>\r\nTo: bob@example.net\r\nSubject: Greeting\r\n"
    b"Date: Mon, 29 Jun 2026 10:00:00 +0200\r\nMessage-ID: <one@example.org>\r\n\r\nHello Bob.\r\n"
)


@dataclass(frozen=True)
class Literal:
    """A literal to send: waits for the continuation, or with `plus` does not."""

    octets: bytes
    plus: bool = False


@dataclass(frozen=True)
class Answer:
    """All that came for one command; rows without `* ` and CRLF, literals inside as they came."""

    status: bytes
    text: bytes
    rows: list[bytes]

    @property
    def ok(self) -> bool:
        return self.status == b"OK"

    def rows_of(self, name: bytes) -> list[bytes]:
        """Rows whose name, or whose name after a number, this is."""
        return [row for row in self.rows if re.match(rb"(\d+ )?" + name + rb"\b", row)]

    def code(self, name: bytes) -> bytes | None:
        """The argument of a response code, from whichever row carries it."""
        for text in [*self.rows, b"OK " + self.text]:
            found = re.match(rb"[A-Z]+ \[" + name + rb"(?: ([^\]]*))?\]", text)
            if found:
                return found.group(1) or b""
        return None


class RawClient:
    """One connection. `do` sends a command and reads up to its tagged line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._count = 0

    async def row(self) -> bytes:
        """One response with its literals, without the last CRLF; empty at the end of the stream."""
        octets = b""
        while True:
            line = await asyncio.wait_for(self.reader.readline(), 5)
            octets += line
            announced = re.search(rb"\{(\d+)\}\r\n$", line)
            if announced is None:
                return octets.removesuffix(b"\r\n")
            octets += await asyncio.wait_for(self.reader.readexactly(int(announced.group(1))), 5)

    async def do(self, *pieces: bytes | Literal) -> Answer:
        """Sends tag, pieces and CRLF; a synchronising literal waits for its `+`, and stops where it is refused."""
        self._count += 1
        tag = b"t%d" % self._count
        self.writer.write(tag + b" ")
        rows: list[bytes] = []
        for piece in pieces:
            if isinstance(piece, bytes):
                self.writer.write(piece)
                continue
            self.writer.write(b"{%d%b}\r\n" % (len(piece.octets), b"+" if piece.plus else b""))
            if not piece.plus:
                row = await self.row()
                if not row.startswith(b"+"):
                    return self._tagged(tag, row, rows)
            self.writer.write(piece.octets)
        self.writer.write(b"\r\n")
        while True:
            row = await self.row()
            if not row.startswith(b"* "):
                return self._tagged(tag, row, rows)
            rows.append(row[2:])

    def _tagged(self, tag: bytes, row: bytes, rows: list[bytes]) -> Answer:
        found, _, rest = row.partition(b" ")
        status, _, text = rest.partition(b" ")
        assert found == tag or not row, row
        return Answer(status, text, rows)

    async def login(self, folder: bytes = b"") -> None:
        assert (await self.do(b'LOGIN %b "%b"' % (USERNAME.encode(), PASSWORD.encode()))).ok
        if folder:
            assert (await self.do(b"SELECT " + folder)).ok

    def close(self) -> None:
        self.writer.close()


@dataclass
class Peer:
    """A running demo server, and connections to it."""

    server: DemoServer
    mailbox: DemoMailbox
    port: int
    commands: list[bytes]
    clients: list[RawClient]

    async def connect(self, folder: bytes | None = None) -> RawClient:
        """A client past the greeting, logged in unless `folder` is None, with that folder selected unless empty."""
        client = RawClient(*await asyncio.open_connection("127.0.0.1", self.port))
        self.clients.append(client)
        assert (await client.row()).startswith(b"* OK [CAPABILITY ")
        if folder is not None:
            await client.login(folder)
        return client


@asynccontextmanager
async def serving(mailbox: DemoMailbox | None = None, *without: str) -> AsyncIterator[Peer]:
    """A demo server over `mailbox`, without the named extensions, stopped at the end."""
    commands: list[bytes] = []
    box = mailbox or DemoMailbox()
    server = DemoServer(
        box, username=USERNAME, password=PASSWORD, without=frozenset(without), on_command=commands.append
    )
    _, port = await server.start()
    peer = Peer(server, box, port, commands, [])
    try:
        yield peer
    finally:
        for client in peer.clients:
            client.close()
        await server.stop()


def numbered_mailbox(count: int = 3, *, flags: tuple[str, ...] = ()) -> DemoMailbox:
    """INBOX with `count` messages named by number, and an empty folder `Other`."""
    mailbox = DemoMailbox()
    for number in range(1, count + 1):
        raw = MESSAGE.replace(b"Greeting", b"Number %d" % number).replace(b"<one@", b"<%d@" % number)
        mailbox.append("INBOX", raw, flags, NOW)
    mailbox.create("Other")
    return mailbox
