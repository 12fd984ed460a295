"""A proxy before a redis-server that reads commands whole, so that one step can go wrong in one exact way.

Faults happen to scripts (EVAL) alone: logins and the like pass through. Plain RESP2 (Redis serialization protocol).
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from enum import Enum
from types import TracebackType
from typing import Self

LIMIT = 2**26


class RespFault(Enum):
    """What happens to one script."""

    DROP_BEFORE = "the connection ends, nothing was carried out"
    DROP_AFTER = "carried out, then the connection ends"
    DELAY = "the connection ends, and the script is carried out when `release` is called"
    REPLAY = "carried out twice, the second answer is given"
    STALL_BEFORE = "silence, nothing was carried out"
    STALL_AFTER = "carried out, then silence"
    LOADING = "an error reply, nothing was carried out"
    ERROR_AFTER = "carried out, then an error reply"
    BUSY = "an error reply that asks for patience, nothing was carried out"
    MOVED = "the reply that sends clients of a cluster to another node, nothing was carried out"
    TRUNCATED = "carried out, then half an answer and the end of the connection"
    EMPTIED = "carried out and answered; right before the answer the server loses all its data"
    EVICTED = "carried out and answered; right before the answer the server evicts the record"


_ERRORS = {
    RespFault.LOADING: b"-LOADING Redis is loading the dataset in memory\r\n",
    RespFault.BUSY: b"-BUSY Redis is busy running a script\r\n",
}


class RedisProxy:
    """`async with RedisProxy(port) as proxy:`; faults given to `then` happen to the next scripts, in order."""

    def __init__(self, redis_port: int, *, password: str = "") -> None:
        self._redis_port = redis_port
        self._password = password
        self._faults: deque[RespFault | None] = deque()
        self._held: list[bytes] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.scripts = 0
        self.connections = 0
        self.elsewhere = 9

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=LIMIT)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def then(self, *faults: RespFault | None) -> None:
        """What happens to the next scripts; None is no fault."""
        self._faults.extend(faults)

    def clear(self) -> None:
        """Forget faults that nothing has happened to yet."""
        self._faults.clear()

    async def release(self) -> list[bytes]:
        """Carry out what was held back; the answers that nobody waits for any more."""
        held, self._held = self._held, []
        return [await self._apart(command) for command in held]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        server_writer: asyncio.StreamWriter | None = None
        try:
            server, server_writer = await asyncio.open_connection("127.0.0.1", self._redis_port, limit=LIMIT)
            while await self._pass_on(await _value(reader), server, server_writer, writer):
                await writer.drain()
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client is gone, or the test is over
        finally:
            self._tasks.discard(task)
            for each in (writer, server_writer):
                if each is not None:
                    each.close()
            with suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _pass_on(
        self,
        command: bytes,
        server: asyncio.StreamReader,
        to_server: asyncio.StreamWriter,
        to_client: asyncio.StreamWriter,
    ) -> bool:
        """One command; False ends the connection."""
        fault = None
        if _words(command)[0].upper() == b"EVAL":
            self.scripts += 1
            fault = self._faults.popleft() if self._faults else None
        if fault is RespFault.DROP_BEFORE:
            return False
        if fault is RespFault.DELAY:
            self._held.append(command)
            return False
        if fault is RespFault.STALL_BEFORE:
            await asyncio.Event().wait()
        if fault in _ERRORS or fault is RespFault.MOVED:
            to_client.write(_ERRORS.get(fault, b"-MOVED 3999 127.0.0.1:%d\r\n" % self.elsewhere))
            return True
        to_server.write(command)
        return await self._answer(fault, command, await _value(server), to_client)

    async def _answer(
        self, fault: RespFault | None, command: bytes, answer: bytes, to_client: asyncio.StreamWriter
    ) -> bool:
        """The answer to a command that was carried out; False ends the connection."""
        match fault:
            case RespFault.DROP_AFTER:
                return False
            case RespFault.STALL_AFTER:
                await asyncio.Event().wait()
            case RespFault.TRUNCATED:
                to_client.write(answer[: len(answer) // 2])
                return False
            case RespFault.ERROR_AFTER:
                answer = b"-ERR something else\r\n"
            case RespFault.REPLAY:
                answer = await self._apart(command)
            case RespFault.EMPTIED:
                await self._apart(_command(b"FLUSHALL"))
            case RespFault.EVICTED:
                await self._apart(_command(b"DEL", _words(command)[3]))
        to_client.write(answer)
        return True

    async def _apart(self, command: bytes) -> bytes:
        """Carry out a command on a connection of its own."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._redis_port, limit=LIMIT)
        try:
            if self._password:
                writer.write(_command(b"AUTH", self._password.encode()))
                await _value(reader)
            writer.write(command)
            return await _value(reader)
        finally:
            writer.close()


async def _value(reader: asyncio.StreamReader) -> bytes:
    """One value as it travels."""
    line = await reader.readuntil(b"\r\n")
    kind, rest = line[:1], line[1:-2]
    if kind == b"$" and rest != b"-1":
        return line + await reader.readexactly(int(rest) + 2)
    if kind == b"*" and rest != b"-1":
        return line + b"".join([await _value(reader) for _ in range(int(rest))])
    return line


def _words(command: bytes) -> list[bytes]:
    """The words of a command, which is an array of bulk strings."""
    words, position = [], command.index(b"\r\n") + 2
    while position < len(command):
        end = command.index(b"\r\n", position)
        start, length = end + 2, int(command[position + 1 : end])
        words.append(command[start : start + length])
        position = start + length + 2
    return words


def _command(*words: bytes) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
