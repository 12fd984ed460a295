"""What stands between a server process and its store, and holds one step exactly before or after it takes effect."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

from mailgate.send import lua
from tests.send.crash.held import GO, LOSE
from tests.send.crash.points import Moment, Rule, Rules, Step, Then

REACH_SECONDS = 60.0
CHUNK = 65_536


class Held:
    """One step that waits for the word."""

    def __init__(self, name: str, moment: Moment) -> None:
        self.name, self.moment = name, moment
        self.word: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def release(self) -> None:
        """Let it go on, as if nothing had been."""
        self._say(GO)

    def lose(self) -> None:
        """Lose the request, or the answer."""
        self._say(LOSE)

    def _say(self, word: bytes) -> None:
        if not self.word.done():
            self.word.set_result(word)


class Gate:
    """Base of both gates: who is held, in order of arrival."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[Held] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def reached(self) -> Held:
        """Wait until somebody is held."""
        async with asyncio.timeout(REACH_SECONDS):
            return await self.waiting.get()

    def let_all_go(self) -> None:
        """Nobody is left to care."""
        while not self.waiting.empty():
            self.waiting.get_nowait().lose()

    async def _hold(self, name: str, moment: Moment) -> bytes:
        held = Held(name, moment)
        self.waiting.put_nowait(held)
        return await held.word

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # one side is gone, or the row is over
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError


class ControlGate(Gate):
    """Where a held step inside a server process (`held.py`) asks for the word."""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, name, moment = (await reader.readline()).decode().split()
        writer.write(await self._hold(name, Moment(moment)))
        await writer.drain()


def _marks() -> dict[Step, bytes]:
    """A line of each script that no other script has, and that JSON leaves as it is."""
    scripts = {
        Step.PREPARE: lua.PREPARE,
        Step.CLAIM: lua.CLAIM,
        Step.BEGIN: lua.BEGIN,
        Step.SETTLE: lua.SETTLE,
        Step.NOTE_COPY: lua.NOTE_COPY,
    }
    return {step: _own_line(script, {*scripts.values(), lua.LOOK} - {script}) for step, script in scripts.items()}


def _own_line(script: str, others: Iterable[str]) -> bytes:
    lines = (line for line in script.splitlines() if len(line) > 20 and '"' not in line and "\\" not in line)
    return next(line for line in lines if not any(line in other for other in others)).encode("ascii")


class StoreGate(Gate):
    """A proxy in front of Redis, or of Upstash's REST interface; every step has a connection of its own there.

    `upstream`: the port behind it, which may change. `rules`: what it does, for connections from then on.
    """

    MARKS = _marks()

    def __init__(self, upstream: int, rules: Iterable[Rule] = ()) -> None:
        super().__init__()
        self.upstream = upstream
        self.rules = Rules(rules)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream, sink = await asyncio.open_connection("127.0.0.1", self.upstream)
        passing = _Passing(self, reader, writer, upstream, sink)
        pumps = [asyncio.ensure_future(passing.up()), asyncio.ensure_future(passing.down())]
        try:
            await pumps[1]
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            sink.transport.abort()


class _Passing:
    """One connection through the gate."""

    def __init__(
        self,
        gate: StoreGate,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        upstream: asyncio.StreamReader,
        sink: asyncio.StreamWriter,
    ) -> None:
        self.gate, self.reader, self.writer, self.upstream, self.sink = gate, reader, writer, upstream, sink
        self.step: Step | None = None

    async def up(self) -> None:
        """What the client says, up to the end; the request is held before its first octet that tells the step."""
        seen = b""
        while data := await self.reader.read(CHUNK):
            if self.step is None:
                seen += data
                self.step = next((step for step, mark in StoreGate.MARKS.items() if mark in seen), None)
                if self.step is not None and not await self._passes(Moment.BEFORE):
                    self.sink.transport.abort()
                    return
            self.sink.write(data)
            await self.sink.drain()
        # The store still reads, and carries out, what came before the end.
        self.sink.write_eof()

    async def down(self) -> None:
        """What the store says. Its first octet after a step's request means that the step has taken effect."""
        answered = False
        while data := await self.upstream.read(CHUNK):
            if self.step is not None and not answered:
                answered = True
                if not await self._passes(Moment.AFTER):
                    return
            with suppress(ConnectionError):
                self.writer.write(data)
                await self.writer.drain()

    async def _passes(self, moment: Moment) -> bool:
        assert self.step is not None
        then = self.gate.rules.meet(self.step, moment)
        if then is Then.HOLD:
            return await self.gate._hold(self.step, moment) == GO
        return then is None
