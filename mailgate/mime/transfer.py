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

BLOCK: Final = 64 * 1024

_ALPHABET: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_NOISE: Final = bytes(octet for octet in range(256) if octet not in _ALPHABET)
_SPACES: Final = b" \t\r\n"
_PADDING: Final = re.compile(rb"=+")
_TRAILING: Final = re.compile(rb"(?<![ \t])[ \t]+(?=\r?\n|\Z)")
_PADDED_SEGMENTS_MAX: Final = 1000
_FOOTER_PROBE: Final = 64

_ALIASES: Final = {
    "": "identity",
    "7bit": "identity",
    "7-bit": "identity",
    "8bit": "identity",
    "8-bit": "identity",
    "binary": "identity",
    "none": "identity",
    "quoted-printable": "quoted-printable",
    "quotedprintable": "quoted-printable",
    "qp": "quoted-printable",
    "base64": "base64",
    "base-64": "base64",
    "b64": "base64",
}


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


def decoded_blocks(source: bytes, start: int, end: int, encoding: str, state: TransferState) -> Iterator[bytes]:
    """The decoded octets of `source[start:end]`, in blocks. Unknown encodings come as they are (RFC 2045, 6.4)."""
    name = _ALIASES.get(encoding.strip(" \t\"';").lower())
    state.unknown = name is None
    if name == "base64":
        return _base64_blocks(source, start, end, state)
    if name == "quoted-printable":
        return _quoted_printable_blocks(source, start, end)
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
    """Noise is skipped (RFC 2045, 6.8). Several padded pieces after one another are all decoded, as some senders
    encode line by line; a plain footer that a mailing list added after the padding is left out."""
    carry = b""
    segments = 0
    for at in range(start, end, BLOCK):
        block = source[at : min(at + BLOCK, end)]
        digits = carry + block.translate(None, _NOISE)
        state.damaged = state.damaged or bool(block.translate(None, _ALPHABET + _SPACES))
        # A body of nothing but padding would cost a step per digit; beyond this it is noise.
        if segments > _PADDED_SEGMENTS_MAX:
            digits = digits.replace(b"=", b"")
        if b"=" not in digits:
            # Four digits are three octets (RFC 2045, 6.8); what is left over waits for the next block.
            whole = len(digits) // 4 * 4
            carry = digits[whole:]
            yield binascii.a2b_base64(digits[:whole])
            continue
        *padded, carry = _PADDING.split(digits)
        segments += len(padded)
        stop = min(at + BLOCK, end)
        first_only = _footer_follows(source, source.find(b"=", at, stop), end)
        yield b"".join(_last_quantum(piece, state) for piece in padded[: 1 if first_only else None])
        if first_only or _footer_follows(source, source.rfind(b"=", at, stop), end):
            state.damaged = True
            return
    if carry:
        yield _last_quantum(carry, state, padded=False)


def _last_quantum(piece: bytes, state: TransferState, *, padded: bool = True) -> bytes:
    """The octets of a run that ends here: a single left-over digit holds no octet."""
    rest = len(piece) % 4
    if rest == 1 or (rest and not padded):
        state.damaged = True
    # Six bits are no octet.
    piece = piece[: len(piece) - (rest == 1)]
    return binascii.a2b_base64(piece + b"=" * (-len(piece) % 4))


def _footer_follows(source: bytes, padding: int, end: int) -> bool:
    probe = source[padding + 1 : min(padding + 1 + _FOOTER_PROBE, end)]
    return bool(probe.translate(None, _ALPHABET + _SPACES))


# --- quoted-printable ------------------------------------------------------------------------------------------


def _quoted_printable_blocks(source: bytes, start: int, end: int) -> Iterator[bytes]:
    """Cut only at line ends, so no escape is torn. A malformed escape stays as written (RFC 2045, 6.7 note 2)."""
    at = start
    while at < end:
        stop = end if end - at <= BLOCK else source.find(b"\n", at + BLOCK, end) + 1 or end
        # Blanks before a line end were added on the way and are no content (RFC 2045, 6.7 rule 3).
        yield binascii.a2b_qp(_TRAILING.sub(b"", source[at:stop]))
        at = stop
