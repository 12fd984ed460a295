"""A header block taken apart into raw fields (RFC 5322, 2.2), bounded before anything is decoded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mailgate.limits import HEADER_BYTES_MAX, HEADER_FIELDS_MAX

_FIRST_LINE_BLANK: Final = re.compile(rb"\r?\n")
# RFC 5322, 3.6.8: ftext is printable ASCII without the colon; blanks before the colon are obsolete (4.5).
_FIELD_START: Final = re.compile(rb"[!-9;-~]{1,100}[ \t]*:|>?From ")
_FOLD: Final = re.compile(rb"\r?\n(?=[ \t])")
_NAME: Final = re.compile(rb"[!-9;-~]{1,100}")


@dataclass(frozen=True, slots=True)
class HeaderFields:
    """Fields in their order: lower-case name, unfolded value in raw octets. `cut`: there was more than is read."""

    fields: tuple[tuple[str, bytes], ...]
    cut: bool = False

    def first(self, name: str) -> bytes | None:
        """The value of the first field of that (lower-case) name."""
        return next((value for known, value in self.fields if known == name), None)

    def every(self, name: str) -> list[bytes]:
        """The values of all fields of that (lower-case) name."""
        return [value for known, value in self.fields if known == name]


@dataclass(frozen=True, slots=True)
class HeaderExtent:
    """Where a header block ends and where its body starts, as offsets."""

    end: int
    body: int


def header_extent(source: bytes, start: int, end: int) -> HeaderExtent:
    """Finds the blank line. Text that starts without any field is body from its first octet."""
    blank = _FIRST_LINE_BLANK.match(source, start, end)
    if blank:
        return HeaderExtent(start, blank.end())
    # Some senders forget the blank line after a delimiter.
    if not _FIELD_START.match(source, start, end):
        return HeaderExtent(start, start)
    crlf = source.find(b"\n\r\n", start, end)
    # A bare LF ends lines for many programs; whichever blank line comes first ends the header.
    bare = source.find(b"\n\n", start, end if crlf < 0 else crlf)
    if bare >= 0:
        return HeaderExtent(bare, bare + 2)
    return HeaderExtent(crlf, crlf + 3) if crlf >= 0 else HeaderExtent(end, end)


def parse_fields(source: bytes, start: int, end: int) -> HeaderFields:
    """The fields of `source[start:end]`. Lines that are no field are skipped; so is a leading mbox `From ` line."""
    block = _FOLD.sub(b"", source[start : min(end, start + HEADER_BYTES_MAX)])
    lines = block.split(b"\n", HEADER_FIELDS_MAX)
    cut = end - start > HEADER_BYTES_MAX or len(lines) > HEADER_FIELDS_MAX
    fields = []
    for line in lines[:HEADER_FIELDS_MAX]:
        name, colon, value = line.partition(b":")
        name = name.rstrip(b" \t")
        if colon and _NAME.fullmatch(name):
            fields.append((name.decode("ascii").lower(), value.strip(b" \t\r\n")))
    return HeaderFields(tuple(fields), cut)


def raw_text(value: bytes) -> str:
    """Octets of a field as text: RFC 6532 says UTF-8; older senders used the Windows code page."""
    if value.isascii():
        return value.decode("ascii")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("cp1252", "replace")
