"""The line between a client and the mail server: a delay, a bandwidth, and a count of what passes.

Runs as a process of its own, so that it takes no time from whoever is measured. It prints its port; for each line that
it reads it prints what has passed since the last one, as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
from dataclasses import asdict, dataclass

CHUNK = 64 * 1024


@dataclass
class Passed:
    """`turns`: how often the client spoke after the server had. `connections` cost one round trip more each."""

    turns: int = 0
    connections: int = 0
    up: int = 0
    down: int = 0


class Line:
    """Octets reach the other side half a round trip after they were sent, and no faster than the bandwidth."""

    def __init__(self, port: int, rtt: float, octets_per_second: float) -> None:
        self._port, self._rtt, self._rate = port, rtt, octets_per_second
        self.passed = Passed()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection. TCP's own handshake is emulated: nothing leaves before it could have ended."""
        self.passed.connections += 1
        there = asyncio.get_running_loop().time() + self._rtt
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._port)
        spoke = {"up": False}

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, up: bool) -> None:
            queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
            sending = asyncio.ensure_future(deliver(queue, sink))
            free = there
            loop = asyncio.get_running_loop()
            try:
                while data := await source.read(CHUNK):
                    self._count(data, up=up, spoke=spoke)
                    free = max(free, loop.time()) + len(data) / self._rate
                    queue.put_nowait((free + self._rtt / 2, data))
                queue.put_nowait((loop.time() + self._rtt / 2, b""))
                await sending
            finally:
                sending.cancel()

        pumps = [
            asyncio.ensure_future(pump(reader, server_writer, up=True)),
            asyncio.ensure_future(pump(server_reader, writer, up=False)),
        ]
        await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        for each in pumps:
            each.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)
        for end in (writer, server_writer):
            end.close()
            # Cancelled here, at the end of the program, nothing is left to do.
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await end.wait_closed()

    def _count(self, data: bytes, *, up: bool, spoke: dict[str, bool]) -> None:
        if up:
            self.passed.up += len(data)
            self.passed.turns += not spoke["up"]
        else:
            self.passed.down += len(data)
        spoke["up"] = up


async def deliver(queue: asyncio.Queue[tuple[float, bytes]], sink: asyncio.StreamWriter) -> None:
    """Hand on what has arrived, when it has arrived; nothing at all is the end of the connection."""
    loop = asyncio.get_running_loop()
    with contextlib.suppress(ConnectionError):
        while True:
            at, data = await queue.get()
            wait = at - loop.time()
            if wait > 0:
                await asyncio.sleep(wait)
            if not data:
                return
            sink.write(data)
            await sink.drain()


async def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--to", type=int, required=True)
    parser.add_argument("--rtt", type=float, required=True, help="milliseconds")
    parser.add_argument("--mbit", type=float, default=100.0)
    options = parser.parse_args()
    line = Line(options.to, options.rtt / 1000, options.mbit * 125_000)
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(asdict(line.passed)), flush=True)
        line.passed = Passed()
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
