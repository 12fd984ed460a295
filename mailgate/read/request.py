"""What a search is asked for, checked before anything is asked of the mail server."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from mailgate.errors import InvalidArgument
from mailgate.imap.criteria import SearchCriteria
from mailgate.limits import SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX
from mailgate.read.cursor import SearchOrder

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TERMS: Final = ("query", "from_", "to", "cc", "subject")


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One call of `mail_search`. `folder` is the argument as given: a name or `role:NAME`.

    `limit`: matches on the page, 1 to `SEARCH_LIMIT_MAX`. `cursor`: from the page before; all else but `limit` and
    `previews` must then be the same. `previews`: a short extract of each message's text.
    """

    folder: str = "INBOX"
    criteria: SearchCriteria = field(default_factory=SearchCriteria)
    order: SearchOrder = SearchOrder.NEWEST
    limit: int = SEARCH_LIMIT_DEFAULT
    cursor: str | None = None
    previews: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= SEARCH_LIMIT_MAX:
            raise InvalidArgument(f"`limit` is a number from 1 to {SEARCH_LIMIT_MAX}.")
        since, before = self.criteria.since, self.criteria.before
        if since is not None and before is not None and since >= before:
            raise InvalidArgument("`since` must be earlier than `before`, which is exclusive.")


def search_criteria(
    *,
    query: str | None = None,
    from_: str | None = None,
    to: str | None = None,
    cc: str | None = None,
    subject: str | None = None,
    since: str | None = None,
    before: str | None = None,
    unread: bool | None = None,
    flagged: bool | None = None,
) -> SearchCriteria:
    """The criteria from a tool's arguments; dates are `YYYY-MM-DD`. `InvalidArgument` names the one that is wrong."""
    terms = {"query": query, "from_": from_, "to": to, "cc": cc, "subject": subject}
    for name, term in terms.items():
        _check_term(name, term)
    return SearchCriteria(
        **terms,
        since=_date("since", since),
        before=_date("before", before),
        unread=unread,
        flagged=flagged,
    )


def _check_term(name: str, term: str | None) -> None:
    """One term at a time, so that the error can name it."""
    try:
        SearchCriteria(**{name: term})  # type: ignore[arg-type]
    except ValueError as problem:
        argument = name.rstrip("_")
        raise InvalidArgument(f"`{argument}` cannot be searched for: {problem}.") from None


def _date(name: str, text: str | None) -> date | None:
    """A calendar date. The form is checked first: `date.fromisoformat` alone takes other ISO 8601 spellings too."""
    if text is None:
        return None
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise InvalidArgument(f"`{name}` is a date in the form YYYY-MM-DD.")
