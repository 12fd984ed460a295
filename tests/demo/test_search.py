"""SEARCH on the sample mail: decoded, without case, combined, and strict about charsets."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from mailgate.demo.seed import samples, seed_mailbox
from mailgate.demo.store import DemoMailbox
from tests.demo.raw_client import MESSAGE, NOW, Literal, RawClient, numbered_mailbox, serving


@pytest.fixture
async def seeded() -> AsyncIterator[tuple[RawClient, DemoMailbox]]:
    mailbox = DemoMailbox()
    for sample in samples(NOW):
        mailbox.append("INBOX", sample.raw, sample.flags, sample.arrived)
    async with serving(mailbox) as peer:
        yield await peer.connect(b"INBOX"), mailbox


def names_of(mailbox: DemoMailbox, numbers: bytes) -> set[str]:
    """The Message-IDs' left sides of the UIDs in a SEARCH row."""
    found = set()
    for uid in numbers.split()[1:]:
        head, _, rest = mailbox.folder("INBOX").messages[int(uid)].raw.partition(b"Message-ID: <")
        found.add(rest.partition(b"@")[0].decode() if rest else head[:20].decode("latin-1"))
    return found


@pytest.mark.parametrize(
    ("key", "term", "names"),
    [
        (b"TEXT", "grüße aus", {"de-1", "own-1"}),
        (b"SUBJECT", "GRÜSSE AUS", set()),
        (b"SUBJECT", "GRÜßE AUS", {"de-1", "own-1"}),
        (b"BODY", "ÜBERMUT", {"de-1"}),
        (b"BODY", "билеты лучше", {"ru-1"}),
        (b"SUBJECT", "РАСПИСАНИЕ", {"ru-1"}),
        (b"BODY", "東京駅", {"ja-1"}),
        (b"FROM", "佐藤", {"ja-1"}),
        (b"SUBJECT", "京都の写真", {"ja-2"}),
        (b"BODY", "日程安排", {"zh-1"}),
        (b"BODY", "訂單已經出貨", {"zh-2"}),
        (b"SUBJECT", "회의록", {"ko-1"}),
        (b"BODY", "الأحد", {"ar-1"}),
        (b"BODY", "תודה רבה", {"he-1"}),
        (b"BODY", "ΕΥΧΑΡΙΣΤΏ", {"el-1"}),
        (b"BODY", "zażółć GĘŚLĄ", {"pl-1"}),
        (b"FROM", "raman, priya", {"report-1"}),
        (b"TO", "guest 07 <guest07", {"party-1"}),
        (b"CC", "front desk", {"party-1"}),
        (b"BODY", "Ωmega", {"charset-3"}),
        (b"BODY", "canal path is open", {"news-1"}),
        (b"BODY", "Contract draft, version 3", set()),
        (b"BODY", "my remarks are in the margin", {"inner-1", "review-1"}),
        (b"HEADER List-Id", "garden", {"list-1", "list-2", "list-3"}),
        (b"HEADER X-Loop", "", {"list-1", "list-2", "list-3"}),
        (b"HEADER Message-ID", "<lunch-1@example.org>", {"lunch-1"}),
    ],
)
async def test_terms_are_compared_decoded_and_without_case(
    seeded: tuple[RawClient, DemoMailbox], key: bytes, term: str, names: set[str]
) -> None:
    client, mailbox = seeded
    answer = await client.do(b"UID SEARCH CHARSET UTF-8 %b " % key, Literal(term.encode()))
    assert answer.ok
    found = names_of(mailbox, answer.rows[0])
    assert found == ({"review-1"} if names == {"inner-1", "review-1"} else names)


@pytest.mark.parametrize(
    ("keys", "uids"),
    [
        (b"ALL", b"1 2 3 4"),
        (b"UID 2:3", b"2 3"),
        (b"UID 1:3 UNSEEN", b"3"),
        (b"SEEN", b"1 2"),
        (b"UNSEEN", b"3 4"),
        (b"FLAGGED", b"2 3"),
        (b"UNFLAGGED", b"1 4"),
        (b"ANSWERED", b""),
        (b"DELETED", b"4"),
        (b"UNDELETED DRAFT", b"3"),
        (b"KEYWORD $work", b"3"),
        (b"UNKEYWORD $Work", b"1 2 4"),
        (b"NOT SEEN", b"3 4"),
        (b"NOT (SEEN FLAGGED)", b"1 3 4"),
        (b"OR SEEN DELETED", b"1 2 4"),
        (b"OR (SEEN UNFLAGGED) NOT UNFLAGGED", b"1 2 3"),
        (b"SINCE 2-Feb-2024", b"2 3 4"),
        (b"SINCE 2-Feb-2024 BEFORE 4-Feb-2024", b"2 3"),
        (b"BEFORE 1-feb-2024", b""),
        (b'ON "3-Feb-2024"', b"3"),
        (b"SENTSINCE 29-Jun-2026", b"1 2 3"),
        (b"SENTBEFORE 29-Jun-2026", b""),
        (b"LARGER 100", b"1 2 3"),
        (b"SMALLER 100", b"4"),
        (b"RECENT", b""),
        (b"NEW", b""),
        (b"OLD 1:2", b"1 2"),
        (b"*", b"4"),
        (b"3:*", b"3 4"),
        (b"2:9", b"2 3 4"),
        (b'SUBJECT "number 2"', b"2"),
        (b"FROM ann TO BOB@EXAMPLE.NET", b"1 2 3"),
        (b'TEXT ""', b"1 2 3 4"),
    ],
)
async def test_keys(keys: bytes, uids: bytes) -> None:
    mailbox = numbered_mailbox(0)
    flags = [("\\Seen",), ("\\Seen", "\\Flagged"), ("\\Flagged", "\\Draft", "$Work")]
    for number, some in enumerate(flags, 1):
        raw = MESSAGE.replace(b"Greeting", b"Number %d" % number)
        mailbox.append("INBOX", raw, some, NOW.replace(year=2024, month=2, day=number, hour=23))
    mailbox.append("INBOX", b"Subject: tiny\r\n\r\n", ("\\Deleted",), NOW)
    async with serving(mailbox) as peer:
        answer = await (await peer.connect(b"INBOX")).do(b"UID SEARCH " + keys)
        assert answer.rows == [b"SEARCH " + uids if uids else b"SEARCH"]


async def test_search_without_uid_answers_sequence_numbers() -> None:
    mailbox = numbered_mailbox(3)
    mailbox.folder("INBOX").expunge([1])
    async with serving(mailbox) as peer:
        client = await peer.connect(b"INBOX")
        assert (await client.do(b"SEARCH UID 2:3")).rows == [b"SEARCH 1 2"]


@pytest.mark.parametrize(
    ("options", "keys", "answer"),
    [
        (b"", b"ALL", b"UID ALL 1:3,5"),
        (b"MIN MAX COUNT", b"ALL", b"UID MIN 1 MAX 5 COUNT 4"),
        (b"COUNT ALL", b"UID 2:3", b"UID COUNT 2 ALL 2:3"),
        (b"MIN MAX ALL COUNT", b"FLAGGED", b"UID COUNT 0"),
        (b"ALL", b"FLAGGED", b"UID"),
    ],
)
async def test_esearch(options: bytes, keys: bytes, answer: bytes) -> None:
    mailbox = numbered_mailbox(5)
    mailbox.folder("INBOX").expunge([4])
    async with serving(mailbox) as peer:
        found = await (await peer.connect(b"INBOX")).do(b"UID SEARCH RETURN (%b) %b" % (options, keys))
        assert found.rows == [b'ESEARCH (TAG "t3") ' + answer]


async def test_a_charset_nobody_knows_is_refused_with_the_known_ones() -> None:
    async with serving(numbered_mailbox()) as peer:
        client = await peer.connect(b"INBOX")
        answer = await client.do(b"UID SEARCH CHARSET ISO-8859-1 TEXT a")
        assert (answer.status, answer.code(b"BADCHARSET")) == (b"NO", b"(US-ASCII UTF-8)")


@pytest.mark.parametrize(
    "keys",
    [
        b"WEATHER fine",
        b"SUBJECT",
        b"UID 0",
        b"UID 1:",
        b"SINCE 31-Feb-2024",
        b"SINCE yesterday",
        b"NOT",
        b"OR SEEN",
        b"(SEEN",
        b"()",
        b"ALL ",
        b"RETURN (WEATHER) ALL",
        b"NOT " * 50 + b"ALL",
        b"(" * 50 + b"ALL" + b")" * 50,
    ],
)
async def test_keys_that_do_not_fit_the_grammar_are_bad(keys: bytes) -> None:
    async with serving(numbered_mailbox()) as peer:
        client = await peer.connect(b"INBOX")
        assert (await client.do(b"UID SEARCH " + keys)).status == b"BAD"
        assert (await client.do(b"NOOP")).ok


@pytest.mark.parametrize(
    ("charset", "octets"), [(b"", "é".encode()), (b"CHARSET US-ASCII ", "é".encode()), (b"CHARSET UTF-8 ", b"\xe9")]
)
async def test_octets_that_are_not_of_the_charset_are_bad(charset: bytes, octets: bytes) -> None:
    async with serving(numbered_mailbox()) as peer:
        client = await peer.connect(b"INBOX")
        assert (await client.do(b"UID SEARCH " + charset + b"TEXT ", Literal(octets))).status == b"BAD"


async def test_the_seeded_folders_can_be_searched_too() -> None:
    async with serving(seed_mailbox(NOW)) as peer:
        client = await peer.connect(b'"R&AOk-unions &- Budget"')
        answer = await client.do(b"UID SEARCH CHARSET UTF-8 SUBJECT ", Literal("RÉUNION".encode()))
        assert answer.rows == [b"SEARCH 2"]
