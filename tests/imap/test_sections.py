"""Parts of a message from a server that answers in its own way: what was not asked for is never taken for it."""

from __future__ import annotations

import pytest

from mailgate.errors import MessageNotFound, UpstreamProtocolError
from mailgate.imap.sections import Span
from mailgate.imap.values import INBOX, Uid, UidValidity
from tests.imap.sessions import mailbox_on

LOGIN = "@login IMAP4rev1\n"
OPENED = "S: * 3 EXISTS\nS: * OK [UIDVALIDITY 7] v\nS: * OK [UIDNEXT 10] n\n"
SEVEN = UidValidity(7)
SPANS = (Span("2", 6), Span("2.MIME", 100))
GOOD = 'BODY[2]<0> "octets" BODY[2.MIME]<0> "A: b"'
FETCH = "C: $ UID FETCH 5 (UID BODY.PEEK[2]<0.6> BODY.PEEK[2.MIME]<0.100>)\n"


def answered(row: str, end: str = "S: $ OK done\n") -> str:
    return LOGIN + "C: $ EXAMINE ...\n" + FETCH + OPENED + f"S: $-1 OK done\n{row}{end}"


async def fetched(script: str) -> dict[str, bytes] | None:
    async with mailbox_on(script) as (mailbox, peer):
        async with mailbox.examine(INBOX, uid_validity=SEVEN) as folder:
            found = await folder.fetch_sections(Uid(5), SPANS)
        assert peer.problems == []
    return found if found is None else dict(found)


async def test_sections_leave_together_with_the_opening_and_come_by_their_numbers() -> None:
    found = await fetched(answered(f"S: * 1 FETCH (UID 5 {GOOD})\n"))
    assert found == {"2": b"octets", "2.MIME": b"A: b"}


async def test_sections_are_known_in_any_order_and_spelling() -> None:
    row = 'S: * 1 FETCH (body[2.mime]<0> "A: b" UID 5 FLAGS (\\Seen))\nS: * 1 FETCH (UID 5 BODY[2]<0> {6}\nS: octets)\n'
    assert await fetched(answered(row)) == {"2": b"octets", "2.MIME": b"A: b"}


@pytest.mark.parametrize(
    "row",
    [
        "",
        "S: * 1 FETCH (UID 5)\n",
        f"S: * 1 FETCH ({GOOD})\n",
        f"S: * 1 FETCH (UID 6 {GOOD})\n",
        'S: * 1 FETCH (UID 5 BODY[2]<0> NIL BODY[2.MIME]<0> "A: b")\n',
        'S: * 1 FETCH (UID 5 BODY[3]<0> "octets" BODY[2.MIME]<0> "A: b")\n',
        'S: * 1 FETCH (UID 5 BODY[2.1]<0> "octets" BODY[2.MIME]<0> "A: b")\n',
        'S: * 1 FETCH (UID 5 BODY[]<0> "octets" BODY[2.MIME]<0> "A: b")\n',
        f"S: * 1 FETCH (UID 5 {GOOD.replace('octets', 'octets!')})\n",
        f"S: * 1 FETCH (UID 5 {GOOD.replace('A: b', 'h' * 101)})\n",
        f"S: * 1 FETCH (UID 5 {GOOD}\n",
        'S: * 1 FETCH (UID 5 BODY[2]<0> octets BODY[2.MIME]<0> "A: b")\n',
    ],
    ids=[
        "no row", "no sections", "no message", "another message", "NIL", "another part", "a part within the part",
        "the message", "more octets", "a longer header", "a row without an end", "a word in place of a string",
    ],
)  # fmt: skip
async def test_what_does_not_come_as_it_was_asked_for_is_not_there(row: str) -> None:
    assert await fetched(answered(row)) is None


@pytest.mark.parametrize("end", ["S: $ NO [UNKNOWN-CTE] no\n", "S: $ NO no\n"])
async def test_a_refusal_gives_nothing_whatever_came_before(end: str) -> None:
    assert await fetched(answered(f"S: * 1 FETCH (UID 5 {GOOD})\n", end)) is None


async def test_a_longer_literal_than_was_asked_for_is_counted_and_not_kept() -> None:
    row = "S: * 1 FETCH (UID 5 BODY[2]<0> {200}\nS-raw: " + "x" * 200 + '\nS: BODY[2.MIME]<0> "A: b")\n'
    assert await fetched(answered(row)) is None


async def test_a_literal_that_the_connection_cuts_is_an_error_and_no_part() -> None:
    script = answered("S: * 1 FETCH (UID 5 BODY[2]<0> {6}\n", "S-raw: oct\nS-close\n")
    with pytest.raises(Exception, match="closed the connection"):
        await fetched(script)


ASK = "C: $ UID FETCH 5 (UID FLAGS INTERNALDATE RFC822.SIZE BODYSTRUCTURE BODY.PEEK[]<0.5>)\n"
PLAIN = '("TEXT" "PLAIN" NIL NIL NIL "7BIT" 10 1)'


async def begun(answer: str) -> object:
    script = LOGIN + "C: $ EXAMINE ...\n" + ASK + OPENED + "S: $-1 OK done\n" + answer
    async with mailbox_on(script) as (mailbox, peer):
        async with mailbox.examine(INBOX, uid_validity=SEVEN) as folder:
            row = await folder.fetch_beginning(Uid(5), 5)
        assert peer.problems == []
    return None if row is None else (row.source, row.truncated, row.outline is not None)


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (f'BODYSTRUCTURE {PLAIN} BODY[]<0> "hello"', (b"hello", True, True)),
        (f'BODYSTRUCTURE {PLAIN} BODY[]<0> "hell"', (b"hell", False, False)),
        ('BODYSTRUCTURE NIL BODY[]<0> "hello"', (b"hello", True, False)),
        ('BODYSTRUCTURE ("TEXT") BODY[]<0> "hello"', (b"hello", True, False)),
        ('BODY[]<0> "hello"', (b"hello", True, False)),
        (f"BODYSTRUCTURE {PLAIN}", None),
        (f"BODYSTRUCTURE {PLAIN} BODY[]<0> NIL", None),
        (f'RFC822.SIZE 9 BODYSTRUCTURE {PLAIN} BODY[]<0> ""', None),
        (f'BODYSTRUCTURE {PLAIN}) BODY[]<0> "hello"', None),
    ],
)
async def test_a_beginning_counts_with_or_without_a_structure_that_makes_sense(row: str, found: object) -> None:
    assert await begun(f"S: * 1 FETCH (UID 5 {row})\nS: $ OK done\n") == found


async def test_a_refused_beginning_is_left_to_the_plain_way() -> None:
    assert await begun("S: $ NO cannot\n") is None


async def test_a_structure_without_measure_is_passed_over_and_left_to_the_plain_way() -> None:
    row = f'S: * 1 FETCH (UID 5 BODYSTRUCTURE ({"x" * 600_000}) BODY[]<0> "hello")\n'
    assert await begun(row + "S: $ OK done\n") is None


async def test_a_message_that_is_gone_is_not_found_at_once() -> None:
    with pytest.raises(MessageNotFound):
        await begun("S: $ OK done\n")


async def test_a_server_that_ends_the_session_is_no_server_without_structures() -> None:
    with pytest.raises(UpstreamProtocolError):
        await begun("S: A99 OK nobody asked\n")
