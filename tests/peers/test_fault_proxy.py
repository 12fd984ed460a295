"""The fault proxy does to a connection what it says, and counts right."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.peers.fault_proxy import Action, Conditions, Direction, Fault, FaultProxy, When

PATIENCE = 5.0


@pytest.fixture
async def echo() -> AsyncIterator[int]:
    """A server that answers each line with `=` and the line."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                writer.write(b"=" + line)
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def ask(port: int, *lines: bytes) -> tuple[list[bytes], type[Exception] | None]:
    """Send line by line, waiting for each answer; the answers, and what ended the connection early."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answers: list[bytes] = []
    try:
        for line in lines:
            writer.write(line)
            answers.append(await asyncio.wait_for(reader.readuntil(b"\n"), PATIENCE))
    except asyncio.IncompleteReadError as error:
        return [*answers, error.partial], EOFError
    except ConnectionResetError:
        return answers, ConnectionResetError
    finally:
        writer.transport.abort()
    return answers, None


async def test_without_faults_everything_passes_unchanged_and_is_counted(echo: int) -> None:
    async with FaultProxy(echo) as proxy:
        answers, ended = await ask(proxy.port, b"one\n", b"two\n")
    assert (answers, ended) == ([b"=one\n", b"=two\n"], None)
    assert (proxy.traffic.up, proxy.traffic.down) == (8, 10)
    assert (proxy.traffic.turns, proxy.traffic.connections) == (2, 1)
    assert proxy.traffic.sent == b"one\ntwo\n"


async def test_pipelined_lines_are_one_turn(echo: int) -> None:
    async with FaultProxy(echo) as proxy:
        await ask(proxy.port, b"one\ntwo\nthree\n")
        assert proxy.traffic.turns == 1
        proxy.traffic.reset()
        assert (proxy.traffic.up, proxy.traffic.turns, proxy.traffic.sent) == (0, 0, b"")


async def test_latency_is_paid_each_way(echo: int) -> None:
    async with FaultProxy(echo, Conditions(delay_up=0.02, delay_down=0.03)) as proxy:
        loop = asyncio.get_running_loop()
        before = loop.time()
        await ask(proxy.port, b"one\n", b"two\n")
        assert loop.time() - before >= 0.1


@pytest.mark.parametrize(
    ("action", "ended"), [(Action.RESET, ConnectionResetError), (Action.CLOSE, EOFError)], ids=["reset", "close"]
)
async def test_a_cut_after_octets_falls_inside_an_answer(echo: int, action: Action, ended: type[Exception]) -> None:
    fault = Fault(Direction.DOWN, action, after=7)
    async with FaultProxy(echo, Conditions(faults=(fault,))) as proxy:
        answers, how = await ask(proxy.port, b"one\n", b"two\n")
    assert answers[0] == b"=one\n"
    assert how is ended
    assert proxy.traffic.down == 7
    assert proxy.traffic.faults == 1


async def test_a_pattern_can_be_swallowed(echo: int) -> None:
    fault = Fault(Direction.UP, Action.CLOSE, pattern=b"two", when=When.BEFORE)
    async with FaultProxy(echo, Conditions(faults=(fault,))) as proxy:
        answers, how = await ask(proxy.port, b"one\n", b"xtwo\n")
    assert (answers, how) == ([b"=one\n", b""], EOFError)
    assert proxy.traffic.sent == b"one\nx"


async def test_a_pattern_can_be_passed_on_before_the_cut(echo: int) -> None:
    fault = Fault(Direction.UP, Action.CLOSE, pattern=b"two\n", when=When.AFTER)
    async with FaultProxy(echo, Conditions(faults=(fault,))) as proxy:
        answers, how = await ask(proxy.port, b"one\n", b"two\n")
    assert answers[0] == b"=one\n"
    assert how is EOFError
    assert proxy.traffic.sent == b"one\ntwo\n"


async def test_a_pattern_is_found_across_reads(echo: int) -> None:
    fault = Fault(Direction.DOWN, Action.RESET, pattern=b"ne\n=tw")
    async with FaultProxy(echo, Conditions(faults=(fault,))) as proxy:
        answers, how = await ask(proxy.port, b"one\n", b"two\n")
    assert answers == [b"=one\n"]
    assert how is ConnectionResetError


async def test_a_stall_leaves_the_connection_open_and_silent(echo: int) -> None:
    fault = Fault(Direction.UP, Action.STALL, pattern=b"two")
    async with FaultProxy(echo, Conditions(faults=(fault,))) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        writer.write(b"one\n")
        assert await reader.readline() == b"=one\n"
        writer.write(b"two\n")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.readline(), 0.05)
        assert not reader.at_eof()
        writer.transport.abort()


async def test_a_refusing_proxy_resets_at_once(echo: int) -> None:
    async with FaultProxy(echo, Conditions(refuse=True)) as proxy:
        _, how = await ask(proxy.port, b"one\n")
    assert how in {ConnectionResetError, EOFError}
    assert proxy.traffic.up == 0


def test_a_fault_is_set_off_by_exactly_one_thing() -> None:
    with pytest.raises(ValueError, match="either"):
        Fault(Direction.UP)
    with pytest.raises(ValueError, match="either"):
        Fault(Direction.UP, after=1, pattern=b"x")
