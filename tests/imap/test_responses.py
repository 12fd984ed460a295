from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.framing import FramingLimits, Literal
from mailgate.imap.responses import (
    CapabilityData,
    Condition,
    Continuation,
    Enabled,
    Exists,
    Expunge,
    FetchData,
    FlagsData,
    Malformed,
    Other,
    Recent,
    Response,
    ResponseCode,
    Status,
    Tagged,
    parse_response,
)
from mailgate.imap.tokens import Atom
from tests.imap.wire import read_frames, response, responses

CASES: dict[str, tuple[bytes, Response]] = {
    "done": (b"A1 OK done", Tagged("A1", Status.OK, None, b"done")),
    "refused with a code": (
        b"A1 NO [TRYCREATE] no such folder",
        Tagged("A1", Status.NO, ResponseCode("TRYCREATE"), b"no such folder"),
    ),
    "lower case": (b"a1 ok", Tagged("a1", Status.OK)),
    "mixed case and spaces": (b"A1  Bad  what?", Tagged("A1", Status.BAD, None, b"what?")),
    "no text": (b"A1 OK ", Tagged("A1", Status.OK)),
    "a code without text": (b"A1 OK [READ-ONLY]", Tagged("A1", Status.OK, ResponseCode("READ-ONLY"))),
    "a code later in the text is text": (
        b"A1 OK moved [COPYUID 1 2 3]",
        Tagged("A1", Status.OK, None, b"moved [COPYUID 1 2 3]"),
    ),
    "text that ends in braces": (b"A1 NO quota {5}", Tagged("A1", Status.NO, None, b"quota {5}")),
    "an alert": (b"* OK [ALERT] see {5}", Condition(Status.OK, ResponseCode("ALERT"), b"see {5}")),
    "a code and nothing else": (
        b"* OK [HIGHESTMODSEQ 77]",
        Condition(Status.OK, ResponseCode("HIGHESTMODSEQ", (Atom(b"77"),))),
    ),
    "a goodbye that mentions OK": (b"* BYE TOKYO is closing", Condition(Status.BYE, None, b"TOKYO is closing")),
    "a greeting that is already logged in": (b"* preauth hi", Condition(Status.PREAUTH, None, b"hi")),
    "a bare condition": (b"* BYE", Condition(Status.BYE)),
    "8-bit text": (b"* NO \xff\xfe", Condition(Status.NO, None, b"\xff\xfe")),
    "go on": (b"+ idling", Continuation(b"idling")),
    "go on, bare": (b"+", Continuation()),
    "go on with a challenge": (b"+ eyJzIjoi", Continuation(b"eyJzIjoi")),
    "capabilities": (
        b"* CAPABILITY IMAP4rev1  move Auth=PLAIN ",
        CapabilityData(CapabilitySet.of(["IMAP4REV1", "MOVE", "AUTH=PLAIN"])),
    ),
    "enabled": (b"* ENABLED UTF8=ACCEPT", Enabled(CapabilitySet.of(["UTF8=ACCEPT"]))),
    "nothing enabled": (b"* ENABLED", Enabled(CapabilitySet())),
    "flags": (b"* FLAGS (\\Answered \\SEEN $x)", FlagsData(("\\Answered", "\\Seen", "$x"))),
    "exists": (b"* 172 EXISTS", Exists(172)),
    "exists, none, stray spaces": (b"*  0  exists ", Exists(0)),
    "recent": (b"* 1 RECENT", Recent(1)),
    "expunge": (b"* 44 EXPUNGE", Expunge(44)),
    "a fetch": (b"* 1 FETCH (UID 2)", FetchData(1, 2)),
    "a name that mailgate has no use for": (b'* NAMESPACE (("" "/")) NIL NIL', Other("NAMESPACE")),
    "a number and a name that mailgate has no use for": (b"* 5 XFOO bar", Other("XFOO")),
    "a name with a literal": (b'* METADATA "" (/x {3}\r\na\r\n)', Other("METADATA")),
}


@pytest.mark.parametrize(("line", "expected"), CASES.values(), ids=CASES)
def test_responses(line: bytes, expected: Response) -> None:
    assert response(line) == expected


BAD = {
    "no response at all": (b"hello", "LINE"),
    "a tag alone": (b"A1", "LINE"),
    "a tag and no condition": (b"A1 PERHAPS", "LINE"),
    "BYE is never tagged": (b"A1 BYE", "LINE"),
    "an empty untagged row": (b"* ", "LINE"),
    "an untagged row of signs": (b"* ()", "LINE"),
    "a name that runs into something": (b"* FLAGS\xff (a)", "LINE"),
    "a row that was folded": (b' filename.txt")', "LINE"),
    "flags without a list": (b"* FLAGS \\Seen", "FLAGS"),
    "flags without anything": (b"* FLAGS", "FLAGS"),
    "message zero expunged": (b"* 0 EXPUNGE", "EXPUNGE"),
    "too many to exist": (b"* 4294967296 EXISTS", "EXISTS"),
    "more digits than a number has": (b"* 99999999999 EXISTS", "LINE"),
    "capabilities with a literal": (b"* CAPABILITY {1}\r\nx", "CAPABILITY"),
}


@pytest.mark.parametrize(("line", "kind"), BAD.values(), ids=BAD)
def test_a_bad_row_is_one_bad_row(line: bytes, kind: str) -> None:
    assert responses(line + b"\r\n* 1 EXISTS\r\n") == [Malformed(kind), Exists(1)]


@pytest.mark.parametrize("frame", [(), (Literal(b"* 1 EXISTS", 10), b"")])
def test_a_frame_without_a_first_line_is_a_bad_row(frame: tuple[bytes | Literal, ...]) -> None:
    assert parse_response(frame) == Malformed("LINE")


def test_rows_in_one_segment_stay_apart() -> None:
    data = b'* 1 FETCH (UID 5 X "hi :)")\r\n* 2 FETCH (UID 6 FLAGS ())\r\nA1 OK\r\n'
    assert responses(data) == [FetchData(1, 5), FetchData(2, 6, ()), Tagged("A1", Status.OK)]


def test_copyuid_is_found_untagged_and_tagged() -> None:
    untagged, tagged = responses(b"* OK [COPYUID 1 2 3] Moved\r\nA1 OK [COPYUID 1 2 3] Done\r\n")
    assert isinstance(untagged, Condition)
    assert isinstance(tagged, Tagged)
    assert untagged.code is not None
    assert tagged.code is not None
    assert untagged.code.copy_uid == tagged.code.copy_uid is not None


def test_an_alert_that_ends_in_braces_swallows_nothing() -> None:
    _, exists = responses(b"* OK [ALERT] see {5}\r\n* 1 EXISTS\r\n")
    assert exists == Exists(1)


GRAMMAR = st.lists(
    st.sampled_from(
        [
            b"* ",
            b"A1 ",
            b"+",
            b"OK ",
            b"NO ",
            b"[",
            b"]",
            b"(",
            b")",
            b'"',
            b"\\",
            b"{3}\r\n",
            b"\r\n",
            b" ",
            b"\n",
            b"1 FETCH ",
            b"UID 7 ",
            b"FLAGS ",
            b"BODY[",
            b"LIST ",
            b"NIL ",
            b"STATUS ",
            b"ESEARCH ",
            b"COPYUID 1 2 3",
            b"SEARCH 1 ",
            b"MODSEQ ",
            b"INTERNALDATE ",
            b"<0>",
            b"\xff",
            b"\x00",
            b"7",
            b"VANISHED ",
            b"ENABLED ",
        ]
    ),
    max_size=20,
)


@given(GRAMMAR.map(b"".join))
@settings(max_examples=600, derandomize=True, deadline=None)
def test_no_frame_makes_the_parser_raise(data: bytes) -> None:
    found, _ = read_frames([data + b"\r\n"])
    for frame in found:
        parse_response(frame)


LONG = b"x" * 60
CUT_ROWS = {
    "a row that says its UID early": (b"* 3 FETCH (UID 7 X " + LONG + b")\r\n", Malformed("FETCH", 7)),
    "a row that does not": (b"* 3 FETCH (X " + LONG + b")\r\n", Malformed("FETCH")),
    "half a set of numbers is no set of numbers": (b"* SEARCH" + b" 1" * 40 + b"\r\n", Malformed("SEARCH")),
    "half a name is no name": (b'* LIST () "/" ' + LONG + b"\r\n", Malformed("LIST")),
    "a name we do not know": (b"* X-NEWS " + LONG + b"\r\n", Malformed("X-NEWS")),
}


@pytest.mark.parametrize(("data", "expected"), CUT_ROWS.values(), ids=CUT_ROWS)
def test_a_row_too_long_to_keep_is_one_bad_row(data: bytes, expected: Malformed) -> None:
    found, error = read_frames([data + b"* 2 EXISTS\r\n"], limits=FramingLimits(line=40))
    assert error is None
    assert [parse_response(frame) for frame in found] == [expected, Exists(2)]
