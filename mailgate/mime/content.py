"""What the header of one part says about its content (RFC 2045, RFC 2183), tolerant of every way to say it wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mailgate.mime.fields import HeaderFields, raw_text
from mailgate.mime.parameters import ParameterizedValue, parse_parameters

# RFC 2045, 5.1: token "/" token; the length bound is RFC 6838, 4.2.
_TYPE: Final = re.compile(r"[!#$%&'*+.^_`{|}~0-9a-z-]{1,127}/[!#$%&'*+.^_`{|}~0-9a-z-]{1,127}")
_BOUNDARY_MAX: Final = 200
_VALUE_MAX: Final = 32 * 1024


@dataclass(frozen=True, slots=True)
class Content:
    """Type, parameters and naming of one part.

    `content_type`: `token/token` in lower case. `charset`, `boundary`, `filename`, `content_id`: as sent, decoded, not
    yet safe to show. `disposition`: `attachment`, `inline` or None; anything unknown counts as attachment (RFC 2183,
    2.8).
    """

    content_type: str = "text/plain"
    charset: str | None = None
    boundary: bytes | None = None
    encoding: str = ""
    disposition: str | None = None
    filename: str | None = None
    content_id: str | None = None

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
    return Content(
        content_type=_type(kind.value, default_type),
        charset=_word(kind.parameters.get("charset")),
        boundary=_boundary(kind.parameters.get("boundary")),
        encoding=encoding.strip().lower(),
        disposition=_disposition(placing.value),
        # `name` of Content-Type is the older place and still used alone (RFC 2183, 2.3).
        filename=placing.parameters.get("filename") or kind.parameters.get("name"),
        content_id=content_id or None,
    )


def _parameters(fields: HeaderFields, name: str) -> ParameterizedValue:
    value = fields.first(name)
    return parse_parameters(raw_text(value[:_VALUE_MAX])) if value else ParameterizedValue("")


def _type(value: str, default_type: str) -> str:
    if _TYPE.fullmatch(value):
        return value
    # `text` alone is how the first mail programs said text/plain; anything else is opaque.
    if value in ("", "text"):
        return default_type
    return "application/octet-stream"


def _word(value: str | None) -> str | None:
    """The first word: `charset=us-ascii (Plain text)` is RFC 2045's own example."""
    words = (value or "").split(None, 1)
    return words[0] if words else None


def _boundary(value: str | None) -> bytes | None:
    octets = (value or "").rstrip().encode("utf-8", "replace")
    return octets if 0 < len(octets) <= _BOUNDARY_MAX else None


def _disposition(value: str) -> str | None:
    if not value:
        return None
    return "inline" if value == "inline" else "attachment"
