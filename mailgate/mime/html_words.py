"""How much text there is in something that is left out."""

from __future__ import annotations

import re
from html import unescape
from typing import Final

from mailgate.mime.clean import clean

BLANKS: Final = re.compile("[ \t\r\n\f\xa0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000]+")
"""Whatever shows as empty space; mail fills its preview line with runs of them."""
LEAST_REMARK: Final = 20
"""Letters from which the text of a comment or a title counts as text: shorter ones are labels for people and tools."""
_FEWEST_KINDS: Final = 5
"""Different letters in a remark: one with fewer is a drawn line."""
_TAG: Final = re.compile(r"<(/?)([a-z]{0,10})[^<>]*(?:>|\Z)", re.IGNORECASE)
_CODE: Final = frozenset({"style", "script", "xml"})


def chars_of_text(text: str) -> int:
    """Characters a reader would have seen: a run of blanks counts as one, padding and invisible ones not at all."""
    return len(BLANKS.sub(" ", clean(text, multiline=True).text).strip())


def chars_of_markup(markup: str, least: int = LEAST_REMARK) -> int:
    """The same for what stands in a comment: tags, code and conditions do not count, nor does what has fewer than
    `least` letters and digits."""
    pieces: list[str] = []
    code = ""
    at = 0
    for tag in _TAG.finditer(markup):
        if not code:
            pieces.append(markup[at : tag.start()])
        at = tag.end()
        name = tag[2].lower()
        if tag[1] and name == code:
            code = ""
        elif not tag[1] and not code and name in _CODE:
            code = name
    if not code:
        pieces.append(markup[at:])
    text = unescape(" ".join(pieces))
    if text.startswith("[") and "]" in text:  # `[if mso]` is said to a program
        text = text.partition("]")[2].lstrip("> ")
    letters = [letter for letter in text if letter.isalnum()]
    is_line = least > 1 and len(set(letters)) < _FEWEST_KINDS
    return chars_of_text(text) if len(letters) >= least and not is_line else 0
