"""Mod-sequences (RFC 7162, section 3.1): they grow with every change and guard a STORE."""

from __future__ import annotations

from tests.demo.raw_client import Literal, numbered_mailbox, serving


async def test_a_store_on_a_message_changed_since_is_left_undone_and_named() -> None:
    async with serving(numbered_mailbox(3)) as peer:
        client, other = await peer.connect(b"INBOX"), await peer.connect(b"INBOX")
        await other.do(b"UID STORE 2 +FLAGS.SILENT (\\Flagged)")
        answer = await client.do(b"UID STORE 1:3 (UNCHANGEDSINCE 4) +FLAGS (\\Seen)")
        assert answer.ok
        assert answer.code(b"MODIFIED") == b"2"
        assert answer.rows_of(b"FETCH")[:2] == [
            b"1 FETCH (UID 1 FLAGS (\\Seen) MODSEQ (6))",
            b"3 FETCH (UID 3 FLAGS (\\Seen) MODSEQ (7))",
        ]
        assert peer.mailbox.folder("INBOX").messages[2].flags == {"\\Flagged"}


async def test_modified_names_sequence_numbers_for_store_without_uid() -> None:
    mailbox = numbered_mailbox(3)
    mailbox.folder("INBOX").expunge([1])
    async with serving(mailbox) as peer:
        answer = await (await peer.connect(b"INBOX")).do(b"STORE 1:2 (UNCHANGEDSINCE 1) +FLAGS (\\Seen)")
        assert answer.code(b"MODIFIED") == b"1:2"


async def test_a_silent_conditional_store_still_tells_the_new_mod_sequence() -> None:
    async with serving(numbered_mailbox(1)) as peer:
        answer = await (await peer.connect(b"INBOX")).do(b"UID STORE 1 (UNCHANGEDSINCE 2) +FLAGS.SILENT (\\Seen)")
        assert answer.rows == [b"1 FETCH (UID 1 MODSEQ (3))"]


async def test_a_store_that_changes_nothing_keeps_the_mod_sequence() -> None:
    async with serving(numbered_mailbox(1, flags=("\\Seen",))) as peer:
        client = await peer.connect(b"INBOX")
        assert (await client.do(b"UID STORE 1 +FLAGS (\\Seen)")).ok
        assert (await client.do(b"UID FETCH 1 MODSEQ")).rows == [b"1 FETCH (UID 1 MODSEQ (2))"]


async def test_mod_sequences_are_told_only_once_the_client_has_shown_that_it_knows_them() -> None:
    async with serving(numbered_mailbox(2)) as peer:
        client = await peer.connect(b"INBOX")
        assert (await client.do(b"UID STORE 1 +FLAGS (a)")).rows == [b"1 FETCH (UID 1 FLAGS (a))"]
        await client.do(b"ENABLE CONDSTORE")
        assert (await client.do(b"UID STORE 1 +FLAGS (b)")).rows == [b"1 FETCH (UID 1 FLAGS (a b) MODSEQ (5))"]
        peer.mailbox.folder("INBOX").change_flags(2, "+", ("c",))
        assert (await client.do(b"NOOP")).rows == [b"2 FETCH (UID 2 FLAGS (c) MODSEQ (6))"]


async def test_fetch_changed_since_gives_only_the_newer_ones() -> None:
    async with serving(numbered_mailbox(3)) as peer:
        answer = await (await peer.connect(b"INBOX")).do(b"UID FETCH 1:* (FLAGS) (CHANGEDSINCE 3)")
        assert answer.rows == [b"3 FETCH (UID 3 FLAGS () MODSEQ (4))"]


async def test_search_by_mod_sequence_tells_the_highest_found() -> None:
    async with serving(numbered_mailbox(3)) as peer:
        client = await peer.connect(b"INBOX")
        assert (await client.do(b"UID SEARCH MODSEQ 3")).rows == [b"SEARCH 2 3 (MODSEQ 4)"]
        assert (await client.do(b'UID SEARCH MODSEQ "/flags/\\\\draft" all 99')).rows == [b"SEARCH"]
        assert (await client.do(b"SEARCH RETURN (COUNT) MODSEQ 3")).rows == [b'ESEARCH (TAG "t5") COUNT 2 MODSEQ 4']


async def test_highest_mod_sequence_grows_with_append_store_and_expunge() -> None:
    async with serving(numbered_mailbox(1)) as peer:
        client = await peer.connect(b"INBOX")
        seen = []
        for command in (b"UID STORE 1 +FLAGS (\\Deleted)", b"EXPUNGE", b"NOOP"):
            await client.do(command)
            await client.do(b"APPEND Other ", Literal(b"x: y\r\n\r\n"))
            row = (await client.do(b"STATUS INBOX (HIGHESTMODSEQ)")).rows_of(b"STATUS")[0]
            seen.append(int(row.split()[-1].rstrip(b")")))
        assert seen[0] < seen[1] == seen[2]
