"""A stand-in for Upstash's REST interface over a real redis-server, with faults on demand.

POST / with a JSON command, `Authorization: Bearer`, answers in base64 when asked for, as Upstash documents it. It does
its own HTTP, for it has to drop a connection after the command was carried out.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections import deque
from contextlib import suppress
from enum import Enum
from types import TracebackType
from typing import Any, Self

TOKEN = "rest-token-of-the-tests"


class RestFault(Enum):
    """What happens to one request."""

    DROP_BEFORE = "the connection ends, nothing was carried out"
    DROP_AFTER = "carried out, then the connection ends"
    DELAY = "the connection ends, and the command is carried out when `release` is called"
    REPLAY = "carried out twice, the second answer is given"
    STALL_BEFORE = "silence, nothing was carried out"
    STALL_AFTER = "carried out, then silence"
    ERROR_500 = "500 with an HTML page, nothing was carried out"
    ERROR_500_AFTER = "carried out, then 500 with an HTML page"
    BUSY_429 = "429 with a JSON error, nothing was carried out"
    REDIRECT = "302 to `elsewhere`, nothing was carried out"
    TRUNCATED = "carried out, then an answer that breaks off inside its JSON"
    ODD = "carried out, then well-formed JSON of another form"
    ENDLESS = "carried out, then an answer that does not end"
    PACKED = "carried out, then an answer with a content encoding nobody asked for"
    EMPTIED = "carried out and answered; right before the answer the server loses all its data"
    EVICTED = "carried out and answered; right before the answer the server evicts the record"


class RedisRest:
    """`async with RedisRest(redis_port) as rest:`; faults given to `then` happen to the next requests, in order."""

    def __init__(
        self, redis_port: int, *, token: str = TOKEN, password: str = "", tls: ssl.SSLContext | None = None
    ) -> None:
        self._tls = tls
        self._password = password
        self._redis_port = redis_port
        self._token = token
        self._faults: deque[RestFault | None] = deque()
        self._held: list[list[Any]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.requests: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.commands: list[list[Any]] = []
        self.elsewhere = "http://127.0.0.1:9/"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def then(self, *faults: RestFault | None) -> None:
        """What happens to the next requests; None is no fault."""
        self._faults.extend(faults)

    def clear(self) -> None:
        """Forget faults that nothing has happened to yet."""
        self._faults.clear()

    async def release(self) -> list[Any]:
        """Carry out what was held back; the answers that nobody waits for any more."""
        held, self._held = self._held, []
        return [await self._carry_out(command) for command in held]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client is gone, or the test is over
        finally:
            self._tasks.discard(task)
            writer.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        request, *fields = head.strip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in fields)}
        command = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.requests.append(headers)
        self.paths.append(request.split(" ")[1])
        self.commands.append(command)
        fault = self._faults.popleft() if self._faults else None
        if headers.get("authorization") != f"Bearer {self._token}":
            _send(writer, 401, {"error": "WRONGPASS invalid or missing auth token"})
        elif fault is None:
            _send(writer, 200, await self._carry_out(command, headers.get("upstash-encoding") == "base64"))
        else:
            await self._misbehave(fault, command, writer)
        await writer.drain()

    async def _misbehave(self, fault: RestFault, command: list[Any], writer: asyncio.StreamWriter) -> None:
        if fault is RestFault.DELAY:
            self._held.append(command)
        elif fault is RestFault.REDIRECT:
            _send(writer, 302, {}, f"Location: {self.elsewhere}\r\n")
        elif fault is RestFault.ERROR_500:
            _send(writer, 500, "<html>")
        elif fault is RestFault.BUSY_429:
            _send(writer, 429, {"error": "ERR max requests limit exceeded"})
        elif fault is RestFault.STALL_BEFORE:
            await asyncio.Event().wait()
        elif fault is not RestFault.DROP_BEFORE:
            await self._misbehave_after(fault, await self._carry_out(command), command, writer)

    async def _misbehave_after(
        self, fault: RestFault, answer: dict[str, Any], command: list[Any], writer: asyncio.StreamWriter
    ) -> None:
        body = json.dumps(answer).encode()
        if fault is RestFault.REPLAY:
            _send(writer, 200, await self._carry_out(command))
        elif fault in (RestFault.EMPTIED, RestFault.EVICTED):
            await self._carry_out(["FLUSHALL"] if fault is RestFault.EMPTIED else ["DEL", command[3]])
            _send(writer, 200, answer)
        elif fault is RestFault.ERROR_500_AFTER:
            _send(writer, 500, "<html>")
        elif fault is RestFault.STALL_AFTER:
            await asyncio.Event().wait()
        elif fault is RestFault.TRUNCATED:
            _send(writer, 200, body[: len(body) // 2])
        elif fault is RestFault.ODD:
            _send(writer, 200, [answer])
        elif fault is RestFault.PACKED:
            _send(writer, 200, answer, "Content-Encoding: gzip\r\n")
        elif fault is RestFault.ENDLESS:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            with suppress(ConnectionError):
                while True:
                    writer.write(b" " * 65536)
                    await writer.drain()

    async def _carry_out(self, command: list[Any], encode: bool = True) -> dict[str, Any]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._redis_port, limit=2**26)
        try:
            if self._password:
                writer.write(_command(["AUTH", self._password]))
                await _reply(reader)
            writer.write(_command(command))
            return {"result": _encoded(await _reply(reader), encode)}
        except RuntimeError as error:
            return {"error": str(error)}
        finally:
            writer.close()


def _command(words: list[Any]) -> bytes:
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


async def _reply(reader: asyncio.StreamReader) -> Any:
    """One value of RESP2 (Redis serialization protocol)."""
    line = (await reader.readuntil(b"\r\n"))[:-2]
    kind, rest = line[:1], line[1:]
    if kind == b"-":
        raise RuntimeError(rest.decode())
    if kind == b"$":
        return None if rest == b"-1" else (await reader.readexactly(int(rest) + 2))[:-2]
    if kind == b"*":
        return None if rest == b"-1" else [await _reply(reader) for _ in range(int(rest))]
    return int(rest) if kind == b":" else rest


def _encoded(value: Any, encode: bool) -> Any:
    if isinstance(value, list):
        return [_encoded(each, encode) for each in value]
    if not isinstance(value, bytes):
        return value
    return base64.b64encode(value).decode() if encode and value != b"OK" else value.decode()


def _send(writer: asyncio.StreamWriter, status: int, body: Any, fields: str = "") -> None:
    octets = body if isinstance(body, bytes) else json.dumps(body).encode()
    reason = {200: "OK", 302: "Found"}.get(status, "Error")
    head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: application/json\r\n{fields}"
    writer.write(f"{head}Content-Length: {len(octets)}\r\nConnection: close\r\n\r\n".encode() + octets)
