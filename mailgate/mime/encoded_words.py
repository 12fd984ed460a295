"""Encoded words in header text (RFC 2047), read the way mail is written rather than the way it should be.

Work is linear in the text: every pattern stops at the next `?`, and nothing is decoded twice.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mailgate.mime.charsets import CharsetProblem, Decoded, codec_of, decode

# Blanks inside, and a few bare question marks, are forbidden by RFC 2047, 2 and common all the same.
_WORD: Final = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*+(?:\?(?!=)[^?]*+){0,8}+)\?=")
_ESCAPE: Final = re.compile(rb"=([0-9A-Fa-f]{2})")
_TORN: Final = re.compile(r"=[0-9A-Fa-f]?\Z")
_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9+/]+")


@dataclass(frozen=True, slots=True)
class Words:
    """Decoded header text, and the worst that charsets did on the way."""

    text: str
    problem: CharsetProblem | None = None


@dataclass(slots=True)
class _Run:
    """Adjacent words of one charset: their octets are joined before they are decoded."""

    charset: str
    codec: str
    words: list[tuple[str, str]]
    """Encoding (`b` or `q`) and encoded text of each."""

    def decoded(self) -> Decoded:
        """The text; of several readings the one that fits the charset."""
        decoded = decode(b"".join(_octets(encoding, text) for encoding, text in self.words), self.charset)
        torn = any(encoding == "q" and _TORN.search(text) for encoding, text in self.words[:-1])
        misfits = decoded.problem in (CharsetProblem.DAMAGED, CharsetProblem.GUESSED)
        if len(self.words) == 1 or not (torn or misfits):
            return decoded
        # Some senders cut the encoded text anywhere: only all of it together is base64, or has whole escapes.
        joined = decode(b"".join(_octets(encoding, text) for encoding, text in _joined(self.words)), self.charset)
        return decoded if joined.problem else joined


def _joined(words: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Neighbours in one encoding as one text: base64 that ends within a quantum, an escape that is torn."""
    joined: list[tuple[str, str]] = []
    for encoding, text in words:
        before = joined[-1] if joined else ("", "")
        if before[0] == encoding and (encoding == "q" or not before[1].endswith("=")):
            joined[-1] = (encoding, before[1] + text)
        else:
            joined.append((encoding, text))
    return joined


def decode_words(text: str) -> Words:
    """The text with its encoded words decoded.

    Blanks between two encoded words belong to neither (RFC 2047, 6.2). Octets of neighbours with the same charset
    are joined first, because senders split characters between words.
    """
    if "=?" not in text:
        return Words(text)
    pieces: list[str] = []
    problem: CharsetProblem | None = None
    for piece in _runs(text):
        if isinstance(piece, str):
            pieces.append(piece)
            continue
        decoded = piece.decoded()
        pieces.append(decoded.text)
        problem = problem or decoded.problem
    return Words("".join(pieces), problem)


def _runs(text: str) -> Iterator[str | _Run]:
    run: _Run | None = None
    at = 0
    for match in _WORD.finditer(text):
        between = text[at : match.start()]
        # RFC 2231, 5: a language may follow the charset.
        charset = match[1].partition("*")[0].lower()
        codec = codec_of(charset) or charset
        if run is None or between.strip(" \t\r\n"):
            if run is not None:
                yield run
            run = None
            yield between
        elif run.codec != codec:
            yield run
            run = None
        run = run or _Run(charset, codec, [])
        run.words.append((match[2].lower(), match[3]))
        at = match.end()
    if run is not None:
        yield run
    yield text[at:]


def _octets(encoding: str, text: str) -> bytes:
    if encoding == "q":
        raw = text.replace("_", " ").encode("utf-8", "replace")
        return _ESCAPE.sub(lambda match: bytes.fromhex(match[1].decode("ascii")), raw)
    digits = _NOT_BASE64.sub("", text)
    # Senders leave the padding off, or one digit too many in.
    digits = digits[: len(digits) - (len(digits) % 4 == 1)]
    return binascii.a2b_base64(digits + "=" * (-len(digits) % 4))
