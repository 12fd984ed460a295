"""HTML bounded before any parser sees it: one linear pass that never looks at a character twice.

The pass follows the tokenizer of the HTML Standard (13.2.5) closely enough to find the same tags, and writes a
smaller document: few element names, few attributes, every element closed, at most `limits.HTML_OPEN_ELEMENTS_MAX` open
at once, nothing after `limits.HTML_TOKENS_MAX` tokens. What remains is cheap for every parser.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from html import unescape
from typing import Final

from mailgate.limits import HTML_OPEN_ELEMENTS_MAX, HTML_TOKEN_BYTES_MAX, HTML_TOKENS_MAX
from mailgate.mime import html_rules as rules

_KEPT_ATTRIBUTES: Final = frozenset({"href", "style", "class", "id", "hidden", "alt", "start"})
_ATTRIBUTES_MAX: Final = 500
_NAME: Final = re.compile(r"[^ \t\n\f\r/>]*+")
_ATTRIBUTE_NAME: Final = re.compile(r"=?[^ \t\n\f\r/>=]*+")
_UNQUOTED: Final = re.compile(r"[^ \t\n\f\r>]*+")
_GAP: Final = re.compile(r"[ \t\n\f\r/]*+")
_SPACE: Final = re.compile(r"[ \t\n\f\r]*+")
_PLAIN_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,29}")
_COMMENT_END: Final = re.compile(r"--!?>")
_SCRIPT_MARK: Final = re.compile(r"<!--|-->|<(/?)script(?=[ \t\n\f\r/>])", re.IGNORECASE)
_BREAKS_OUT: Final = rules.CLOSES_PARAGRAPH | {"b", "body", "br", "em", "i", "img", "span", "strong", "p"}
"""Start tags that end an `svg` or `math` around them (13.2.6.5); the ones that occur."""


@dataclass(frozen=True, slots=True)
class ScannedHtml:
    """`markup`: bounded and balanced. `limited`: something was left out. `hidden`: hidden text was left out.
    `css`: the content of its style elements."""

    markup: str
    css: str
    limited: bool
    hidden: bool
    tokens: int


@dataclass(frozen=True, slots=True)
class _Tag:
    """A start tag; `end` is the offset behind it."""

    name: str
    attributes: dict[str, str]
    self_closing: bool
    end: int


def scan(html: str, tokens: int = HTML_TOKENS_MAX) -> ScannedHtml:
    """Never raises; work is linear in the text, and no more than `tokens` tokens are taken."""
    return _Scanner(html, tokens).scan()


class _Scanner:
    def __init__(self, html: str, tokens: int) -> None:
        self._html = html
        self._tokens = tokens
        self._left = tokens
        self._out: list[str] = []
        self._css: list[str] = []
        self._stack: list[str] = []
        self._beyond: list[str] = []
        self._beyond_names: Counter[str] = Counter()
        self._skipping: list[str] = []
        self.limited = False
        self.hidden = False

    def scan(self) -> ScannedHtml:
        at = 0
        while at < len(self._html):
            if self._left <= 0:
                self.limited = True
                break
            at = self._next(at)
        self._pop_to(0)
        return ScannedHtml(
            "".join(self._out), "\n".join(self._css), self.limited, self.hidden, self._tokens - self._left
        )

    def _next(self, at: int) -> int:
        """Takes one token; the offset behind it."""
        html = self._html
        opening = html.find("<", at)
        if opening != at:
            end = len(html) if opening < 0 else opening
            self._text(html[at:end])
            return end
        self._left -= 1
        mark = html[at + 1 : at + 2]
        if mark.isascii() and mark.isalpha():
            return self._start(at + 1)
        if mark == "/":
            return self._end(at + 2)
        if mark in ("!", "?") and mark:
            return self._comment(at + 2)
        self._text("<")
        return at + 1

    # --- text and comments --------------------------------------------------------------------------------------

    def _text(self, text: str) -> None:
        # A run longer than a token may be counts as several tokens.
        self._left -= 1 + len(text) // HTML_TOKEN_BYTES_MAX
        if self._skipping:
            self.hidden = self.hidden or not text.isspace()
        elif self._beyond:
            self.limited = True
        else:
            self._out.append(text.replace("<", "&lt;"))

    def _comment(self, at: int) -> int:
        """The offset behind a comment, a declaration or what else begins with `<!` or `<?`."""
        html = self._html
        if not html.startswith("!--", at - 1):
            return self._behind(">", at)
        at += 2
        if html.startswith((">", "->"), at):
            return html.index(">", at) + 1
        found = _COMMENT_END.search(html, at)
        return found.end() if found else len(html)

    def _behind(self, text: str, at: int) -> int:
        found = self._html.find(text, at)
        return len(self._html) if found < 0 else found + len(text)

    # --- start tags ---------------------------------------------------------------------------------------------

    def _start(self, at: int) -> int:
        tag = self._read_tag(at)
        if tag is None:
            return len(self._html)  # a tag without end is no tag (13.2.5.32, eof-in-tag)
        if self._skipping:
            if tag.name != self._skipping[0]:
                return self._behind_raw_text(tag)
            if tag.name != "a":
                self._skipping.append(tag.name)
                return tag.end
            self._skipping.clear()  # a link ends the link around it (13.2.6.4.7)
        if self._in_foreign() and tag.name in _BREAKS_OUT:
            self._pop_to(next(index for index, name in enumerate(self._stack) if name in ("svg", "math")))
        end = self._behind_raw_text(tag)
        if end == tag.end:
            self._open(tag)
        return end

    def _open(self, tag: _Tag) -> None:
        name = tag.name
        if name in rules.TRANSPARENT or not _PLAIN_NAME.fullmatch(name):
            return
        style = rules.normal_style(unescape(tag.attributes.get("style", "")))
        if name in rules.FORMATTING and rules.removes_subtree(tag.attributes, style):
            # A parser would re-open it in later blocks until its end tag: hidden until then.
            self._skipping.append(name)
            return
        self._close_implied(name)
        leaf = name in rules.VOID or (tag.self_closing and self._in_foreign())
        if len(self._stack) >= HTML_OPEN_ELEMENTS_MAX or self._beyond:
            if not leaf:
                self._beyond.append(name)
                self._beyond_names[name] += 1
            return
        shown = rules.RENAMED.get(name, name)
        attributes = "".join(f' {key}="{value}"' for key, value in tag.attributes.items())
        self._out.append(f"<{shown}{attributes}>" if not leaf or name in rules.VOID else f"<{shown}/>")
        if not leaf:
            self._stack.append(name)

    def _close_implied(self, name: str) -> None:
        if self._beyond:
            return
        if name in rules.CLOSES_PARAGRAPH:
            self._close_nearest(*rules.PARAGRAPH)
        if name in rules.IMPLIED:
            self._close_nearest(*rules.IMPLIED[name])

    def _close_nearest(self, names: frozenset[str], stops: frozenset[str]) -> None:
        for index in range(len(self._stack) - 1, -1, -1):
            if self._stack[index] in names:
                self._pop_to(index)
                # A row closes with the row group around it, so the search goes on.
                continue
            if self._stack[index] in stops:
                return

    def _read_tag(self, at: int) -> _Tag | None:
        html = self._html
        start = at
        at = _end_of(_NAME, html, at)
        name = html[start:at].lower()
        attributes: dict[str, str] = {}
        for _ in range(_ATTRIBUTES_MAX):
            at = _end_of(_GAP, html, at)
            if at >= len(html):
                return None
            if html[at] == ">":
                return _Tag(name, attributes, html[at - 1] == "/", at + 1)
            key_start = at
            at = _end_of(_ATTRIBUTE_NAME, html, at)
            key = html[key_start : min(at, key_start + 10)].lower()
            value_start, value_end, at = self._read_value(at)
            if at < 0:
                return None
            if key in _KEPT_ATTRIBUTES and key not in attributes:
                value = html[value_start : min(value_end, value_start + rules.ATTRIBUTE_CHARS_MAX)]
                attributes[key] = value.replace('"', "&quot;")
        self.limited = True
        end = self._behind(">", at)
        return _Tag(name, attributes, False, end) if end > at else None

    def _read_value(self, at: int) -> tuple[int, int, int]:
        """Where an attribute's value starts and ends, and the offset behind it; -1 where the text ends first."""
        html = self._html
        equals = _end_of(_SPACE, html, at)
        if not html.startswith("=", equals):
            return at, at, at
        at = _end_of(_SPACE, html, equals + 1)
        quote = html[at : at + 1]
        if quote in ('"', "'") and quote:
            end = html.find(quote, at + 1)
            return at + 1, end, end + 1 if end >= 0 else -1
        end = _end_of(_UNQUOTED, html, at)
        return at, end, end

    # --- raw text and end tags ----------------------------------------------------------------------------------

    def _in_foreign(self) -> bool:
        return "svg" in self._stack or "math" in self._stack

    def _behind_raw_text(self, tag: _Tag) -> int:
        """The offset behind the end tag of an element whose content is no markup; else behind the start tag."""
        if tag.name not in rules.RAW_TEXT or self._in_foreign():
            return tag.end
        if tag.name == "script":
            return self._behind_script(tag.end)
        end_tag = re.compile(rf"</{tag.name}(?=[ \t\n\f\r/>])", re.IGNORECASE)
        found = end_tag.search(self._html, tag.end)
        if tag.name == "style":
            self._css.append(self._html[tag.end : found.start() if found else None])
        return self._behind(">", found.end()) if found else len(self._html)

    def _behind_script(self, at: int) -> int:
        """A `</script>` within `<!-- <script>` does not end the script (13.2.5.17 and on)."""
        commented = nested = False
        for match in _SCRIPT_MARK.finditer(self._html, at):
            if match[0] == "<!--":
                commented = True
            elif match[0] == "-->":
                commented = nested = False
            elif not match[1]:
                nested = commented
            elif nested:
                nested = False
            else:
                return self._behind(">", match.end())
        return len(self._html)

    def _end(self, at: int) -> int:
        html = self._html
        mark = html[at : at + 1]
        if not (mark.isascii() and mark.isalpha()):
            return self._behind(">", at)  # `</` before anything else opens a bogus comment (13.2.5.7)
        tag = self._read_tag(at)
        if tag is None:
            return len(html)
        self._close(tag.name)
        return tag.end

    def _close(self, name: str) -> None:
        if self._skipping:
            if name == self._skipping[0]:
                self._skipping.pop()
                return
            if name not in rules.TABLE_ENDS:
                return
            self._skipping.clear()  # formatting does not reach out of a cell (13.2.4.3, markers)
        if self._beyond_names[name]:
            self._close_beyond(name)
            return
        for index in range(len(self._stack) - 1, -1, -1):
            if self._stack[index] == name:
                self._pop_to(index)
                return
            if self._stack[index] in rules.END_STOPS and name not in rules.TABLE_ENDS:
                return

    def _close_beyond(self, name: str) -> None:
        closed = ""
        while closed != name:
            closed = self._beyond.pop()
            self._beyond_names[closed] -= 1

    def _pop_to(self, length: int) -> None:
        self._beyond.clear()
        self._beyond_names.clear()
        while len(self._stack) > length:
            name = self._stack.pop()
            self._out.append(f"</{rules.RENAMED.get(name, name)}>")


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
