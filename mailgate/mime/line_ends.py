"""The line ends of a message, before it is taken apart: those that mail does not have become those that it has.

RFC 5322, 2.3 knows CRLF alone. A bare LF is a line end for everybody; a bare CR was one for old Macs, and CR CR LF is
what a file written twice as text has. Work is linear; a message with honest line ends is not copied.
"""

from __future__ import annotations

import re
from typing import Final

_MARK: Final = b"\xef\xbb\xbf"
_BARE_CR: Final = re.compile(rb"\r(?!\n)")
# From the first octet: a field, lines of header after it, and a blank line, with CR alone between them.
_OLD_HEADER: Final = re.compile(rb"(?:[!-9;-~]{1,100}[ \t]*:|>?From )[^\r\n]*+(?:\r[^\r\n]++)*+\r\r(?!\n)")


def with_line_feeds(source: bytes) -> bytes:
    """The octets with LF or CRLF where lines end.

    CR alone ends lines where there is no LF at all, or none between parts, or where it ends every line of the header:
    one CR in a header whose lines have other ends stays what it is, for it could smuggle in a field. A byte order mark
    before the first field goes.
    """
    source = source.removeprefix(_MARK)
    first = source.find(b"\n")
    if first < 0:
        return source.replace(b"\r", b"\n")
    if source[:first].endswith(b"\r\r") and b"\r" not in source[: first - 2]:
        return source.replace(b"\r\r\n", b"\r\n")
    if b"\r\r" in source[:first] and _OLD_HEADER.match(source):
        return _BARE_CR.sub(b"\n", source)
    return _with_old_parts(source)


def _with_old_parts(source: bytes) -> bytes:
    """A gateway may have written a new header over the parts of an old Mac's message."""
    last = source.rfind(b"\n") + 1
    is_body = source.endswith((b"\n\n", b"\n\r\n"), 0, last)
    if not is_body or source.find(b"\r--", last) < 0:
        return source
    return source[:last] + source[last:].replace(b"\r", b"\n")
