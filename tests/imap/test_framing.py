from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.imap.framing import Cut, FramingError, FramingLimits, Literal, ResponseFramer
from tests.imap.wire import assert_linear, frame_outcome, frames, read_frames, single_octets

CANNOT_TELL = "a response line cannot be told from a literal"

CASES = {
    "a line is a frame": (b"* 1 EXISTS\r\n", [(b"* 1 EXISTS",)]),
    "several lines in one segment": (b"* 1 EXISTS\r\nA1 OK\r\n", [(b"* 1 EXISTS",), (b"A1 OK",)]),
    "an unfinished line is no frame": (b"* 1 EXISTS\r\n* 2 EX", [(b"* 1 EXISTS",)]),
    "a line feed alone ends nothing": (b"* LIST () NIL a\nb\r\n", [(b"* LIST () NIL a\nb",)]),
    "a carriage return alone ends nothing": (b"* LIST () NIL a\rb\r\r\n", [(b"* LIST () NIL a\rb\r",)]),
    "blank lines between responses are skipped": (b"\r\n* 1 EXISTS\r\n\r\n", [(b"* 1 EXISTS",)]),
    "a literal and the text after it": (
        b"* 1 FETCH (BODY[] {5}\r\nhello UID 7)\r\n",
        [(b"* 1 FETCH (BODY[] ", Literal(b"hello", 5), b" UID 7)")],
    ),
    "several literals, one of them empty": (
        b"* 1 FETCH (BODY[1.2] {0}\r\n BODY[1.1] {2}\r\nhi UID 9)\r\n",
        [(b"* 1 FETCH (BODY[1.2] ", Literal(b"", 0), b" BODY[1.1] ", Literal(b"hi", 2), b" UID 9)")],
    ),
    "a literal that looks like the end of a command": (
        b"* 1 FETCH (BODY[] {26}\r\nA1 NO virus\r\n* 9 EXPUNGE\r\n)\r\n",
        [(b"* 1 FETCH (BODY[] ", Literal(b"A1 NO virus\r\n* 9 EXPUNGE\r\n", 26), b")")],
    ),
    "a literal that announces another": (
        b"* 1 FETCH (BODY[] {5}\r\n{9}\r\n)\r\n",
        [(b"* 1 FETCH (BODY[] ", Literal(b"{9}\r\n", 5), b")")],
    ),
    "literal8 and the non-synchronising spelling": (
        b"* 1 FETCH (BINARY[1] ~{2}\r\n\0\xff X {1+}\r\ny)\r\n",
        [(b"* 1 FETCH (BINARY[1] ", Literal(b"\0\xff", 2), b" X ", Literal(b"y", 1), b")")],
    ),
    "a section without a space before its literal": (
        b"* 1 FETCH (BODY[]{2}\r\nhi)\r\n",
        [(b"* 1 FETCH (BODY[]", Literal(b"hi", 2), b")")],
    ),
    "a folder name as a literal": (
        b'* LIST () "/" {4}\r\na"\\b\r\n* 1 EXISTS\r\n',
        [(b'* LIST () "/" ', Literal(b'a"\\b', 4), b""), (b"* 1 EXISTS",)],
    ),
    "an alert that ends in braces": (
        b"* OK [ALERT] see {5}\r\n* 1 EXISTS\r\n",
        [(b"* OK [ALERT] see {5}",), (b"* 1 EXISTS",)],
    ),
    "a lower-case condition that ends in braces": (b"* no {5}\r\nA1 OK\r\n", [(b"* no {5}",), (b"A1 OK",)]),
    "a goodbye that ends in braces": (b"* BYE {5}\r\nx\r\n", [(b"* BYE {5}",), (b"x",)]),
    "a greeting that ends in braces": (b"* PREAUTH {5}\r\nx\r\n", [(b"* PREAUTH {5}",), (b"x",)]),
    "a tagged line that ends in braces": (b"A1 OK done {5}\r\nA2 ok {5}\r\n", [(b"A1 OK done {5}",), (b"A2 ok {5}",)]),
    "a continuation that ends in braces": (b"+ go {5}\r\nA1 OK\r\n", [(b"+ go {5}",), (b"A1 OK",)]),
    "an unquoted folder name that ends in braces": (
        b'* LIST () "/" a{5}\r\n* 1 EXISTS\r\n',
        [(b'* LIST () "/" a{5}',), (b"* 1 EXISTS",)],
    ),
    "a quoted string that ends in braces": (
        b'* LIST () "/" "{5}"\r\n* 1 EXISTS\r\n',
        [(b'* LIST () "/" "{5}"',), (b"* 1 EXISTS",)],
    ),
    "braces that hold no number": (b"* LIST () NIL {x}\r\n", [(b"* LIST () NIL {x}",)]),
    "a line feed in a quoted string hides no literal": (
        b'* 1 FETCH (X "a\nb" BODY[] {11}\r\n* 9 EXISTS\n)\r\n',
        [(b'* 1 FETCH (X "a\nb" BODY[] ', Literal(b"* 9 EXISTS\n", 11), b")")],
    ),
    "escaped quotes and backslashes before a literal": (
        b'* 1 FETCH (X "a\\"b\\\\" BODY[] {2}\r\nhi)\r\n',
        [(b'* 1 FETCH (X "a\\"b\\\\" BODY[] ', Literal(b"hi", 2), b")")],
    ),
    "a quote inside an atom opens nothing": (
        b'* 1 FETCH (X 5"disk BODY[] {2}\r\nhi)\r\n',
        [(b'* 1 FETCH (X 5"disk BODY[] ', Literal(b"hi", 2), b")")],
    ),
}


@pytest.mark.parametrize(("data", "expected"), CASES.values(), ids=CASES)
def test_framing(data: bytes, expected: list[object]) -> None:
    assert frames(data) == expected


AMBIGUOUS = {
    "braces inside an open quoted string": b'* 1 FETCH (X "a {5}\r\nhello)\r\n',
    "braces after an escape that leaves the string open": b'* 1 FETCH (X "a\\" {5}\r\nhello)\r\n',
    "braces on a line that is no response": b' filename" {5}\r\nhello)\r\n',
}


@pytest.mark.parametrize("data", AMBIGUOUS.values(), ids=AMBIGUOUS)
def test_a_line_that_may_or_may_not_announce_a_literal_ends_the_connection(data: bytes) -> None:
    assert frame_outcome(data) == ([], CANNOT_TELL)


def test_an_open_quoted_string_without_a_literal_is_one_bad_row() -> None:
    assert frames(b'* 1 FETCH (X "a)\r\n* 2 EXISTS\r\n') == [(b'* 1 FETCH (X "a)',), (b"* 2 EXISTS",)]


LIMITS = FramingLimits(line=40, literal=20, frames=3, total=120)
BREACHES = {
    "a tagged line that is too long": (b"A1 OK " + b"x" * 35 + b"\r\n", "a response line is too long"),
    "a condition that is too long": (b"* OK " + b"x" * 36 + b"\r\n", "a response line is too long"),
    "a continuation that is too long": (b"+ " + b"x" * 39 + b"\r\n", "a response line is too long"),
    "a line that never ends": (b"x" * 41, "a response line is too long"),
    "an untagged line that never ends": (b"* LIST () NIL " + b"x" * 107, "the responses to one command are too large"),
    "a literal of a row that is cut, too large itself": (
        b"* 1 FETCH (A " + b"x" * 30 + b" {21}\r\n",
        "a literal is too large",
    ),
    "a literal that is too large": (b"* 1 FETCH (X {21}\r\n", "a literal is too large"),
    "a literal larger than any number": (b"* 1 FETCH (X {99999999999999999999}\r\n", "a literal is too large"),
    "too many responses": (b"* 1 EXISTS\r\n" * 4, "too many responses to one command"),
    "too many octets": (
        (b"* 1 FETCH (X {20}\r\n" + b"x" * 20 + b" Y {20}\r\n" + b"y" * 20 + b")\r\n") * 2,
        "the responses to one command are too large",
    ),
    "blank lines without end": (b"\r\n" * 61, "the responses to one command are too large"),
}


@pytest.mark.parametrize(("data", "sentence"), BREACHES.values(), ids=BREACHES)
def test_a_passed_bound_ends_the_connection(data: bytes, sentence: str) -> None:
    assert frame_outcome(data, limits=LIMITS)[1] == sentence


BEGINNING = Cut(b"* 1 FETCH (UID 5 A xxxxxxxxxxxxxxxxxxxxx")
CUT = {
    "the next response is whole": (b"x" * 40 + b")\r\n", [BEGINNING]),
    "its literals are passed over": (b"x" * 30 + b" B {9}\r\n* 9 EXIS\n C {1}\r\n))\r\n", [BEGINNING]),
    "what looks like a literal inside quotes is none": (b"x" * 30 + b' "a {9}"\r\n', [BEGINNING]),
    "an escaped quote ends nothing": (b"x" * 30 + b' "a\\" {9}"\r\n', [BEGINNING]),
    "an escaped backslash does not escape the quote": (b"x" * 30 + b' "a\\\\" {2}\r\n\r\n)\r\n', [BEGINNING]),
    "a quote inside an atom opens nothing": (b"x" * 30 + b'"y {2}\r\n\r\n)\r\n', [BEGINNING]),
    "a quote inside a long atom opens nothing": (b"x" * 70 + b'"y {2}\r\n\r\n)\r\n', [BEGINNING]),
    "braces in an open quoted string are text": (b"x" * 30 + b' "y {9}\r\n', [BEGINNING]),
    "a section without a space before its literal": (b"x" * 30 + b" BODY[]{2}\r\n\r\n)\r\n", [BEGINNING]),
}


@pytest.mark.parametrize(("rest", "expected"), CUT.values(), ids=CUT)
def test_of_an_untagged_row_that_is_too_long_only_the_beginning_is_kept(rest: bytes, expected: list[bytes]) -> None:
    data = b"* 1 FETCH (UID 5 A xxxxxxxxxxxxxxxxxxxxx" + rest + b"* 2 EXISTS\r\n"
    limits = FramingLimits(line=40, literal=20, total=400)
    assert frame_outcome(data, limits=limits) == ([tuple(expected), (b"* 2 EXISTS",)], None)
    assert [type(frame[-1]) for frame in read_frames([data], limits=limits)[0]] == [Cut, bytes]


def test_a_row_cut_behind_a_literal_keeps_what_came_before() -> None:
    data = b"* 1 FETCH (A {1}\r\nx B {1}\r\nx CCCCCCCCCCCCCCCCCCCCC)\r\n* 2 EXISTS\r\n"
    expected = [(b"* 1 FETCH (A ", Literal(b"x", 1), b" B ", Literal(b"x", 1), Cut()), (b"* 2 EXISTS",)]
    assert frame_outcome(data, limits=FramingLimits(line=40)) == (expected, None)


def test_passing_over_a_long_line_is_linear_and_keeps_nothing() -> None:
    def skip(octets: int) -> None:
        framer = ResponseFramer(FramingLimits(line=100))
        for start in range(0, octets, 1000):
            framer.feed((b'* 1 FETCH (X "' if start == 0 else b"") + b"y\\z " * 200)
            assert framer.next_frame() is None
            assert framer.pending < 2000

    assert_linear(skip, 200_000)


def test_bounds_are_inclusive() -> None:
    line = b"* LIST () NIL " + b"x" * 26
    literal = b"* 1 FETCH (X {20}\r\n" + b"x" * 20 + b")\r\n"
    assert frame_outcome(line + b"\r\n" + literal, limits=LIMITS)[1] is None


def test_every_command_starts_its_own_count() -> None:
    framer = ResponseFramer(FramingLimits(frames=1, total=12))
    for _ in range(5):
        framer.reset_counters()
        framer.feed(b"* 1 EXISTS\r\n")
        assert framer.next_frame() == (b"* 1 EXISTS",)
    framer.feed(b"* 1 EXISTS\r\n")
    with pytest.raises(FramingError):
        framer.next_frame()


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        (None, Literal(b"hello", 5)),
        (9, Literal(b"hello", 5)),
        (5, Literal(b"hello", 5)),
        (4, Literal(b"hell", 5, truncated=True)),
        (0, Literal(b"", 5, truncated=True)),
    ],
)
def test_only_the_wanted_prefix_of_a_literal_is_kept(keep: int | None, expected: Literal) -> None:
    assert frames(b"* 1 FETCH (BODY[] {5}\r\nhello UID 7)\r\n", keep=keep) == [
        (b"* 1 FETCH (BODY[] ", expected, b" UID 7)")
    ]


def test_octets_that_are_not_kept_are_not_held_either() -> None:
    framer = ResponseFramer()
    framer.keep_literal = 10
    framer.feed(b"* 1 FETCH (BODY[] {1000000}\r\n")
    for _ in range(100):
        framer.feed(b"x" * 9000)
        assert framer.next_frame() is None
        assert framer.pending < 100


def test_pending_counts_what_belongs_to_no_finished_frame() -> None:
    framer = ResponseFramer()
    framer.feed(b"A1 OK begin TLS\r\nA2 OK")
    assert framer.next_frame() == (b"A1 OK begin TLS",)
    assert framer.pending == 5
    framer.feed(b"\r\n")
    assert framer.next_frame() == (b"A2 OK",)
    assert framer.pending == 0


def rows(count: int) -> bytes:
    return b"".join(b"* %d FETCH (UID %d FLAGS (\\Seen))\r\n" % (number, number) for number in range(1, count + 1))


@pytest.mark.parametrize("cut", [lambda data: [data], single_octets], ids=["one segment", "octet by octet"])
def test_five_thousand_rows_are_five_thousand_frames(cut: Callable[[bytes], list[bytes]]) -> None:
    found, error = read_frames(cut(rows(5000)))
    assert error is None
    assert len(found) == 5000
    assert found[-1] == (b"* 5000 FETCH (UID 5000 FLAGS (\\Seen))",)


STREAMS: dict[str, Callable[[int], list[bytes]]] = {
    "rows in one segment": lambda size: [rows(size)],
    "rows octet by octet": lambda size: single_octets(rows(size // 10)),
    "a line octet by octet": lambda size: single_octets(b"* SEARCH" + b" 1" * size + b"\r\n"),
    "a literal octet by octet": lambda size: single_octets(b"* 1 FETCH (X {%d}\r\n" % size + b"x" * size + b")\r\n"),
    "literals": lambda size: [b"* 1 FETCH (" + b"X {1}\r\nx " * size + b")\r\n"],
}
BEFORE_A_LITERAL = [b'"', b'"\\', b"[", b"( ", b'a"', b'"" ']
for text in BEFORE_A_LITERAL:
    STREAMS[f"{text!r} before a literal"] = lambda size, text=text: [b"* 1 FETCH " + text * size + b" {1}\r\nx)\r\n"]


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
def test_no_stream_takes_more_than_linear_time(stream: Callable[[int], list[bytes]]) -> None:
    assert_linear(lambda size: read_frames(stream(size)), 5_000)


CONVERSATION = b"".join(data for data, _ in CASES.values() if data.endswith(b"\r\n"))


@given(st.lists(st.integers(0, len(CONVERSATION)), max_size=30))
@settings(max_examples=100, derandomize=True, deadline=None)
def test_any_cut_of_the_stream_gives_the_same_frames(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(CONVERSATION)]
    pieces = [CONVERSATION[low:high] for low, high in pairwise(edges)]
    assert read_frames(pieces) == read_frames([CONVERSATION])


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=8))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_no_octets_do_more_than_end_the_connection(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[low:high] for low, high in pairwise(edges)]
    assert read_frames(pieces, limits=LIMITS) == read_frames([data], limits=LIMITS)
