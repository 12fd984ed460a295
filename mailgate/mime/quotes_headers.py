"""What stands over an older message that bears no marks: a block of header lines as Outlook writes it, a line
`-----Original Message-----` over one, or a line that says that a message was forwarded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mailgate.mime.quotes_attribution import Attribution, ending_at, shown_name
from mailgate.mime.quotes_dates import ascii_digits, find_date, find_time
from mailgate.mime.quotes_lines import SAID_CHARS_MAX, Line
from mailgate.mime.quotes_words import FIELDS, FORWARDED, ORIGINAL, Field

_LABEL: Final = re.compile(r"([^:：|\n]{1,24}?) ?[:：] ?\|? ?")
_FIELDS_MAX: Final = 10
_CONTINUED: Final = {Field.TO: 12, Field.CC: 12, Field.FROM: 1}
"""Further lines of a field: a plain text program wraps a long list of recipients."""
_ORIGINAL: Final = re.compile(
    rf"[-_=–—]{{2,40}} ?(?:{'|'.join(map(re.escape, ORIGINAL))}) ?[-_=–—]{{2,40}}", re.IGNORECASE
)
_RULE_MARKS: Final = frozenset("-_=–—*")
_RULE: Final = re.compile(r"[_\-=–—]{10,200}|(?:[*_-] ?){3,}")
_ADDRESS: Final = re.compile(r"[^\s<>@]{1,64}@[^\s<>@]{1,255}")
_ADDRESS_PART: Final = re.compile(r"<|\[(?=\S{0,80}[@:])")
_BEHALF: Final = re.compile(
    r"\b(?:on behalf of|im auftrag von|de la part de|en nombre de|per conto di|em nome de|namens)\b", re.I
)
_CANONICAL: Final = (
    (Field.FROM, Field.SENT, Field.TO, Field.SUBJECT),
    (Field.FROM, Field.SENT, Field.SUBJECT),
    (Field.FROM, Field.DATE, Field.TO, Field.SUBJECT),
    (Field.SENT, Field.FROM, Field.TO, Field.SUBJECT),
    (Field.FROM, Field.TO, Field.SENT, Field.SUBJECT),
)
"""The orders in which mail programs write a block over a quotation: what a form or a memo has in another is text."""


@dataclass(frozen=True, slots=True)
class HeaderBlock:
    """`end`: the first line after it. `values` by what they tell, `order`: as they stood."""

    end: int
    order: tuple[Field, ...]
    values: dict[Field, str]

    @property
    def author(self) -> str | None:
        """The writer's name, or the address where there is no name."""
        value = _BEHALF.split(self.values.get(Field.FROM, ""))[-1]
        name = shown_name(_ADDRESS_PART.split(value, maxsplit=1)[0])
        address = _ADDRESS.search(value)
        return name or (shown_name(address[0]) if address else None)

    @property
    def date(self) -> str | None:
        """As `quotes_dates` shows it."""
        found = find_date(self._sent())
        return found.text if found else None

    @property
    def recipients(self) -> str:
        """As they are written."""
        return f"{self.values.get(Field.TO, '')}; {self.values.get(Field.CC, '')}"

    def _sent(self) -> str:
        return ascii_digits(self.values.get(Field.SENT) or self.values.get(Field.DATE) or "")

    @property
    def complete(self) -> bool:
        """Whether sender, date and subject are there."""
        dated = bool(re.search(r"\d", self._sent()))
        return bool(self.values.get(Field.FROM)) and dated and Field.SUBJECT in self.values

    @property
    def certain(self) -> bool:
        """Whether a mail program wrote it, though nothing above it says so: its order, a time of day, and either the
        word for sending or an address."""
        core = tuple(field for field in self.order if field not in (Field.CC, Field.OTHER))
        if not self.complete or core not in _CANONICAL or find_time(self._sent()) is None:
            return False
        return Field.SENT in self.order or bool(_ADDRESS.search(self.values[Field.FROM]))


@dataclass(frozen=True, slots=True)
class Opening:
    """What stands over an older message: lines `start` to `end` (not included). Where no marked lines follow,
    everything down to the end of the text is that message."""

    start: int
    end: int
    author: str | None
    date: str | None
    subject: str | None = None
    block: bool = False
    """Whether it begins as Outlook begins a quotation and a forwarded message alike."""
    to: str = ""
    """To whom it was sent: one of these quotes it."""


def is_forward(text: str) -> bool:
    """Whether a line says that what follows was forwarded. Prose that says so has neither dashes nor a colon."""
    if len(text) > 120 or not (text.startswith(("--", "==", "__", "—", "–")) or text.endswith((":", "："))):
        return False
    folded = text.casefold()
    phrase = next((phrase for phrase in FORWARDED if phrase in folded), None)
    if phrase is None:
        return False
    # `Begin forwarded message:` has few words beside it; a sentence that ends in a colon has many.
    return not text[0].isalnum() or len(folded.replace(phrase, " ", 1).split()) <= 3


def opening_at(lines: Sequence[Line], start: int) -> Opening | None:
    """The older message that begins at line `start`, unmarked; None where none does, or none for certain."""
    text = lines[start].said
    if not text:
        return None
    if text[0] in _RULE_MARKS and _ORIGINAL.fullmatch(text):
        return _below_separator(lines, start, sure=True)
    if text[0] in _RULE_MARKS and _RULE.fullmatch(text):
        return _below_separator(lines, start, sure=False)
    # A block is taken from its first line: `From:` in the middle of another header is none of these orders.
    if start and _label(lines[start - 1].said)[0] is not None:
        return None
    block = header_block(lines, start)
    return _of_block(start, block) if block is not None and block.certain else None


def _below_separator(lines: Sequence[Line], start: int, *, sure: bool) -> Opening | None:
    first = start + 1
    while first < len(lines) and first <= start + 2 and not lines[first].said:
        first += 1
    if first >= len(lines) or lines[first].depth:
        return None
    block = header_block(lines, first)
    if block is not None:
        # Thunderbird forwards with the subject first, under the same words as others quote.
        replies = sure and block.complete and block.order[0] is not Field.SUBJECT
        return _of_block(start, block) if replies or block.certain else None
    return _attributed(lines, start, first) if sure else None


def _attributed(lines: Sequence[Line], start: int, first: int) -> Opening | None:
    """`On DATE, NAME wrote:` under a separator, as Proton Mail writes it, without marks below."""
    for last in range(first, min(first + 3, len(lines))):
        found = ending_at(lines, last)
        if found is not None and found[0] == first and found[1].strong:
            return Opening(start, last + 1, found[1].author, found[1].date)
    return None


def _of_block(start: int, block: HeaderBlock) -> Opening:
    return Opening(start, block.end, block.author, block.date, block.values.get(Field.SUBJECT), True, block.recipients)


def header_block(lines: Sequence[Line], start: int) -> HeaderBlock | None:
    """Header lines one after the other from `start`; None where the first is none. A field twice ends it."""
    depth = lines[start].depth
    order: list[Field] = []
    values: dict[Field, str] = {}
    number = start
    continued = 0
    while number < len(lines) and len(order) < _FIELDS_MAX and lines[number].depth == depth:
        text = lines[number].said
        label, value = _label(text)
        if label is not None:
            if label in values and label is not Field.OTHER:
                break
            order.append(label)
            values[label] = value
            continued = 0
        elif text and order and continued < _CONTINUED.get(order[-1], 0):
            values[order[-1]] = f"{values[order[-1]]} {text}"[:SAID_CHARS_MAX]
            continued += 1
        elif text or not _goes_on(lines, number, values):
            break
        number += 1
    return HeaderBlock(number, tuple(order), values) if order else None


def _goes_on(lines: Sequence[Line], blank: int, values: dict[Field, str]) -> bool:
    """Whether the block goes on after a blank line: rows of a table come with one between them."""
    if not values or Field.SUBJECT in values or blank + 1 >= len(lines):
        return False
    label, _ = _label(lines[blank + 1].said)
    return label is not None and label not in values


def _label(text: str) -> tuple[Field | None, str]:
    match = _LABEL.match(text)
    if match is None:
        return None, ""
    return FIELDS.get(match[1].casefold()), text[match.end() :].strip()


def is_label(text: str) -> bool:
    """Whether a line is one of a header block."""
    return _label(text)[0] is not None


def is_separator(text: str) -> bool:
    """Whether a line parts an older message from a newer one."""
    return text[:1] in _RULE_MARKS and bool(_ORIGINAL.fullmatch(text) or _RULE.fullmatch(text))


def attribution_of(lines: Sequence[Line], start: int, end: int) -> Attribution | None:
    """The header block with which quoted lines begin, as Outlook writes it with marks before every line."""
    opening = opening_inside(lines, start, end)
    return Attribution(opening.author, opening.date, timed=True, addressed=True, worded=True) if opening else None


def opening_inside(lines: Sequence[Line], start: int, end: int) -> Opening | None:
    """The same, with what the block says of its message."""
    first = start
    while first < end and not lines[first].said:
        first += 1
    if first < end and _ORIGINAL.fullmatch(lines[first].said):
        first += 1
    while first < end and not lines[first].said:
        first += 1
    if first >= end or is_forward(lines[start].said):
        return None
    block = header_block(lines, first)
    if block is None or not block.certain:
        return None
    return replace(_of_block(start, block), end=end)
