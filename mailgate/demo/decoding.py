"""What a message says once decoded, in the form that searching compares (RFC 2047; RFC 5051)."""

from __future__ import annotations

import base64
import binascii
import quopri
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from mailgate.demo.structure import Part, parse_structure

_WORD = re.compile(r"=\?([^?\s*]+)(?:\*[^?\s]*)?\?([bBqQ])\?([^?\s]*)\?=")
_BETWEEN = re.compile(r"(\?=)[ \t\r\n]+(?==\?[^?\s]+\?[bBqQ]\?)")
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "iso-2022-jp": "iso2022_jp_ext"}
"""Charsets that mail names when it means the larger one."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A message in comparing form: every header field as (name, value), of all parts; every text body."""

    fields: tuple[tuple[str, str], ...]
    top_fields: tuple[tuple[str, str], ...]
    bodies: tuple[str, ...]


class _Folding(dict[int, str]):
    """Single characters to their comparing form, worked out when first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        title = character.title()
        folded = unicodedata.normalize("NFKD", title if len(title) == 1 else character)
        self[code] = folded
        return folded


_FOLDING = _Folding()


def comparable(text: str) -> str:
    """`i;unicode-casemap` (RFC 5051): title case, then decomposed. Equal texts compare equal whatever their case."""
    return text.upper() if text.isascii() else text.translate(_FOLDING)


@lru_cache(maxsize=4096)
def decoded(raw: bytes) -> Decoded:
    """All that can be searched in a message. Never raises."""
    top = parse_structure(raw)
    fields: list[tuple[str, str]] = []
    bodies: list[str] = []
    waiting = [top]
    while waiting:
        part = waiting.pop(0)
        fields += _fields(part)
        waiting = [*part.children, *waiting]
        if not part.children and part.media[0] in (b"text", b"message"):
            bodies.append(comparable(body_text(part)))
    return Decoded(tuple(fields), _fields(top), tuple(bodies))


def _fields(part: Part) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.decode("ascii", "replace").upper(), comparable(decode_header(value))) for name, value in part.fields
    )


def decode_header(value: bytes) -> str:
    """A header value as text: unfolded, its encoded words decoded, 8-bit octets taken as UTF-8."""
    text = re.sub(r"\r?\n[ \t]+", " ", value.decode("utf-8", "replace")).strip()
    # Each word by itself, as Dovecot does it: a character cut in two by its sender is not found.
    return _WORD.sub(lambda word: to_text(_word_octets(word), word.group(1)), _BETWEEN.sub(r"\1", text))


def _word_octets(word: re.Match[str]) -> bytes:
    octets = word.group(3).encode("utf-8")
    if word.group(2) in "bB":
        return from_base64(octets)
    return quopri.decodestring(octets.replace(b"_", b" "))


def from_base64(octets: bytes) -> bytes:
    """Base64 as far as it goes; what is broken or missing at the end is dropped."""
    kept = re.sub(rb"[^A-Za-z0-9+/]", b"", octets)
    try:
        return base64.b64decode(kept[: len(kept) // 4 * 4] + _padded(kept[len(kept) // 4 * 4 :]))
    except binascii.Error:
        return b""


def _padded(rest: bytes) -> bytes:
    return rest + b"=" * (4 - len(rest)) if len(rest) > 1 else b""


def to_text(octets: bytes, charset: str) -> str:
    """Octets as text; an unknown charset is taken as UTF-8, octets that do not fit are replaced."""
    name = charset.strip("\"' ").lower()
    try:
        return octets.decode(_WIDER.get(name, name) or "utf-8", "replace")
    except (LookupError, ValueError):  # unknown, no text encoding, or one that cannot replace
        return octets.decode("utf-8", "replace")


def body_text(part: Part) -> str:
    """A part's body with transfer encoding and charset undone. HTML stays HTML."""
    encoding = (part.value(b"content-transfer-encoding") or b"").strip().lower()
    octets = part.body
    if encoding == b"base64":
        octets = from_base64(octets)
    elif encoding == b"quoted-printable":
        octets = quopri.decodestring(octets)
    charset = dict(part.parameters).get(b"charset", b"utf-8").decode("ascii", "replace")
    return to_text(octets, "utf-8" if charset.lower() == "us-ascii" else charset)
