"""Whatever is asked within the rules comes back exactly, here and in other readers' eyes."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.limits import SUBJECT_BYTES_MAX
from mailgate.mime.clean import clean
from mailgate.mime.compose import ComposedMessage
from mailgate.mime.composition import AttachmentUpload, Composition
from mailgate.mime.model import RawMessage
from mailgate.mime.parse import extract_attachment
from tests.mime.composing import OWNER, From, composed, read_back, second_opinion, upload

# Derandomised: a failure here is a failure everywhere, and nothing is stored between runs.
exactly = settings(derandomize=True, deadline=None, max_examples=80, database=None)

SCRIPTS = [
    "Grüße",
    "日本語",
    "हिन्दी",
    "שלום",
    "مرحبا",
    "ภาษาไทย",
    "한국어",
    "Привет",
    "ÅÅ",
    "e\u0301",
    "👩‍👩‍👧",
    "🇩🇪",
    "\u202eabc\u202c",
    "\ufeff",
]
LOOK_ALIKES = [
    "=?utf-8?q?x?=",
    "=?utf-8?b?eA==?=",
    "=?",
    "?=",
    "=?x",
    "=0D=0A",
    "_",
    "=20",
    "=\n",
    "?",
    "=",
    "\\",
    '"',
    "<a@b>",
    ",",
    ";",
    ":",
    "(",
    "%0A",
]
LINES = [
    ".",
    "..",
    "\n.\n",
    "From ",
    "From me",
    ">From ",
    " ",
    "  ",
    "\t",
    "-- ",
    "--",
    "--=_",
    "\n",
    "QUIT",
    "x" * 90,
    "é" * 80,
    "word " * 20,
]
KINDS = ["application/pdf", "text/plain", "text/html", "image/png", "application/octet-stream", "text/csv"]

CHARACTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029")
HEADER_TEXT = st.lists(
    st.sampled_from(SCRIPTS + LOOK_ALIKES + [" ", "  ", "a", "plain words"]) | st.text(CHARACTERS, max_size=8),
    max_size=14,
).map(lambda pieces: re.sub("[\n\t]", " ", "".join(pieces)))
TEXT = st.lists(
    st.sampled_from(SCRIPTS + LOOK_ALIKES + LINES + ["\u2028"]) | st.text(CHARACTERS, max_size=20), max_size=25
).map("".join)
SUBJECTS = HEADER_TEXT.map(lambda text: text.encode()[:SUBJECT_BYTES_MAX].decode("utf-8", "ignore"))
FILENAMES = HEADER_TEXT.map(lambda text: re.sub(r"[/\\]", "", text)[:200]).filter(
    lambda name: name.strip(" .\u3000") != "" and name.strip() != ""
)
UPLOADS = st.builds(AttachmentUpload, FILENAMES, st.sampled_from(KINDS), st.binary(max_size=300))
ADDRESSES = st.builds(
    "{}@{}".format,
    st.sampled_from(["a", "b.c", "o'brien", "x+tag", "!#$%&*/^_`{|}~-", "=", "l" * 64]),
    st.sampled_from(["example.org", "EXAMPLE.org", "xn--bcher-kva.example", "localhost", "d" * 60 + ".net"]),
)
RECIPIENTS = st.lists(ADDRESSES, max_size=16).map(tuple)


def assert_canonical(message: ComposedMessage, *, longest: int = 78) -> None:
    assert re.fullmatch(rb"(?:[\t -~]*\r\n)+", message.data)
    lines = message.data.split(b"\r\n")
    assert max(map(len, lines)) <= longest
    assert not any(line.startswith((b".", b"From ")) for line in lines)


@exactly
@given(SUBJECTS)
def test_any_subject_comes_back(subject: str) -> None:
    message = composed(Composition(subject=subject))
    assert_canonical(message)
    assert (read_back(message).headers.subject or "") == clean(subject).text
    found = second_opinion(message)["Subject"] or ""
    # The standard library drops outer blanks, and takes no-break spaces for blanks.
    assert "".join(found.split()) == "".join(subject.split())


@exactly
@given(HEADER_TEXT)
def test_any_sender_name_comes_back_beside_the_one_address(name: str) -> None:
    message = composed(Composition(), sender=From(name))
    assert_canonical(message)
    (shown,) = read_back(message).headers.from_
    assert shown == OWNER or shown.endswith(f" <{OWNER}>")
    (address,) = second_opinion(message)["From"].addresses
    assert address.addr_spec == OWNER


@exactly
@given(TEXT, st.booleans())
def test_any_text_comes_back(text: str, with_attachment: bool) -> None:
    asked = Composition(text=text, attachments=(upload(),) if with_attachment else ())
    message = composed(asked)
    assert_canonical(message)
    body = second_opinion(message).get_body()
    assert body is not None
    payload = body.get_payload(decode=True)
    assert isinstance(payload, bytes)
    ended = asked.text if asked.text.endswith("\n") or not asked.text else asked.text + "\n"
    assert payload.decode().replace("\r\n", "\n") == ended
    assert read_back(message).text.text.strip() == clean(ended, multiline=True).text.strip()


@exactly
@given(st.lists(UPLOADS, max_size=4).map(tuple), TEXT)
def test_any_attachments_come_back(uploads: tuple[AttachmentUpload, ...], text: str) -> None:
    message = composed(Composition(text=text, attachments=uploads))
    assert_canonical(message)
    for index, one in enumerate(uploads, start=1):
        found = extract_attachment(RawMessage(message.data), index)
        assert (found.data, found.info.content_type) == (one.data, one.content_type)
    others = list(second_opinion(message).walk())[2:] if uploads else []
    assert [part.get_payload(decode=True) for part in others] == [one.data for one in uploads]


@exactly
@given(RECIPIENTS, RECIPIENTS, RECIPIENTS, st.booleans())
def test_the_recipients_are_those_and_nobody_else(
    to: tuple[str, ...], cc: tuple[str, ...], bcc: tuple[str, ...], keep_bcc: bool
) -> None:
    asked = Composition(to=to, cc=cc, bcc=bcc)
    message = composed(asked, keep_bcc=keep_bcc)
    # An address is never broken, however long.
    assert_canonical(message, longest=140)
    headers = read_back(message).headers
    expected = (asked.to, asked.cc, asked.bcc if keep_bcc else ())
    assert (headers.to, headers.cc, headers.bcc) == expected
    other = second_opinion(message)
    found = tuple(
        tuple(address.addr_spec for address in other[role].addresses) if other[role] else ()
        for role in ("To", "Cc", "Bcc")
    )
    assert found == expected
    assert len(set(other.keys())) == len(other.keys())


@exactly
@given(TEXT, SUBJECTS, st.lists(UPLOADS, max_size=2).map(tuple))
def test_strict_and_lenient_servers_see_one_and_the_same_message(
    text: str, subject: str, uploads: tuple[AttachmentUpload, ...]
) -> None:
    data = composed(Composition(text=text, subject=subject, attachments=uploads)).data
    # RFC 5321, 4.5.2: a client doubles a dot at the start of a line; here there is none.
    assert re.sub(rb"(?m)^\.", b"..", data) == data
    stream = data + b".\r\n"
    for end in (rb"\r\n\.\r\n", rb"\n\.\r?\n", rb"[\r\n]\.[\r\n]"):
        assert [match.start() for match in re.finditer(end, stream)][:1] == [
            len(data) - (1 if end != rb"\r\n\.\r\n" else 2)
        ]


def test_random_octets_come_back() -> None:
    source = random.Random(7)
    uploads = tuple(
        upload(f"{size}.bin", "application/octet-stream", source.randbytes(size)) for size in (1, 56, 57, 58, 99_999)
    )
    message = composed(Composition(attachments=uploads))
    assert [extract_attachment(RawMessage(message.data), index + 1).data for index in range(5)] == [
        one.data for one in uploads
    ]


@pytest.mark.parametrize("length", range(60, 160))
def test_lines_of_every_length_with_trouble_at_the_fold(length: int) -> None:
    for trouble in (".", "From ", "ü", "=", " ", "\t", "€.", "..."):
        text = "x" * length + trouble * 3 + "y" * (length % 7) + trouble
        assert_canonical(composed(Composition(text=text)))
