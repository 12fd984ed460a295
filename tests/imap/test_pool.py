"""Lending: how many, to whom, how long a connection is kept, and what happens when the loop under it ends."""

from __future__ import annotations

import asyncio
import gc
import math
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import pytest

from mailgate.errors import UpstreamAuthFailed, UpstreamBusy, UpstreamTimeout, UpstreamUnavailable
from mailgate.imap import commands, pool
from mailgate.imap.commands import Command
from mailgate.imap.exchange import CommandResult, Request
from mailgate.imap.pool import ConnectionPool
from mailgate.imap.responses import Status, Tagged
from mailgate.limits import CONNECTION_IDLE_SECONDS, CONNECTION_TRUSTED_SECONDS


@dataclass(eq=False)
class FakeConnection:
    """Answers OK to everything, until told otherwise."""

    closed: bool = False
    answered: bool = False
    dies: bool = False
    silent: bool = False
    busy: bool = False
    dies_at: str = ""
    flights: list[list[str]] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    ended: str | None = None

    utf8 = False

    async def settle(self, *, seconds: float) -> None:
        """Nothing is outstanding."""

    async def run_all(self, *requests: Request, seconds: float) -> tuple[CommandResult, ...]:
        self.flights.append([each.command.kind for each in requests])
        self.answered = False
        return tuple([await self.run(each.command, seconds=seconds, enough=each.enough) for each in requests])

    async def run(self, command: Command, *, seconds: float, enough: int | None = None) -> CommandResult:
        self.ran.append(command.kind)
        if self.silent:
            self.closed = True
            raise UpstreamTimeout
        if self.dies or self.dies_at == command.kind:
            self.closed = True
            raise UpstreamUnavailable
        self.answered = True
        return CommandResult(Tagged("A1", Status.OK), ())

    def abort(self) -> None:
        self.closed, self.ended = True, self.ended or "aborted"

    def discard(self) -> None:
        self.closed, self.ended = True, "discarded"

    async def aclose(self) -> None:
        self.closed, self.ended = True, "logged out"


class Bench:
    """A pool over fake connections, and everything it opened."""

    def __init__(self, size: int = 2, *, call_seconds: float = math.inf) -> None:
        self.opened: list[FakeConnection] = []
        self.now = self.wall = 1000.0
        self.refuses = False
        self.pool = ConnectionPool(
            self._connect,  # type: ignore[arg-type]
            size=size,
            clock=lambda: self.now,
            call_seconds=call_seconds,
            wall=lambda: self.wall,
        )

    async def _connect(self) -> FakeConnection:
        if self.refuses:
            raise UpstreamAuthFailed
        self.opened.append(FakeConnection())
        return self.opened[-1]

    async def use(self) -> FakeConnection:
        async with self.pool.lend() as lease:
            await lease.make_sure(seconds=1)
            return lease.connection  # type: ignore[return-value]


@pytest.fixture
def bench() -> Bench:
    return Bench()


async def test_one_call_after_another_uses_one_connection(bench: Bench) -> None:
    assert await bench.use() is await bench.use()
    assert len(bench.opened) == 1
    assert bench.opened[0].ran == []


async def test_two_calls_at_once_use_two_connections_and_no_more(bench: Bench) -> None:
    async with bench.pool.lend(), bench.pool.lend():
        waiting = asyncio.ensure_future(bench.use())
        await asyncio.sleep(0)
        assert not waiting.done()
    assert await waiting in bench.opened
    assert len(bench.opened) == 2


async def test_a_call_that_waits_too_long_is_told_that_all_are_busy(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "QUEUE_SECONDS", 0.02)
    async with bench.pool.lend(), bench.pool.lend():
        with pytest.raises(UpstreamBusy):
            await bench.use()
    assert await bench.use()


async def test_waiting_takes_at_most_half_of_the_time_a_call_has() -> None:
    bench = Bench(size=1, call_seconds=0.04)
    async with bench.pool.lend():
        with pytest.raises(UpstreamBusy):
            await bench.use()


async def test_a_refused_login_frees_its_place(bench: Bench) -> None:
    bench.refuses = True
    for _ in range(5):
        with pytest.raises(UpstreamAuthFailed):
            await bench.use()
    bench.refuses = False
    async with bench.pool.lend(), bench.pool.lend():
        assert len(bench.opened) == 2


async def test_a_cancelled_call_frees_its_place(bench: Bench) -> None:
    async def hold() -> None:
        async with bench.pool.lend():
            await asyncio.Event().wait()

    for _ in range(3):
        holding = asyncio.ensure_future(hold())
        await asyncio.sleep(0.001)
        holding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await holding
    async with bench.pool.lend(), bench.pool.lend():
        pass


async def test_a_connection_that_was_closed_while_lent_is_not_kept(bench: Bench) -> None:
    first = await bench.use()
    first.closed = True
    assert await bench.use() is not first


async def test_a_connection_given_back_in_the_middle_of_a_command_is_not_kept(bench: Bench) -> None:
    first = await bench.use()
    async with bench.pool.lend():
        first.busy = True
    assert await bench.use() is not first
    assert first.ended == "aborted"


async def test_an_error_of_the_caller_does_not_cost_the_connection(bench: Bench) -> None:
    with pytest.raises(ValueError, match="mine"):
        async with bench.pool.lend():
            raise ValueError("mine")
    await bench.use()
    assert len(bench.opened) == 1


async def test_a_recently_used_connection_is_trusted(bench: Bench) -> None:
    await bench.use()
    bench.now += CONNECTION_TRUSTED_SECONDS
    await bench.use()
    assert bench.opened[0].ran == []


async def test_an_idle_connection_is_asked_before_it_is_lent(bench: Bench) -> None:
    await bench.use()
    bench.now += CONNECTION_TRUSTED_SECONDS + 1
    assert await bench.use() is bench.opened[0]
    assert bench.opened[0].ran == ["NOOP"]


async def test_an_idle_connection_that_does_not_answer_is_replaced(bench: Bench) -> None:
    first = await bench.use()
    first.dies = True
    bench.now += CONNECTION_TRUSTED_SECONDS + 1
    assert await bench.use() is not first
    assert first.ended == "aborted"


async def test_a_connection_idle_for_too_long_is_closed_unasked(bench: Bench) -> None:
    first = await bench.use()
    bench.now += CONNECTION_IDLE_SECONDS + 1
    assert await bench.use() is not first
    assert (first.ran, first.ended) == ([], "aborted")


async def test_a_machine_that_slept_counts_the_time_of_the_calendar(bench: Bench) -> None:
    first = await bench.use()
    bench.wall += CONNECTION_TRUSTED_SECONDS + 1
    assert await bench.use() is first
    assert first.ran == ["NOOP"]
    bench.wall += CONNECTION_IDLE_SECONDS + 1
    assert await bench.use() is not first


async def test_a_calendar_that_was_set_back_makes_nothing_younger(bench: Bench) -> None:
    first = await bench.use()
    bench.wall -= 3600
    bench.now += CONNECTION_TRUSTED_SECONDS + 1
    assert await bench.use() is first
    assert first.ran == ["NOOP"]


async def both(bench: Bench) -> None:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(bench.pool.lend())
        await stack.enter_async_context(bench.pool.lend())


async def test_one_connection_that_is_silent_speaks_for_those_idle_longer(bench: Bench) -> None:
    await both(bench)
    for each in bench.opened:
        each.silent = True
    bench.now += CONNECTION_TRUSTED_SECONDS + 1
    assert await bench.use() is bench.opened[2]
    assert [each.ended for each in bench.opened] == ["aborted", "aborted", None]
    assert sorted(each.ran for each in bench.opened[:2]) == [[], ["NOOP"]]


async def test_a_connection_that_was_closed_speaks_for_itself_alone(bench: Bench) -> None:
    await both(bench)
    bench.opened[0].dies = bench.opened[1].dies = True
    bench.now += CONNECTION_TRUSTED_SECONDS + 1
    assert await bench.use() is bench.opened[2]
    assert sorted(str(each.ended) for each in bench.opened) == ["None", "None", "aborted"]


async def test_several_commands_take_the_question_along(bench: Bench) -> None:
    await bench.use()
    bench.now += CONNECTION_TRUSTED_SECONDS + 1
    async with bench.pool.lend() as lease:
        answers = await lease.first_of(Request(commands.capability()), Request(commands.logout()), seconds=1)
    assert len(answers) == 2
    assert bench.opened[0].flights == [["NOOP", "CAPABILITY", "LOGOUT"]]


async def test_a_single_command_waits_for_the_answer_to_the_question(bench: Bench) -> None:
    await bench.use()
    bench.now += CONNECTION_TRUSTED_SECONDS + 1
    async with bench.pool.lend() as lease:
        await lease.first(commands.capability(), seconds=1)
    assert bench.opened[0].flights == [["NOOP"], ["CAPABILITY"]]


@pytest.mark.parametrize("fault", ["silent", "dies"])
async def test_what_a_dead_connection_was_asked_together_with_the_question_is_asked_again(
    bench: Bench, fault: str
) -> None:
    first = await bench.use()
    setattr(first, fault, True)
    bench.now += CONNECTION_TRUSTED_SECONDS + 1
    async with bench.pool.lend() as lease:
        answers = await lease.first_of(Request(commands.capability()), Request(commands.logout()), seconds=1)
    assert len(answers) == 2
    assert bench.opened[1].flights == [["CAPABILITY", "LOGOUT"]]


async def test_a_connection_that_answered_the_question_and_then_fails_is_not_replaced(bench: Bench) -> None:
    first = await bench.use()
    first.dies_at = "LOGOUT"
    bench.now += CONNECTION_TRUSTED_SECONDS + 1
    async with bench.pool.lend() as lease:
        with pytest.raises(UpstreamUnavailable):
            await lease.first_of(Request(commands.capability()), Request(commands.logout()), seconds=1)
    assert len(bench.opened) == 1


async def test_a_connection_lent_and_not_used_is_no_younger_for_it(bench: Bench) -> None:
    await bench.use()
    bench.now += CONNECTION_TRUSTED_SECONDS + 1
    async with bench.pool.lend():
        pass
    await bench.use()
    assert bench.opened[0].ran == ["NOOP"]


async def test_a_pool_that_nobody_has_any_more_lets_go_of_its_connections() -> None:
    bench = Bench()
    await both(bench)
    opened = bench.opened
    del bench
    gc.collect()
    assert [each.ended for each in opened] == ["discarded", "discarded"]


async def test_the_newest_connection_is_lent_first_so_that_others_grow_old(bench: Bench) -> None:
    async with AsyncExitStack() as both:
        await both.enter_async_context(bench.pool.lend())
        await both.enter_async_context(bench.pool.lend())
    newest = await bench.use()
    bench.now += CONNECTION_IDLE_SECONDS - 1
    assert await bench.use() is newest
    bench.now += 2
    assert await bench.use() is newest
    assert [each.ended for each in bench.opened if each is not newest] == ["aborted"]


async def test_the_first_read_is_repeated_on_a_fresh_connection(bench: Bench) -> None:
    first = await bench.use()
    first.dies = True
    async with bench.pool.lend() as lease:
        assert (await lease.first(commands.noop(), seconds=1)).ok
        assert lease.connection is bench.opened[1]
    assert first.ran == ["NOOP"]
    assert await bench.use() is bench.opened[1]


async def test_what_was_partly_answered_is_not_repeated(bench: Bench) -> None:
    first = await bench.use()
    first.dies_at = "LOGOUT"
    async with bench.pool.lend() as lease:
        with pytest.raises(UpstreamUnavailable):
            await lease.first_of(Request(commands.noop()), Request(commands.logout()), seconds=1)
    assert len(bench.opened) == 1


async def test_the_second_read_of_a_call_is_not_repeated(bench: Bench) -> None:
    first = await bench.use()
    async with bench.pool.lend() as lease:
        await lease.first(commands.noop(), seconds=1)
        first.dies = True
        with pytest.raises(UpstreamUnavailable):
            await lease.first(commands.noop(), seconds=1)
    assert len(bench.opened) == 1


async def test_a_change_is_never_given_to_the_repeating_way(bench: Bench) -> None:
    @dataclass
    class Change:
        changes_state: bool = True

    async with bench.pool.lend() as lease:
        with pytest.raises(ValueError, match="never repeated"):
            await lease.first(Change(), seconds=1)  # type: ignore[arg-type]


async def test_closing_logs_out_what_is_idle(bench: Bench) -> None:
    first = await bench.use()
    await bench.pool.aclose()
    assert first.ended == "logged out"
    assert await bench.use() is not first


def test_connections_of_an_ended_loop_are_dropped_and_never_awaited(bench: Bench) -> None:
    first = asyncio.run(bench.use())
    second = asyncio.run(bench.use())
    assert first is not second
    assert first.ended == "discarded"
    assert first.ran == []


# The call is abandoned on purpose; from 3.13 on, Python says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_call_cut_off_with_its_loop_does_not_count_any_more() -> None:
    bench = Bench(size=1)

    async def abandon() -> None:
        await bench.pool.lend().__aenter__()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(abandon())
    loop.close()
    assert asyncio.run(bench.use()) is bench.opened[1]
    assert bench.opened[0].ended == "discarded"


def test_a_loop_that_still_runs_keeps_its_connections(bench: Bench) -> None:
    async def outer() -> None:
        mine = await bench.use()
        other = await asyncio.to_thread(asyncio.run, bench.use())
        assert other is not mine
        assert await bench.use() is mine

    asyncio.run(outer())


def test_a_pool_keeps_at_least_one() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Bench(size=0)
