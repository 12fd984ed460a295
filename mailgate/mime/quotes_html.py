"""Quotations in HTML: where one ends that its own element closes, and letters that look other than those around them.

Both are lost in plain text. So a closed quotation with text below it is written as a `blockquote`, which has an end;
and text whose colour differs from the rest of a quotation is written with emphasis, for that is how people mark the
answers they write into one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborNode

from mailgate.mime.html_colour import Colour
from mailgate.mime.quotes_words import FIELDS, Field

_LOOKS_MAX: Final = 24
"""Elements whose text is looked at; each look may take the whole document."""
_LEVELS_MAX: Final = 6
_CHILDREN_MAX: Final = 200
_CONTAINER: Final = re.compile(
    r"(?:^|[\s_-])(?:yahoo_quoted|gmail_quote|protonmail_quote|tutanota_quote|zmail_extra|reference-message-container"
    r"|hey_quoted_text|history_container|quoted-?text|quoted-?message|reply-?quote|ox_quote)(?:$|\s|_?\d)",
    re.IGNORECASE,
)
_BORDERED: Final = re.compile(r"border-(?:top|left)(?:-\w+)?\s*:\s*(?!none|0(?:px|pt)?\s*(?:;|$))[^;]*", re.IGNORECASE)
_LABEL: Final = re.compile(r"\s*([^:：\n]{1,24}?)\s?[:：]")
_NEAR: Final = 60.0
"""Sum of the differences of two colours that nobody tells apart."""
_GREY: Final = 24
_PALE: Final = 80
"""Nobody writes an answer in a grey that is lighter; small print is."""
_BLOCKS: Final = frozenset({"<p>", "<div>", "</p>", "</div>"})


def _names(attributes: Mapping[str, str]) -> str:
    return f"{attributes.get('class', '')[:300]} {attributes.get('id', '')[:100]}"


class ClosedQuotations:
    """Tells which elements are quotations that end before the text does."""

    def __init__(self) -> None:
        self._left = _LOOKS_MAX

    def holds(self, node: LexborNode, attributes: Mapping[str, str]) -> bool:
        """Whether an element is one: named as mail programs name it, or set off by a line with a header block and
        the message below it inside; and with text after its end."""
        named = _CONTAINER.search(_names(attributes)) is not None
        if not named and not _BORDERED.search(attributes.get("style", "")):
            return False
        if self._left <= 0:
            return False
        self._left -= 1
        # Where it holds a blockquote, the end of that is known already.
        if node.css_first("blockquote") is not None or not _text_follows(node):
            return False
        return named or _holds_message(node)


def _text_follows(node: LexborNode) -> bool:
    """Whether text stands after the end of an element, anywhere in the document."""
    place: LexborNode | None = node
    while place is not None:
        after = place.next
        while after is not None:
            if (after.text_content or "" if after.is_text_node else after.text() or "").strip():
                return True
            after = after.next
        place = place.parent
    return False


def _holds_message(node: LexborNode) -> bool:
    """Whether the element holds header lines and more below them."""
    block = node
    children: list[LexborNode] = []
    for _ in range(_LEVELS_MAX):
        children = [child for child in _elements(block) if (child.text() or "").strip()]
        if len(children) != 1 or children[0].tag not in ("div", "p", "x-b", "span"):
            break
        block = children[0]
    if not _is_from(block.text() or ""):
        return False
    return any(child.tag in ("p", "div") and not _LABEL.match(child.text() or "") for child in children)


def _elements(node: LexborNode) -> list[LexborNode]:
    found: list[LexborNode] = []
    child = node.first_child
    while child is not None and len(found) < _CHILDREN_MAX:
        if child.is_element_node:
            found.append(child)
        child = child.next
    return found


def _is_from(text: str) -> bool:
    match = _LABEL.match(text[:80])
    return match is not None and FIELDS.get(match[1].strip().casefold()) is Field.FROM


@dataclass(frozen=True, slots=True)
class _Seen:
    """One piece of text: where it stands in what is written, in which quotation, and how it looks."""

    position: int
    quotation: int
    chars: int
    colour: Colour | None
    background: Colour | None

    def differs(self, usual: _Seen) -> bool:
        """Whether it looks other than what is usual around it; shades of grey are no mark."""
        pale = _is_grey(self.colour) and self.colour is not None and max(self.colour[:3]) > _PALE
        both_grey = _is_grey(self.colour) and _is_grey(usual.colour)
        lettered = not pale and not both_grey and _apart(self.colour, usual.colour)
        return lettered or _apart(self.background, usual.background)


def _is_grey(colour: Colour | None) -> bool:
    return colour is None or max(colour[:3]) - min(colour[:3]) < _GREY


def _apart(one: Colour | None, two: Colour | None) -> bool:
    if one is None or two is None:
        return False
    return sum(abs(left - right) for left, right in zip(one[:3], two[:3], strict=True)) > _NEAR


class OddLetters:
    """Notes how text within quotations looks, and marks what looks other than the rest of its quotation."""

    def __init__(self) -> None:
        self._seen: list[_Seen] = []
        self._quotations = 0
        self._below_block = 0
        """The quotation that the last header block began, which has no end of its own."""
        self._block_end: int | None = None
        """Where in what is written the header block may have ended; -1: not yet."""

    def quotation(self) -> int:
        """A new one, with an element around it."""
        self._quotations += 1
        return self._quotations

    def note(
        self, out: Sequence[str], text: str, quotation: int, colour: Colour | None, background: Colour | None
    ) -> None:
        """Text that is about to be written after `out`; `quotation`: the one around it, or 0."""
        if not text.strip():
            return
        label = _LABEL.match(text[:40])
        field = FIELDS.get(label[1].strip().casefold()) if label else None
        if field is Field.FROM:
            self._below_block, self._block_end = self.quotation(), -1
        elif field is Field.SUBJECT and self._block_end == -1:
            self._block_end = len(out)
        # A word like `From:` alone begins no block; a quotation with an element around it counts all the same.
        if self._block_end is not None and not self._is_below(out) and quotation <= self._below_block:
            return
        inside = self._below_block if self._below_block > quotation else quotation
        if inside:
            self._seen.append(_Seen(len(out), inside, len(text), colour, background))

    def _is_below(self, out: Sequence[str]) -> bool:
        """Whether a block of text has begun since the last line of the header block."""
        start = self._block_end
        if start is None or start < 0:
            return False
        self._block_end = len(out)
        if not _BLOCKS.isdisjoint(out[start:]):
            self._block_end = None
            return True
        return False

    def mark(self, out: list[str]) -> bool:
        """Put emphasis around what looks odd; whether there is any."""
        found = False
        parts: dict[int, list[_Seen]] = {}
        for seen in self._seen:
            parts.setdefault(seen.quotation, []).append(seen)
        for part in parts.values():
            usual = _usual(part)
            for seen in part:
                if seen.differs(usual):
                    found = True
                    _emphasise(out, seen.position)
        return found


def _usual(part: Sequence[_Seen]) -> _Seen:
    """What a quotation begins with, as its own writer did; a warning before it stands on another ground."""
    grounds: Counter[Colour | None] = Counter()
    for seen in part:
        grounds[seen.background] += seen.chars
    ground = grounds.most_common(1)[0][0]
    return next(seen for seen in part if seen.background == ground)


def _emphasise(out: list[str], position: int) -> None:
    """Put emphasis around one text; where that is all that is strong already, in place of it."""
    before, after = _neighbour(out, position, -1), _neighbour(out, position, 1)
    if out[before] in ("<strong>", "<em>") and out[after] in ("</strong>", "</em>"):
        out[before], out[after] = "<em>", "</em>"
        return
    text = out[position]
    core = text.strip()
    left, _, right = text.partition(core)
    out[position] = f"{left}<em>{core}</em>{right}"


def _neighbour(out: Sequence[str], position: int, step: int) -> int:
    """The nearest place before or after that is not empty, within reach."""
    place = position + step
    for _ in range(_LEVELS_MAX):
        if not 0 <= place < len(out):
            return position
        if out[place]:
            return place
        place += step
    return position
