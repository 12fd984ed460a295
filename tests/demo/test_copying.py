"""COPY and MOVE, and the codes that tell where a message went."""

from __future__ import annotations

import pytest

from tests.demo.raw_client import numbered_mailbox, serving


async def test_copy_keeps_octets_flags_and_date_and_names_old_and_new_uids() -> None:
    mailbox = numbered_mailbox(4, flags=("\\Seen", "Work"))
    async with serving(mailbox) as peer:
        client = await peer.connect(b"INBOX")
        answer = await client.do(b"UID COPY 1:2,4,9 Other")
        assert answer.code(b"COPYUID") == b"1700000002 1:2,4 1:3"
        inbox, other = mailbox.folder("INBOX").messages, mailbox.folder("Other").messages
        assert [(one.raw, one.flags, one.internal_date) for one in other.values()] == [
            (inbox[uid].raw, inbox[uid].flags, inbox[uid].internal_date) for uid in (1, 2, 4)
        ]


async def test_move_tells_copyuid_before_the_expunges() -> None:
    async with serving(numbered_mailbox(4)) as peer:
        client = await peer.connect(b"INBOX")
        answer = await client.do(b"UID MOVE 2:3 Other")
        assert answer.rows == [b"OK [COPYUID 1700000002 2:3 1:2] moved", b"3 EXPUNGE", b"2 EXPUNGE"]
        assert answer.code(b"COPYUID")
        assert list(peer.mailbox.folder("INBOX").messages) == [1, 4]
        assert len(peer.mailbox.folder("Other").messages) == 2


async def test_copy_and_move_by_sequence_number() -> None:
    async with serving(numbered_mailbox(3)) as peer:
        client = await peer.connect(b"INBOX")
        assert (await client.do(b"COPY 3 Other")).code(b"COPYUID") == b"1700000002 3 1"
        assert (await client.do(b"MOVE 1 Other")).code(b"COPYUID") == b"1700000002 1 2"
        assert (await client.do(b"MOVE 3 Other")).status == b"BAD"


@pytest.mark.parametrize("verb", [b"COPY", b"MOVE"])
async def test_a_uid_that_is_gone_is_passed_over_without_a_code(verb: bytes) -> None:
    async with serving(numbered_mailbox(1)) as peer:
        answer = await (await peer.connect(b"INBOX")).do(b"UID %b 9 Other" % verb)
        assert answer.ok
        assert answer.code(b"COPYUID") is None
        assert answer.rows == []


@pytest.mark.parametrize("verb", [b"COPY", b"MOVE"])
async def test_a_missing_destination_is_not_made(verb: bytes) -> None:
    async with serving(numbered_mailbox(1)) as peer:
        answer = await (await peer.connect(b"INBOX")).do(b"UID %b 1 Nowhere" % verb)
        assert (answer.status, answer.text.split()[0]) == (b"NO", b"[TRYCREATE]")
        assert list(peer.mailbox.folder("INBOX").messages) == [1]
        assert not peer.mailbox.has("Nowhere")


async def test_copying_into_the_selected_folder_is_told_as_an_arrival() -> None:
    async with serving(numbered_mailbox(1)) as peer:
        assert (await (await peer.connect(b"INBOX")).do(b"UID COPY 1 INBOX")).rows == [b"2 EXISTS"]
