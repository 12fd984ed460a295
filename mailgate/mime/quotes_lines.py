"""A text as lines: how deep each is quoted, what it says without its marks, and which lines stand together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mailgate.mime.model import TextFormat

SAID_CHARS_MAX: Final = 600
"""Characters of a line that are looked at: no mail program introduces a quotation with more."""

_MARKS: Final = re.compile(r" ?>(?: ?>)*+ ?")
_FENCE: Final = re.compile(r" {0,3}(?:```|~~~)")
_MBOX: Final = re.compile(r">+From ")
_LINK: Final = re.compile(r"\[([^\[\]]{0,300})\]\([^()\s]{0,600}\)")
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_MAILTO: Final = re.compile(r"[<\[]mailto:[^<>\[\]]{0,300}[>\]]", re.IGNORECASE)
_EDGE_UNDERSCORE: Final = re.compile(r"(?<!\w)_(?=\w)|(?<=[\w:.>])_(?!\w)")
_BLANKS: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Line:
    """`text` as it stands; `depth`: levels of `>` before it; `said`: without them, without emphasis, links and
    doubled blanks, at most `SAID_CHARS_MAX` characters of it."""

    text: str
    depth: int
    said: str

    @property
    def blank(self) -> bool:
        """Whether it says nothing and is nobody's quotation."""
        return not self.depth and not self.said


def lines_of(text: str, form: TextFormat) -> list[Line]:
    """The lines of a text. What stands in a code fence is nobody's quotation, whatever it begins with."""
    raw = text.split("\n")
    known: dict[tuple[str, bool], Line] = {}
    fenced = False
    lines: list[Line] = []
    for number, line in enumerate(raw):
        if _FENCE.match(line):
            fenced = not fenced
        # A line that begins with `From ` is stored with a mark before it (RFC 4155, appendix A).
        plain = fenced or (line.startswith(">") and bool(_MBOX.match(line)) and _alone(raw, number))
        made = known.get((line, plain))
        if made is None:
            marks = None if plain else _MARKS.match(line)
            depth = marks[0].count(">") if marks else 0
            made = known[line, plain] = Line(line, depth, said(line[marks.end() if marks else 0 :], form))
        lines.append(made)
    return lines


def said(text: str, form: TextFormat) -> str:
    """What a line says, as the rules compare it."""
    bounded = text[: 2 * SAID_CHARS_MAX].strip()
    if not bounded:
        return ""
    if form is TextFormat.MARKDOWN:
        bounded = _ESCAPE.sub(r"\1", _LINK.sub(r"\1", bounded))
        bounded = _EDGE_UNDERSCORE.sub("", bounded)
    bounded = _MAILTO.sub(lambda match: _address(match, bounded), bounded)
    # A line of nothing but asterisks is a rule.
    plain = bounded.replace("*", "").strip() or bounded
    return _BLANKS.sub(" ", plain)[:SAID_CHARS_MAX]


def _address(match: re.Match[str], text: str) -> str:
    """Outlook writes `Name [mailto:address]`, and `address<mailto:address>` of a link."""
    address = match[0][8:-1]
    return "" if text[: match.start()].endswith(address) else f"<{address}>"


def _alone(raw: Sequence[str], number: int) -> bool:
    around = (*raw[max(number - 1, 0) : number], *raw[number + 1 : number + 2])
    return not any(line.lstrip(" ").startswith(">") for line in around)


def runs(lines: Sequence[Line], end: int, begin: int = 0) -> Iterator[tuple[int, int]]:
    """Stretches of quoted lines from `begin` to `end`, with the blank lines in them, as (first, after the last)."""
    start = last = -1
    for number in range(begin, end):
        line = lines[number]
        if line.depth:
            start = number if start < 0 else start
            last = number
        elif start >= 0 and line.said:
            yield start, last + 1
            start = -1
    if start >= 0:
        yield start, last + 1
