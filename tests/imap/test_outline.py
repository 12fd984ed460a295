"""BODYSTRUCTURE as a tree, and as nothing at all where it makes no sense."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.imap.outline import PartOutline, outline_of
from mailgate.imap.tokens import Atom, String, Value

from .test_structure import CALENDAR, HTML, IMAGE, INLINE_IMAGE, MESSAGE, PDF, PLAIN, structure


def leaves(outline: PartOutline) -> list[bytes]:
    """The types of all leaves in order."""
    if not outline.children:
        return [outline.kind + b"/" + outline.subtype]
    return [leaf for child in outline.children for leaf in leaves(child)]


def test_a_leaf_has_what_the_server_says_of_it() -> None:
    assert outline_of(structure(INLINE_IMAGE)) == PartOutline(
        kind=b"image",
        subtype=b"png",
        content_id=b"<logo@x>",
        encoding=b"BASE64",
        octets=99,
        disposition=b"inline",
        disposition_parameters=((b"filename", b"logo.png"),),
    )
    plain = outline_of(structure(PLAIN))
    assert plain is not None
    assert (plain.parameters, plain.octets, plain.disposition) == (((b"CHARSET", b"utf-8"),), 10, b"")


def test_parts_keep_their_order_and_an_attached_message_is_one_of_them() -> None:
    text = f'(({PLAIN}{HTML} "ALTERNATIVE" ("BOUNDARY" "x")){MESSAGE}{PDF}{CALENDAR} "MIXED")'
    outline = outline_of(structure(text))
    assert outline is not None
    assert leaves(outline) == [b"text/plain", b"text/html", b"message/rfc822", b"application/pdf", b"text/calendar"]
    assert outline.children[0].parameters == ((b"BOUNDARY", b"x"),)


@pytest.mark.parametrize(
    "text",
    [
        "NIL",
        '"TEXT"',
        "()",
        '("TEXT")',
        f"({PLAIN})",
        f'({PLAIN}() "MIXED")',
        '("" "" NIL NIL NIL "7BIT" 1)',
        "(NIL NIL)",
    ],
)
def test_what_makes_no_sense_is_nothing(text: str) -> None:
    assert outline_of(structure(text)) is None


@pytest.mark.parametrize("size", ["NIL", '"x"', "-1", "1" * 40])
def test_a_size_that_is_none_is_not_known(size: str) -> None:
    outline = outline_of(structure(IMAGE.replace("99", size)))
    assert outline is not None
    assert outline.octets is None


def test_depth_and_parts_are_bounded() -> None:
    deep: Value = structure(PLAIN)
    for _ in range(5000):
        deep = [deep, String(b"MIXED")]
    assert outline_of(deep) is None
    assert outline_of([*[structure(PLAIN)] * 5000, String(b"MIXED")]) is None


VALUES = st.recursive(
    st.none() | st.binary(max_size=8).map(String) | st.sampled_from([Atom(b"5"), Atom(b"NIL"), String(b"text")]),
    lambda inner: st.lists(inner, max_size=9),
    max_leaves=60,
)


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_nothing_a_server_sends_raises(value: Value) -> None:
    outline = outline_of(value)
    assert outline is None or leaves(outline)
