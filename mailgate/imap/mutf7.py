"""Folder names between the wire and the reader, one to one and without asking the server.

RFC 3501, 5.1.3 writes names in modified UTF-7; after ENABLE UTF8=ACCEPT they are UTF-8 (RFC 6855, 3). Servers hold
names that follow neither, and names that read alike but differ in their octets. Such a name is shown as `wire:` and
its exact octets, so that every folder keeps a name of its own and each name reaches its own folder.
"""

from __future__ import annotations

import binascii
import re
import unicodedata
from typing import Final

from mailgate.imap.values import FolderName
from mailgate.limits import FOLDER_NAME_MAX

WIRE_PREFIX: Final = "wire:"
"""Starts a name that stands for exact octets."""
_RESERVED: Final = (WIRE_PREFIX, "role:")

_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control, format (bidi, zero-width, tag), surrogate, and line separators."""
_HIDDEN: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
"""Characters of other categories that show nothing at all (Unicode, Default_Ignorable_Code_Point)."""

_ENCODED_RUN = re.compile(r"[^\x20-\x7e]+|&")
_WIRE_RUN = re.compile(rb"&([A-Za-z0-9+,]*)-|[\x20-\x25\x27-\x7e]+")
_ESCAPE = re.compile(r"%([0-9A-F]{2})|[\x20-\x24\x26-\x7e]+")


def to_wire(name: FolderName, *, utf8: bool = False) -> bytes:
    """The octets that name this folder to the server. `utf8`: after ENABLE UTF8=ACCEPT.

    `ValueError` for a name that `of_wire` would never show: a second spelling of another name, a malformed escape,
    hidden characters. With NUL, CR or LF in it a folder can be shown but not reached.
    """
    text = name.text
    if text[: len(WIRE_PREFIX)].lower() == WIRE_PREFIX:
        wire = _unescape(text[len(WIRE_PREFIX) :])
    else:
        wire = text.encode() if utf8 else encode(text)
    if any(octet in wire for octet in b"\0\r\n"):
        raise ValueError("a folder name holds NUL, CR or LF")
    if of_wire(wire, utf8=utf8) != name:
        raise ValueError("a folder name is not written as mail_list_folders shows it")
    return wire


def of_wire(wire: bytes, *, utf8: bool = False) -> FolderName:
    """The name to show for these octets; `ValueError` only for one that is empty or too long."""
    if len(wire) > FOLDER_NAME_MAX:
        raise ValueError("a folder name is too long")
    text = _decode_canonical(wire, utf8=utf8)
    if text is not None and _is_showable(text):
        return FolderName(text)
    return FolderName(WIRE_PREFIX + _escape(wire)) if wire else FolderName("")


def _decode_canonical(wire: bytes, *, utf8: bool) -> str | None:
    """The text these octets and no others stand for, else None."""
    try:
        if utf8:
            return wire.decode()
        text = decode(wire)
        return text if encode(text) == wire else None
    except ValueError:
        return None


def _is_showable(text: str) -> bool:
    if text.lower().startswith(_RESERVED):
        return False
    if any(char in _HIDDEN or unicodedata.category(char) in _HIDDEN_CATEGORIES for char in text):
        return False
    return 0 < len(text.encode()) <= FOLDER_NAME_MAX


def encode(text: str) -> bytes:
    """Modified UTF-7 (RFC 3501, 5.1.3). `ValueError` for a lone surrogate.

    "&" is used to shift to modified BASE64 and "-" to shift back to US-ASCII. [...] "," is used instead of "/".
    The character "&" (0x26) is represented by the two-octet sequence "&-".
    """
    return _ENCODED_RUN.sub(_shift, text).encode("ascii")


def _shift(run: re.Match[str]) -> str:
    if run[0] == "&":
        return "&-"
    octets = run[0].encode("utf-16-be")
    return "&" + binascii.b2a_base64(octets, newline=False).rstrip(b"=").replace(b"/", b",").decode() + "-"


def decode(wire: bytes) -> str:
    """Read modified UTF-7; `ValueError` where it cannot be read. Says nothing about whether it is canonical."""
    pieces = []
    position = 0
    while position < len(wire):
        run = _WIRE_RUN.match(wire, position)
        if run is None:
            raise ValueError("not modified UTF-7")
        pieces.append(_unshift(run[1]) if run[1] is not None else run[0].decode("ascii"))
        position = run.end()
    return "".join(pieces)


def _unshift(base64: bytes) -> str:
    if not base64:
        return "&"
    padded = base64.replace(b",", b"/") + b"=" * (-len(base64) % 4)
    return binascii.a2b_base64(padded).decode("utf-16-be")


def _escape(wire: bytes) -> str:
    return "".join(chr(octet) if 0x20 <= octet <= 0x7E and octet != 0x25 else f"%{octet:02X}" for octet in wire)


def _unescape(text: str) -> bytes:
    wire = bytearray()
    position = 0
    while position < len(text):
        run = _ESCAPE.match(text, position)
        if run is None:
            raise ValueError("a folder name has a malformed escape")
        wire += bytes.fromhex(run[1]) if run[1] else run[0].encode("ascii")
        position = run.end()
    return bytes(wire)
