"""Content-Transfer-Encoding done (RFC 2045, 6): 7-bit lines that nothing on the way has a reason to alter.

No line that comes out begins with a dot (the end of a message in SMTP), with `From ` (mbox), or with the start of a
delimiter of ours, and none ends in a blank. So stuffing, quoting and trimming by others all find nothing to do.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

BOUNDARY_MARK: Final = "=_"
"""Begins every boundary: neither quoted-printable nor base64 can hold it (RFC 2045, 6.7)."""
_BASE64_LINE: Final = 76
_QUOTED_LINE: Final = 72
"""RFC 2045, 6.7 rule 5 allows 76; the rest is room to quote a line's first character and for the soft break."""

_PLAIN: Final = re.compile(rb"(?:[\t -~]{0,78}+\r\n)*+")
_RISKY: Final = re.compile(rb"[ \t]\r\n|^(?:\.|From |--=_)", re.MULTILINE)
_RISKY_START: Final = re.compile(r"\.|From ")
_BARE: Final = frozenset(range(0x20, 0x7F)) - frozenset(b"=") | frozenset(b"\t\r\n")
_QUOTED: Final = {octet: f"={octet:02X}" for octet in range(256) if octet not in _BARE}


@dataclass(frozen=True, slots=True)
class EncodedBody:
    """The name of the encoding and the octets under it."""

    encoding: str
    data: bytes


def canonical_text(text: str) -> bytes:
    """Text with LF line ends as octets of UTF-8 with CRLF (RFC 2046, 4.1.1); its last line is ended too."""
    ended = text if not text or text.endswith("\n") else text + "\n"
    return ended.replace("\n", "\r\n").encode()


def encode_text(canonical: bytes) -> EncodedBody:
    """As it stands where that is safe, else the shorter of quoted-printable and base64."""
    if _PLAIN.fullmatch(canonical) and not _RISKY.search(canonical):
        return EncodedBody("7bit", canonical)
    encoded = to_base64(canonical)
    # A tie goes to the form that can be read without decoding.
    quoted = to_quoted_printable(canonical)
    return EncodedBody("quoted-printable", quoted) if len(quoted) <= len(encoded) else EncodedBody("base64", encoded)


def to_base64(data: bytes) -> bytes:
    """Lines of 76 digits (RFC 2045, 6.8), each ended with CRLF."""
    digits = binascii.b2a_base64(data, newline=False)
    return b"".join(digits[at : at + _BASE64_LINE] + b"\r\n" for at in range(0, len(digits), _BASE64_LINE))


def to_quoted_printable(canonical: bytes) -> bytes:
    """RFC 2045, 6.7 for text in canonical form, which ends with a line end or is empty."""
    quoted = canonical.decode("latin-1").translate(_QUOTED)
    lines = (piece for line in quoted.split("\r\n")[:-1] for piece in _soft_broken(line))
    return "".join(f"{line}\r\n" for line in lines).encode("ascii")


def _soft_broken(line: str) -> Iterator[str]:
    """One line in pieces of at most 76 characters, all but the last ended with `=`."""
    if line.endswith((" ", "\t")):
        line = line[:-1] + _octet(line[-1])
    at = 0
    while len(line) - at > _QUOTED_LINE:
        stop = at + _QUOTED_LINE
        # An escape is three characters and is never torn.
        stop -= 1 if line[stop - 1] == "=" else 2 if line[stop - 2] == "=" else 0
        yield _safe_start(line[at:stop]) + "="
        at = stop
    yield _safe_start(line[at:])


def _safe_start(piece: str) -> str:
    return _octet(piece[0]) + piece[1:] if _RISKY_START.match(piece) else piece


def _octet(character: str) -> str:
    return f"={ord(character):02X}"
