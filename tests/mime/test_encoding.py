"""Transfer encodings, written so that nothing on the way has a reason to alter a line."""

from __future__ import annotations

import base64
import quopri

import pytest

from mailgate.mime.encoding import canonical_text, encode_text, to_base64, to_quoted_printable


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("", b""), ("\n", b"\r\n"), ("a", b"a\r\n"), ("a\n", b"a\r\n"), ("a\n\nü", "a\r\n\r\nü\r\n".encode())],
)
def test_canonical_text_has_crlf_and_a_last_line_end(text: str, canonical: bytes) -> None:
    assert canonical_text(text) == canonical


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("", "7bit"),
        ("plain\n\ttext\n", "7bit"),
        ("x" * 78 + "\n", "7bit"),
        ("x" * 79 + "\n", "quoted-printable"),
        ("a blank at the end of a line \n", "quoted-printable"),
        ("a\n.\n", "quoted-printable"),
        ("a\nFrom b\n", "quoted-printable"),
        ("From: b\n", "7bit"),
        ("--=_b\n", "quoted-printable"),
        ("Grüße aus der Ferne\n", "quoted-printable"),
        ("日本語の文章\n", "base64"),
    ],
)
def test_the_plainest_safe_encoding_is_chosen(text: str, encoding: str) -> None:
    assert encode_text(canonical_text(text)).encoding == encoding


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (b"a=b\r\n", b"a=3Db\r\n"),
        (b"\t a \t\r\n", b"\t a =09\r\n"),
        (b" \r\n", b"=20\r\n"),
        (b".\r\n..\r\n", b"=2E\r\n=2E.\r\n"),
        (b"From x\r\nFromage\r\n", b"=46rom x\r\nFromage\r\n"),
        (b"x" * 72 + b"\r\n", b"x" * 72 + b"\r\n"),
        (b"x" * 73 + b"\r\n", b"x" * 72 + b"=\r\nx\r\n"),
        (b"x" * 72 + b".y\r\n", b"x" * 72 + b"=\r\n=2Ey\r\n"),
        (b"x" * 71 + b"=y\r\n", b"x" * 71 + b"=\r\n=3Dy\r\n"),
        (b"x" * 70 + b"=y\r\n", b"x" * 70 + b"=\r\n=3Dy\r\n"),
        (b"x" * 69 + b"=y\r\n", b"x" * 69 + b"=3D=\r\ny\r\n"),
    ],
)
def test_quoted_printable_line_by_line(text: bytes, written: bytes) -> None:
    assert to_quoted_printable(text) == written
    assert quopri.decodestring(written) == text


def test_base64_has_lines_of_76_digits() -> None:
    data = bytes(range(256)) * 3
    lines = to_base64(data).split(b"\r\n")
    assert {len(line) for line in lines[:-2]} == {76}
    assert lines[-1] == b""
    assert base64.b64decode(b"".join(lines)) == data
    assert to_base64(b"") == b""
