"""A mock issuer on loopback: metadata, keys, and (in `issuer_oauth.py`) a tiny authorization server.

It does its own HTTP, for it has to misbehave in ways that no server library would. It keeps every request.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from tests.peers.signing import SigningKey, claims_of, compact, header_of, rsa_key


class IssuerFault(Enum):
    """What happens to a request instead of an answer."""

    CLOSE = "the connection ends without an answer"
    STALL = "silence"
    DRIP = "an octet now and then, without end"
    NOT_FOUND = "404"
    ERROR_500 = "500 with a page"
    BUSY_429 = "429"
    REDIRECT = "302 to `elsewhere`"
    HTML = "200 with a page"
    EMPTY = "200 with nothing"
    LIST = "200 with JSON that is no object"
    OTHER_OBJECT = "200 with an object of another form"
    DEEP = "200 with JSON nested a hundred thousand levels deep"
    NOT_UTF_8 = "200 with octets that are no text"
    ENDLESS = "200 with ten MiB of JSON"
    CHUNKED_ENDLESS = "the same, without a length"
    PACKED = "200 with a content encoding nobody asked for"
    TRUNCATED = "200 with fewer octets than announced"


@dataclass(frozen=True)
class Seen:
    """One request as it came."""

    method: str
    path: str
    query: dict[str, str]
    fields: dict[str, str]
    body: bytes
    raw: bytes

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode()))


@dataclass(frozen=True)
class Reply:
    """One response."""

    status: int
    body: bytes = b""
    fields: tuple[tuple[str, str], ...] = ()

    @classmethod
    def json(cls, value: Any, status: int = 200) -> Reply:
        return cls(status, json.dumps(value).encode(), (("Content-Type", "application/json"),))


BIG = 10 * 1024 * 1024
Handler = Callable[[Seen], Reply]


class Issuer:
    """`async with Issuer() as issuer:`; `issuer.url` is its identifier, `issuer.keys` what it publishes.

    `faults` maps a path (or `*`) to what happens there. `metadata` is added to the metadata documents, whose paths are
    `documents`. `routes` maps a method and a path to a handler.
    """

    def __init__(
        self, *keys: SigningKey, path: str = "", tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
    ) -> None:
        self.keys = list(keys) or [rsa_key()]
        self.extra_keys: list[Any] = []
        self.faults: dict[str, IssuerFault] = {}
        self.metadata: dict[str, Any] = {}
        self.requests: list[Seen] = []
        self.routes: dict[tuple[str, str], Handler] = {}
        self.elsewhere = "http://127.0.0.1:9/"
        self.connections = 0
        self._path, self._tls, self._host = path, tls, host
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        self.base = f"{'https' if self._tls else 'http'}://{self._host}:{self.port}"
        self.url = self.base + self._path
        bare = self._path.rstrip("/")
        self.documents = {f"/.well-known/oauth-authorization-server{bare}", f"{bare}/.well-known/openid-configuration"}
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def jwks_url(self) -> str:
        return f"{self.base}/keys"

    def paths(self) -> list[str]:
        """The path of every request so far."""
        return [seen.path for seen in self.requests]

    def fetches(self) -> int:
        """How often the keys were asked for."""
        return self.paths().count("/keys")

    def claims(self, **changes: Any) -> dict[str, Any]:
        return claims_of(**{"iss": self.url, **changes})

    def mint(self, key: SigningKey | None = None, **changes: Any) -> str:
        """A good token of this issuer, with these claims changed."""
        key = key or self.keys[0]
        return compact(key, header_of(key), self.claims(**changes))

    def described(self) -> dict[str, Any]:
        """The metadata document."""
        return {"issuer": self.url, "jwks_uri": self.jwks_url, **self.metadata}

    # --- HTTP -----------------------------------------------------------------------------------------------------

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
                while await self._one(reader, writer):
                    await writer.drain()
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        seen = await _request(reader)
        self.requests.append(seen)
        fault = self.faults.get(seen.path, self.faults.get("*"))
        if fault is not None:
            return await self._misbehave(fault, writer)
        writer.write(_response(self._reply(seen)))
        return True

    def _reply(self, seen: Seen) -> Reply:
        handler = self.routes.get((seen.method, seen.path))
        if handler is not None:
            return handler(seen)
        if seen.method == "GET" and seen.path in self.documents:
            return Reply.json(self.described())
        if seen.method == "GET" and seen.path == "/keys":
            return Reply.json({"keys": [*(key.jwk() for key in self.keys), *self.extra_keys]})
        return Reply(404, b"<html>Nothing here</html>", (("Content-Type", "text/html"),))

    async def _misbehave(self, fault: IssuerFault, writer: asyncio.StreamWriter) -> bool:
        if fault is IssuerFault.CLOSE:
            return False
        if fault in (IssuerFault.STALL, IssuerFault.DRIP):
            if fault is IssuerFault.DRIP:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while True:
                writer.write(b" " if fault is IssuerFault.DRIP else b"")
                await writer.drain()
                await asyncio.sleep(0.01)
        writer.write(self._odd(fault))
        return fault not in (IssuerFault.TRUNCATED, IssuerFault.CHUNKED_ENDLESS, IssuerFault.ENDLESS)

    def _odd(self, fault: IssuerFault) -> bytes:
        good = json.dumps({**self.described(), "keys": [key.jwk() for key in self.keys]}).encode()
        if fault is IssuerFault.TRUNCATED:
            return _response(Reply(200, good)).removesuffix(good) + good[:-5]
        if fault is IssuerFault.CHUNKED_ENDLESS:
            return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + good.ljust(BIG)
        return _response(
            {
                IssuerFault.NOT_FOUND: Reply(404),
                IssuerFault.ERROR_500: Reply(500, b"<html>Oops</html>"),
                IssuerFault.BUSY_429: Reply(429),
                IssuerFault.REDIRECT: Reply(302, b"", (("Location", self.elsewhere),)),
                IssuerFault.HTML: Reply(200, b"<html>Sign in</html>", (("Content-Type", "text/html"),)),
                IssuerFault.EMPTY: Reply(200),
                IssuerFault.LIST: Reply.json([1]),
                IssuerFault.OTHER_OBJECT: Reply.json({"keys": {"kid": 1}, "issuer": self.url}),
                IssuerFault.DEEP: Reply(200, b'{"keys":' + b"[" * 100_000),
                IssuerFault.NOT_UTF_8: Reply(200, b'{"keys":[],"x":"\xff"}'),
                IssuerFault.ENDLESS: Reply(200, good.ljust(BIG)),
                IssuerFault.PACKED: Reply(200, gzip.compress(good), (("Content-Encoding", "gzip"),)),
            }[fault]
        )


async def _request(reader: asyncio.StreamReader) -> Seen:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(fields.get("content-length", "0")))
    parts = urlsplit(target)
    return Seen(method, parts.path, dict(parse_qsl(parts.query)), fields, body, head + body)


def _response(reply: Reply) -> bytes:
    fields: Mapping[str, str] = {"Content-Length": str(len(reply.body)), **dict(reply.fields)}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {reply.status} Status\r\n{head}\r\n".encode() + reply.body
