from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from mailgate.imap.fetch_data import FetchData, parse_internal_date, section_name
from mailgate.imap.framing import Literal
from mailgate.imap.responses import Malformed, parse_response
from mailgate.imap.values import ModSeq
from tests.imap.wire import response, responses


def fetch(line: bytes) -> FetchData:
    found = response(line)
    assert isinstance(found, FetchData)
    return found


def test_a_row_with_everything_that_is_asked_for() -> None:
    row = fetch(
        b'* 12 FETCH (UID 345 FLAGS (\\seen $Forwarded) INTERNALDATE "17-Jul-2024 02:44:25 -0700" RFC822.SIZE 4286'
        b' MODSEQ (9007199254740993) BODYSTRUCTURE ("TEXT" "PLAIN" NIL NIL NIL "7BIT" 5 1)'
        b" BODY[HEADER.FIELDS (FROM TO)]<0> {9}\r\nTo: a@b\r\n BODY[]<0> {2}\r\nhi)"
    )
    assert (row.sequence, row.uid, row.flags, row.size) == (12, 345, ("\\Seen", "$Forwarded"), 4286)
    assert row.internal_date == datetime(2024, 7, 17, 2, 44, 25, tzinfo=timezone(timedelta(hours=-7)))
    assert row.mod_seq == ModSeq(9007199254740993)
    assert row.body_structure == [b"TEXT", b"PLAIN", None, None, None, b"7BIT", b"5", b"1"]
    assert row.sections == {"BODY[HEADER.FIELDS (FROM TO)]": b"To: a@b\r\n", "BODY[]": b"hi"}
    assert row.header == b"To: a@b\r\n"
    assert row.source == b"hi"


ROWS = {
    "parentheses in quoted text": (b'* 1 FETCH (UID 5 X "hi :)")', FetchData(1, 5)),
    "stray spaces": (b"* 3 FETCH  ( UID 9 )  ", FetchData(3, 9)),
    "lower case": (b"* 3 fetch (uid 9 flags ())", FetchData(3, 9, flags=())),
    "no UID: the server speaks on its own account": (b"* 3 FETCH (FLAGS (\\Seen))", FetchData(3, flags=("\\Seen",))),
    "nothing": (b"* 3 FETCH ()", FetchData(3)),
    "items in any order, UID last": (b"* 3 FETCH (FLAGS () RFC822.SIZE 7 UID 9)", FetchData(3, 9, (), size=7)),
    "items that nobody asked for": (
        b'* 3 FETCH (X-GM-LABELS ("a" \\Inbox) EMAILID (M1) UID 9 BINARY.SIZE[1] 4 ENVELOPE (NIL (("a" NIL))))',
        FetchData(3, 9),
    ),
    "UID twice, the same": (b"* 3 FETCH (UID 9 UID 9)", FetchData(3, 9)),
    "flags that are NIL": (b"* 3 FETCH (UID 9 FLAGS NIL)", FetchData(3, 9, flags=())),
    "a size that is none": (b"* 3 FETCH (UID 9 RFC822.SIZE NIL)", FetchData(3, 9)),
    "a negative size": (b"* 3 FETCH (UID 9 RFC822.SIZE -1)", FetchData(3, 9)),
    "a size beyond 32 bits": (b"* 3 FETCH (UID 9 RFC822.SIZE 5000000000)", FetchData(3, 9, size=5_000_000_000)),
    "mod-sequence zero": (b"* 3 FETCH (UID 9 MODSEQ (0))", FetchData(3, 9)),
    "a mod-sequence past 63 bits": (b"* 3 FETCH (UID 9 MODSEQ (9223372036854775808))", FetchData(3, 9)),
    "a mod-sequence without its list": (b"* 3 FETCH (UID 9 MODSEQ 7)", FetchData(3, 9)),
    "a date that does not exist": (b'* 3 FETCH (UID 9 INTERNALDATE "30-Feb-2024 00:00:00 +0000")', FetchData(3, 9)),
    "a date that is NIL": (b"* 3 FETCH (UID 9 INTERNALDATE NIL)", FetchData(3, 9)),
    "a structure that is NIL": (b"* 3 FETCH (UID 9 BODYSTRUCTURE NIL)", FetchData(3, 9)),
    "a structure that is a string": (b'* 3 FETCH (UID 9 BODYSTRUCTURE "x")', FetchData(3, 9)),
    "a section that is NIL is no empty message": (b"* 3 FETCH (UID 9 BODY[] NIL)", FetchData(3, 9)),
}


@pytest.mark.parametrize(("line", "expected"), ROWS.values(), ids=ROWS)
def test_rows(line: bytes, expected: FetchData) -> None:
    assert response(line) == expected


BAD_ROWS = {
    "UID after the fault": (b"* 3 FETCH (FLAGS x UID 9)", None),
    "UID before the fault": (b"* 3 FETCH (UID 9 FLAGS x)", 9),
    "a list without an end": (b"* 3 FETCH (UID 9 FLAGS (\\Seen)", 9),
    "a name without a value": (b"* 3 FETCH (UID 9 FLAGS)", 9),
    "a value without a name": (b'* 3 FETCH (UID 9 "FLAGS" ())', 9),
    "an open quoted string": (b'* 3 FETCH (UID 9 X "a)', 9),
    "something after the list": (b"* 3 FETCH (UID 9) FLAGS", 9),
    "UID zero": (b"* 3 FETCH (UID 0)", None),
    "UID beyond 32 bits": (b"* 3 FETCH (UID 4294967296)", None),
    "two messages in one row": (b"* 3 FETCH (UID 9 FLAGS () UID 10)", None),
    "a section that is a list": (b"* 3 FETCH (UID 9 BODY[] (x))", 9),
    "a UID inside text names nobody": (b'* 3 FETCH (X "UID 7" BODY[] x UID 9)', None),
    "a structure nested too deeply": (b"* 3 FETCH (UID 9 BODYSTRUCTURE " + b"(" * 80 + b")" * 80 + b")", 9),
    "no list": (b"* 3 FETCH UID 9", None),
    "message zero": (b"* 0 FETCH (UID 9)", None),
    "a message number beyond 32 bits": (b"* 4294967296 FETCH (UID 9)", None),
}


@pytest.mark.parametrize(("line", "uid"), BAD_ROWS.values(), ids=BAD_ROWS)
def test_a_bad_row_names_its_message_where_it_can_and_costs_no_other(line: bytes, uid: int | None) -> None:
    rows = responses(line + b"\r\n* 4 FETCH (UID 10)\r\n")
    assert rows == [Malformed("FETCH", uid), FetchData(4, 10)]


def test_several_and_empty_literals_and_data_after_them() -> None:
    row = fetch(b"* 1 FETCH (BODY[1.2] {0}\r\n BODY[1.1] {2}\r\nhi UID 9 FLAGS (\\Seen))")
    assert row.sections == {"BODY[1.2]": b"", "BODY[1.1]": b"hi"}
    assert (row.uid, row.flags) == (9, ("\\Seen",))


def test_the_content_of_a_literal_is_never_protocol() -> None:
    content = b"X-Spam-Flag: NO virus\r\nA1 NO\r\n* 2 FETCH (UID 8)\r\n{5}\r\n"
    rows = responses(b"* 1 FETCH (UID 9 BODY[] {%d}\r\n%s)\r\n" % (len(content), content))
    assert len(rows) == 1
    assert isinstance(rows[0], FetchData)
    assert rows[0].source == content


def test_a_source_that_was_cut_says_so() -> None:
    row = parse_response((b"* 1 FETCH (UID 9 BODY[] ", Literal(b"ab", 900, truncated=True), b")"))
    assert isinstance(row, FetchData)
    assert row.source is not None
    assert row.source.truncated


@pytest.mark.parametrize(
    "name",
    [
        b'BODY[HEADER.FIELDS ("From" TO)]<0>',
        b"body[header.fields  (from to)]",
        b"BODY[HEADER.FIELDS (FROM TO)]<0.200>",
    ],
)
def test_a_section_has_one_name_however_the_server_spells_it(name: bytes) -> None:
    assert section_name(name) == "BODY[HEADER.FIELDS (FROM TO)]"


DATES = {
    b"17-Jul-1996 02:44:25 -0700": datetime(1996, 7, 17, 2, 44, 25, tzinfo=timezone(timedelta(hours=-7))),
    b" 1-jan-2024 00:00:00 +0530": datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    b"1-DEC-0001 23:59:59 +0000": datetime(1, 12, 1, 23, 59, 59, tzinfo=UTC),
}
NO_DATES = [
    b"",
    b"31-Jun-2024 00:00:00 +0000",
    b"01-Foo-2024 00:00:00 +0000",
    b"01-Jan-0000 00:00:00 +0000",
    b"01-Jan-2024 24:00:00 +0000",
    b"01-Jan-2024 23:59:60 +0000",
    b"01-Jan-2024 00:00:00 +2400",
    b"01-Jan-2024 00:00:00",
    b"01-Jan-2024 00:00:00 GMT",
    b"01-Jan-20240 00:00:00 +0000",
    b"01-Jan-2024 00:00:00 +0000\n",
    "٠١-Jan-2024 00:00:00 +0000".encode(),
]


@pytest.mark.parametrize(("text", "expected"), DATES.items())
def test_an_internal_date_keeps_its_own_offset(text: bytes, expected: datetime) -> None:
    found = parse_internal_date(text)
    assert found == expected
    assert found is not None
    assert found.utcoffset() == expected.utcoffset()


@pytest.mark.parametrize("text", NO_DATES)
def test_a_bad_internal_date_is_none(text: bytes) -> None:
    assert parse_internal_date(text) is None


def test_many_rows_in_one_segment_are_as_many_rows() -> None:
    data = b"".join(b'* %d FETCH (UID %d FLAGS () X ":)")\r\n' % (number, number) for number in range(1, 1201))
    assert [row.uid for row in responses(data) if isinstance(row, FetchData)] == list(range(1, 1201))
