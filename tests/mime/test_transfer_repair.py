"""Text under a transfer encoding that it is not in: what it is decides, and an honest label is never doubted."""

from __future__ import annotations

import base64
import quopri

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.mime.model import RawMessage
from mailgate.mime.parse import extract_attachment
from mailgate.mime.preview import preview_of
from tests.mime.messages import codes, multipart, part, read, text

LETTER = "Dear Bob,\r\nthe contract is ready - please sign it by Friday (5 p.m.).\r\nAnn"
SHOWN = LETTER.replace("\r\n", "\n")
BASE64 = base64.encodebytes(LETTER.encode())


def encoded(body: bytes, encoding: str, kind: str = "text/plain; charset=utf-8") -> bytes:
    return part(body, f"Content-Type: {kind}", f"Content-Transfer-Encoding: {encoding}")


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("base64", LETTER.encode()),
        ("x-uuencode", LETTER.encode()),
        ("8bit", BASE64),
        ("7bit", BASE64),
        ("binary", BASE64),
        ("quoted-printable", BASE64),
        ("mime64", BASE64),
        ("utf-8", BASE64),
        ("base64", base64.encodebytes(BASE64)),
        ("8bit", base64.encodebytes(BASE64)),
    ],
)
def test_a_wrong_label_is_seen_through_and_said(encoding: str, body: bytes) -> None:
    message = read(encoded(body, encoding))
    assert message.text.text == SHOWN
    assert codes(message) == {"transfer_damaged"}


@pytest.mark.parametrize("encoding", ["base64", "8bit", "x-uuencode"])
def test_a_preview_is_of_the_text_and_not_of_its_encoding(encoding: str) -> None:
    fields = f"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: {encoding}\r\n".encode()
    preview = preview_of(fields, BASE64 if encoding == "8bit" else LETTER.encode(), cut=False)
    assert preview is not None
    assert preview.text.startswith("Dear Bob, the contract is ready")


@pytest.mark.parametrize(
    "label", ["8 bit", "8-BIT", "7bits", "Quoted Printable", "quoted_printable", "X-Base64", "b64"]
)
def test_spellings_of_a_known_encoding_are_known(label: str) -> None:
    assert codes(read(encoded(b"", label))) == {"no_text"}


@pytest.mark.parametrize("label", ["utf-8", "text", "x-yencode", "9bit"])
def test_the_text_of_an_unknown_encoding_stands_as_it_is_with_its_warning(label: str) -> None:
    message = read(encoded("Köln".encode(), label))
    assert message.text.text == "Köln"
    assert codes(message) == {"transfer_unknown"}


@pytest.mark.parametrize(
    "body",
    [
        b"dGhpc2lzYXNlY3JldA==",
        base64.b64encode(bytes(range(7, 247))),
        b"Your key is:\r\n" + BASE64,
        BASE64 + b"-- \r\nAnn",
        b"Donaudampfschifffahrtsgesellschaftskapitaensmuetze",
        b"x = 1\r\ny = 20\r\nif x == y: print('=C3')",
    ],
    ids=["a word", "octets", "with an introduction", "with a signature", "a long word", "code"],
)
def test_what_only_looks_encoded_stays_as_it_was_written(body: bytes) -> None:
    message = read(encoded(body, "8bit"))
    assert message.text.text == body.decode().replace("\r\n", "\n").rstrip()
    assert not codes(message)


def test_parameters_of_addresses_are_kept_only_where_nothing_was_escaped() -> None:
    url = b"https://x.example/?id=20&to=C3 a = b"
    assert read(encoded(url, "quoted-printable")).text.text == url.decode()
    assert read(encoded(url + b" =3D", "quoted-printable")).text.text != url.decode() + " =3D"


def test_a_file_is_given_as_its_label_says() -> None:
    fields = ("Content-Type: text/plain", 'Content-Disposition: attachment; filename="a.txt"')
    source = multipart("mixed", [text("see the file"), part(BASE64.rstrip(), *fields)])
    assert extract_attachment(RawMessage(source), 1).data == BASE64.rstrip()


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.text(st.characters(blacklist_categories=("Cc", "Cs", "Cf", "Zl", "Zp")), min_size=1, max_size=300))
def test_an_honest_label_is_never_doubted(said: str) -> None:
    octets = said.encode()
    for encoding, body in (("base64", base64.encodebytes(octets)), ("quoted-printable", quopri.encodestring(octets))):
        assert "transfer_damaged" not in codes(read(encoded(body, encoding)))
