"""Whether a row contradicts the filters it was returned for.

Some servers ignore FROM, TO, CC or SUBJECT and return everything (seen with QQ and Sina). Rows are checked against what
can be known exactly: decoded header fields and flags. A `query` (TEXT) is never checked, because only the server has
the whole text; nor are dates, which the server reckons in its own zone (RFC 9051, 6.4.4).

In doubt a row stays. RFC 9051 asks for a substring match without case; servers also fold accents and width.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from mailgate.imap.values import SystemFlag
from mailgate.limits import SUMMARY_HEADER_BYTES
from mailgate.mime.model import MessageHeaders
from mailgate.mime.warnings import WarningCode

if TYPE_CHECKING:
    from mailgate.imap.criteria import SearchCriteria

_FIELD = re.compile(rb"([!-9;-~]+)[ \t]*:(.*)", re.DOTALL)
_FOLD = re.compile(rb"\r?\n(?=[ \t])")
_DOUBTS = frozenset(
    {
        WarningCode.HEADER_LIMIT,
        WarningCode.ADDRESS_LIMIT,
        WarningCode.CHARSET_UNKNOWN,
        WarningCode.CHARSET_DAMAGED,
        WarningCode.CHARSET_GUESSED,
        WarningCode.PART_UNREADABLE,
    }
)
_WORD = re.compile(r"\w+")


def contradicts_flags(criteria: SearchCriteria, flags: Iterable[str]) -> bool:
    """Whether the flags (canonical spelling) are not what `unread` and `flagged` asked for."""
    present = frozenset(flags)
    if criteria.unread is not None and criteria.unread is (SystemFlag.SEEN in present):
        return True
    return criteria.flagged is not None and criteria.flagged is not (SystemFlag.FLAGGED in present)


def contradicts_headers(
    criteria: SearchCriteria, block: bytes, headers: MessageHeaders, *, by_words: bool = False
) -> bool:
    """Whether a header term is certainly absent from its field.

    `block` is the header as fetched, `headers` what was read from it. `by_words`: the server matches words in any
    position, not characters (Gmail), so a row stays when every word of the term is there.
    """
    terms = _terms(criteria, headers)
    if not terms or len(block) >= SUMMARY_HEADER_BYTES or _doubtful(headers):
        return False
    return any(not _may_match(term, shown, _raw(block, field), by_words) for field, term, shown in terms)


def normalised(text: str) -> str:
    """Text for comparing: NFKC, caseless, without accents, every run of white space one space."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    bare = (char for char in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(char))
    return " ".join("".join(bare).split())


def _doubtful(headers: MessageHeaders) -> bool:
    """Whether what is shown is less than, or other than, what the server may have searched."""
    return headers.sanitized or any(warning.code in _DOUBTS for warning in headers.warnings)


def _terms(criteria: SearchCriteria, headers: MessageHeaders) -> list[tuple[bytes, str, Sequence[str]]]:
    subject = () if headers.subject is None else (headers.subject,)
    fields = (
        (b"from", criteria.from_, headers.from_),
        (b"to", criteria.to, headers.to),
        (b"cc", criteria.cc, headers.cc),
        (b"subject", criteria.subject, subject),
    )
    return [(field, term, shown) for field, term, shown in fields if term is not None]


def _may_match(term: str, shown: Sequence[str], raw: bytes, by_words: bool) -> bool:
    """Whether the field holds the term, decoded or raw, or was too broken to tell."""
    text = ", ".join(shown)
    if "\ufffd" in text:
        return True
    # Servers without decoding look at the octets as they are.
    if term.encode().lower() in raw.lower():
        return True
    wanted, have = normalised(term), normalised(text)
    if wanted in have:
        return True
    if not term.isascii() and wanted.replace(" ", "") in have.replace(" ", ""):
        # White space between encoded words is dropped by some decoders and kept by others (RFC 2047, 6.2).
        return True
    return by_words and all(word in have for word in _WORD.findall(wanted))


def _raw(block: bytes, name: bytes) -> bytes:
    """All values of a field, unfolded, as the octets they are."""
    return b"\n".join(value for field, value in _fields(block) if field.lower() == name)


def _fields(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in _FOLD.sub(b"", block).splitlines():
        match = _FIELD.match(line)
        if match:
            yield match[1], match[2]
