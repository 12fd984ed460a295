"""Commands that leave together: whose answer is whose, and what a server does that cannot have it."""

from __future__ import annotations

import pytest

from mailgate.errors import (
    FolderNotFound,
    MessageNotFound,
    StaleReference,
    UpstreamProtocolError,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mailgate.imap import commands, write_commands
from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.exchange import Request
from mailgate.imap.mailbox import Mailbox
from mailgate.imap.responses import Exists, FetchData
from mailgate.imap.values import INBOX, FlagDelta, FlagOperation, FolderName, ScanWindow, Uid, UidValidity
from tests.imap.sessions import mailbox_on, session
from tests.peers.scripted_imap import ScriptedImap

LOGIN = "@login IMAP4rev1\n"
EXAMINE = "C: $ EXAMINE ...\n"
OPENED = "S: * 3 EXISTS\nS: * OK [UIDVALIDITY 7] v\nS: * OK [UIDNEXT 10] n\n"
FETCH = "C: $ UID FETCH 5 ...\n"
HELLO = 'S: * 1 FETCH (UID 5 FLAGS () BODY[]<0> "hello")\n'
ALONE = "@examine\n" + FETCH + HELLO + "S: $ OK done\n"
TOGETHER = EXAMINE + FETCH + OPENED + "S: $-1 OK [READ-ONLY] done\n" + HELLO + "S: $ OK done\n"
SEVEN = UidValidity(7)
SEEN = FlagDelta(FlagOperation.ADD, ("\\Seen",))
UMLAUT = SearchCriteria(subject="grün")


async def read(mailbox: Mailbox, folder: FolderName = INBOX) -> bytes:
    async with mailbox.examine(folder, uid_validity=SEVEN) as lent:
        return (await lent.fetch_source(Uid(5), 100)).source


async def test_both_are_sent_before_either_is_answered() -> None:
    async with mailbox_on(LOGIN + TOGETHER) as (mailbox, peer):
        assert await read(mailbox) == b"hello"
        assert peer.problems == []


async def test_a_row_before_the_end_of_the_opening_belongs_to_nobody() -> None:
    text = LOGIN + EXAMINE + FETCH + HELLO + OPENED + "S: $-1 OK done\nS: $ OK done\n"
    async with mailbox_on(text) as (mailbox, peer):
        with pytest.raises(MessageNotFound):
            await read(mailbox)
        assert peer.problems == []


async def test_an_answer_from_a_folder_that_did_not_open_is_never_shown() -> None:
    refusal = 'S: $-1 NO [NONEXISTENT] none\n{row}S: $ OK done\nC: $ LIST "" "INBOX"\nS: $ OK done\n'
    async with mailbox_on(LOGIN + TOGETHER + EXAMINE + FETCH + refusal.format(row=HELLO)) as (mailbox, peer):
        assert await read(mailbox) == b"hello"
        with pytest.raises(FolderNotFound):
            await read(mailbox)
        assert peer.problems == []


async def test_a_refused_opening_refuses_what_was_sent_behind_it_and_the_connection_stays() -> None:
    text = EXAMINE + FETCH + "S: $-1 NO none\nS: $ BAD no folder is open\nC: $ LIST ...\nS: $ OK done\n"
    async with mailbox_on(LOGIN + text + TOGETHER) as (mailbox, peer):
        with pytest.raises(FolderNotFound):
            await read(mailbox)
        assert await read(mailbox) == b"hello"
        assert peer.accepted == 1
        assert peer.problems == []


async def test_an_answer_under_another_uidvalidity_is_never_shown() -> None:
    async with mailbox_on(LOGIN + TOGETHER.replace("UIDVALIDITY 7", "UIDVALIDITY 8") + TOGETHER) as (mailbox, peer):
        with pytest.raises(StaleReference):
            await read(mailbox)
        assert await read(mailbox) == b"hello"
        assert peer.problems == []


async def test_a_folder_that_was_not_opened_reads_nothing_more() -> None:
    async with mailbox_on(LOGIN + TOGETHER.replace("UIDVALIDITY 7", "UIDVALIDITY 8")) as (mailbox, peer):
        async with mailbox.examine(INBOX, uid_validity=SEVEN) as lent:
            with pytest.raises(StaleReference):
                await lent.fetch_source(Uid(5), 100)
            for again in (lent.fetch_source(Uid(5), 100), lent.fetch_summaries([Uid(5)])):
                with pytest.raises(RuntimeError):
                    await again
        assert peer.problems == []


async def test_news_after_the_opening_do_not_change_what_it_said() -> None:
    text = TOGETHER.replace(HELLO, "S: * 99 EXISTS\n" + HELLO)
    async with mailbox_on(LOGIN + text) as (mailbox, _), mailbox.examine(INBOX, uid_validity=SEVEN) as lent:
        assert (await lent.fetch_source(Uid(5), 100)).source == b"hello"
        assert lent.messages == 3


async def test_a_server_that_answers_in_another_order_is_asked_one_by_one_from_then_on() -> None:
    disorder = EXAMINE + FETCH + HELLO + "S: $ OK done\n" + OPENED + "S: $-1 OK done\n"
    async with mailbox_on(LOGIN + disorder, LOGIN + ALONE + ALONE) as (mailbox, peer):
        assert await read(mailbox) == b"hello"
        assert await read(mailbox) == b"hello"
        assert [command.split()[0] for command in peer.commands[3:]] == [b"LOGIN"] + [b"EXAMINE", b"UID"] * 2


async def test_a_command_that_only_works_alone_is_sent_alone_from_then_on() -> None:
    first = EXAMINE + FETCH + OPENED + "S: $-1 OK done\nS: $ BAD one at a time\n" + FETCH + HELLO + "S: $ OK done\n"
    async with mailbox_on(LOGIN + first + EXAMINE + OPENED + "S: $ OK done\n" + FETCH + HELLO + "S: $ OK\n") as made:
        mailbox, peer = made
        assert await read(mailbox) == b"hello"
        assert await read(mailbox) == b"hello"
        assert peer.problems == []
        assert not mailbox._experience.flights


async def test_a_command_that_is_refused_alone_too_says_nothing_about_flights() -> None:
    text = EXAMINE + FETCH + OPENED + "S: $-1 OK done\nS: $ BAD no\n" + FETCH + "S: $ BAD no\n"
    text += "C: $ UID SEARCH ...\nS: * SEARCH 5\nS: $ OK\n"
    async with mailbox_on(LOGIN + text + TOGETHER) as (mailbox, peer):
        with pytest.raises(Exception, match="refused"):
            await read(mailbox)
        assert await read(mailbox) == b"hello"
        assert peer.problems == []


async def test_nomodseq_is_learnt_and_is_no_trouble_with_flights() -> None:
    first = "C: $ EXAMINE ...\nC: $ UID FETCH 5 (UID ... MODSEQ ...\n" + OPENED
    first += "S: * OK [NOMODSEQ] none\nS: $-1 OK done\nS: $ BAD no\n"
    plain = "C: $ UID FETCH 5 (UID FLAGS INTERNALDATE RFC822.SIZE BODY...\n" + HELLO + "S: $ OK done\n"
    again = "C: $ EXAMINE ...\n" + plain.replace("S: * 1", f"{OPENED}S: * OK [NOMODSEQ] n\nS: $-1 OK\nS: * 1")
    async with mailbox_on("@login IMAP4rev1 CONDSTORE\n" + first + plain + again) as (mailbox, peer):
        assert await read(mailbox) == b"hello"
        assert await read(mailbox) == b"hello"
        assert peer.problems == []


async def test_a_second_command_that_is_swallowed_is_sent_alone_the_next_time() -> None:
    async with mailbox_on(LOGIN + EXAMINE + OPENED + "S: $ OK\nS-stall", LOGIN + ALONE, command_seconds=0.2) as made:
        mailbox, peer = made
        with pytest.raises(UpstreamTimeout):
            await read(mailbox)
        assert await read(mailbox) == b"hello"
        assert peer.problems == []


async def test_a_kept_connection_that_died_repeats_the_whole_flight_once() -> None:
    async with mailbox_on(LOGIN + TOGETHER + EXAMINE + "S-cut", LOGIN + TOGETHER) as (mailbox, peer):
        assert await read(mailbox) == b"hello"
        assert await read(mailbox) == b"hello"
        assert peer.accepted == 2


async def test_a_flight_that_had_begun_to_be_answered_is_not_repeated() -> None:
    text = LOGIN + TOGETHER + EXAMINE + FETCH + OPENED + "S: $-1 OK done\nS-cut"
    async with mailbox_on(text) as (mailbox, peer):
        assert await read(mailbox) == b"hello"
        with pytest.raises(UpstreamUnavailable):
            await read(mailbox)
        assert peer.accepted == 1


async def test_a_search_with_a_literal_waits_for_the_go_ahead_behind_the_opening() -> None:
    text = EXAMINE + "C: $ UID SEARCH CHARSET UTF-8 UID 1:9 SUBJECT {5}\n" + OPENED + "S: $-1 OK done\nS: +\nC: grün\n"
    async with mailbox_on(LOGIN + text + "S: * SEARCH 4\nS: $ OK done") as (mailbox, peer):
        async with mailbox.examine(INBOX, uid_validity=SEVEN) as lent:
            assert await lent.uid_search(UMLAUT, ScanWindow(Uid(1), Uid(9))) == (4,)
        assert peer.problems == []


async def test_a_go_ahead_before_the_opening_has_ended_breaks_the_connection() -> None:
    text = EXAMINE + "C: $ UID SEARCH ...\nS: +\nC-gone"
    async with mailbox_on(LOGIN + text) as (mailbox, peer):
        async with mailbox.examine(INBOX, uid_validity=SEVEN) as lent:
            with pytest.raises(UpstreamProtocolError):
                await lent.uid_search(UMLAUT, ScanWindow(Uid(1), Uid(9)))
        await peer.done()
        assert peer.problems == []


async def test_nothing_leaves_behind_a_literal_before_that_has_been_asked_for() -> None:
    text = "C: $ EXAMINE {1}\nS: +\nC: \\xFF\n" + OPENED + "S: $ OK done\n" + FETCH + HELLO + "S: $ OK done"
    async with mailbox_on(LOGIN + text) as (mailbox, peer):
        assert await read(mailbox, FolderName("wire:%FF")) == b"hello"
        assert peer.problems == []


UTF8 = "@login IMAP4rev1 ID ENABLE UTF8=ACCEPT\nC: $ ID ...\nC: $ ENABLE UTF8=ACCEPT\n"
CONFIRMED = "S: $-1 OK\nS: * ENABLED UTF8=ACCEPT\nS: $ OK\n"


async def test_the_introduction_leaves_with_the_first_command() -> None:
    text = EXAMINE + FETCH + "S: $-3 OK\nS: * ENABLED UTF8=ACCEPT\nS: $-2 OK\n"
    async with mailbox_on(UTF8 + text + TOGETHER.partition(FETCH)[2]) as (mailbox, peer):
        assert await read(mailbox) == b"hello"
        assert peer.problems == []


@pytest.mark.parametrize("name", ["grün", "a&b"])
async def test_a_name_that_depends_on_utf8_waits_for_the_confirmation(name: str) -> None:
    spelt = {"grün": "{5}\nS: +\nC: grün", "a&b": '"a&b"'}[name]
    text = f"C: $ EXAMINE {spelt}\n" + OPENED + "S: $ OK\n" + FETCH + HELLO + "S: $ OK\n"
    if name == "a&b":
        text = TOGETHER.replace("EXAMINE ...", f"EXAMINE {spelt}")
    async with mailbox_on(UTF8 + CONFIRMED + text) as (mailbox, peer):
        assert await read(mailbox, FolderName(name)) == b"hello"
        assert peer.problems == []


async def test_a_name_that_depends_on_utf8_is_encoded_where_it_is_not_confirmed() -> None:
    text = (
        UTF8
        + CONFIRMED.replace("S: * ENABLED UTF8=ACCEPT\n", "")
        + TOGETHER.replace("EXAMINE ...", 'EXAMINE "gr&APw-n"')
    )
    async with mailbox_on(text) as (mailbox, peer):
        assert await read(mailbox, FolderName("grün")) == b"hello"
        assert peer.problems == []


async def test_a_change_leaves_only_after_its_folder_has_been_opened() -> None:
    text = (
        'C: $ SELECT "INBOX"\n'
        + OPENED
        + "S: $ OK done\nC: $ UID STORE ...\nS: * 1 FETCH (UID 5 FLAGS (\\Seen))\nS: $ OK"
    )
    async with mailbox_on(LOGIN + text) as (mailbox, peer):
        async with mailbox.select(INBOX, uid_validity=SEVEN) as lent:
            assert (await lent.store(Uid(5), SEEN)).state is not None
        assert peer.problems == []


async def test_a_change_under_another_uidvalidity_is_not_sent() -> None:
    async with mailbox_on(LOGIN + "@select uidvalidity=8") as (mailbox, peer):
        async with mailbox.select(INBOX, uid_validity=SEVEN) as lent:
            with pytest.raises(StaleReference):
                await lent.store(Uid(5), SEEN)
        assert [command.split()[0] for command in peer.commands] == [b"LOGIN", b"SELECT"]
        assert peer.problems == []


# --- the connection alone ---------------------------------------------------------------------------------------


async def test_a_change_never_leaves_together_with_anything() -> None:
    async with session("") as made:
        change = Request(write_commands.uid_store(Uid(5), SEEN, None))
        with pytest.raises(ValueError, match="alone"):
            await made.connection.run_all(Request(commands.noop()), change, seconds=2)
        assert made.peer.received == []


async def test_each_command_has_what_came_while_it_was_its_turn() -> None:
    text = "C: $ NOOP\nC: $ NOOP\nC: $ NOOP\nS: * 1 EXISTS\nS: $-2 OK\nS: $-1 NO\nS: * 3 EXISTS\nS: $ OK"
    async with session(text) as made:
        results = await made.connection.run_all(*[Request(commands.noop())] * 3, seconds=2)
    assert [[row.count for row in result.of(Exists)] for result in results] == [[1], [], [3]]
    assert [result.ok for result in results] == [True, False, True]


async def test_what_is_kept_of_a_literal_is_each_commands_own() -> None:
    row = "S: * 1 FETCH (UID 5 BODY[] {10}\nS: 0123456789)\n"
    command = commands.uid_fetch((Uid(5),), ("UID",))
    async with session("C: $ UID ...\nC: $ UID ...\n" + row + "S: $-1 OK\n" + row + "S: $ OK") as made:
        results = await made.connection.run_all(Request(command, 3), Request(command, 5), seconds=2)
    assert [result.of(FetchData)[0].source for result in results] == [b"012", b"01234"]


async def test_a_posted_command_is_answered_before_the_next_one() -> None:
    async with session("C: $ UNSELECT\nC: $ NOOP\nS: * 9 EXISTS\nS: $-1 NO\nS: $ OK") as made:
        made.connection.post(commands.unselect())
        assert not made.connection.busy
        result = await made.connection.run(commands.noop(), seconds=2)
    assert (result.ok, result.of(Exists)) == (True, [])


async def test_a_posted_command_that_breaks_the_protocol_breaks_the_connection() -> None:
    async with session("C: $ UNSELECT\nS: other OK\nC-gone") as made:
        made.connection.post(commands.unselect())
        await made.peer.done()
        with pytest.raises((UpstreamProtocolError, UpstreamUnavailable)):
            await made.connection.run(commands.noop(), seconds=2)


async def test_only_what_is_plain_and_harmless_is_posted() -> None:
    async with session("") as made:
        for command in (write_commands.uid_store(Uid(5), SEEN, None), commands.examine(b"\xff")):
            with pytest.raises(ValueError, match="posted"):
                made.connection.post(command)
        assert isinstance(made.peer, ScriptedImap)
