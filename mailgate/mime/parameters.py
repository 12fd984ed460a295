"""Values with parameters: Content-Type and Content-Disposition (RFC 2045, 5.1; RFC 2183; RFC 2231)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote_to_bytes

from mailgate.mime.charsets import decode
from mailgate.mime.encoded_words import decode_words

_VALUE_CHARS_MAX: Final = 32 * 1024
_PARAMETERS_MAX: Final = 200
_PIECES_MAX: Final = 100

# A quoted value may lack its end, an unquoted one may hold blanks: `filename=my report.pdf` is common.
_PARAMETER: Final = re.compile(r';\s*+([^\s=;"]++)\s*+=\s*+("(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[^;]*+)', re.DOTALL)
# `text/plain charset=utf-8`: the semicolon between them was forgotten.
_NO_SEMICOLON: Final = re.compile(r'\s*([^\s=;"(]+)\s+(?=[^\s=;"(/]+\s*=)')
_QUOTED_PAIR: Final = re.compile(r'\\(["\\])')
_SECTION: Final = re.compile(r"([^*]+)(?:\*([0-9]{1,3}))?(\*)?")
_EXTENDED: Final = re.compile(r"([^']{0,40})'[^']{0,40}'(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParameterizedValue:
    """`value` in lower case without blanks, and the parameters: lower-case names, decoded values."""

    value: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Forms:
    """The forms in which one parameter was given."""

    plain: str | None = None
    extended: str | None = None
    pieces: dict[int, tuple[str, bool]] = field(default_factory=dict)

    def decoded(self) -> str:
        """Numbered pieces, else the extended form, else the plain one; that is the order of how much each says."""
        others = self.extended is not None or self.plain is not None
        if 0 in self.pieces or (self.pieces and not others):
            return _joined(self.pieces)
        if self.extended is not None:
            return _joined({0: (self.extended, True)})
        return decode_words(self.plain or "").text


def parse_parameters(text: str) -> ParameterizedValue:
    """The value and its parameters; of a parameter given twice in one form, the first counts."""
    head, semicolon, rest = _with_semicolon(text[:_VALUE_CHARS_MAX]).partition(";")
    forms: dict[str, _Forms] = {}
    for match in _PARAMETER.finditer(semicolon + rest):
        if len(forms) >= _PARAMETERS_MAX:
            break
        _record(forms, match[1].lower(), _unquoted(match[2].strip()))
    # Comments may stand between tokens (RFC 2045, 5.1).
    value = "".join(head.partition("(")[0].split()).lower()
    return ParameterizedValue(value, {name: form.decoded() for name, form in forms.items()})


def _with_semicolon(text: str) -> str:
    match = _NO_SEMICOLON.match(text)
    return f"{match[1]};{text[match.end() :]}" if match else text


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    closed = len(text) > 1 and text.endswith('"')
    # Only \" and \\ are undone: a backslash before anything else is a path separator that a sender left unescaped.
    return _QUOTED_PAIR.sub(r"\1", text[1 : -1 if closed else None])


def _record(forms: dict[str, _Forms], name: str, value: str) -> None:
    match = _SECTION.fullmatch(name)
    if not match:
        return
    form = forms.setdefault(match[1], _Forms())
    if match[2] is not None:
        if len(form.pieces) < _PIECES_MAX:
            form.pieces.setdefault(int(match[2]), (value, match[3] is not None))
    elif match[3]:
        form.extended = value if form.extended is None else form.extended
    elif form.plain is None:
        form.plain = value


def _joined(pieces: Mapping[int, tuple[str, bool]]) -> str:
    """Octets of the pieces joined, then decoded once; only pieces with a star are percent-encoded (RFC 2231, 4.1)."""
    octets: list[bytes] = []
    charset = ""
    # RFC 2231, 3: numbered from 0 without gaps; some count from 1. What follows a gap belongs to nothing.
    first = min(pieces)
    for number in range(first, first + len(pieces)):
        if number not in pieces:
            break
        text, starred = pieces[number]
        extended = _EXTENDED.fullmatch(text) if number == first and starred else None
        if extended:
            charset, text = extended[1], extended[2]
        octets.append(unquote_to_bytes(text) if starred else text.encode("utf-8", "replace"))
    joined = decode(b"".join(octets), charset or "utf-8").text
    # Encoded words have no place here (RFC 2231, 1) and are cut into pieces all the same.
    return joined if any(starred for _, starred in pieces.values()) else decode_words(joined).text
