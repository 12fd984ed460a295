"""Text whose Content-Transfer-Encoding is not the one that it names (RFC 2045, 6), read as what it is.

The label is believed unless the octets themselves speak against it: prose is no base64, an address with parameters
is no quoted-printable, and lines that are base64 or quoted-printable to the last octet are not the content under any
other label. What is judged is bounded by `_SAMPLE`; files are never repaired, only what is shown as text.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from mailgate.mime.charsets import codec_of
from mailgate.mime.structure import MessagePart
from mailgate.mime.transfer import TransferResult, TransferState, decode_up_to, encoding_name

_SAMPLE: Final = 64 * 1024
_READ: Final = 4096
_LEVELS_MAX: Final = 2
"""Encodings within encodings that are undone: the second is a gateway's mistake, a third nobody's."""
_BASE64_DIGITS_MIN: Final = 40
"""Fewer digits are a word or a code in somebody's text."""
_BASE64_LINES: Final = re.compile(rb"\s*+(?:[A-Za-z0-9+/]++[ \t]*+(?:\r?\n|\r|\Z))*+(?:[A-Za-z0-9+/]*+={1,2})?+\s*+")
_URL_SAFE: Final = re.compile(rb"(?=[^_-]*+[_-])[A-Za-z0-9_\s-]++={0,2}+\s*+")
_TO_BASE64: Final = bytes.maketrans(b"-_", b"+/")
_DIGITS: Final = re.compile(rb"[^A-Za-z0-9+/=]+")
_LONG_RUN: Final = re.compile(rb"[A-Za-z0-9+/=]{40,}+")
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/=\s]")
_GAP: Final = re.compile(rb"\S[ \t]+\S")
_SOFT_BREAK: Final = re.compile(rb"=[ \t]*+\r?\n")
_ESCAPE: Final = re.compile(rb"=[0-9A-Fa-f]{2}")
_NO_ESCAPE: Final = re.compile(rb"=(?![0-9A-Fa-f]{2}|[ \t]*+(?:\r?\n|\r|\Z))")
_URL: Final = re.compile(rb"(?i)\b(?:https?://|www\.)[^\s<>\"']++")
_PARAMETER: Final = re.compile(rb"(?<=[?&;])[\w.%-]{1,60}=(?!3[Dd])")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")
_WIDE: Final = ("utf-16", "utf-32")
_LATIN: Final = frozenset({"ascii", "cp1252", "cp1254", "cp1250", "iso8859-2", "iso8859-15", "mac-roman"})


def repaired(source: bytes, part: MessagePart, limit: int, result: TransferResult, label: str | None) -> TransferResult:
    """`result`, which is the part decoded as it says, or what its octets hold in truth, as damaged.

    `limit` bounds it as it does `result`; `label`: the charset of the text.
    """
    name = encoding_name(part.content.encoding)
    length = part.end - part.start
    raw = _damaged(source[part.start : min(part.end, part.start + limit)], length > limit)
    sample = _whole_lines(raw.data, cut=raw.cut or not part.complete)
    if name == "base64":
        return _claimed_base64(raw, sample, limit, result, label, complete=part.complete)
    if name == "uuencode":
        kept = result.data and (not result.state.damaged or _is_text(result.data, label))
        return result if kept else raw
    if name == "quoted-printable":
        # Undone, base64 would have lost its padding.
        if _BASE64_LINES.fullmatch(sample):
            inner = _inner(raw, limit, label, complete=part.complete, quoted=False)
            return result if inner is raw else inner
        return raw if _is_no_quoted_printable(sample) else result
    return _inner(result, limit, label, complete=part.complete)


def _claimed_base64(
    raw: TransferResult, sample: bytes, limit: int, result: TransferResult, label: str | None, *, complete: bool
) -> TransferResult:
    if not raw.cut and _URL_SAFE.fullmatch(raw.data):
        data = raw.data.translate(_TO_BASE64)
        result = _damaged(decode_up_to(data, 0, len(data), "base64", limit).data, False)
    if _is_prose(sample, result.data, label):
        return _inner(raw, limit, label, complete=complete)
    twice = _NOT_BASE64.search(result.data[:_READ]) is None
    return _inner(result, limit, label, complete=complete) if twice else result


def _whole_lines(data: bytes, *, cut: bool) -> bytes:
    """What is judged: the first lines, without one that is cut in two, unless it is the only one."""
    sample = data[:_SAMPLE]
    return sample[: sample.rfind(b"\n") + 1] or sample if cut or len(data) > _SAMPLE else sample


def _damaged(data: bytes, cut: bool) -> TransferResult:
    return TransferResult(data, cut, TransferState(damaged=True))


def _inner(
    result: TransferResult, limit: int, label: str | None, *, complete: bool, quoted: bool = True
) -> TransferResult:
    """What an encoding left within the octets holds, where they are that encoding from end to end."""
    for _ in range(_LEVELS_MAX):
        data, whole = result.data, complete and not result.cut
        if _is_base64(data, label, whole=whole):
            encoding = "base64"
        elif quoted and _is_quoted_printable(data, label, whole=whole):
            encoding = "quoted-printable"
        else:
            break
        inner = decode_up_to(data, 0, len(data), encoding, limit)
        result = _damaged(inner.data, result.cut or inner.cut)
    return result


def _is_prose(sample: bytes, decoded: bytes, label: str | None) -> bool:
    """Whether octets labelled base64 are words that nobody encoded: they read as text, and decoded they do not."""
    if not sample.strip() or (decoded and _is_text(decoded, label)):
        return False
    runs = sum(map(len, _LONG_RUN.findall(sample)))
    if 2 * runs > len(sample) or not _is_text(sample, label):
        return False
    digits = len(_DIGITS.sub(b"", sample))
    # One word without any blank: whole quanta could be data.
    return bool(_GAP.search(sample) or _NOT_BASE64.search(sample)) or digits % 4 != 0


def _is_base64(data: bytes, label: str | None, *, whole: bool) -> bool:
    """Whether all of it is base64, in lines of one length, of what is text."""
    if not _BASE64_LINES.fullmatch(data):
        return False
    lines = data.split()
    digits = sum(map(len, lines))
    if digits < _BASE64_DIGITS_MIN or (whole and digits % 4) or len({len(line) for line in lines[:-1]}) > 1:
        return False
    return _is_text(decode_up_to(data, 0, min(len(data), 2 * _READ), "base64", _READ).data, label)


def _is_quoted_printable(data: bytes, label: str | None, *, whole: bool) -> bool:
    """Whether it has both escapes and soft breaks, in short lines, and nothing that an encoder would not write."""
    sample = _whole_lines(data, cut=not whole)
    if not _SOFT_BREAK.search(sample) or not sample.isascii() or _NO_ESCAPE.search(sample):
        return False
    if len(_ESCAPE.findall(sample)) < 2 or max(map(len, sample.split(b"\n"))) > 78:
        return False
    return _is_text(decode_up_to(sample, 0, min(len(sample), 2 * _READ), "quoted-printable", _READ).data, label)


def _is_no_quoted_printable(sample: bytes) -> bool:
    """Whether `=` stands there for itself: as itself, or before the value of a parameter, and never as an escape.

    An encoder writes every `=` as `=3D` (RFC 2045, 6.7 rule 1), so one proper escape elsewhere believes the label.
    """
    if b"=" not in sample or _SOFT_BREAK.search(sample):
        return False
    rest = _URL.sub(lambda match: _PARAMETER.sub(b"", match[0]), sample)
    return not _ESCAPE.search(rest) and (rest != sample or _NO_ESCAPE.search(rest) is not None)


def _is_text(data: bytes, label: str | None) -> bool:
    """Whether the octets read as text: valid in their charset or in UTF-8, without controls, mostly plain letters
    where the charset has Latin ones."""
    sample = data[:_READ]
    named = codec_of(label or "us-ascii") or "utf-8"
    for codec in (named,) if named.startswith(_WIDE) else ("utf-8", named):
        try:
            text = codecs.getincrementaldecoder(codec)("strict").decode(sample, final=len(sample) == len(data))
        except (UnicodeError, ValueError):
            continue
        # UTF-8 proves itself; in a code page of one octet every noise is valid.
        beyond = sum(character > "\x7f" for character in text)
        if not _CONTROL.search(text) and (codec not in _LATIN or 2 * beyond <= len(text)):
            return True
    return False
