from __future__ import annotations

import asyncio
import threading

import pytest

from mailgate.read.offload import THREADS_MAX, Deadline, OutOfTime, off_loop


async def test_work_runs_in_another_thread() -> None:
    assert await off_loop(lambda _: threading.current_thread(), seconds=30) is not threading.current_thread()


async def test_a_failure_of_the_work_comes_through() -> None:
    def fail(_: Deadline) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await off_loop(fail, seconds=30)


async def test_the_work_is_told_to_stop_before_it_is_given_up() -> None:
    def listen(expired: Deadline) -> str:
        turns = 0
        while not expired():
            turns += 1
        return "stopped by itself"

    assert await off_loop(listen, seconds=0.5) == "stopped by itself"


async def test_stuck_work_is_out_of_time_and_cannot_take_more_than_its_threads() -> None:
    release, begun = threading.Event(), []

    def stuck(_: Deadline) -> None:
        begun.append(1)
        release.wait(30)

    try:
        calls = [off_loop(stuck, seconds=0.05) for _ in range(THREADS_MAX + 3)]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(outcome, OutOfTime) for outcome in outcomes)
        assert len(begun) <= THREADS_MAX
    finally:
        release.set()
    assert await off_loop(lambda _: "alive", seconds=30) == "alive"
    assert len(begun) <= THREADS_MAX, "what had not begun in time never begins"
