"""Cutting a long text into pages of characters. Offsets are code points of the whole text."""

from __future__ import annotations

import unicodedata
from typing import Final

_LOOK_BACK: Final = 32
"""Characters a cut may move back; a longer run of combining marks is no writing system's."""
_JOINERS: Final = frozenset("\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
"""Zero-width joiner, variation selectors and skin tones: they belong to the emoji before them (UTS #51)."""


def page_end(text: str, offset: int, length: int) -> int:
    """Where a page of at most `length` characters from `offset` ends.

    Never between CR and LF and never before a mark that combines with what precedes it, as long as the page still
    gets further than `offset`.
    """
    end = min(len(text), offset + length)
    if end == len(text):
        return end
    for place in range(end, max(offset, end - _LOOK_BACK), -1):
        if not _joined(text[place - 1], text[place]):
            return place
    return end


def _joined(left: str, right: str) -> bool:
    """Whether a reader would see both as one (a small part of UAX #29)."""
    if left == "\r" and right == "\n":
        return True
    return right in _JOINERS or left == "\u200d" or unicodedata.category(right) in ("Mn", "Mc", "Me")
