"""HTML taken apart into tokens, in one linear pass that looks at no character twice.

Follows the tokenizer of the HTML Standard (13.2.5) in where tags, comments and raw text begin and end, for that is
what decides what a reader sees. Character references stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from mailgate.limits import HTML_TOKEN_BYTES_MAX
from mailgate.mime import html_rules as rules

_KEPT_ATTRIBUTES: Final = frozenset(
    "href style class id hidden popover alt start color text bgcolor background width height role border colspan"
    " media type open size link checked".split()
)
_LONG_ATTRIBUTES: Final = frozenset({"style", "class"})
_ATTRIBUTES_MAX: Final = 500
_KEY_CHARS_MAX: Final = 40
# Blanks of HTML are these five and no others (Infra Standard, 4.6); `\s` would also match a no-break space.
_NAME: Final = re.compile(r"[^ \t\n\f\r/>]*+")
_ATTRIBUTE_NAME: Final = re.compile(r"=?[^ \t\n\f\r/>=]*+")
_UNQUOTED: Final = re.compile(r"[^ \t\n\f\r>]*+")
_GAP: Final = re.compile(r"[ \t\n\f\r/]*+")
_SPACE: Final = re.compile(r"[ \t\n\f\r]*+")
_COMMENT_END: Final = re.compile(r"--!?>")
_SCRIPT_MARK: Final = re.compile(r"<!--|-->|<(/?)script(?=[ \t\n\f\r/>])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Text:
    """Characters between tags, references and all."""

    text: str


@dataclass(frozen=True, slots=True)
class StartTag:
    """A start tag with the attributes that matter, their values fit to stand in double quotes."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    self_closing: bool = False


@dataclass(frozen=True, slots=True)
class EndTag:
    """An end tag."""

    name: str


@dataclass(frozen=True, slots=True)
class RawText:
    """An element whose content is no markup, whole."""

    name: str
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comment:
    """What is between the marks of a comment; nothing of a declaration."""

    text: str


@dataclass(frozen=True, slots=True)
class Doctype:
    """A document type, with what follows the word."""

    text: str


Token = Text | StartTag | EndTag | RawText | Comment | Doctype


class Tokenizer:
    """Yields at most `budget` tokens. `foreign`: set while within `svg` or `math`, where no element holds raw text.

    `kept`: attributes to keep beside those that always are. `limited`: the budget was spent before the text was, or a
    tag had more attributes than are read.
    """

    def __init__(self, html: str, budget: int, kept: frozenset[str] = frozenset()) -> None:
        self._html = html
        self._kept = _KEPT_ATTRIBUTES | kept
        self._budget = budget
        self._left = budget
        self.foreign = False
        self.limited = False

    @property
    def taken(self) -> int:
        """Tokens taken so far; a run of text longer than a token may be counts as several."""
        return self._budget - self._left

    def tokens(self) -> Iterator[Token]:
        """The tokens in order; declarations are passed over, and counted."""
        at = 0
        while at < len(self._html):
            if self._left <= 0:
                self.limited = True
                return
            token, at = self._next(at)
            self._left -= 1
            if token is not None:
                yield token

    def _next(self, at: int) -> tuple[Token | None, int]:
        """One token and the offset behind it."""
        html = self._html
        opening = html.find("<", at)
        if opening != at:
            end = len(html) if opening < 0 else opening
            self._left -= (end - at) // HTML_TOKEN_BYTES_MAX
            return Text(html[at:end]), end
        mark = html[at + 1 : at + 2]
        if mark.isascii() and mark.isalpha():
            return self._start(at + 1)
        if mark == "/":
            return self._end(at + 2)
        if mark in ("!", "?"):
            return self._comment(at + 2)
        return Text("<"), at + 1

    # --- comments -----------------------------------------------------------------------------------------------

    def _comment(self, at: int) -> tuple[Token | None, int]:
        """A comment, or nothing for a declaration and for what else begins with `<!` or `<?`."""
        html = self._html
        if not html.startswith("!--", at - 1):
            end = self._behind(">", at)
            if html[at : at + 7].lower() == "doctype":
                return Doctype(html[at + 7 : min(end, at + 400)].rstrip(">")), end
            return None, end
        at += 2
        if html.startswith((">", "->"), at):  # abrupt closing of an empty comment (13.2.5.43)
            return None, html.index(">", at) + 1
        found = _COMMENT_END.search(html, at)
        start, end = found.span() if found else (len(html), len(html))
        return Comment(html[at:start]), end

    def _behind(self, text: str, at: int) -> int:
        found = self._html.find(text, at)
        return len(self._html) if found < 0 else found + len(text)

    # --- tags ---------------------------------------------------------------------------------------------------

    def _start(self, at: int) -> tuple[Token | None, int]:
        tag, at = self._tag(at)
        if tag is None or tag.name not in rules.RAW_TEXT or self.foreign:
            return tag, at
        end, behind = self._raw_end(tag.name, at)
        return RawText(tag.name, self._html[at:end], tag.attributes), behind

    def _end(self, at: int) -> tuple[Token | None, int]:
        mark = self._html[at : at + 1]
        if not (mark.isascii() and mark.isalpha()):
            return None, self._behind(">", at)  # `</` before anything else opens a bogus comment (13.2.5.7)
        tag, at = self._tag(at)
        return (EndTag(tag.name) if tag else None), at

    def _tag(self, at: int) -> tuple[StartTag | None, int]:
        """A tag from its name on, and the offset behind it. One without end is no tag (13.2.5.32, eof-in-tag)."""
        html = self._html
        start = at
        at = _end_of(_NAME, html, at)
        name = html[start:at].lower()
        attributes: dict[str, str] = {}
        for _ in range(_ATTRIBUTES_MAX):
            at = _end_of(_GAP, html, at)
            if at >= len(html):
                return None, at
            if html[at] == ">":
                return StartTag(name, attributes, html[at - 1] == "/"), at + 1
            at = self._attribute(at, attributes)
        self.limited = True
        return StartTag(name, attributes), self._behind(">", at)

    def _attribute(self, at: int, attributes: dict[str, str]) -> int:
        """Reads one attribute; of one given twice the first counts (13.2.5.33)."""
        html = self._html
        start = at
        at = _end_of(_ATTRIBUTE_NAME, html, at)
        key = html[start : min(at, start + _KEY_CHARS_MAX)].lower()
        value_start, value_end, at = self._value(at)
        if key in self._kept and key not in attributes:
            chars = rules.STYLE_CHARS_MAX if key in _LONG_ATTRIBUTES else rules.ATTRIBUTE_CHARS_MAX
            self.limited = self.limited or (key in _LONG_ATTRIBUTES and value_end - value_start > chars)
            value = html[value_start : min(value_end, value_start + chars)]
            attributes[key] = value.replace('"', "&quot;")
        return at

    def _value(self, at: int) -> tuple[int, int, int]:
        """Where an attribute's value starts and ends, and the offset behind it."""
        html = self._html
        equals = _end_of(_SPACE, html, at)
        if not html.startswith("=", equals):
            return at, at, at
        at = _end_of(_SPACE, html, equals + 1)
        quote = html[at : at + 1]
        if quote in ('"', "'"):
            end = html.find(quote, at + 1)
            # A value without its closing quote takes the tag, and all that follows, with it.
            return (at + 1, end, end + 1) if end >= 0 else (at, at, len(html))
        end = _end_of(_UNQUOTED, html, at)
        return at, end, end

    # --- raw text -----------------------------------------------------------------------------------------------

    def _raw_end(self, name: str, at: int) -> tuple[int, int]:
        """Where raw text ends, and the offset behind its end tag."""
        if name == "script":
            found = self._script_end(at)
        else:
            found = re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.IGNORECASE).search(self._html, at)
        if found is None:
            return len(self._html), len(self._html)
        return found.start(), self._behind(">", found.end())

    def _script_end(self, at: int) -> re.Match[str] | None:
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
                return match
        return None


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
