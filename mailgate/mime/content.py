"""What the header of one part says about its content (RFC 2045, RFC 2183), tolerant of every way to say it wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mailgate.mime.fields import HeaderFields, raw_text
from mailgate.mime.parameters import ParameterizedValue, parse_parameters

# RFC 2045, 5.1: token "/" token; the length bound is RFC 6838, 4.2.
_TYPE: Final = re.compile(r"[!#$%&'*+.^_`{|}~0-9a-z-]{1,127}/[!#$%&'*+.^_`{|}~0-9a-z-]{1,127}")
_ONE_WORD: Final = {"text": "text/plain", "html": "text/html", "multipart": "multipart/mixed"}
_BOUNDARY_MAX: Final = 200
_VALUE_MAX: Final = 32 * 1024
_OPAQUE: Final = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Content:
    """Type, parameters and naming of one part.

    `content_type`: `token/token` in lower case. `charset`, `boundary`, `filename`, `content_id`: as sent, decoded, not
    yet safe to show. `disposition`: `attachment`, `inline` or None; anything unknown counts as attachment (RFC 2183,
    2.8). `flowed`, `delete_space`: format=flowed and its DelSp (RFC 3676). `start`: the Content-ID of a compound
    object's root (RFC 2387, 3.2). `smime_type`: what an S/MIME wrapping holds (RFC 8551, 3.2.2), in lower case.
    """

    content_type: str = "text/plain"
    charset: str | None = None
    boundary: bytes | None = None
    encoding: str = ""
    disposition: str | None = None
    filename: str | None = None
    content_id: str | None = None
    flowed: bool = False
    delete_space: bool = False
    start: str | None = None
    smime_type: str | None = None

    @property
    def main_type(self) -> str:
        """What stands before the slash."""
        return self.content_type.partition("/")[0]


def content_of(fields: HeaderFields, default_type: str = "text/plain") -> Content:
    """The content as its fields describe it; without a usable Content-Type, `default_type` (RFC 2045, 5.2)."""
    kind = _parameters(fields, "content-type")
    placing = _parameters(fields, "content-disposition")
    encoding = raw_text((fields.first("content-transfer-encoding") or b"")[:100]).partition("(")[0].partition(";")[0]
    content_id = raw_text((fields.first("content-id") or b"")[:1000]).strip()
    # `name` of Content-Type is the older place and still used alone (RFC 2183, 2.3).
    filename = placing.parameters.get("filename") or kind.parameters.get("name")
    disposition = _disposition(placing.value)
    return Content(
        content_type=_type(kind.value, default_type, is_file=filename is not None or disposition == "attachment"),
        charset=_word(kind.parameters.get("charset")),
        boundary=_boundary(kind.parameters.get("boundary")),
        encoding=encoding.strip().lower(),
        disposition=disposition,
        filename=filename,
        content_id=content_id or None,
        flowed=_lower(kind, "format") == "flowed",
        delete_space=_lower(kind, "delsp") == "yes",
        start=kind.parameters.get("start", "").strip() or None,
        smime_type=_lower(kind, "smime-type"),
    )


def _parameters(fields: HeaderFields, name: str) -> ParameterizedValue:
    value = fields.first(name)
    return parse_parameters(raw_text(value[:_VALUE_MAX])) if value else ParameterizedValue("")


def _type(value: str, default_type: str, *, is_file: bool) -> str:
    """What is no type at all is the default as well (RFC 2045, 5.2), unless it is a file: that stays opaque."""
    value = value.strip("\"' ")
    if _TYPE.fullmatch(value):
        return value
    # `text` alone is how the first mail programs said text/plain.
    known = _ONE_WORD.get(value, _OPAQUE if is_file and value else default_type)
    return default_type if known == "text/plain" else known


def _word(value: str | None) -> str | None:
    """The first word: `charset=us-ascii (Plain text)` is RFC 2045's own example."""
    words = (value or "").split(None, 1)
    return words[0] if words else None


def _lower(value: ParameterizedValue, name: str) -> str | None:
    word = _word(value.parameters.get(name))
    return word.lower() if word else None


def _boundary(value: str | None) -> bytes | None:
    octets = (value or "").rstrip().encode("utf-8", "replace")
    return octets if 0 < len(octets) <= _BOUNDARY_MAX else None


def _disposition(value: str) -> str | None:
    if not value:
        return None
    return "inline" if value == "inline" else "attachment"
