"""One connection: one command at a time, a deadline over the whole of it, and no second use once in doubt."""

from __future__ import annotations

import asyncio
import gc
from dataclasses import dataclass

import pytest

from mailgate.errors import (
    OutcomeUnknown,
    UpstreamProtocolError,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mailgate.imap import commands, connection, receiving
from mailgate.imap.commands import CommandKind
from mailgate.imap.connection import ImapConnection
from mailgate.imap.responses import Exists, FetchData, Status
from mailgate.imap.values import Uid
from tests.imap.sessions import loopback, peer_in_a_thread, session
from tests.peers.scripted_imap import ScriptedImap, script

FETCH = commands.uid_fetch([Uid(5)], ["FLAGS"])


@dataclass(frozen=True)
class Change:
    """A command that changes the mailbox; the first of its two pieces ends in a literal's announcement."""

    kind: CommandKind = CommandKind.NOOP
    changes_state: bool = True
    literal: bool = False

    def pieces(self, tag: str) -> tuple[bytes, ...]:
        if self.literal:
            return (f"{tag} APPEND x {{2}}\r\n".encode(), b"hi\r\n")
        return (f"{tag} MOVE 5 x\r\n".encode(),)


async def test_two_commands_at_once_go_out_one_after_the_other() -> None:
    async with session("C: $ NOOP\nS: * 4 EXISTS\nS: $ OK one\nC: $ CAPABILITY\nS: * 5 EXISTS\nS: $ OK two") as made:
        first, second = await asyncio.gather(
            made.connection.run(commands.noop(), seconds=2), made.connection.run(commands.capability(), seconds=2)
        )
    assert (first.of(Exists), second.of(Exists)) == ([Exists(4)], [Exists(5)])


async def test_no_and_bad_are_results_and_leave_the_connection_usable() -> None:
    async with session("C: $ NOOP\nS: $ NO no\nC: $ NOOP\nS: $ BAD bad\nC: $ NOOP\nS: $ OK ok") as made:
        statuses = [(await made.connection.run(commands.noop(), seconds=2)).tagged.status for _ in range(3)]
        assert statuses == [Status.NO, Status.BAD, Status.OK]
        assert not made.connection.closed


async def test_a_cancelled_command_ends_the_connection() -> None:
    async with session("C: $ UID FETCH ...\nS: * 1 FETCH (UID 5 FLAGS ())\nS-stall") as made:
        running = asyncio.ensure_future(made.connection.run(FETCH, seconds=5))
        while not made.connection.answered:
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert made.connection.closed
        with pytest.raises(UpstreamUnavailable):
            await made.connection.run(FETCH, seconds=5)


async def test_a_timed_out_command_ends_the_connection() -> None:
    async with session("C: $ UID FETCH ...\nS-stall") as made:
        with pytest.raises(UpstreamTimeout):
            await made.connection.run(FETCH, seconds=0.05)
        assert made.connection.closed


async def test_rows_between_two_commands_belong_to_neither() -> None:
    async with session(
        "C: $ NOOP\nS: $ OK one\nS: * 9 FETCH (UID 5 FLAGS (\\Deleted))\nC: $ UID FETCH ...\n"
        "S: * 1 FETCH (UID 5 FLAGS ())\nS: $ OK two"
    ) as made:
        assert (await made.connection.run(commands.noop(), seconds=2)).untagged == ()
        result = await made.connection.run(FETCH, seconds=2)
    assert [row.flags for row in result.of(FetchData)] == [()]


async def test_an_answer_to_no_command_ends_the_connection() -> None:
    async with session("C: $ NOOP\nS: $ OK one\nS: $ OK again\nC-gone") as made:
        await made.connection.run(commands.noop(), seconds=2)
        await made.peer.done()
        assert made.connection.closed


async def test_bye_between_commands_ends_the_connection() -> None:
    async with session("C: $ NOOP\nS: $ OK one\nS: * BYE idle for too long\nC-gone") as made:
        await made.connection.run(commands.noop(), seconds=2)
        await made.peer.done()
        assert made.connection.closed


async def test_an_endless_line_is_cut_at_the_bound() -> None:
    async with session("C: $ NOOP\nS-drip: " + "x" * 65_536) as made:
        with pytest.raises(UpstreamProtocolError):
            await made.connection.run(commands.noop(), seconds=5)
        assert made.connection.closed


async def test_endless_rows_are_cut_at_the_bound() -> None:
    async with session("C: $ NOOP\nS-repeat: 1..20001 * {n} EXISTS\nS-stall") as made:
        with pytest.raises(UpstreamProtocolError):
            await made.connection.run(commands.noop(), seconds=5)


async def test_a_fault_of_our_own_parser_ends_the_connection_and_says_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(frame: object) -> None:
        raise LookupError("canary")

    async with session("C: $ NOOP\nS: * 4 EXISTS\nC-gone") as made:
        monkeypatch.setattr(receiving, "parse_response", broken)
        with pytest.raises(UpstreamProtocolError) as raised:
            await made.connection.run(commands.noop(), seconds=2)
    assert "canary" not in str(raised.value) + caplog.text


async def test_enough_rows_end_the_command_and_the_connection() -> None:
    async with session("C: $ NOOP\nS: * 1 EXISTS\nS: * 2 EXISTS\nS: * 3 EXISTS\nS-stall") as made:
        result = await made.connection.run(commands.noop(), seconds=2, enough=2)
        assert (result.ok, result.cut, result.of(Exists)) == (True, True, [Exists(1), Exists(2)])
        assert made.connection.closed


async def test_a_change_whose_connection_was_lost_is_unknown() -> None:
    async with session("C: $ MOVE ...\nS-cut") as made:
        with pytest.raises(OutcomeUnknown):
            await made.connection.run(Change(), seconds=2)  # type: ignore[arg-type]


async def test_a_change_without_an_answer_in_time_is_unknown() -> None:
    async with session("C: $ MOVE ...\nS-stall") as made:
        with pytest.raises(OutcomeUnknown):
            await made.connection.run(Change(), seconds=0.05)  # type: ignore[arg-type]


async def test_a_change_that_was_refused_is_known() -> None:
    async with session("C: $ MOVE ...\nS: $ NO not that") as made:
        assert not (await made.connection.run(Change(), seconds=2)).ok  # type: ignore[arg-type]


async def test_a_change_whose_literal_never_left_did_not_happen() -> None:
    async with session("C: $ APPEND x {2}\nS-stall") as made:
        with pytest.raises(UpstreamTimeout):
            await made.connection.run(Change(literal=True), seconds=0.05)  # type: ignore[arg-type]


async def test_a_change_on_a_closed_connection_did_not_happen() -> None:
    async with session("C-gone") as made:
        made.connection.abort()
        with pytest.raises(UpstreamUnavailable):
            await made.connection.run(Change(), seconds=2)  # type: ignore[arg-type]


async def test_success_before_the_literal_was_sent_is_no_success() -> None:
    async with session("C: $ APPEND x {2}\nS: $ OK stored\nC-gone") as made:
        with pytest.raises(UpstreamProtocolError):
            await made.connection.run(Change(literal=True), seconds=2)  # type: ignore[arg-type]


async def test_closing_says_logout_and_takes_bye_for_an_answer() -> None:
    async with session("C: $ LOGOUT\nS: * BYE bye\nS: $ OK done\nS-close") as made:
        await made.connection.aclose()
        assert made.connection.closed


async def test_closing_does_not_wait_for_a_server_that_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "LIVENESS_SECONDS", 0.05)
    async with session("C: $ LOGOUT\nS-stall") as made:
        await made.connection.aclose()
        assert made.connection.closed


async def test_a_server_that_never_greets_is_a_timeout() -> None:
    async with ScriptedImap([script("S-stall")]) as peer:
        with pytest.raises(UpstreamTimeout):
            await ImapConnection.open(loopback(peer.port), None, seconds=0.05)
        await peer.done()


async def test_a_greeting_that_drips_is_a_timeout() -> None:
    async with ScriptedImap([script("S-drip: *")]) as peer:
        with pytest.raises(UpstreamTimeout):
            await ImapConnection.open(loopback(peer.port), None, seconds=0.05)
        await peer.done()


async def test_a_server_that_hangs_up_without_a_greeting_is_unavailable() -> None:
    async with ScriptedImap([script("S-close")]) as peer:
        with pytest.raises(UpstreamUnavailable):
            await ImapConnection.open(loopback(peer.port), None, seconds=2)


async def test_a_port_nobody_listens_on_is_unavailable() -> None:
    async with ScriptedImap([]) as peer:
        port = peer.port
    with pytest.raises(UpstreamUnavailable):
        await ImapConnection.open(loopback(port), None, seconds=2)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_connection_of_a_loop_that_ended_is_discarded_without_waiting() -> None:
    with peer_in_a_thread("S: * OK hello\nC-gone") as peer:
        loop = asyncio.new_event_loop()
        left_over = loop.run_until_complete(ImapConnection.open(loopback(peer.port), None, seconds=2))[0]
        loop.close()
        left_over.discard()
        assert left_over.closed
        del left_over, loop
        gc.collect()


async def test_no_more_of_a_literal_is_kept_than_was_asked_for() -> None:
    text = "C: $ UID FETCH ...\nS: * 1 FETCH (UID 5 BODY[] {10}\nS: 0123456789)\nS: $ OK one\n"
    async with session(text + text) as made:
        cut, whole = [
            (await made.connection.run(FETCH, seconds=2, keep_literal=keep)).of(FetchData)[0].source
            for keep in (3, None)
        ]
    assert (cut, cut is not None and cut.truncated) == (b"012", True)
    assert (whole, whole is not None and whole.truncated) == (b"0123456789", False)
