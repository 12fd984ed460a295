"""The few connections a process keeps to the mailbox, lent to one call at a time.

There is no background task: a frozen or single-request host would never run it. What has to be noticed (idle too long,
closed by the server, another event loop) is noticed when a connection is asked for. A pool that nobody refers to any
more, as where each request builds its own application, lets go of its connections.
"""

from __future__ import annotations

import asyncio
import math
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from mailgate.errors import UpstreamBusy, UpstreamError, UpstreamTimeout, UpstreamUnavailable
from mailgate.imap import commands
from mailgate.imap.commands import Command
from mailgate.imap.connection import ImapConnection
from mailgate.imap.exchange import CommandResult, Request
from mailgate.limits import CONNECTION_IDLE_SECONDS, CONNECTION_TRUSTED_SECONDS, LIVENESS_SECONDS, QUEUE_SECONDS

Connect = Callable[[], Awaitable[ImapConnection]]


@dataclass(frozen=True, slots=True)
class _Idle:
    connection: ImapConnection
    since: float
    since_wall: float


@dataclass(slots=True)
class _LoopPool:
    """What belongs to one event loop: a connection cannot be used, nor even awaited, from another one."""

    turns: asyncio.Semaphore
    idle: list[_Idle] = field(default_factory=list)
    connections: set[ImapConnection] = field(default_factory=set)


class Lease:
    """A connection for the time of one call."""

    def __init__(
        self, pool: ConnectionPool, connection: ImapConnection, *, reused: bool, doubted: _Idle | None = None
    ) -> None:
        self._pool = pool
        self._reused = reused
        self.doubted = doubted
        """It has been idle for long, and nothing has shown since that it lives."""
        self.connection = connection

    async def first(self, command: Command, *, seconds: float, enough: int | None = None) -> CommandResult:
        """Run the call's first reading command; see `first_of`."""
        return (await self.first_of(Request(command, enough=enough), seconds=seconds))[0]

    async def first_of(self, *requests: Request, seconds: float) -> tuple[CommandResult, ...]:
        """Run the call's first reading commands, in one flight.

        A kept connection may have died unnoticed. When it did so before answering anything, the commands are repeated
        once on a fresh connection; a command that changes anything never is. One that has been idle for long must
        answer NOOP first, and soon; where several commands may leave together, NOOP leaves with them.
        """
        if any(request.command.changes_state for request in requests):
            raise ValueError("a command that changes state is never repeated")
        reused, self._reused = self._reused, False
        doubted, self.doubted = self.doubted, None
        if doubted is not None:
            answers = await self._first_of_doubted(requests, seconds)
            if answers is not None:
                return answers
        else:
            try:
                return await self.connection.run_all(*requests, seconds=seconds)
            except UpstreamUnavailable:
                if not reused or self.connection.answered:
                    raise
        await self.renew(seconds=seconds)
        return await self.connection.run_all(*requests, seconds=seconds)

    async def _first_of_doubted(
        self, requests: tuple[Request, ...], seconds: float
    ) -> tuple[CommandResult, ...] | None:
        """The answers, or None where the connection turns out to be dead."""
        together = len(requests) > 1
        probe = Request(commands.noop(), seconds=LIVENESS_SECONDS)
        try:
            alive, *answers = await self.connection.run_all(probe, *(requests if together else ()), seconds=seconds)
            if not alive.ok:
                return None
            return tuple(answers) if together else await self.connection.run_all(*requests, seconds=seconds)
        except UpstreamTimeout:
            if self.connection.answered:
                raise
            # Who asks again learns the same again, and a call would wait as often: the others have been idle longer.
            self._pool.forget_idle()
        except UpstreamError:
            if self.connection.answered:
                raise
        return None

    async def make_sure(self, *, seconds: float) -> None:
        """See that the connection lives, where that is not plain."""
        if self.doubted is not None:
            await self.first_of(seconds=seconds)

    async def renew(self, *, seconds: float) -> None:
        """Take a fresh connection instead of one that is gone; names are written on it as they were on the other."""
        utf8 = self.connection.utf8
        self.connection = await self._pool.replace(self.connection)
        await self.connection.settle(seconds=seconds)
        if self.connection.utf8 is not utf8:
            raise UpstreamUnavailable


class ConnectionPool:
    """At most `size` connections; `connect` opens one and logs in, `clock` tells idle time in seconds.

    `wall`: seconds of the calendar's clock. Where a machine was asleep, the other one may have stood still meanwhile;
    a connection has been idle for as long as either says.

    A process has one event loop at a time. Where a second one runs beside it, in another thread, each has `size`.
    """

    def __init__(
        self,
        connect: Connect,
        *,
        size: int,
        clock: Callable[[], float],
        call_seconds: float = math.inf,
        wall: Callable[[], float] = time.time,
    ) -> None:
        if size < 1:
            raise ValueError("a pool keeps at least one connection")
        self._connect = connect
        self._size = size
        self._clock, self._wall = clock, wall
        # Below the deadline of a call, or who only queued would hear that the server did not answer.
        self._call_seconds = call_seconds
        self._loops: dict[asyncio.AbstractEventLoop, _LoopPool] = {}
        weakref.finalize(self, _let_go, self._loops).atexit = False

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Lease]:
        """A connection for one call; `UpstreamBusy` when none comes free within `QUEUE_SECONDS`."""
        here = self._here()
        await self._wait_for_turn(here)
        try:
            lease = await self._lease(here)
            try:
                yield lease
            finally:
                self._take_back(here, lease)
        finally:
            here.turns.release()

    async def replace(self, connection: ImapConnection) -> ImapConnection:
        """A fresh connection instead of one that died while lent."""
        here = self._here()
        self._drop(here, connection)
        return await self._open(here)

    async def aclose(self) -> None:
        """Say LOGOUT on every idle connection of this loop and forget it; a lent one ends with its call."""
        here = self._here()
        idle, here.idle = here.idle, []
        here.connections.difference_update(each.connection for each in idle)
        await asyncio.gather(*(each.connection.aclose() for each in idle))

    def _here(self) -> _LoopPool:
        """The running loop's part; parts of loops that no longer run are dropped, never awaited."""
        running = asyncio.get_running_loop()
        for loop in [loop for loop in self._loops if loop is not running and not loop.is_running()]:
            _discard(self._loops.pop(loop))
        if running not in self._loops:
            self._loops[running] = _LoopPool(asyncio.Semaphore(self._size))
        return self._loops[running]

    async def _wait_for_turn(self, here: _LoopPool) -> None:
        try:
            async with asyncio.timeout(min(QUEUE_SECONDS, self._call_seconds / 2)):
                await here.turns.acquire()
        except TimeoutError:
            raise UpstreamBusy from None

    async def _lease(self, here: _LoopPool) -> Lease:
        self._close_overdue(here)
        # The newest first: the others grow old and are closed when there is less to do.
        while here.idle:
            kept = here.idle.pop()
            if kept.connection.closed:
                self._drop(here, kept.connection)
                continue
            doubted = self._idle_seconds(kept) > CONNECTION_TRUSTED_SECONDS
            return Lease(self, kept.connection, reused=True, doubted=kept if doubted else None)
        return Lease(self, await self._open(here), reused=False)

    def forget_idle(self) -> None:
        """Let go of every connection of this loop that is not lent."""
        here = self._here()
        idle, here.idle = here.idle, []
        for each in idle:
            self._drop(here, each.connection)

    def _idle_seconds(self, kept: _Idle) -> float:
        return max(self._clock() - kept.since, self._wall() - kept.since_wall)

    async def _open(self, here: _LoopPool) -> ImapConnection:
        connection = await self._connect()
        here.connections.add(connection)
        return connection

    def _take_back(self, here: _LoopPool, lease: Lease) -> None:
        connection = lease.connection
        # Whoever gave it back while a command is in flight did not wait for its answer: in doubt, so not used again.
        if connection.closed or connection.busy:
            self._drop(here, connection)
        else:
            here.idle.append(lease.doubted or _Idle(connection, self._clock(), self._wall()))

    def _close_overdue(self, here: _LoopPool) -> None:
        overdue = [each for each in here.idle if self._idle_seconds(each) > CONNECTION_IDLE_SECONDS]
        here.idle = [each for each in here.idle if each not in overdue]
        for each in overdue:
            self._drop(here, each.connection)

    def _drop(self, here: _LoopPool, connection: ImapConnection) -> None:
        here.connections.discard(connection)
        connection.abort()


def _let_go(loops: dict[asyncio.AbstractEventLoop, _LoopPool]) -> None:
    """What is left of a pool that is gone; it may run in any thread and at any moment, so nothing is awaited."""
    for part in loops.values():
        _discard(part)


def _discard(part: _LoopPool) -> None:
    for connection in part.connections:
        connection.discard()
