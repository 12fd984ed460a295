"""Attachments listed from a structure have the index that they have in the message itself."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.imap.outline import PartOutline, outline_of
from mailgate.imap.tokens import String, TokenReader, Value
from mailgate.mime.model import RawMessage
from mailgate.mime.parse import parse_message
from mailgate.read.attached import attachments_in

LEAVES = {
    "plain": (b"text/plain", b""),
    "html": (b"text/html", b""),
    "named": (b"text/plain", b'attachment; filename="a.txt"'),
    "pdf": (b"application/pdf", b'attachment; filename="a \\"b\\".pdf"'),
    "picture": (b"image/png", b"inline"),
    "calendar": (b"text/calendar", b""),
    "message": (b"message/rfc822", b""),
}
TREES = st.recursive(
    st.sampled_from(sorted(LEAVES)),
    lambda inner: st.tuples(
        st.sampled_from([b"mixed", b"alternative", b"related", b"signed"]), st.lists(inner, min_size=1, max_size=4)
    ),
    max_leaves=8,
)


def message(tree: object, boundary: bytes = b"b") -> bytes:
    """The tree as a MIME entity."""
    if isinstance(tree, str):
        kind, disposition = LEAVES[tree]
        placed = b"Content-Disposition: " + disposition + b"\r\n" if disposition else b""
        return b"Content-Type: " + kind + b"\r\n" + placed + b"\r\nwords"
    kind, children = tree  # type: ignore[misc]
    parts = b"".join(b"--" + boundary + b"\r\n" + message(child, boundary + b"x") + b"\r\n" for child in children)
    head = b"Content-Type: multipart/" + kind + b"; boundary=" + boundary
    return head + b"\r\n\r\n" + parts + b"--" + boundary + b"--\r\n"


LEAF = b"Subject: a message of one part\r\n"


def outline(tree: object) -> PartOutline:
    """The same as a server describes it."""
    if isinstance(tree, str):
        kind, disposition = LEAVES[tree]
        main, _, sub = kind.partition(b"/")
        word, _, name = disposition.partition(b"; filename=")
        named = ((b"FILENAME", name.strip(b'"').replace(b'\\"', b'"')),) if name else ()
        return PartOutline(main, sub, (), b"", b"7BIT", 5, word, named)
    kind, children = tree  # type: ignore[misc]
    return PartOutline(b"multipart", kind, ((b"boundary", b"b"),), children=tuple(map(outline, children)))


@settings(max_examples=200, deadline=None)
@given(TREES)
def test_a_structure_lists_what_the_message_lists(tree: object) -> None:
    whole = message(tree)
    listed = attachments_in(outline(tree), whole.partition(b"\r\n\r\n")[0])
    assert listed == parse_message(RawMessage(whole)).attachments


@pytest.mark.parametrize("encoding", ["BASE64", "Quoted-Printable", "x-odd"])
def test_the_size_of_what_is_encoded_is_not_known(encoding: str) -> None:
    (one,) = attachments_in(PartOutline(b"image", b"png", (), b"<a@b>", encoding.encode(), 99), LEAF) or ()
    assert one.size is None
    assert one.content_id == "<a@b>"


@pytest.mark.parametrize(
    ("parameters", "filename"),
    [
        (((b"filename*", b"utf-8''%C3%9Cber.txt"),), "Über.txt"),
        (((b"filename*0", b"long "), (b"filename*1", b"name.txt")), "long name.txt"),
        (((b"FILENAME", b"=?utf-8?Q?=C3=9Cber=2Etxt?="),), "Über.txt"),
        (((b"filename", b"../../a\x00b;c=d.txt"),), None),
    ],
)
def test_names_are_read_as_in_a_message(parameters: tuple[tuple[bytes, bytes], ...], filename: str | None) -> None:
    part = PartOutline(b"image", b"png", (), b"", b"7BIT", 5, b"attachment", parameters)
    (one,) = attachments_in(part, LEAF) or ()
    if filename is None:
        assert one.filename is not None
        assert not {"/", "\0"} & set(one.filename)
    else:
        assert one.filename == filename


def test_without_a_structure_nothing_is_known() -> None:
    assert attachments_in(None, LEAF) is None
    assert attachments_in(outline_of(value(b'("TEXT" "PLAIN" NIL NIL NIL "7BIT" 10 1)')), LEAF) == ()
    assert attachments_in(outline_of([String(b"x")]), LEAF) is None


def test_parts_that_the_header_does_not_speak_of_or_that_hold_nothing_are_not_known() -> None:
    leaf, mixed = PartOutline(b"text", b"plain", octets=7), b"Content-Type: multipart/mixed; boundary=b\r\n"
    empty = PartOutline(b"text", b"plain", octets=0)
    whole = PartOutline(b"multipart", b"mixed", children=(empty, leaf))
    assert attachments_in(whole, mixed) == ()
    assert attachments_in(leaf, mixed) is None
    assert attachments_in(whole, LEAF) is None
    assert attachments_in(PartOutline(b"multipart", b"mixed", children=(empty,)), mixed) is None


def value(text: bytes) -> Value:
    return TokenReader((text,)).value()
