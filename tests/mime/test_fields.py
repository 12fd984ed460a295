"""Where a header ends, and how its raw octets read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailgate.limits import MIB
from mailgate.mime.fields import header_extent, is_utf8, parse_fields, raw_text
from tests.mime.messages import multipart, read

HEAD = b"Subject: x\r\nContent-Type: text/plain\r\n"


def body_of(source: bytes) -> bytes:
    return source[header_extent(source, 0, len(source)).body :]


@pytest.mark.parametrize("blank", [b"\r\n", b"\n"])
def test_a_header_ends_at_the_first_blank_line(blank: bytes) -> None:
    assert body_of(HEAD + blank + b"Subject: no\r\n\r\nbody") == b"Subject: no\r\n\r\nbody"


def test_text_where_the_blank_line_was_forgotten_is_body() -> None:
    assert body_of(HEAD + b"Dear Bob,\r\n\r\nbody") == b"Dear Bob,\r\n\r\nbody"
    assert body_of(HEAD + b"No blank line anywhere") == b"No blank line anywhere"


@pytest.mark.parametrize("line", [b"torn apart", b"\xc3\xa7: 1", b"-----"])
def test_a_broken_line_with_usual_fields_after_it_ends_nothing(line: bytes) -> None:
    source = b"Subject: x\r\n" + line + b"\r\nFrom: ann@example.org\r\n\r\nbody"
    assert body_of(source) == b"body"
    assert parse_fields(source, 0, source.find(b"\r\n\r\n")).first("from") == b"ann@example.org"


@pytest.mark.parametrize("field", [b"Content-Type: text/plain;", b"To: a@example.org,"])
def test_a_field_folded_without_its_blank_ends_nothing(field: bytes) -> None:
    assert body_of(b"Subject: x\r\n" + field + b"\r\nname=a.txt\r\n\r\nbody") == b"body"


def test_a_word_like_a_field_in_a_forgotten_text_is_text() -> None:
    assert body_of(HEAD + b"Dear Bob,\r\ntomorrow: rain\r\n\r\nbody") == b"Dear Bob,\r\ntomorrow: rain\r\n\r\nbody"


def test_a_part_without_its_blank_line_keeps_its_text() -> None:
    parts = [b"Content-Type: text/plain\r\nHello there.", b"Content-Type: text/plain\r\n\r\nand there."]
    assert read(multipart("mixed", parts)).text.text == "Hello there.\n\nand there."


@given(st.binary(max_size=300))
def test_an_extent_lies_within_the_source(source: bytes) -> None:
    extent = header_extent(source, 0, len(source))
    assert 0 <= extent.end <= extent.body <= len(source)


@pytest.mark.parametrize("line", [b"x", b"Subject: x\r\n", b"X", b"X-: \r\n", b"a " * 40 + b"\r\n", b"From: \r\nx\r\n"])
def test_a_header_of_any_length_has_an_end(line: bytes) -> None:
    source = HEAD + line * (4 * MIB // len(line))
    assert 0 < header_extent(source, 0, len(source)).end <= len(source)


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("Grüße aus Köln", "cp1252"),
        ("Встреча в пятницу", "koi8-r"),
        ("광고 요즘 뜨는 직종", "cp949"),
        ("Grüße", "utf-8"),
    ],
)
def test_raw_octets_read_as_what_they_look_like(text: str, charset: str) -> None:
    assert raw_text(text.encode(charset)) == text
    assert is_utf8(text.encode(charset)) == (charset == "utf-8")
