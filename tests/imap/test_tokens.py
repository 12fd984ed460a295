from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.imap.framing import Literal
from mailgate.imap.tokens import Atom, String, TokenError, TokenReader, Value, is_quotable, quote
from tests.imap.wire import assert_linear, frames


def shape(value: Value) -> object:
    """A value with its kinds made visible: atoms as text, strings as octets."""
    if isinstance(value, list):
        return [shape(item) for item in value]
    if value is None:
        return None
    return value.decode("latin-1") if isinstance(value, Atom) else bytes(value)


def read(data: bytes) -> list[object]:
    """All values of the one frame, whose first word is skipped."""
    (frame,) = frames(b"* X " + data + b"\r\n")
    return [shape(value) for value in TokenReader(frame, 4).values()]


CASES: dict[str, tuple[bytes, list[object]]] = {
    "nothing": (b"", []),
    "atoms, strings, NIL and lists": (b'UID "a b" nil (1 NIL ("c"))', ["UID", b"a b", None, ["1", None, [b"c"]]]),
    "parentheses in a quoted string": (b'(5 "hi :)" ")(")', [["5", b"hi :)", b")("]]),
    "escapes": (b'"a\\"b\\\\c"', [b'a"b\\c']),
    "an escape that needs none": (b'"a\\bc"', [b"abc"]),
    "an empty string and a quoted NIL": (b'"" "NIL"', [b"", b"NIL"]),
    "the untagged marker inside a value": (b'"Sale * 50" *', [b"Sale * 50", "*"]),
    "octets above 127 in quotes": ('"Ä €"'.encode(), ["Ä €".encode()]),
    "a line feed in quotes": (b'"a\nb" c', [b"a\nb", "c"]),
    "stray spaces and TABs": (b"  ( UID  9 \t )  ", [["UID", "9"]]),
    "lists without a space between": (b'("a")("b")', [[b"a"], [b"b"]]),
    "flags": (b"(\\Seen $MDNSent \\*)", [["\\Seen", "$MDNSent", "\\*"]]),
    "a quote inside an atom": (b'5"disk x', ['5"disk', "x"]),
    "brackets of no section": (b"([Gmail]/Trash a[b)", [["[Gmail]/Trash", "a[b"]]),
    "a section with a list": (b"BODY[HEADER.FIELDS (From To)] x", ["BODY[HEADER.FIELDS (From To)]", "x"]),
    "a section with quoted names": (b'BODY[HEADER.FIELDS ("a]b" To)] x', ['BODY[HEADER.FIELDS ("a]b" To)]', "x"]),
    "a section with an origin": (b'body[1.2]<0> "x"', ["body[1.2]<0>", b"x"]),
    "a section with a wrong origin": (b'BODY[]<0.20> "x"', ["BODY[]<0.20>", b"x"]),
    "binary sections": (b"BINARY[1] BINARY.SIZE[1] 4", ["BINARY[1]", "BINARY.SIZE[1]", "4"]),
    "literals": (b"({5}\r\n)\r\n\0) {0}\r\n) a", [[b")\r\n\0)", b""], "a"]),
}


@pytest.mark.parametrize(("data", "expected"), CASES.values(), ids=CASES)
def test_values(data: bytes, expected: list[object]) -> None:
    assert read(data) == expected


FAULTS = {
    "an open quoted string": (b'"abc',),
    "a quoted string whose end is escaped": (b'"abc\\"',),
    "a list without an end": (b"(a (b)",),
    "a stray closing parenthesis": (b"a) b",),
    "an open section": (b"BODY[HEADER.FIELDS (FROM)",),
    "a literal inside a section": (b"BODY[HEADER.FIELDS (", Literal(b"FROM", 4), b")]"),
    "lists nested too deeply": (b"(" * 65 + b")" * 65,),
}


@pytest.mark.parametrize("segments", FAULTS.values(), ids=FAULTS)
def test_faults(segments: tuple[bytes | Literal, ...]) -> None:
    with pytest.raises(TokenError):
        TokenReader(segments).values()


def test_nesting_up_to_the_bound_is_read() -> None:
    assert TokenReader((b"(" * 64 + b")" * 64,)).value()
    assert TokenReader((b"((a))",), max_nesting=2).value() == [[b"a"]]
    with pytest.raises(TokenError):
        TokenReader((b"((a))",), max_nesting=1).value()


def test_a_literal_knows_whether_it_is_whole() -> None:
    whole, cut = TokenReader((b"", Literal(b"ab", 2), b"", Literal(b"a", 2, truncated=True), b"")).values()
    assert isinstance(whole, String)
    assert isinstance(cut, String)
    assert (whole, whole.truncated) == (b"ab", False)
    assert (cut, cut.truncated) == (b"a", True)


def test_a_value_past_the_end_is_missing() -> None:
    reader = TokenReader((b" ",))
    assert reader.at_end()
    with pytest.raises(TokenError, match="a value is missing"):
        reader.value()


def test_lists_can_be_read_step_by_step() -> None:
    reader = TokenReader(
        (
            b"(a ",
            Literal(b"(", 1),
            b' ")" )  b',
        )
    )
    assert not reader.closes()
    assert reader.opens()
    assert reader.value() == b"a"
    assert not reader.opens(), "the literal is a value"
    assert [reader.value(), reader.value()] == [b"(", b")"]
    assert reader.closes()
    assert not reader.at_end()
    assert reader.value() == b"b"
    assert reader.at_end()


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        ((b'"a"',), True),
        ((b'  "a',), True),
        ((b" a",), False),
        ((b"",), False),
        ((b" ", Literal(b"", 0), b""), True),
        ((Literal(b"", 0),), True),
    ],
)
def test_begins_string(segments: tuple[bytes | Literal, ...], expected: bool) -> None:
    assert TokenReader(segments).begins_string() is expected


def test_the_rest_is_taken_as_it_is() -> None:
    reader = TokenReader((b'NIL  a\t(b "c ',))
    assert reader.value() is None
    assert reader.rest() == b' a\t(b "c '
    assert reader.at_end()
    assert reader.rest() == b""


@pytest.mark.parametrize("segments", [(b"a ", Literal(b"", 0), b""), (Literal(b"", 0),)])
def test_the_rest_holds_no_literal(segments: tuple[bytes | Literal, ...]) -> None:
    with pytest.raises(TokenError, match="out of place"):
        TokenReader(segments).rest()


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "opening parentheses": lambda size: b"(" * size,
    "empty lists": lambda size: b"()" * size,
    "open sections": lambda size: b"BODY[" * size,
    "open sections apart": lambda size: b"BODY[ " * size,
    "sections with open quotes": lambda size: b'BODY["] ' * size,
    "brackets": lambda size: b"[" * size,
    "quotes": lambda size: b'"' * size,
    "escaped quotes": lambda size: b'"' + b'\\"' * size,
    "spaces": lambda size: b" " * size,
    "dots": lambda size: b"BODY" + b"." * size,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_text_takes_more_than_linear_time(text: Callable[[int], bytes]) -> None:
    def work(size: int) -> None:
        with contextlib.suppress(TokenError):
            TokenReader((text(size),)).values()

    assert_linear(work, 10_000)


def serialize(value: Value) -> list[bytes | Literal]:
    """A value as segments, every string that cannot be quoted as a literal."""
    if value is None:
        return [b"NIL"]
    if isinstance(value, Atom):
        return [bytes(value)]
    if isinstance(value, String):
        return [quote(value)] if is_quotable(value) else [b"", Literal(bytes(value), len(value)), b""]
    segments: list[bytes | Literal] = [b"("]
    for index, item in enumerate(value):
        append(segments, [b" "] if index else [b""])
        append(segments, serialize(item))
    append(segments, [b")"])
    return segments


def append(segments: list[bytes | Literal], more: list[bytes | Literal]) -> None:
    last, first = segments[-1], more[0]
    assert isinstance(last, bytes)
    assert isinstance(first, bytes)
    segments[-1:] = [last + first, *more[1:]]


ATOMS = st.text("abcXYZ019$\\.-", min_size=1, max_size=8).filter(lambda text: text.upper() != "NIL")
LEAVES = st.none() | ATOMS.map(lambda text: Atom(text.encode())) | st.binary(max_size=12).map(String)
VALUES = st.recursive(LEAVES, lambda items: st.lists(items, max_size=5), max_leaves=20)


@given(VALUES)
@settings(max_examples=100, derandomize=True, deadline=None)
def test_what_is_written_is_read_back(value: Value) -> None:
    reader = TokenReader(serialize(value))
    assert shape(reader.value()) == shape(value)
    assert reader.at_end()


@given(st.binary(max_size=100))
@settings(max_examples=300, derandomize=True, deadline=None)
def test_octets_are_read_or_refused_and_nothing_else(data: bytes) -> None:
    with contextlib.suppress(TokenError):
        TokenReader((data,)).values()


def test_only_printable_ascii_is_quoted() -> None:
    assert quote(b'a "b" \\c') == b'"a \\"b\\" \\\\c"'
    for octets in (b"\r", b"\n", b"\0", b"\t", b"\x7f", "é".encode()):
        with pytest.raises(ValueError, match="printable"):
            quote(octets)
