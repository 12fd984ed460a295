"""Parsing off the event loop, with a wall clock and a bounded number of threads.

A thread cannot be stopped from outside. Parsers are asked to stop through `deadline`; one that does not listen keeps
its thread, and there are only `THREADS_MAX` of them, so hostile mail can slow parsing down but never pile up threads.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Final, TypeVar

THREADS_MAX: Final = 4
"""Parsers at work at once in this process; parsing is pure Python, so more would not be faster."""

_T = TypeVar("_T")
Deadline = Callable[[], bool]


class OutOfTime(Exception):
    """The wall clock ran out before the work was done."""


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="mailgate-parse")


async def off_loop(work: Callable[[Deadline], _T], *, seconds: float) -> _T:
    """What `work` returns, computed in a worker thread.

    `work` gets a function that turns true when it should stop and return what it has: after four fifths of `seconds`.
    Waiting for a free thread counts. `OutOfTime` after `seconds`; work that has not begun by then never begins.
    """
    soft = time.monotonic() + 0.8 * seconds
    future = _pool().submit(work, lambda: time.monotonic() >= soft)
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.wrap_future(future)
    except TimeoutError:
        raise OutOfTime from None
