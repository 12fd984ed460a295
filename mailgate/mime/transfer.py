"""Content-Transfer-Encoding undone, block by block (RFC 2045, 6), whatever state it is in.

Memory stays at one block plus what the caller keeps; work is linear in the encoded octets. What comes out is always
decoded octets, never the encoded text handed back as if it were the content.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mailgate.mime.uuencode import UuDecoder

BLOCK: Final = 64 * 1024

_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_NOISE: Final = bytes(octet for octet in range(256) if octet not in _ALPHABET)
_LINE_ENDS: Final = b"\r\n"
_SPACES: Final = b" \t\r\n"
_PADDING: Final = re.compile(rb"=+")
_TRAILING: Final = re.compile(rb"(?<![ \t])[ \t]+(?=\r?\n|\Z)")
_PADDED_SEGMENTS_MAX: Final = 1000
_DATA_LINE: Final = re.compile(rb"^(?:[A-Za-z0-9+/]{20,}|[A-Za-z0-9+/]{2,20}=)={0,2}[ \t]*+\r?$", re.MULTILINE)
_NOISY_DIGITS_MIN: Final = 56
"""Digits of a line of data in which something else strayed: senders break base64 at 60 to 76."""

_NOT_NAME: Final = re.compile(r"[^a-z0-9]")
_ALIASES: Final = {
    "identity": " 7bit 7bits 8bit 8bits binary none".split(" "),
    "quoted-printable": ("quotedprintable", "quotedprintible", "quoteprintable", "qp"),
    "base64": ("base64", "b64"),
    "uuencode": ("uuencode", "uuencoded", "uue"),
}
_NAMES: Final = {alias: name for name, aliases in _ALIASES.items() for alias in aliases}
"""The encodings by every spelling of their names, without punctuation and a leading `x`."""


@dataclass(slots=True)
class TransferState:
    """What was noticed while decoding; filled in as the blocks are taken."""

    unknown: bool = False
    damaged: bool = False


@dataclass(frozen=True, slots=True)
class TransferResult:
    """Decoded octets: `cut` when there are more than were asked for."""

    data: bytes
    cut: bool
    state: TransferState


def encoding_name(label: str) -> str | None:
    """`identity`, `base64`, `quoted-printable` or `uuencode`; None for a label that names none of them.

    Case, blanks, quotes, hyphens and a leading `x-` do not matter.
    """
    return _NAMES.get(_NOT_NAME.sub("", label.strip().lower()).removeprefix("x"))


_BASE64_LINE: Final = 76
"""Digits of a line as nearly every sender writes them (RFC 2045, 6.8 allows no more)."""


def estimated_size(octets: int, encoding: str) -> int | None:
    """How much `octets` encoded octets are decoded, or None where that cannot be told without them.

    Exact where nothing is encoded. base64 in lines of the usual length: at most two too many, for its padding.
    """
    name = encoding_name(encoding)
    if name == "base64":
        lines, rest = divmod(octets, _BASE64_LINE + len(_LINE_ENDS))
        return (lines * _BASE64_LINE + rest) // 4 * 3
    return octets if name == "identity" else None


def least_decoded(octets: int, name: str | None) -> int:
    """How much `octets` encoded octets are decoded at least, lines of 16 digits and nothing but escapes assumed; `name`
    as `encoding_name` spells it."""
    if name == "quoted-printable":
        return octets // 3
    return octets * 2 // 3 if name in ("base64", "uuencode") else octets


def decoded_blocks(source: bytes, start: int, end: int, encoding: str, state: TransferState) -> Iterator[bytes]:
    """The decoded octets of `source[start:end]`, in blocks. Unknown encodings come as they are (RFC 2045, 6.4)."""
    name = encoding_name(encoding)
    state.unknown = name is None
    if name == "base64":
        return _base64_blocks(source, start, end, state)
    if name == "quoted-printable":
        return _quoted_printable_blocks(source, start, end, state)
    if name == "uuencode":
        return _uuencode_blocks(source, start, end, state)
    return (source[at : min(at + BLOCK, end)] for at in range(start, end, BLOCK))


def decode_up_to(source: bytes, start: int, end: int, encoding: str, limit: int) -> TransferResult:
    """At most `limit` decoded octets of `source[start:end]`."""
    state = TransferState()
    kept: list[bytes] = []
    size = 0
    for block in decoded_blocks(source, start, end, encoding, state):
        kept.append(block)
        size += len(block)
        if size > limit:
            return TransferResult(b"".join(kept)[:limit], True, state)
    return TransferResult(b"".join(kept), False, state)


def decoded_size(source: bytes, start: int, end: int, encoding: str) -> tuple[int, TransferState]:
    """How many octets there are, without keeping them."""
    state = TransferState()
    return sum(map(len, decoded_blocks(source, start, end, encoding, state))), state


# --- base64 ----------------------------------------------------------------------------------------------------


def _base64_blocks(source: bytes, start: int, end: int, state: TransferState) -> Iterator[bytes]:
    """Noise is skipped (RFC 2045, 6.8), and so are lines of other text, before, within and after the data. Several
    padded pieces after one another are all decoded, as some senders encode line by line."""
    carry = b""
    segments = 0
    has_data_lines = any(_DATA_LINE.search(source, *block) for block in _line_blocks(source, start, end))
    for begin, stop in _line_blocks(source, start, end):
        block = source[begin:stop]
        if block.translate(None, _ALPHABET + _LINE_ENDS):
            block = _without_prose(block, has_data_lines or segments > 0, state)
        digits = carry + block.translate(None, _NOISE)
        # A body of nothing but padding would cost a step per digit; beyond this it is noise.
        if segments > _PADDED_SEGMENTS_MAX:
            digits = digits.replace(b"=", b"")
        *padded, rest = _PADDING.split(digits)
        segments += len(padded)
        # Four digits are three octets (RFC 2045, 6.8); what is left over waits for the next block.
        whole = 0 if padded and len(rest) < _NOISY_DIGITS_MIN else len(rest) // 4 * 4
        carry = rest[whole:]
        yield b"".join(_last_quantum(piece, state) for piece in padded) + binascii.a2b_base64(rest[:whole])
    # After padding, a few digits that make no whole octets are a word of some footer.
    if segments and len(carry) % 4 and len(carry) < _NOISY_DIGITS_MIN:
        state.damaged = True
    elif carry:
        yield _last_quantum(carry, state, padded=False)


def _line_blocks(source: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Stretches of about `BLOCK` octets that end with a line, where lines are no longer than that."""
    at = start
    while at < end:
        stop = min(at + BLOCK, end)
        if stop < end:
            stop = source.rfind(b"\n", at, stop) + 1 or stop
        yield at, stop
        at = stop


def _without_prose(block: bytes, has_data: bool, state: TransferState) -> bytes:
    """The lines of the block that are data. Where no line is certainly data, every digit counts as such."""
    kept = []
    for line in block.split(b"\n"):
        foreign = line.translate(None, _ALPHABET + _SPACES)
        state.damaged = state.damaged or bool(foreign)
        if has_data and _is_prose(line, bool(foreign), len(line) - len(foreign)):
            state.damaged = True
            continue
        kept.append(line)
        has_data = has_data or line.rstrip(_SPACES).endswith(b"=")
    return b"\n".join(kept)


def _last_quantum(piece: bytes, state: TransferState, *, padded: bool = True) -> bytes:
    """The octets of a run that ends here: a single left-over digit holds no octet."""
    rest = len(piece) % 4
    if rest == 1 or (rest and not padded):
        state.damaged = True
    # Six bits are no octet.
    piece = piece[: len(piece) - (rest == 1)]
    return binascii.a2b_base64(piece + b"=" * (-len(piece) % 4))


def _is_prose(line: bytes, foreign: bool, digits: int) -> bool:
    """Words with blanks between them, or few digits among other characters: no data, even damaged."""
    gaps = len(line.split()) - 1
    if gaps > 2 or (foreign and b"://" in line):
        return True
    return digits < _NOISY_DIGITS_MIN and (foreign or (gaps > 0 and b"=" not in line))


# --- quoted-printable ------------------------------------------------------------------------------------------

_ESCAPE: Final = re.compile(rb"=(?:([0-9A-Fa-f]{2})|[ \t]*+(?:\r\n|\n|\r))")
_DAMAGE: Final = re.compile(rb"=(?![0-9A-Fa-f]{2}|[ \t]*+\r?\n)")


def _quoted_printable_blocks(source: bytes, start: int, end: int, state: TransferState) -> Iterator[bytes]:
    """Cut at line ends, or within a line that has none for long, but never within an escape."""
    at = start
    while at < end:
        stop = _quoted_printable_cut(source, at, end)
        block = source[at:stop]
        # Blanks before a line end were added on the way and are no content (RFC 2045, 6.7 rule 3).
        block = _TRAILING.sub(b"", block) if stop == end or block.endswith(b"\n") else block
        # A soft break at the very end joins the text to nothing.
        if stop == end and block.endswith(b"="):
            block = block[:-1]
        yield _unescaped(block, state)
        at = stop


def _quoted_printable_cut(source: bytes, at: int, end: int) -> int:
    if end - at <= BLOCK:
        return end
    stop = source.rfind(b"\n", at, at + BLOCK) + 1
    if stop:
        return stop
    stop = at + BLOCK
    # "=" and one digit before the cut would tear an escape.
    return stop - 1 if source[stop - 1 : stop] == b"=" else stop - 2 * (source[stop - 2 : stop - 1] == b"=")


def _unescaped(block: bytes, state: TransferState) -> bytes:
    """A malformed escape stays as written (RFC 2045, 6.7 note 2), a lone CR ends a line too."""
    if not _DAMAGE.search(block):
        return binascii.a2b_qp(block)
    text, escapes = _ESCAPE.subn(lambda match: bytes.fromhex(match[1].decode()) if match[1] else b"", block)
    state.damaged = state.damaged or escapes < block.count(b"=")
    return text


# --- uuencode --------------------------------------------------------------------------------------------------


def _uuencode_blocks(source: bytes, start: int, end: int, state: TransferState) -> Iterator[bytes]:
    """The file between `begin` and `end` (POSIX uuencode)."""
    decoder = UuDecoder()
    for begin, stop in _line_blocks(source, start, end):
        yield decoder.feed(source[begin:stop])
    state.damaged = state.damaged or decoder.damaged or not decoder.done
