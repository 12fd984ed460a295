"""The application under a real uvicorn on a real socket, in the test's own loop; and a client that can hang up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import uvicorn

from mailgate.cli_web import http_config, listen
from mailgate.server.http import HttpSurface
from tests.server.fakes import Post

STEP_SECONDS = 0.005
PATIENCE_SECONDS = 30.0


async def until(ready: Any) -> None:
    """Wait, with a bound, for something that tells nobody when it happens."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not ready():
            await asyncio.sleep(STEP_SECONDS)


@dataclass
class Served:
    """A running server."""

    port: int
    server: uvicorn.Server
    ended: asyncio.Task[None]
    connections: list[Connection] = field(default_factory=list)

    async def connect(self) -> Connection:
        self.connections.append(Connection(*await asyncio.open_connection("127.0.0.1", self.port)))
        return self.connections[-1]

    async def call(self, post: Post) -> Reply:
        """One request on a connection of its own."""
        connection = await self.connect()
        try:
            await connection.send(post)
            return await connection.reply()
        finally:
            connection.hang_up()


@dataclass
class Reply:
    """What came back."""

    status: int
    fields: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Connection:
    """One client connection, kept alive between requests."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    sent: bytes = field(default=b"", repr=False)

    async def send(self, post: Post, *, declare: int | None = None) -> None:
        """The whole request; `declare` another length than the body has."""
        body = post.content()
        fields = {"Host": "127.0.0.1", "Content-Length": str(declare or len(body)), **post.fields()}
        if post.token is not None:
            fields["Authorization"] = f"Bearer {post.token}"
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.writer.write(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
        await self.writer.drain()

    async def reply(self) -> Reply:
        """The next response."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await self.reader.readexactly(int(fields.get("content-length", "0")))
        return Reply(int(head[0].split()[1]), fields, body.decode())

    def hang_up(self) -> None:
        """At once, without reading what may still come."""
        self.writer.transport.abort()


class _Server(uvicorn.Server):
    """Leaves the process's signals alone."""

    def capture_signals(self) -> Any:
        from contextlib import nullcontext

        return nullcontext()


@asynccontextmanager
async def served(
    app: HttpSurface, *, lifespan: Literal["on", "off"] = "on", drain_seconds: float = 10.0
) -> AsyncIterator[Served]:
    """The application, listening."""
    config = http_config(app, host="127.0.0.1", port=0, drain_seconds=drain_seconds)
    config.lifespan = lifespan
    listening, port = listen(config)
    server = _Server(config)
    ended = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        await until(lambda: server.started or ended.done())
        running = Served(port, server, ended)
        yield running
    finally:
        server.should_exit = True
        await ended
        for connection in running.connections:
            connection.hang_up()
