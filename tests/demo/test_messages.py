"""SELECT and EXAMINE, FETCH, STORE, EXPUNGE, CLOSE, and what sessions tell each other."""

from __future__ import annotations

import pytest

from mailgate.demo.store import DemoMailbox
from tests.demo.raw_client import MESSAGE, NOW, numbered_mailbox, serving

SEEN = "\\Seen"


def flags_of(mailbox: DemoMailbox, uid: int = 1) -> set[str]:
    return set(mailbox.folder("INBOX").messages[uid].flags)


@pytest.mark.parametrize(
    ("command", "code", "permanent"),
    [
        (b"SELECT", b"[READ-WRITE]", b"(\\Answered \\Flagged \\Deleted \\Seen \\Draft Extra \\*)"),
        (b"EXAMINE", b"[READ-ONLY]", b"()"),
    ],
)
async def test_opening_describes_the_folder(command: bytes, code: bytes, permanent: bytes) -> None:
    mailbox = numbered_mailbox(2, flags=(SEEN, "Extra"))
    mailbox.append("INBOX", MESSAGE, (), NOW)
    async with serving(mailbox) as peer:
        answer = await (await peer.connect(b"")).do(command + b" INBOX (CONDSTORE)")
        assert answer.text.startswith(code)
        assert answer.rows == [
            b"FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft Extra)",
            b"OK [PERMANENTFLAGS %b] kept" % permanent,
            b"3 EXISTS",
            b"0 RECENT",
            b"OK [UNSEEN 3] first unseen",
            b"OK [UIDVALIDITY 1700000001] UIDs valid",
            b"OK [UIDNEXT 4] next UID",
            b"OK [HIGHESTMODSEQ 4] highest",
        ]


PEEKING = [b"BODY.PEEK[]", b"BODY.PEEK[1]", b"RFC822.HEADER", b"BODYSTRUCTURE", b"ENVELOPE", b"FULL", b"RFC822.SIZE"]
READING = [b"BODY[]", b"BODY[HEADER]", b"BODY[1]", b"BODY[TEXT]<0.1>", b"RFC822", b"RFC822.TEXT"]


@pytest.mark.parametrize("item", PEEKING)
async def test_peeking_leaves_a_message_unseen(item: bytes) -> None:
    async with serving(numbered_mailbox()) as peer:
        assert (await (await peer.connect(b"INBOX")).do(b"UID FETCH 1 " + item)).ok
        assert flags_of(peer.mailbox) == set()


@pytest.mark.parametrize("item", READING)
async def test_reading_sets_seen_and_says_so_but_never_after_examine(item: bytes) -> None:
    async with serving(numbered_mailbox()) as peer:
        examined = await peer.connect(b"")
        await examined.do(b"EXAMINE INBOX")
        assert b"\\Seen" not in (await examined.do(b"UID FETCH 1 " + item)).rows[0]
        assert flags_of(peer.mailbox) == set()
        selected = await peer.connect(b"INBOX")
        assert b"FLAGS (\\Seen)" in (await selected.do(b"UID FETCH 1 " + item)).rows[0]
        assert flags_of(peer.mailbox) == {SEEN}


@pytest.mark.parametrize(
    "line",
    [
        b"STORE 1 +FLAGS (\\Seen)",
        b"UID STORE 1 FLAGS ()",
        b"EXPUNGE",
        b"UID EXPUNGE 1",
        b"UID MOVE 1 Other",
    ],
)
async def test_examine_permits_no_change(line: bytes) -> None:
    async with serving(numbered_mailbox(flags=("\\Deleted",))) as peer:
        client = await peer.connect(b"")
        await client.do(b"EXAMINE INBOX")
        assert (await client.do(line)).status == b"NO"
        assert (await client.do(b"CLOSE")).ok
        assert flags_of(peer.mailbox) == {"\\Deleted"}
        assert not peer.mailbox.folder("Other").messages


@pytest.mark.parametrize(
    ("item", "label", "octets"),
    [
        (b"BODY.PEEK[]", b"BODY[]", MESSAGE),
        (b"BODY.PEEK[]<5.10>", b"BODY[]<5>", MESSAGE[5:15]),
        (b"BODY.PEEK[]<100000.10>", b"BODY[]<100000>", b""),
        (b"body.peek[header]", b"BODY[HEADER]", MESSAGE[: MESSAGE.index(b"\r\n\r\n") + 4]),
        (b"BODY.PEEK[TEXT]", b"BODY[TEXT]", b"Hello Bob.\r\n"),
        (b"BODY.PEEK[1]", b"BODY[1]", b"Hello Bob.\r\n"),
        (
            b"BODY.PEEK[HEADER.FIELDS (subject X-None From)]",
            b"BODY[HEADER.FIELDS (subject X-None From)]",
            b"From: Ann <ann@example.org>\r\nSubject: Greeting\r\n\r\n",
        ),
        (
            b"BODY.PEEK[HEADER.FIELDS.NOT (From To Date Message-ID)]<0.9>",
            b"BODY[HEADER.FIELDS.NOT (From To Date Message-ID)]<0>",
            b"Subject: ",
        ),
    ],
)
async def test_sections(item: bytes, label: bytes, octets: bytes) -> None:
    mailbox = DemoMailbox()
    mailbox.append("INBOX", MESSAGE, (), NOW)
    async with serving(mailbox) as peer:
        answer = await (await peer.connect(b"INBOX")).do(b"UID FETCH 1 (%b)" % item)
        assert answer.rows == [b"1 FETCH (UID 1 %b {%d}\r\n%b)" % (label, len(octets), octets)]


async def test_fetch_by_uid_passes_over_missing_ones_and_star_is_the_last() -> None:
    async with serving(numbered_mailbox(5)) as peer:
        client = await peer.connect(b"INBOX")
        peer.mailbox.folder("INBOX").expunge([2])
        await client.do(b"NOOP")
        assert (await client.do(b"UID FETCH 1:3,9,* UID")).rows == [
            b"1 FETCH (UID 1)",
            b"2 FETCH (UID 3)",
            b"4 FETCH (UID 5)",
        ]
        assert (await client.do(b"UID FETCH 77:* UID")).rows == [b"4 FETCH (UID 5)"]
        assert (await client.do(b"UID FETCH 77 UID")).rows == []
        assert (await client.do(b"FETCH 5 UID")).status == b"BAD"
        assert (await client.do(b"FETCH 2:* (UID)")).rows[0] == b"2 FETCH (UID 3)"


@pytest.mark.parametrize(
    "items",
    [
        b"WEATHER",
        b"(FLAGS WEATHER)",
        b"BODY[MIME]",
        b"BODY[1.]",
        b"BODY[]<0>",
        b"BODY[]<0.0>",
        b"()",
        b"BODY[HEADER.FIELDS]",
    ],
)
async def test_items_that_do_not_exist_are_bad(items: bytes) -> None:
    async with serving(numbered_mailbox()) as peer:
        assert (await (await peer.connect(b"INBOX")).do(b"FETCH 1 " + items)).status == b"BAD"


@pytest.mark.parametrize(
    ("change", "row"),
    [
        (b"+FLAGS (\\flagged $Work)", b"1 FETCH (UID 1 FLAGS (\\Flagged \\Seen $Work Old))"),
        (b"-FLAGS (\\Seen OLD)", b"1 FETCH (UID 1 FLAGS ())"),
        (b"FLAGS \\Answered", b"1 FETCH (UID 1 FLAGS (\\Answered))"),
        (b"FLAGS.SILENT ()", None),
    ],
)
async def test_store(change: bytes, row: bytes | None) -> None:
    async with serving(numbered_mailbox(1, flags=(SEEN, "Old"))) as peer:
        client = await peer.connect(b"INBOX")
        answer = await client.do(b"UID STORE 1,7 " + change)
        assert answer.ok
        assert answer.rows == ([row] if row else [])


@pytest.mark.parametrize(
    "change", [b"+FLAGS (\\Recent)", b"+FLAGS (\\Odd)", b"FLOGS (\\Seen)", b"+FLAGS", b"+FLAGS (a b"]
)
async def test_store_refuses_what_is_no_flag(change: bytes) -> None:
    async with serving(numbered_mailbox()) as peer:
        assert (await (await peer.connect(b"INBOX")).do(b"STORE 1 " + change)).status == b"BAD"
        assert flags_of(peer.mailbox) == set()


async def test_expunge_removes_what_is_marked_and_renumbers_from_the_end() -> None:
    async with serving(numbered_mailbox(4)) as peer:
        client = await peer.connect(b"INBOX")
        await client.do(b"UID STORE 1,3 +FLAGS.SILENT (\\Deleted)")
        answer = await client.do(b"EXPUNGE")
        assert answer.rows == [b"3 EXPUNGE", b"1 EXPUNGE"]
        assert (await client.do(b"UID SEARCH ALL")).rows == [b"SEARCH 2 4"]


async def test_uid_expunge_removes_only_the_named_ones_that_are_marked() -> None:
    async with serving(numbered_mailbox(4)) as peer:
        client = await peer.connect(b"INBOX")
        await client.do(b"UID STORE 1,3 +FLAGS.SILENT (\\Deleted)")
        assert (await client.do(b"UID EXPUNGE 3:4")).rows == [b"3 EXPUNGE"]
        assert list(peer.mailbox.folder("INBOX").messages) == [1, 2, 4]


async def test_close_removes_what_is_marked_silently_and_unselect_does_not() -> None:
    async with serving(numbered_mailbox(2, flags=("\\Deleted",))) as peer:
        client = await peer.connect(b"INBOX")
        assert (await client.do(b"UNSELECT")).rows == []
        assert len(peer.mailbox.folder("INBOX").messages) == 2
        assert (await client.do(b"CHECK")).status == b"BAD"
        await client.do(b"SELECT INBOX")
        assert (await client.do(b"CLOSE")).rows == []
        assert not peer.mailbox.folder("INBOX").messages


async def test_a_session_learns_of_the_others_changes_when_its_own_command_ends() -> None:
    async with serving(numbered_mailbox(3)) as peer:
        one, two = await peer.connect(b"INBOX"), await peer.connect(b"INBOX")
        await one.do(b"UID STORE 1 +FLAGS.SILENT (\\Deleted)")
        await one.do(b"UID STORE 3 +FLAGS.SILENT (\\Flagged)")
        await one.do(b"EXPUNGE")
        peer.mailbox.append("INBOX", MESSAGE, (), NOW)
        # FETCH, STORE and SEARCH by sequence number must not renumber; the row of the removed message is left out.
        assert (await two.do(b"FETCH 1:3 UID")).rows == [
            b"2 FETCH (UID 2)",
            b"3 FETCH (UID 3)",
            b"4 EXISTS",
            b"3 FETCH (FLAGS (\\Flagged))",
        ]
        assert (await two.do(b"NOOP")).rows == [b"1 EXPUNGE"]
        assert (await two.do(b"NOOP")).rows == []
        assert (await two.do(b"FETCH 1:3 UID")).rows == [b"1 FETCH (UID 2)", b"2 FETCH (UID 3)", b"3 FETCH (UID 4)"]


async def test_a_failed_select_leaves_nothing_selected() -> None:
    async with serving(numbered_mailbox()) as peer:
        client = await peer.connect(b"INBOX")
        assert (await client.do(b"SELECT Nowhere")).status == b"NO"
        assert (await client.do(b"UID SEARCH ALL")).status == b"BAD"
