"""Many confirmations of one message at once, in one process and over several that share a store: one final dot."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from tests.contract.deployment import Result
from tests.send.faults.scene import Scene

CALLS = 100
PROCESSES = 4
PATIENCE = 120.0
"""Seconds after which something hangs; nothing waits for them to pass."""


class Callers:
    """Processes that are ready to confirm; `answers` has what they say, as it comes."""

    def __init__(self) -> None:
        self.answers: asyncio.Queue[str] = asyncio.Queue()
        self._writers: list[asyncio.StreamWriter] = []
        self._listeners: list[asyncio.Task[None]] = []
        self._ready = asyncio.Semaphore(0)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One of them."""
        assert await reader.readline() == b"ready\n"
        self._writers.append(writer)
        self._listeners.append(asyncio.create_task(self._listen(reader, writer)))
        self._ready.release()

    async def ready(self, count: int) -> None:
        """So many of them are there."""
        async with asyncio.timeout(PATIENCE):
            for _ in range(count):
                await self._ready.acquire()

    def go(self) -> None:
        """All of them, now."""
        for writer in self._writers:
            writer.write(b"go\n")

    async def take(self, count: int) -> Counter[str]:
        """The next answers."""
        async with asyncio.timeout(PATIENCE):
            return Counter([await self.answers.get() for _ in range(count)])

    async def ended(self) -> None:
        """Every process has said all that it had to say, and nothing that nobody waited for."""
        await asyncio.gather(*self._listeners)
        assert self.answers.empty()

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while (line := (await reader.readline()).decode().strip()) != "done":
            assert line, "a process ended early"
            self.answers.put_nowait(line)
        writer.close()


Start = Callable[..., AbstractAsyncContextManager[Callers]]


@pytest.fixture
def callers(scene: Scene, starter: subprocess.Popen[bytes]) -> Start:
    """`callers(reviews, ...)`: a new process for each list of reviews."""

    @asynccontextmanager
    async def start(*asked: Sequence[Result], **more: str) -> AsyncIterator[Callers]:
        started = Callers()
        server = await asyncio.start_server(started.connected, "127.0.0.1", 0)
        assert starter.stdin is not None
        for reviews in asked:
            order = {"environment": scene.variables(**more), "port": server.sockets[0].getsockname()[1]}
            starter.stdin.write(json.dumps({**order, "asked": list(reviews)}).encode() + b"\n")
        starter.stdin.flush()
        await started.ready(len(asked))
        yield started
        await started.ended()
        server.close()
        await server.wait_closed()

    return start


class Gate:
    """Holds the answer to the final dot until it is opened."""

    def __init__(self, scene: Scene) -> None:
        self._open = asyncio.Event()
        self.open = self._open.set
        scene.smtp.at_dot = self._wait

    async def _wait(self) -> None:
        await self._open.wait()


@pytest.fixture
async def review(scene: Scene) -> Result:
    """A message that an earlier process has prepared."""
    async with scene.service() as service:
        return await service.prepare()


async def test_a_hundred_at_once_in_one_process(scene: Scene, review: Result, callers: Start) -> None:
    gate = Gate(scene)
    async with scene.service() as service:
        under_way = {asyncio.create_task(service.outcome(review)) for _ in range(CALLS)}
        answers: list[str] = []
        while len(answers) < CALLS - 1:
            done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            answers += [task.result() for task in done]
        assert answers == ["sending"] * (CALLS - 1)
        gate.open()
        assert [await task for task in under_way] == ["accepted"]
    await assert_over(scene, callers, review)


async def test_a_hundred_at_once_over_four_processes(scene: Scene, review: Result, callers: Start) -> None:
    gate = Gate(scene)
    async with callers(*[[review] * (CALLS // PROCESSES)] * PROCESSES) as processes:
        processes.go()
        assert await processes.take(CALLS - 1) == {"sending": CALLS - 1}
        gate.open()
        assert await processes.take(1) == {"accepted": 1}
    await assert_over(scene, callers, review)


@pytest.mark.parametrize(
    ("ending", "outcome"),
    [("250 2.0.0 ok", "accepted"), ("554 5.6.0 no", "rejected:upstream_refused")],
)
async def test_with_a_mail_server_that_answers_at_once(
    scene: Scene, review: Result, callers: Start, ending: str, outcome: str
) -> None:
    """The others may then be told the outcome as well, and no other one."""
    scene.smtp.ending = ending
    async with callers(*[[review] * (CALLS // PROCESSES)] * PROCESSES) as processes:
        processes.go()
        answers = await processes.take(CALLS)
    assert set(answers) <= {"sending", outcome}
    assert answers[outcome] >= 1
    await assert_over(scene, callers, review, outcome)


async def assert_over(scene: Scene, callers: Start, review: Result, outcome: str = "accepted") -> None:
    """One dot; a new process is told the outcome and makes no connection."""
    smtp = scene.smtp
    assert (smtp.dots, smtp.said("DATA"), smtp.connections) == (1, 1, 1)
    assert smtp.taken[0].recipients == ("ann@example.com", "cid@example.net", "bob@example.org")
    async with callers([review]) as later:
        later.go()
        assert await later.take(1) == {outcome: 1}
    assert (smtp.dots, smtp.said("DATA"), smtp.connections) == (1, 1, 1)


async def test_different_messages_at_once_are_each_sent_once(scene: Scene, callers: Start) -> None:
    async with scene.service() as service:
        reviews = [await service.prepare(subject=f"Number {number}") for number in range(12)]
    async with callers(reviews, reviews, reviews[::-1]) as processes:
        processes.go()
        answers = await processes.take(36)
    assert set(answers) <= {"sending", "accepted"}
    assert len({taken.data for taken in scene.smtp.taken}) == 12
    assert scene.smtp.connections == 12


async def test_the_hourly_limit_is_counted_over_all_processes(scene: Scene, callers: Start) -> None:
    """What it refuses is not consumed."""
    async with scene.service() as service:
        reviews = [await service.prepare(subject=f"Number {number}") for number in range(12)]
    quarters = [reviews[start::PROCESSES] for start in range(PROCESSES)]
    async with callers(*quarters, MAIL_SEND_LIMIT_PER_HOUR="5") as processes:
        processes.go()
        assert await processes.take(12) == {"accepted": 5, "send_limit_reached": 7}
    assert (scene.smtp.dots, scene.smtp.connections) == (5, 5)
    async with callers(reviews) as unlimited:
        unlimited.go()
        assert await unlimited.take(12) == {"accepted": 12}
    assert len({taken.data for taken in scene.smtp.taken}) == scene.smtp.dots == 12
