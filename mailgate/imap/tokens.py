"""From a frame to values: atoms, strings, NIL and lists (RFC 9051, 4).

Tolerant where servers are known to be careless and nothing is lost by it: stray spaces, octets above 127 and bare
line feeds inside quoted strings. Iterative, and every octet is matched once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Self, TypeAlias, Union

from mailgate.imap.framing import Literal
from mailgate.limits import MAX_NESTING


class TokenError(ValueError):
    """The text does not follow the grammar. The sentence holds no octet of it."""


class Atom(bytes):
    """An unquoted word: a name, a number, a flag, or a `BODY[...]<n>` item as a whole."""


class String(bytes):
    """A quoted string without its quotes and escapes, or a literal. `truncated`: only a prefix was kept."""

    truncated: bool = False

    @classmethod
    def of(cls, literal: Literal) -> Self:
        """The string that a literal carries."""
        string = cls(literal.data)
        string.truncated = literal.truncated
        return string


Value: TypeAlias = Union[Atom, String, "list[Value]", None]
"""`None` is NIL."""

# quoted          = DQUOTE *QUOTED-CHAR DQUOTE
# QUOTED-CHAR     = <any TEXT-CHAR except quoted-specials> / "\" quoted-specials / UTF8-2 / UTF8-3 / UTF8-4
# section         = "[" [section-spec] "]"
# section-spec    = section-msgtext / (section-part ["." section-text])
# section-msgtext = "HEADER" / "HEADER.FIELDS" [".NOT"] SP header-list / "TEXT"       (RFC 9051, 9)
# Quantifiers are possessive: a part that fails is never tried again from the middle.
_CHARS = rb'(?:[^"\\]++|\\.)*+'
_TOKEN = re.compile(
    rb"[ \t]*+(?:"
    rb"(?P<OPEN>\()|(?P<CLOSE>\))"
    rb'|"(?P<QUOTED>' + _CHARS + rb')"'
    rb"|(?P<SECTION>(?i:BODY(?:\.PEEK)?|BINARY(?:\.PEEK|\.SIZE)?)"
    rb'\[(?:[^\]"]++|"' + _CHARS + rb'")*+\](?:<[0-9.]++>)?)'
    rb'|(?P<BROKEN>"|(?i:BODY|BINARY)[.A-Za-z]*+\[)'
    rb"|(?P<ATOM>[^ \t()]++)"
    rb")",
    re.DOTALL,
)
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)


_OPEN: Final = _TOKEN.groupindex["OPEN"]
_CLOSE: Final = _TOKEN.groupindex["CLOSE"]
_QUOTED: Final = _TOKEN.groupindex["QUOTED"]
_BROKEN: Final = _TOKEN.groupindex["BROKEN"]


class TokenReader:
    """Reads values one after the other from the segments of a frame, from octet `start` of the first one."""

    def __init__(self, segments: Sequence[bytes | Literal], start: int = 0, *, max_nesting: int = MAX_NESTING) -> None:
        self._segments = segments
        self._index = 0
        self._position = start
        self._max_nesting = max_nesting

    def value(self) -> Value:
        """The next value, whole. Raises `TokenError` at the end, at a stray `)`, and past the nesting bound."""
        # Written out, with its state in local names: a page of BODYSTRUCTURE is thousands of tokens.
        segments, index, position = self._segments, self._index, self._position
        stack: list[list[Value]] = []
        while index < len(segments):
            segment = segments[index]
            value: Value
            if isinstance(segment, Literal):
                value = String.of(segment)
                index += 1
            else:
                match = _TOKEN.match(segment, position)
                if match is None:
                    index, position = index + 1, 0
                    continue
                position = match.end()
                kind = match.lastindex
                if kind == _OPEN:
                    if len(stack) == self._max_nesting:
                        raise TokenError("lists are nested too deeply")
                    stack.append([])
                    continue
                if kind != _CLOSE:
                    value = _token(match)
                elif stack:
                    value = stack.pop()
                else:
                    break
            if not stack:
                self._index, self._position = index, position
                return value
            stack[-1].append(value)
        raise TokenError("a value is missing")

    def values(self) -> list[Value]:
        """All values up to the end."""
        values = []
        while not self.at_end():
            values.append(self.value())
        return values

    def opens(self) -> bool:
        """Step into a list, if one begins here."""
        return self._skip(_OPEN)

    def closes(self) -> bool:
        """Step out of a list, if it ends here."""
        return self._skip(_CLOSE)

    def begins_string(self) -> bool:
        """Whether a quoted string or a literal comes next."""
        token = self._peek()
        return isinstance(token, Literal) or (token is not None and token[0].lstrip(b" \t").startswith(b'"'))

    def at_end(self) -> bool:
        """Whether nothing but spaces is left."""
        return self._peek() is None

    def rest(self) -> bytes:
        """The octets that are left, one separating space taken off; `TokenError` when a literal is among them."""
        left = self._segments[self._index :]
        self._index = len(self._segments)
        if any(isinstance(segment, Literal) for segment in left):
            raise TokenError("a literal is out of place")
        text = b"".join(segment for segment in left if isinstance(segment, bytes))
        return text[self._position :].removeprefix(b" ")

    def _skip(self, wanted: int) -> bool:
        token = self._peek()
        if token is None or isinstance(token, Literal) or token.lastindex != wanted:
            return False
        self._position = token.end()
        return True

    def _peek(self) -> re.Match[bytes] | Literal | None:
        """What comes next, not yet taken; None at the end."""
        while self._index < len(self._segments):
            segment = self._segments[self._index]
            if isinstance(segment, Literal):
                return segment
            match = _TOKEN.match(segment, self._position)
            if match is not None:
                return match
            self._index += 1
            self._position = 0
        return None


def _token(match: re.Match[bytes]) -> Atom | String | None:
    kind = match.lastindex
    if kind == _BROKEN:
        raise TokenError("a quoted string or a section has no end")
    text: bytes = match[kind or 0]
    if kind == _QUOTED:
        return String(_ESCAPE.sub(rb"\1", text) if b"\\" in text else text)
    return None if len(text) == 3 and text.upper() == b"NIL" else Atom(text)


def quote(text: bytes) -> bytes:
    """`quoted`; `ValueError` unless all is printable ASCII, for the rest needs a literal (RFC 9051, 4.3)."""
    if not is_quotable(text):
        raise ValueError("only printable ASCII can be quoted")
    return b'"' + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def is_quotable(text: bytes) -> bool:
    """Whether a quoted string carries this text on every server."""
    return all(0x20 <= octet <= 0x7E for octet in text)
