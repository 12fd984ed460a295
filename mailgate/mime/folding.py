"""Header fields written: ASCII, folded between tokens, nothing in them that a reader could take for something else.

A field is a row of tokens with single blanks between them. Folding puts a line end before some of these blanks
(RFC 5322, 2.2.3), so unfolding gives the very same value.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

LINE_MAX: Final = 76
"""RFC 2047, 2 for lines with encoded words; RFC 5322, 2.1.1 would allow 78."""
_WORD_MAX: Final = 75
"""One encoded word (RFC 2047, 2)."""
_WORD_FRAME: Final = len("=?utf-8?q??=")
_PLAIN_WORD_MAX: Final = 60
"""A longer word could not be folded with its field's name on one line."""
_NAME_PLAIN_MAX: Final = 60

_PRINTABLE: Final = re.compile(r"[ -~]*")
# RFC 2047, 5 (3): what may stand bare in an encoded word that is part of a phrase; it is safe everywhere.
_Q_SAFE: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/")
_ATOM: Final = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+")
# RFC 2231, 7 attribute-char.
_ATTRIBUTE_SAFE: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$&+-.^_`{|}~")
# Far fewer characters than a quoted string may hold: those about which no two programs disagree.
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_.()+,@=&!#$~-]+(?: [A-Za-z0-9_.()+,@=&!#$~-]+)*")
_NOT_IN_FALLBACK: Final = re.compile(r"[^A-Za-z0-9.-]+")
_SUFFIX: Final = re.compile(r"\.[A-Za-z0-9]{1,10}\Z")

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def fold(name: str, tokens: Sequence[str]) -> str:
    """The field without its last line end. The first token stays beside the name: no line is ever blank."""
    lines = [f"{name}: {tokens[0]}"]
    for token in tokens[1:]:
        if len(lines[-1]) + 1 + len(token) <= LINE_MAX:
            lines[-1] += f" {token}"
        else:
            lines.append(f" {token}")
    return "\r\n".join(lines)


def unstructured(name: str, text: str) -> str:
    """A field of free text, as it stands where that is beyond doubt, else all of it in encoded words."""
    return fold(name, text.split(" ") if _is_plain(text) else list(_encoded_words(text, LINE_MAX - len(name) - 2)))


def _is_plain(text: str) -> bool:
    """ASCII, nothing like an encoded word, and blanks only where folding and unfolding keep them."""
    words = text.split(" ")
    plain = _PRINTABLE.fullmatch(text) is not None and "=?" not in text
    return plain and all(0 < len(word) <= _PLAIN_WORD_MAX for word in words)


def address_with_name(name: str, display: str, address: str) -> str:
    """A field with one address and, where there is one, its display name (RFC 5322, 3.4)."""
    if not display:
        return fold(name, [address])
    return fold(name, [*_phrase(display, LINE_MAX - len(name) - 2), f"<{address}>"])


def _phrase(display: str, room: int) -> list[str]:
    if not _is_plain(display):
        return list(_encoded_words(display, room))
    words = display.split(" ")
    if all(map(_ATOM.fullmatch, words)):
        return words
    quoted = '"' + display.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return [quoted] if len(quoted) <= _NAME_PLAIN_MAX else list(_encoded_words(display, room))


def separated(name: str, values: Sequence[str]) -> str:
    """A field of addresses with commas between them."""
    return fold(name, [f"{value}," for value in values[:-1]] + [values[-1]])


def serialize_date(moment: datetime) -> str:
    """RFC 5322, 3.3; English whatever the locale. Raises `ValueError` for a time without an offset."""
    offset = moment.utcoffset()
    if offset is None:
        raise ValueError("a date has no offset")
    minutes, seconds = divmod(abs(int(offset.total_seconds())), 60)
    if seconds:
        raise ValueError("a date has an offset that is no whole minute")
    sign = "-" if offset.total_seconds() < 0 else "+"
    day = f"{_DAYS[moment.weekday()]}, {moment.day:02d} {_MONTHS[moment.month - 1]} {moment.year:04d}"
    clock = f"{moment.hour:02d}:{moment.minute:02d}:{moment.second:02d}"
    return f"{day} {clock} {sign}{minutes // 60:02d}{minutes % 60:02d}"


# --- encoded words ---------------------------------------------------------------------------------------------


def _encoded_words(text: str, room: int) -> Iterator[str]:
    """RFC 2047 words, each whole in itself; `room` is what the first may take. The shorter encoding for all."""
    q_size = sum(map(_q_size, text))
    use_q = q_size <= (len(text.encode()) + 2) // 3 * 4
    chunk = ""
    size = 0
    limit = min(room, _WORD_MAX) - _WORD_FRAME
    for character in text:
        step = _q_size(character) if use_q else len(character.encode())
        # A character is never split between words (RFC 2047, 5).
        if (size + step if use_q else (size + step + 2) // 3 * 4) > limit:
            yield _encoded_word(chunk, use_q)
            chunk, size, limit = "", 0, _WORD_MAX - _WORD_FRAME
        chunk += character
        size += step
    yield _encoded_word(chunk, use_q)


def _q_size(character: str) -> int:
    return sum(1 if octet in _Q_SAFE or octet == 0x20 else 3 for octet in character.encode())


def _encoded_word(text: str, use_q: bool) -> str:
    if not use_q:
        return f"=?utf-8?b?{binascii.b2a_base64(text.encode(), newline=False).decode('ascii')}?="
    return f"=?utf-8?q?{''.join(map(_q_octet, text.encode()))}?="


def _q_octet(octet: int) -> str:
    if octet == 0x20:
        return "_"
    return chr(octet) if octet in _Q_SAFE else f"={octet:02X}"


# --- file names ------------------------------------------------------------------------------------------------


def named_type(content_type: str, filename: str) -> str:
    """Content-Type of an attachment. An unusual name gets a plain stand-in here, in the older place (RFC 2183, 2.3),
    for programs that do not know RFC 2231; the name itself is in Content-Disposition only."""
    if _is_plain_name(filename):
        return fold("Content-Type", [content_type])
    return fold("Content-Type", [f"{content_type};", f'name="{_fallback(filename)}"'])


def disposition(filename: str) -> str:
    """Content-Disposition of an attachment, with its exact name."""
    parameters = [f'filename="{filename}"'] if _is_plain_name(filename) else _extended("filename", filename)
    tokens = ["attachment", *parameters]
    return fold("Content-Disposition", [f"{token};" for token in tokens[:-1]] + [tokens[-1]])


def _is_plain_name(filename: str) -> bool:
    return len(filename) <= _NAME_PLAIN_MAX and _PLAIN_NAME.fullmatch(filename) is not None


def _fallback(filename: str) -> str:
    suffix = _SUFFIX.search(filename)
    stem = _NOT_IN_FALLBACK.sub("_", filename[: suffix.start() if suffix else None])[:40].strip("_.")
    return (stem or "attachment") + (suffix[0] if suffix else "")


def _extended(name: str, value: str) -> list[str]:
    """RFC 2231, 4; in numbered pieces where one line does not hold it (3), no character split between two."""
    encoded = [_percent(character) for character in value]
    whole = f"{name}*=utf-8''{''.join(encoded)}"
    # A blank before and a semicolon after.
    if len(whole) <= LINE_MAX - 2:
        return [whole]
    pieces = [f"{name}*0*=utf-8''"]
    for one in encoded:
        if len(pieces[-1]) + len(one) > LINE_MAX - 2:
            pieces.append(f"{name}*{len(pieces)}*=")
        pieces[-1] += one
    return pieces


def _percent(character: str) -> str:
    return "".join(chr(octet) if octet in _ATTRIBUTE_SAFE else f"%{octet:02X}" for octet in character.encode())
