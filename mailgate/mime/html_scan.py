"""HTML bounded before any parser sees it, and written anew so that a parser has nothing to repair.

The smaller document has few element names, few attributes, every element closed, at most
`limits.HTML_OPEN_ELEMENTS_MAX` open at once, and nothing after `limits.HTML_TOKENS_MAX` tokens. What a parser would
multiply, or what would hide or show text by the way it is repaired, is settled here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from html import unescape
from typing import Final

from mailgate.limits import HTML_OPEN_ELEMENTS_MAX, HTML_TOKENS_MAX
from mailgate.mime import html_rules as rules
from mailgate.mime.html_css import declarations
from mailgate.mime.html_foresight import Foresight, foresee
from mailgate.mime.html_formatting import ClosedFormatting
from mailgate.mime.html_media import media_holds
from mailgate.mime.html_quirks import is_quirky
from mailgate.mime.html_tables import DATA, TableFacts
from mailgate.mime.html_tokens import Comment, Doctype, EndTag, RawText, StartTag, Text, Tokenizer
from mailgate.mime.html_visibility import removes_subtree
from mailgate.mime.html_words import chars_of_markup, chars_of_text

_PLAIN_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,29}")


@dataclass(frozen=True, slots=True)
class ScannedHtml:
    """`markup`: bounded and balanced. `limited`: something was left out. `hidden_chars`: characters of text that were
    left out because a reader would not see them. `css`: the content of its style elements that hold on a screen.
    `quirks`: whether a browser would show it in quirks mode."""

    markup: str
    css: str
    limited: bool
    hidden_chars: int
    tokens: int
    quirks: bool = True


class _Reason(Enum):
    """Why a stretch is not written."""

    DEEP = auto()
    HIDDEN = auto()
    FOREIGN = auto()
    CLOSED = auto()
    """Out of this one nothing reaches but its own end tag."""


_ONLY_PARTS: Final = (["table"], ["tbody"], ["thead"], ["tfoot"], ["tr"])
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


def _tag(name: str, attributes: Mapping[str, str]) -> str:
    """A start tag as the next step reads it."""
    shown = rules.RENAMED.get(name, name)
    written = "".join(f' {key}="{value}"' for key, value in attributes.items())
    if shown != name and name not in rules.PLAINLY_RENAMED:
        written += f' was="{name}"'
    return f"<{shown}{written}>"


def scan(html: str, tokens: int = HTML_TOKENS_MAX) -> ScannedHtml:
    """Never raises; work is linear in the text, and no more than `tokens` tokens are taken."""
    foresight = foresee(html)
    return _Scanner(Tokenizer(html, tokens, foresight.attributes), foresight).scan()


class _Scanner:
    def __init__(self, tokenizer: Tokenizer, foresight: Foresight) -> None:
        self._tokenizer = tokenizer
        self._foresight = foresight
        self._quirks = True
        self._has_begun = False
        """Something was read after which a document type says nothing any more."""
        self._html: dict[str, str] = {}
        """Attributes of the root."""
        self._out: list[str] = []
        self._css: list[str] = []
        self._stack: list[str] = []
        self._tags: list[StartTag] = []
        """The tags of what is open, one for each name of the stack."""
        self._formatting = ClosedFormatting()
        self._unseen: _Unseen | None = None
        self._tables: list[TableFacts] = []
        self._limited = False
        self._hidden_chars = 0
        self._body: tuple[int, Mapping[str, str]] | None = None
        """Where the first body stands in what was written, and its attributes."""
        self._late_body: dict[str, str] = {}
        self._has_body = False
        """Something was written that only a body can hold, so it has begun, with or without a tag."""

    def scan(self) -> ScannedHtml:
        for token in self._tokenizer.tokens():
            match token:
                case Text():
                    self._text(token.text)
                case StartTag():
                    self._start(token)
                case EndTag():
                    self._end(token.name)
                case RawText():
                    self._raw(token)
                case Comment():
                    self._hidden_chars += chars_of_markup(token.text)
                case Doctype():
                    self._quirks = self._quirks if self._has_begun else is_quirky(token.text)
            self._has_begun = self._has_begun or not (
                isinstance(token, Comment) or (isinstance(token, Text) and token.text.isspace())
            )
            # Whether the next element holds raw text depends on where it stands (13.2.6.5).
            self._tokenizer.foreign = self._unseen is not None and self._unseen.reason is _Reason.FOREIGN
        self._pop_to(0)
        self._write_late_body()
        limited = self._limited or self._tokenizer.limited or self._formatting.limited
        markup = (_tag("html", self._html) if self._html else "") + "".join(self._out)
        css = "\n".join(self._css)
        return ScannedHtml(markup, css, limited, self._hidden_chars, self._tokenizer.taken, self._quirks)

    def _text(self, text: str) -> None:
        if self._unseen is None:
            if not text.isspace():
                self._has_body = True
                self._open_again()
                if self._formatting.limited:  # what hides the text may be what is not opened again
                    return
            self._out.append(text.replace("<", "&lt;"))
            if self._tables:
                self._tables[-1].text(len(text) if not text.isspace() else 0)
        elif self._unseen.reason is _Reason.DEEP:
            self._limited = self._limited or not text.isspace()
        elif self._unseen.names[-1:] == ["style"]:
            self._css.append(text)  # a sheet within a picture holds for the whole document (SVG 2, 6.2)
        else:
            self._hidden_chars += chars_of_text(unescape(text))

    def _raw(self, token: RawText) -> None:
        """An element whose content is no markup: a style sheet that holds, code, or text that nobody sees."""
        if self._unseen is None:
            if token.name == "xmp":  # an old `pre`, which is seen
                self._start(StartTag("pre"))
                self._text(token.text.replace("&", "&amp;"))
                self._end("pre")
                return
            self._write_gone(token.name)
        if token.name == "style":
            kind = token.attributes.get("type", "").strip().lower()
            inert = self._unseen is not None and self._unseen.names[:1] == ["template"]
            if kind in ("", "text/css") and not inert and media_holds(token.attributes.get("media", "")):
                self._css.append(token.text)
        elif token.name == "title":
            self._hidden_chars += chars_of_markup(token.text)
        elif token.name != "script":
            self._hidden_chars += chars_of_markup(token.text, least=1)

    # --- start tags ---------------------------------------------------------------------------------------------

    def _write_gone(self, name: str) -> None:
        """A mark for an element that is left out, where a style sheet may count it among the others."""
        if self._foresight.ordered and self._stack[-1:] not in _ONLY_PARTS and self._has_body:
            self._out.append(f'<x-gone was="{name}"></x-gone>')

    def _start(self, tag: StartTag) -> None:
        if tag.name == "html" and (self._unseen is None or self._unseen.names[:1] != ["template"]):
            self._html = {**tag.attributes, **self._html}
        if self._unseen is not None:
            if not self._start_ends(self._unseen, tag.name):
                self._unseen.open(tag)
                return
            self._unseen = None
            if tag.name == "select":  # within another it is taken for its end tag (13.2.6.4.16)
                return
        name = tag.name
        if name == "body" and self._has_body:
            self._late_body = {**tag.attributes, **self._late_body}
        if name in rules.TRANSPARENT or not _PLAIN_NAME.fullmatch(name) or self._is_ignored(name):
            return
        self._close_implied(name)
        reason = self._reason_unseen(tag)
        if reason is not None:
            self._write_gone(name)
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
            return self._has_body
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
            # Where a rule may win over the style, the tree is asked, and formatting opened again carries the style on.
            if self._foresight.overrules and ("class" in tag.attributes or "id" in tag.attributes):
                return _Reason.DEEP if len(self._stack) >= HTML_OPEN_ELEMENTS_MAX else None
            declared = declarations(unescape(tag.attributes.get("style", "")), quirks=self._quirks)
            # A parser would re-open it in later blocks until its end tag: hidden until then.
            if removes_subtree(tag.attributes, {key: each.value for key, each in declared.items()}, tag.name):
                return _Reason.HIDDEN
        return _Reason.DEEP if len(self._stack) >= HTML_OPEN_ELEMENTS_MAX else None

    def _write_late_body(self) -> None:
        """The attributes of a body that comes late hold for all of the page, where the first has none of that name
        (13.2.6.4.7): white letters may stand before the body that says black."""
        if not self._late_body:
            return
        if self._body is None:
            self._out.insert(0, _tag("body", self._late_body))
            self._out.append("</div>")
        else:
            place, attributes = self._body
            self._out[place] = _tag("body", {**self._late_body, **attributes})

    def _write(self, tag: StartTag) -> None:
        self._has_body = True
        if tag.name == "body":
            self._body = (len(self._out), tag.attributes)
        if self._tables:
            self._tables[-1].element(tag.name)
        if tag.name == "table":
            self._tables.append(TableFacts.of(len(self._out), tag.attributes))
        self._out.append(_tag(tag.name, tag.attributes))
        if tag.name not in rules.VOID:
            self._stack.append(tag.name)
            self._tags.append(tag)
        if tag.name in rules.CELLS:
            self._formatting.enter_cell()

    def _open_again(self) -> None:
        for tag in self._formatting.take():
            if len(self._stack) < HTML_OPEN_ELEMENTS_MAX:
                self._write(tag)

    # --- end tags -----------------------------------------------------------------------------------------------

    def _end(self, name: str) -> None:
        if name in ("body", "html"):  # nothing ends with these: what follows goes on as before (13.2.6.4.19)
            return
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
                self._pop_to(index, ended=True)
                return
            if self._stack[index] in rules.END_STOPS and name not in rules.TABLE_PARTS:
                break
        self._formatting.end(name)

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

    def _pop_to(self, length: int, *, ended: bool = False) -> None:
        """Close all but so many; `ended`: the outermost of them by its own end tag."""
        closed = self._tags[length + ended :]
        while len(self._stack) > length:
            name = self._stack.pop()
            if self._tags.pop().name in rules.CELLS:
                self._formatting.leave_cell()
                closed = self._tags[length + ended :]
            if name == "table":
                facts = self._tables.pop()
                if facts.is_data():
                    self._out[facts.position] = self._out[facts.position].replace("<table", f"<table {DATA}", 1)
            self._out.append(f"</{rules.RENAMED.get(name, name)}>")
        self._formatting.close(closed)
