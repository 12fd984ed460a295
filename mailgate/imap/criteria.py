"""What to search for, and how that is said to the server (RFC 9051, 6.4.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime

from mailgate.imap.parts import Part, text_argument
from mailgate.imap.values import ScanWindow
from mailgate.limits import SEARCH_TERM_MAX

_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


@dataclass(frozen=True, slots=True)
class SearchCriteria:
    """Filters that must all hold; None asks nothing.

    `query` is one TEXT term (header or body), `from_`, `to`, `cc`, `subject` are header terms, `message_id` is an id
    with its brackets, for which the server compares as for any part of a header field. `since` inclusive and
    `before` exclusive compare the internal date, in the server's own time zone (RFC 9051: "disregarding time and
    timezone"). Raises `ValueError`, whose sentence names the filter and never its value.
    """

    query: str | None = None
    from_: str | None = None
    to: str | None = None
    cc: str | None = None
    subject: str | None = None
    since: date | None = None
    before: date | None = None
    unread: bool | None = None
    flagged: bool | None = None
    message_id: str | None = None

    def __post_init__(self) -> None:
        for name, term in self._terms():
            _check_term(name.lower(), term)
        for day in (self.since, self.before):
            if isinstance(day, datetime):
                raise TypeError("a search compares days, not times")

    def _terms(self) -> list[tuple[str, str]]:
        """Search key and term, in the order in which they are sent."""
        keys = (
            ("FROM", self.from_),
            ("TO", self.to),
            ("CC", self.cc),
            ("SUBJECT", self.subject),
            ("HEADER MESSAGE-ID", self.message_id),
            ("TEXT", self.query),
        )
        return [(key, term) for key, term in keys if term is not None]

    @property
    def is_ascii(self) -> bool:
        """Whether every server can be asked without declaring a charset."""
        return all(term.isascii() for _, term in self._terms())

    @property
    def has_terms(self) -> bool:
        """Whether there is text to search for."""
        return bool(self._terms())

    def keys(self) -> list[Part]:
        """The search keys, ANDed as RFC 9051, 6.4.4 has it: "the result is the intersection (AND function)"."""
        keys: list[Part] = []
        if self.unread is not None:
            keys.append(b"UNSEEN" if self.unread else b"SEEN")
        if self.flagged is not None:
            keys.append(b"FLAGGED" if self.flagged else b"UNFLAGGED")
        for word, day in ((b"SINCE", self.since), (b"BEFORE", self.before)):
            if day is not None:
                keys += [word, _date(day)]
        for key, term in self._terms():
            keys += [key.encode(), text_argument(term.encode())]
        return keys


def _check_term(name: str, term: str) -> None:
    name = {"text": "query", "header message-id": "message_id"}.get(name, name)
    if not term:
        raise ValueError(f"{name} is empty")
    if _FORBIDDEN.search(term):
        raise ValueError(f"{name} holds control characters")
    if len(term.encode()) > SEARCH_TERM_MAX:
        raise ValueError(f"{name} is longer than {SEARCH_TERM_MAX} octets")


def _date(day: date) -> bytes:
    """`date-text = date-day "-" date-month "-" date-year`; never strftime, whose months follow the locale."""
    return f"{day.day}-{_MONTHS[day.month - 1]}-{day.year:04d}".encode()


def search_arguments(criteria: SearchCriteria, window: ScanWindow, *, utf8: bool) -> tuple[Part, ...]:
    """The arguments of UID SEARCH.

    The window comes first and bounds the work, also where a server ignores a later key. A charset is declared only
    for non-ASCII terms, because some servers refuse any, and never in UTF-8 mode: "the client MUST NOT specify a
    charset" (RFC 6855, 3).
    """
    charset: tuple[Part, ...] = () if utf8 or criteria.is_ascii else (b"CHARSET", b"UTF-8")
    return (*charset, b"UID", b"%d:%d" % (window.low, window.high), *criteria.keys())
