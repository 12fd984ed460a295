from __future__ import annotations

from datetime import date

import pytest

from mailgate.errors import InvalidArgument
from mailgate.imap.criteria import SearchCriteria
from mailgate.limits import SEARCH_TERM_MAX
from mailgate.read.request import SearchRequest, search_criteria


def test_all_arguments_reach_the_criteria() -> None:
    criteria = search_criteria(
        query="q",
        from_="f",
        to="t",
        cc="c",
        subject="s",
        since="2024-02-29",
        before="2024-03-01",
        unread=True,
        flagged=False,
    )
    assert criteria == SearchCriteria("q", "f", "t", "c", "s", date(2024, 2, 29), date(2024, 3, 1), True, False)


def test_without_arguments_there_is_no_filter() -> None:
    assert search_criteria() == SearchCriteria()


@pytest.mark.parametrize(
    "text", ["2024-02-30", "2024-2-3", "20240203", "2024-W05-1", "", "yesterday", "2024-02-03T00:00", "２０２４-02-03"]
)
@pytest.mark.parametrize("argument", ["since", "before"])
def test_what_is_no_date_is_refused_by_the_name_of_its_argument(argument: str, text: str) -> None:
    with pytest.raises(InvalidArgument, match=f"`{argument}`") as refusal:
        search_criteria(**{argument: text})  # type: ignore[arg-type]
    assert not text or text not in refusal.value.sentence


@pytest.mark.parametrize(("since", "before"), [("2024-02-02", "2024-02-02"), ("2024-02-03", "2024-02-02")])
def test_since_must_be_earlier_than_before(since: str, before: str) -> None:
    with pytest.raises(InvalidArgument, match="since"):
        SearchRequest(criteria=search_criteria(since=since, before=before))


@pytest.mark.parametrize("term", ["", "a\r\nb", "a\0b", "a\x07b", "x" * (SEARCH_TERM_MAX + 1)])
@pytest.mark.parametrize("argument", ["query", "from_", "to", "cc", "subject"])
def test_a_bad_term_is_refused_by_the_name_of_its_argument(argument: str, term: str) -> None:
    with pytest.raises(InvalidArgument, match=f"`{argument.rstrip('_')}`") as refusal:
        search_criteria(**{argument: term})  # type: ignore[arg-type]
    assert not term or term not in refusal.value.sentence


@pytest.mark.parametrize("limit", [0, -1, 101])
def test_a_limit_outside_its_range_is_refused(limit: int) -> None:
    with pytest.raises(InvalidArgument, match="limit"):
        SearchRequest(limit=limit)
