"""HTML bounded before any parser sees it, and written anew so that a parser has nothing to repair.

The smaller document has few element names, few attributes, every element closed, at most
`limits.HTML_OPEN_ELEMENTS_MAX` open at once, and nothing after `limits.HTML_TOKENS_MAX` tokens. What a parser would
multiply, or what would hide or show text by the way it is repaired, is settled here.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, auto
from html import unescape
from typing import Final

from mailgate.limits import HTML_OPEN_ELEMENTS_MAX, HTML_TOKENS_MAX
from mailgate.mime import html_rules as rules
from mailgate.mime.html_tokens import EndTag, RawText, StartTag, Text, Tokenizer

_PLAIN_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,29}")


@dataclass(frozen=True, slots=True)
class ScannedHtml:
    """`markup`: bounded and balanced. `limited`: something was left out. `hidden`: hidden text was left out.
    `css`: the content of its style elements."""

    markup: str
    css: str
    limited: bool
    hidden: bool
    tokens: int


class _Reason(Enum):
    """Why a stretch is not written."""

    DEEP = auto()
    HIDDEN = auto()
    FOREIGN = auto()
    CLOSED = auto()
    """Out of this one nothing reaches but its own end tag."""


_REASONS: Final = {
    "svg": _Reason.FOREIGN,
    "math": _Reason.FOREIGN,
    "select": _Reason.CLOSED,
    "template": _Reason.CLOSED,
}


@dataclass(slots=True)
class _Unseen:
    """A stretch that is not written, with the elements open in it: closing one takes a step per element closed."""

    reason: _Reason
    names: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def open(self, tag: StartTag) -> None:
        """Note an element that opens within the stretch, where its end will matter."""
        if tag.name in rules.VOID or (self.reason is _Reason.FOREIGN and tag.self_closing):
            return
        if self.names and self.reason is _Reason.CLOSED and tag.name != self.names[0]:
            return
        if self.names and self.reason is _Reason.HIDDEN and tag.name not in (self.names[0], "table"):
            return
        self.names.append(tag.name)
        self.counts[tag.name] += 1

    def close(self, name: str) -> bool:
        """Close the innermost element of that name with all in it; False where there is none."""
        if not self.counts[name]:
            return False
        closed = ""
        while closed != name:
            closed = self.names.pop()
            self.counts[closed] -= 1
        return True


def scan(html: str, tokens: int = HTML_TOKENS_MAX) -> ScannedHtml:
    """Never raises; work is linear in the text, and no more than `tokens` tokens are taken."""
    return _Scanner(Tokenizer(html, tokens)).scan()


class _Scanner:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._out: list[str] = []
        self._css: list[str] = []
        self._stack: list[str] = []
        self._unseen: _Unseen | None = None
        self._limited = False
        self._hidden = False

    def scan(self) -> ScannedHtml:
        for token in self._tokenizer.tokens():
            match token:
                case Text():
                    self._text(token.text)
                case StartTag():
                    self._start(token)
                case EndTag():
                    self._end(token.name)
                case RawText(name="style"):
                    self._css.append(token.text)
                case RawText():
                    pass
            # Whether the next element holds raw text depends on where it stands (13.2.6.5).
            self._tokenizer.foreign = self._unseen is not None and self._unseen.reason is _Reason.FOREIGN
        self._pop_to(0)
        limited = self._limited or self._tokenizer.limited
        return ScannedHtml("".join(self._out), "\n".join(self._css), limited, self._hidden, self._tokenizer.taken)

    def _text(self, text: str) -> None:
        if self._unseen is None:
            self._out.append(text.replace("<", "&lt;"))
        elif not text.isspace():
            self._hidden = self._hidden or self._unseen.reason is _Reason.HIDDEN
            self._limited = self._limited or self._unseen.reason is _Reason.DEEP

    # --- start tags ---------------------------------------------------------------------------------------------

    def _start(self, tag: StartTag) -> None:
        if self._unseen is not None:
            if not self._start_ends(self._unseen, tag.name):
                self._unseen.open(tag)
                return
            self._unseen = None
            if tag.name == "select":  # within another it is taken for its end tag (13.2.6.4.16)
                return
        name = tag.name
        if name in rules.TRANSPARENT or not _PLAIN_NAME.fullmatch(name) or self._is_ignored(name):
            return
        self._close_implied(name)
        reason = self._reason_unseen(tag)
        if reason is not None:
            self._unseen = _Unseen(reason)
            self._unseen.open(tag)
            if not self._unseen.names:  # the element is empty, and so is the stretch
                self._unseen = None
            return
        self._write(tag)

    def _is_ignored(self, name: str) -> bool:
        """A second body only adds attributes to the first, and a table's part outside of a table is nothing
        (13.2.6.4.7)."""
        if name == "body":
            return bool(self._stack)
        return name in rules.TABLE_PARTS and name != "table" and "table" not in self._stack

    def _start_ends(self, unseen: _Unseen, name: str) -> bool:
        """Whether a start tag ends the stretch around it."""
        if unseen.reason is _Reason.CLOSED:
            return name == "select" == unseen.names[0]
        if unseen.reason is _Reason.FOREIGN:
            inside = any(unseen.counts[point] for point in rules.INTEGRATION_POINTS)
            return name in rules.BREAKS_OUT and not inside
        if unseen.reason is _Reason.HIDDEN and not unseen.counts["table"]:
            # A link ends the link around it; formatting does not reach from one cell into the next (13.2.4.3).
            return name == "a" == unseen.names[0] or (name in rules.TABLE_PARTS and "table" in self._stack)
        return False

    def _reason_unseen(self, tag: StartTag) -> _Reason | None:
        if tag.name in _REASONS:
            return _REASONS[tag.name]
        if tag.name in rules.FORMATTING:
            style = rules.normal_style(unescape(tag.attributes.get("style", "")))
            # A parser would re-open it in later blocks until its end tag: hidden until then.
            if rules.removes_subtree(tag.attributes, style):
                return _Reason.HIDDEN
        return _Reason.DEEP if len(self._stack) >= HTML_OPEN_ELEMENTS_MAX else None

    def _write(self, tag: StartTag) -> None:
        shown = rules.RENAMED.get(tag.name, tag.name)
        attributes = "".join(f' {key}="{value}"' for key, value in tag.attributes.items())
        self._out.append(f"<{shown}{attributes}>")
        if tag.name not in rules.VOID:
            self._stack.append(tag.name)

    # --- end tags -----------------------------------------------------------------------------------------------

    def _end(self, name: str) -> None:
        if self._unseen is not None:
            if self._unseen.close(name):
                if not self._unseen.names:
                    self._unseen = None
                return
            if not self._end_ends(self._unseen, name):
                return
            self._unseen = None
        # At most HTML_OPEN_ELEMENTS_MAX steps, so the whole stays linear.
        for index in range(len(self._stack) - 1, -1, -1):
            if self._stack[index] == name:
                self._pop_to(index)
                return
            if self._stack[index] in rules.END_STOPS and name not in rules.TABLE_PARTS:
                return

    def _end_ends(self, unseen: _Unseen, name: str) -> bool:
        """Whether an end tag of an element outside the stretch ends it."""
        if unseen.reason is _Reason.CLOSED:
            return False
        # These two break out as their start tags do (13.2.6.5).
        if unseen.reason is _Reason.FOREIGN and name in ("p", "br"):
            return not any(unseen.counts[point] for point in rules.INTEGRATION_POINTS)
        if unseen.reason is _Reason.HIDDEN and name not in rules.TABLE_PARTS:
            return False
        return name in self._stack

    def _close_implied(self, name: str) -> None:
        if name in rules.CLOSES_PARAGRAPH:
            self._close_nearest(*rules.PARAGRAPH)
        if name in rules.IMPLIED:
            self._close_nearest(*rules.IMPLIED[name])

    def _close_nearest(self, names: frozenset[str], stops: frozenset[str]) -> None:
        for index in range(len(self._stack) - 1, -1, -1):
            if self._stack[index] in names:
                self._pop_to(index)  # and on: a row group closes with the row in it
            elif self._stack[index] in stops:
                return

    def _pop_to(self, length: int) -> None:
        while len(self._stack) > length:
            name = self._stack.pop()
            self._out.append(f"</{rules.RENAMED.get(name, name)}>")
