"""A header block taken apart into raw fields (RFC 5322, 2.2), bounded before anything is decoded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mailgate.limits import HEADER_BYTES_MAX, HEADER_FIELDS_MAX
from mailgate.mime.charset_guess import by_letters

_FIRST_LINE_BLANK: Final = re.compile(rb"\r?\n")
# RFC 5322, 3.6.8: ftext is printable ASCII without the colon; blanks before the colon are obsolete (4.5).
_FIELD_START: Final = re.compile(rb"[!-9;-~]{1,100}[ \t]*:|>?From ")
_FOLD: Final = re.compile(rb"\r?\n(?=[ \t])")
# A line that neither is a field nor goes on with one. An encoded word is half of a field that was folded wrongly.
_NO_FIELD: Final = re.compile(rb"^(?![!-9;-~]{1,100}[ \t]*:|>?From |=\?)[^\s]", re.MULTILINE)
_USUAL_FIELD: Final = re.compile(
    rb"^(?:(?:content|x|list|resent|arc|dkim)-[!-9;-~]{1,100}|received|from|sender|reply-to|to|cc|bcc|subject|date"
    rb"|message-id|in-reply-to|references|mime-version|return-path|delivered-to|authentication-results|user-agent)"
    rb"[ \t]*:",
    re.MULTILINE | re.IGNORECASE,
)
_NAME: Final = re.compile(rb"[!-9;-~]{1,100}")


@dataclass(frozen=True, slots=True)
class HeaderFields:
    """Fields in their order: lower-case name, unfolded value in raw octets. `cut`: there was more than is read.

    `spaced`: positions of fields with a blank before the colon. Programs that filter by name may overlook those.
    """

    fields: tuple[tuple[str, bytes], ...]
    cut: bool = False
    spaced: frozenset[int] = frozenset()

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
    """Finds the blank line, or the text that follows where it was forgotten."""
    extent = up_to_blank(source, start, end)
    text = _text_in_header(source, start, min(extent.end, start + HEADER_BYTES_MAX))
    return extent if text is None else HeaderExtent(text, text)


def up_to_blank(source: bytes, start: int, end: int) -> HeaderExtent:
    """As far as the first blank line. Text that starts without any field is body from its first octet."""
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


def _text_in_header(source: bytes, start: int, end: int) -> int | None:
    """Where text begins after the last field that can be one: it is the body, or its first paragraph would be lost.

    A broken line with fields after it is only that, and so is what follows an unfinished field.
    """
    usual = start
    for match in _USUAL_FIELD.finditer(source, start, end):
        usual = match.end()
    text = _NO_FIELD.search(source, usual, end) if usual > start else None
    if text is None or source[usual : text.start()].rstrip().endswith((b";", b",")):
        return None
    return text.start()


def parse_fields(source: bytes, start: int, end: int) -> HeaderFields:
    """The fields of `source[start:end]`. Lines that are no field are skipped; so is a leading mbox `From ` line."""
    block = _FOLD.sub(b"", source[start : min(end, start + HEADER_BYTES_MAX)])
    lines = block.split(b"\n", HEADER_FIELDS_MAX)
    cut = end - start > HEADER_BYTES_MAX or len(lines) > HEADER_FIELDS_MAX
    fields: list[tuple[str, bytes]] = []
    spaced = set()
    for line in lines[:HEADER_FIELDS_MAX]:
        name, colon, value = line.partition(b":")
        bare = name.rstrip(b" \t")
        if colon and _NAME.fullmatch(bare):
            if bare != name:
                spaced.add(len(fields))
            fields.append((bare.decode("ascii").lower(), value.strip(b" \t\r\n")))
    return HeaderFields(tuple(fields), cut, frozenset(spaced))


def raw_text(value: bytes, limit: int | None = None) -> str:
    """At most `limit` octets of a field as text: RFC 6532 says UTF-8; older programs used what their users write in."""
    cut = limit is not None and len(value) > limit
    value = value[:limit]
    if value.isascii():
        return value.decode("ascii")
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError as error:
        # A character that the limit cuts in two does not make the rest another charset.
        if cut and error.reason == "unexpected end of data":
            return value[: error.start].decode("utf-8")
        return value.decode(by_letters(value), "replace")


def is_utf8(value: bytes) -> bool:
    """Whether a field says itself how it is read: anything else is read by what it looks like."""
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
