"""A TCP proxy that makes the network misbehave on purpose, and counts what passes.

It stands between a client and a server on loopback and changes nothing until told to: latency, a cut or a silence after
so many octets or at a pattern, fewer capabilities. Under TLS it sees octets only; patterns and edits want plaintext.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from types import TracebackType
from typing import Self

from tests.peers.imap_edit import ImapEdit

CHUNK = 64 * 1024


class Direction(Enum):
    """Which way octets travel."""

    UP = "to the server"
    DOWN = "to the client"


class Action(Enum):
    """What a fault does to the connection."""

    RESET = "RST to both sides"
    CLOSE = "an orderly FIN to both sides"
    STALL = "both directions fall silent, the connection stays open"


class When(Enum):
    """Whether the octets that set a fault off still reach the other side."""

    BEFORE = "they are swallowed"
    AFTER = "they are passed on first"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault in one direction, set off by `after` octets or by `pattern`, whichever it has.

    `after` counts from the start of each connection and cuts to the octet. `pattern` may straddle reads.
    """

    direction: Direction
    action: Action = Action.RESET
    after: int | None = None
    pattern: bytes | None = None
    when: When = When.BEFORE

    def __post_init__(self) -> None:
        if (self.after is None) == (self.pattern is None):
            raise ValueError("a fault has either a count or a pattern")


@dataclass(slots=True)
class Traffic:
    """What has passed since the last `reset`. A turn is one request of the client with the wait for its answer."""

    up: int = 0
    down: int = 0
    turns: int = 0
    connections: int = 0
    faults: int = 0
    sent: bytearray = field(default_factory=bytearray)

    def reset(self) -> None:
        """Count from zero again."""
        self.up = self.down = self.turns = self.connections = self.faults = 0
        self.sent.clear()


@dataclass(slots=True)
class Conditions:
    """The weather of the line; changes hold for octets read from then on. Delays are seconds each way."""

    delay_up: float = 0.0
    delay_down: float = 0.0
    faults: tuple[Fault, ...] = ()
    edit: ImapEdit | None = None
    refuse: bool = False


class _Stream:
    """One direction of one connection: position, the tail a pattern may straddle, and octets under way."""

    def __init__(self, direction: Direction) -> None:
        self.direction = direction
        self.position = 0
        self.tail = b""
        self.under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    def split(self, data: bytes, fault: Fault) -> tuple[bytes, bytes] | None:
        """Where `fault` falls into `data`: what is passed on and what is swallowed, or None."""
        if fault.direction is not self.direction:
            return None
        cut = self._by_count(data, fault) if fault.pattern is None else self._by_pattern(data, fault)
        return None if cut is None else (data[:cut], data[cut:])

    def _by_count(self, data: bytes, fault: Fault) -> int | None:
        assert fault.after is not None
        reached = self.position <= fault.after < self.position + len(data)
        return fault.after - self.position if reached else None

    def _by_pattern(self, data: bytes, fault: Fault) -> int | None:
        assert fault.pattern is not None
        tail = self.tail[max(0, len(self.tail) - len(fault.pattern) + 1) :]
        found = (tail + data).find(fault.pattern)
        if found < 0:
            return None
        start = found - len(tail)
        return max(0, start) if fault.when is When.BEFORE else start + len(fault.pattern)

    def advance(self, data: bytes) -> None:
        """Remember that `data` has come by."""
        self.position += len(data)
        self.tail = (self.tail + data)[-256:]


class _Connection:
    """One client with its connection to the server."""

    def __init__(self, proxy: FaultProxy, client: _Pair, server: _Pair) -> None:
        self.proxy = proxy
        self.client = client
        self.server = server
        self.silent = False
        self.last: Direction | None = None
        self.editor = proxy.conditions.edit.editor() if proxy.conditions.edit else None

    async def run(self) -> None:
        """Pump both directions until one ends."""
        pumps = []
        for direction, source, sink in (
            (Direction.UP, self.client, self.server),
            (Direction.DOWN, self.server, self.client),
        ):
            stream = _Stream(direction)
            pumps += [self._read(stream, source.reader), self._write(stream, sink.writer)]
        tasks = [asyncio.ensure_future(pump) for pump in pumps]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._end(Action.CLOSE)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, stream: _Stream, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(CHUNK):
                if self.silent:
                    continue
                await self._forward(stream, self._edited(stream.direction, data))
        await stream.under_way.put((0.0, b""))
        await asyncio.Event().wait()

    def _edited(self, direction: Direction, data: bytes) -> bytes:
        if self.editor is None:
            return data
        return self.editor.feed(data) if direction is Direction.DOWN else self.editor.upward(data)

    async def _forward(self, stream: _Stream, data: bytes) -> None:
        for fault in self.proxy.conditions.faults:
            parts = stream.split(data, fault)
            if parts is not None:
                self.proxy.traffic.faults += 1
                self._send(stream, parts[0])
                await stream.under_way.join()
                self._end(fault.action)
                return
        self._send(stream, data)

    def _send(self, stream: _Stream, data: bytes) -> None:
        if not data:
            return
        stream.advance(data)
        self._count(stream.direction, data)
        conditions = self.proxy.conditions
        delay = conditions.delay_up if stream.direction is Direction.UP else conditions.delay_down
        stream.under_way.put_nowait((asyncio.get_running_loop().time() + delay if delay else 0.0, data))

    def _count(self, direction: Direction, data: bytes) -> None:
        traffic = self.proxy.traffic
        if direction is Direction.UP:
            traffic.up += len(data)
            traffic.turns += self.last is not Direction.UP
            traffic.sent += data
        else:
            traffic.down += len(data)
        self.last = direction

    async def _write(self, stream: _Stream, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while True:
                due, data = await stream.under_way.get()
                if not data:
                    return
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()) if due else 0)
                writer.write(data)
                await writer.drain()
                stream.under_way.task_done()

    def _end(self, action: Action) -> None:
        if action is Action.STALL:
            self.silent = True
            return
        for pair in (self.client, self.server):
            pair.end(action)


@dataclass(frozen=True, slots=True)
class _Pair:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def end(self, action: Action) -> None:
        """Close; for a reset with SO_LINGER 0, which makes the kernel send RST (socket(7))."""
        if self.writer.is_closing():
            return
        if action is Action.RESET:
            raw = self.writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.writer.transport.abort()
        else:
            self.writer.close()


class FaultProxy:
    """`async with FaultProxy(port) as proxy:` listens on `proxy.port`; set `proxy.conditions`, read `proxy.traffic`."""

    def __init__(self, upstream_port: int, conditions: Conditions | None = None, *, host: str = "127.0.0.1") -> None:
        self.upstream = (host, upstream_port)
        self.conditions = conditions or Conditions()
        self.traffic = Traffic()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._open():
            task.cancel()
        await asyncio.gather(*self._open(), return_exceptions=True)
        await self._server.wait_closed()

    def _open(self) -> Iterator[asyncio.Task[None]]:
        return iter(list(self._tasks))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.traffic.connections += 1
        client = _Pair(reader, writer)
        try:
            if self.conditions.refuse:
                client.end(Action.RESET)
                return
            server = _Pair(*await asyncio.open_connection(*self.upstream))
            await _Connection(self, client, server).run()
        except (ConnectionError, asyncio.CancelledError):
            client.end(Action.CLOSE)
        finally:
            self._tasks.discard(task)
