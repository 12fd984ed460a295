from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.imap.structure import has_attachments
from mailgate.imap.tokens import Atom, String, TokenReader, Value


def structure(text: str) -> Value:
    return TokenReader((text.encode(),)).value()


PLAIN = '("TEXT" "PLAIN" ("CHARSET" "utf-8") NIL NIL "7BIT" 10 1 NIL NIL NIL NIL)'
HTML = '("text" "html" NIL NIL NIL "7BIT" 10 1)'
PDF = '("APPLICATION" "PDF" ("NAME" "a.pdf") NIL NIL "BASE64" 999 NIL ("attachment" ("FILENAME" "a.pdf")))'
INLINE_IMAGE = '("IMAGE" "PNG" NIL "<logo@x>" NIL "BASE64" 99 NIL ("inline" ("filename" "logo.png")))'
IMAGE = '("IMAGE" "PNG" NIL NIL NIL "BASE64" 99)'
MESSAGE = f'("MESSAGE" "RFC822" NIL NIL NIL "7BIT" 99 (NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL) {PLAIN} 3)'
ATTACHED_IMAGE = INLINE_IMAGE.replace('"inline"', '"ATTACHMENT"')
NAMED_TEXT = '("TEXT" "PLAIN" ("NAME*0*" "utf-8\'\'a") NIL NIL "7BIT" 10 1)'
NAMED_BY_DISPOSITION = '("TEXT" "PLAIN" NIL NIL NIL "7BIT" 10 1 NIL ("inline" ("filename*" "x")))'
ATTACHED_TEXT = '("TEXT" "PLAIN" NIL NIL NIL "7BIT" 10 1 NIL ("attachment" NIL))'
CALENDAR = '("TEXT" "CALENDAR" NIL NIL NIL "7BIT" 10 1)'

CASES: dict[str, tuple[str, bool | None]] = {
    "plain text": (PLAIN, False),
    "HTML": (HTML, False),
    "text without extension data": ('("TEXT" "PLAIN" NIL NIL NIL "7BIT" 10 1)', False),
    "text without a line count": ('("TEXT" "PLAIN" NIL NIL NIL "7BIT" 10)', False),
    "two alternatives": (f'({PLAIN}{HTML} "ALTERNATIVE" ("BOUNDARY" "x") NIL NIL)', False),
    "spaces between parts": (f'({PLAIN} {HTML} "ALTERNATIVE")', False),
    "an invitation among alternatives": (f'({PLAIN}{CALENDAR} "ALTERNATIVE")', False),
    "an invitation beside the text": (f'({PLAIN}{CALENDAR} "MIXED")', True),
    "a file beside the text": (f'({PLAIN}{PDF} "MIXED")', True),
    "an image without a disposition": (f'({PLAIN}{IMAGE} "MIXED")', True),
    "an inline image that nothing refers to": (f'({PLAIN}{INLINE_IMAGE} "MIXED")', True),
    "an inline image of the body": (f'({HTML}{INLINE_IMAGE} "RELATED")', False),
    "an inline image of one alternative": (f'({PLAIN}({HTML}{INLINE_IMAGE} "RELATED") "ALTERNATIVE")', False),
    "an inline image deeper inside": (f'({HTML}({INLINE_IMAGE}{INLINE_IMAGE} "MIXED") "RELATED")', False),
    "an image of the body without an id": (f'({HTML}{IMAGE} "RELATED")', True),
    "an image of the body that calls itself an attachment": (f'({HTML}{ATTACHED_IMAGE} "RELATED")', True),
    "a root of related parts that is no text": (f'({INLINE_IMAGE}{PLAIN} "RELATED")', True),
    "an attached message": (f'({PLAIN}{MESSAGE} "MIXED")', True),
    "a message that is an attached message": (MESSAGE, True),
    "a message that is a file": (PDF, True),
    "a message that is an image": (IMAGE, True),
    "a named text beside the text": (f'({PLAIN}{NAMED_TEXT} "MIXED")', True),
    "a text named by its disposition": (f'({PLAIN}{NAMED_BY_DISPOSITION} "MIXED")', True),
    "a text that calls itself an attachment": (f'({PLAIN}{ATTACHED_TEXT} "MIXED")', True),
    "a named text that is all there is": (NAMED_TEXT, False),
    "a calendar that is all there is": (CALENDAR, False),
    "an attached text that is all there is": (ATTACHED_TEXT, True),
    "a file after something unclear": (f'({PLAIN}("X"){PDF} "MIXED")', True),
    # What servers are known to send instead:
    "NIL": ("NIL", None),
    "a string": ('"TEXT"', None),
    "an empty list": ("()", None),
    "a part that is empty": (f'({PLAIN}() "MIXED")', None),
    "types that are NIL": ('(NIL NIL NIL NIL NIL "7BIT" 10 1)', None),
    "a type without a subtype": ('("TEXT")', None),
    "too few fields": ('("TEXT" "PLAIN" NIL NIL)', None),
    "a multipart without parts": ('("MIXED" ("BOUNDARY" "x"))', None),
    "no subtype after the parts": (f"({PLAIN}{HTML})", False),
    "a subtype that is NIL": (f"({PLAIN}{INLINE_IMAGE} NIL)", True),
    "a disposition that is a string": ('("TEXT" "PLAIN" NIL NIL NIL "7BIT" 10 1 NIL "inline")', False),
    "a disposition that is empty": ('("TEXT" "PLAIN" NIL NIL NIL "7BIT" 10 1 NIL ())', False),
    "a disposition of NIL": ('("TEXT" "PLAIN" NIL NIL NIL "7BIT" 10 1 NIL (NIL NIL))', False),
    "parameters that are a string": ('("TEXT" "PLAIN" "x" NIL NIL "7BIT" 10 1)', False),
    "parameters that are lists": ('("TEXT" "PLAIN" (("a") ("b")) NIL NIL "7BIT" 10 1)', False),
    "an odd number of parameters": ('("TEXT" "PLAIN" ("a") NIL NIL "7BIT" 10 1)', False),
}


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_has_attachments(text: str, expected: bool | None) -> None:
    assert has_attachments(structure(text)) is expected


def test_octets_above_127_are_no_trouble() -> None:
    body: Value = [String(b"te\xffxt"), String(b"plain"), None, None, None, None, Atom(b"1")]
    assert has_attachments(body) is True


def test_depth_and_number_of_parts_are_bounded() -> None:
    deep: Value = structure(PLAIN)
    for _ in range(5000):
        deep = [deep, String(b"mixed")]
    assert has_attachments(deep) is None
    assert has_attachments([structure(PLAIN)] * 5000 + [String(b"mixed")]) is None


LEAVES = st.none() | st.sampled_from(
    [
        String(word)
        for word in (b"TEXT", b"PLAIN", b"RELATED", b"ATTACHMENT", b"FILENAME", b"<id>", b"MESSAGE", b"RFC822")
    ]
    + [Atom(b"5")]
)
VALUES = st.recursive(LEAVES, lambda items: st.lists(items, max_size=12), max_leaves=40)


@given(VALUES)
@settings(max_examples=100, derandomize=True, deadline=None)
def test_nothing_raises(value: Value) -> None:
    assert has_attachments(value) in (True, False, None)
