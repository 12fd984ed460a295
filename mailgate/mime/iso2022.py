"""ISO-2022-JP as it is really sent (RFC 1468 and what Windows adds to it).

Python's codecs know the standard's characters alone. Windows puts the circled numbers and other signs of its own code
page 932 into the same rows, and katakana of half width; here every row is read through that code page.
"""

from __future__ import annotations

import re
from typing import Final

_ESCAPE: Final = re.compile(rb"\x1b(\$[@B]|\$\([@BDOPQ]|\([BJI])")
_TWO_OCTETS: Final = frozenset({b"$@", b"$B", b"$(@", b"$(B"})
_HALF_WIDTH: Final = b"(I"


def decode_japanese(data: bytes) -> str:
    """Text of the octets; what cannot be read becomes U+FFFD. Never raises."""
    pieces = _ESCAPE.split(data)
    text = [_single(pieces[0])]
    for designation, octets in zip(pieces[1::2], pieces[2::2], strict=True):
        text.append(_set(designation, octets))
    return "".join(text)


def _set(designation: bytes, octets: bytes) -> str:
    if designation == _HALF_WIDTH:
        return bytes(octet | 0x80 if 0x21 <= octet <= 0x5F else octet for octet in octets).decode("cp932", "replace")
    if designation in _TWO_OCTETS:
        return "".join(map(_double, re.split(rb"(\s+)", octets)))
    if designation.startswith(b"$"):
        # JIS X 0212 and 0213: the first is in EUC-JP behind a shift octet, the others are rare enough to leave out.
        return _supplementary(octets)
    return _single(octets)


def _single(octets: bytes) -> str:
    return octets.decode("cp932", "replace")


def _double(octets: bytes) -> str:
    """Rows and cells of JIS X 0208 as code page 932 writes them."""
    if not octets or octets.isspace():
        return octets.decode("ascii", "replace")
    shifted = bytearray()
    for row, cell in zip(octets[0::2], octets[1::2], strict=False):
        if not (0x21 <= row <= 0x7E and 0x21 <= cell <= 0x7E):
            shifted += b"\xff"
            continue
        shifted.append((row - 0x21 >> 1) + (0x81 if row < 0x5F else 0xC1))
        shifted.append(cell + (0x1F + (cell > 0x5F) if row % 2 else 0x7E))
    if len(octets) % 2:
        shifted += b"\xff"
    return bytes(shifted).decode("cp932", "replace")


def _supplementary(octets: bytes) -> str:
    pairs = zip(octets[0::2], octets[1::2], strict=False)
    return b"".join(bytes((0x8F, row | 0x80, cell | 0x80)) for row, cell in pairs).decode("euc_jp", "replace")
