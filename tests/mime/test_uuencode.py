"""Files within texts, and parts in uuencoding."""

from __future__ import annotations

import base64
import binascii

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.mime.model import RawMessage
from mailgate.mime.parse import extract_attachment
from mailgate.mime.uuencode import CutText, cut_uuencoded
from tests.mime.messages import codes, multipart, part, read, text


def uu(data: bytes, name: str = "report.doc", *, backtick: bool = False) -> str:
    lines = (binascii.b2a_uu(data[at : at + 45], backtick=backtick).decode() for at in range(0, len(data), 45))
    return f"begin 644 {name}\n" + "".join(lines) + "`\nend"


def test_a_file_is_cut_out_and_named_where_it_stood() -> None:
    message = read(text(f"Hello,\n\n{uu(b'x' * 1000)}\n\nBye"))
    assert message.text.text == "Hello,\n\n[uuencoded file cut out: report.doc, 1,000 bytes]\n\nBye"
    assert codes(message) == {"uuencoded_file"}


def test_several_files_and_base64_ones_are_cut_out() -> None:
    encoded = base64.encodebytes(b"y" * 100).decode()
    cut = cut_uuencoded(f"a\n{uu(b'x')}\nb\nbegin-base64 600 z.bin\n{encoded}====\nc")
    assert cut.files == 2
    assert cut.text == (
        "a\n[uuencoded file cut out: report.doc, 1 bytes]\nb\n[uuencoded file cut out: z.bin, 100 bytes]\nc"
    )


def test_a_file_name_is_made_safe() -> None:
    assert "[uuencoded file cut out: passwd, 1 bytes]" in cut_uuencoded(uu(b"x", "../../etc/passwd")).text


def test_a_file_cut_off_with_the_text_is_still_a_file() -> None:
    encoded = uu(b"x" * 1000)
    for length in range(400, len(encoded)):
        cut = cut_uuencoded(f"Hello\n{encoded[:length]}")
        assert cut.files == 1
        assert cut.text.startswith("Hello\n[uuencoded file cut out: report.doc, ")
        assert len(cut.text) < 70


@pytest.mark.parametrize(
    "words",
    [
        "begin 644 words of mine\nwhich are text\nend",
        "begin 644 x",
        "begin  at the beginning\nend",
        "begin 644 x\n\n\n\nend",
        "We begin 644 x\nend",
        "begin",
    ],
)
def test_words_that_only_begin_like_a_file_stay(words: str) -> None:
    assert cut_uuencoded(words) == CutText(words)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(st.binary(min_size=1, max_size=500), st.booleans(), st.booleans())
def test_any_file_is_cut_out_with_its_size(data: bytes, backtick: bool, trimmed: bool) -> None:
    encoded = uu(data, backtick=backtick)
    if trimmed:
        encoded = "\n".join(line.rstrip(" ") for line in encoded.split("\n"))
    cut = cut_uuencoded(f"before\n{encoded}\nafter")
    assert cut.text == f"before\n[uuencoded file cut out: report.doc, {len(data):,} bytes]\nafter"


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text("begin 644 x\nM`end#", max_size=300))
def test_any_text_can_be_searched(words: str) -> None:
    cut = cut_uuencoded(words)
    assert (cut.files == 0) == (cut.text == words)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.binary(max_size=500), st.sampled_from(["uuencode", "x-uuencode", "X-UUE"]))
def test_an_encoded_part_is_decoded(data: bytes, encoding: str) -> None:
    body = ("see below\r\n" + uu(data).replace("\n", "\r\n")).encode()
    file = part(body, "Content-Type: application/x-data", f"Content-Transfer-Encoding: {encoding}")
    source = multipart("mixed", [text("x"), file])
    assert extract_attachment(RawMessage(source), 1).data == data
    assert codes(read(source)) == set()


def test_an_encoded_part_without_its_end_is_called_damaged() -> None:
    file = part(uu(b"x" * 90).encode()[:120], "Content-Type: a/b", "Content-Transfer-Encoding: x-uuencode")
    assert codes(read(multipart("mixed", [text("x"), file]))) == {"transfer_damaged"}


def test_searching_is_linear_in_headers_without_files() -> None:
    assert cut_uuencoded("begin 644 x\nM\n" * 20_000).files == 0
