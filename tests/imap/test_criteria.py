from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest

from mailgate.imap.criteria import SearchCriteria, search_arguments
from mailgate.imap.parts import OutgoingLiteral, Part
from mailgate.imap.values import ScanWindow, Uid
from mailgate.limits import SEARCH_TERM_MAX

WINDOW = ScanWindow(Uid(5), Uid(1004))
TERMS = ["query", "from_", "to", "cc", "subject"]


def arguments(criteria: SearchCriteria, *, utf8: bool = False) -> tuple[Part, ...]:
    return search_arguments(criteria, WINDOW, utf8=utf8)


CASES: dict[str, tuple[SearchCriteria, tuple[Part, ...]]] = {
    "nothing but the window": (SearchCriteria(), (b"UID", b"5:1004")),
    "everything": (
        SearchCriteria("q", "f", "t", "c", "s", date(2024, 2, 1), date(2024, 12, 31), unread=True, flagged=True),
        (
            b"UID",
            b"5:1004",
            b"UNSEEN",
            b"FLAGGED",
            b"SINCE",
            b"1-Feb-2024",
            b"BEFORE",
            b"31-Dec-2024",
            b"FROM",
            b'"f"',
            b"TO",
            b'"t"',
            b"CC",
            b'"c"',
            b"SUBJECT",
            b'"s"',
            b"TEXT",
            b'"q"',
        ),
    ),
    "read and not flagged": (
        SearchCriteria(unread=False, flagged=False),
        (b"UID", b"5:1004", b"SEEN", b"UNFLAGGED"),
    ),
    "an early year": (SearchCriteria(since=date(1, 1, 1)), (b"UID", b"5:1004", b"SINCE", b"1-Jan-0001")),
    "quotes and backslashes": (
        SearchCriteria(subject='a "b" \\'),
        (b"UID", b"5:1004", b"SUBJECT", b'"a \\"b\\" \\\\"'),
    ),
    "a space": (SearchCriteria(query=" "), (b"UID", b"5:1004", b"TEXT", b'" "')),
    "beyond ASCII": (
        SearchCriteria(subject="Größe", from_="x"),
        (b"CHARSET", b"UTF-8", b"UID", b"5:1004", b"FROM", b'"x"', b"SUBJECT", OutgoingLiteral("Größe".encode())),
    ),
}


@pytest.mark.parametrize(("criteria", "expected"), CASES.values(), ids=CASES)
def test_search_keys(criteria: SearchCriteria, expected: tuple[Part, ...]) -> None:
    assert arguments(criteria) == expected


def test_no_charset_is_declared_in_utf8_mode() -> None:
    assert arguments(SearchCriteria(subject="é"), utf8=True) == (
        b"UID",
        b"5:1004",
        b"SUBJECT",
        OutgoingLiteral("é".encode()),
    )


@pytest.mark.parametrize(
    "term", ["ALL", "OR", "NOT SEEN", "1:*", ")", "(", "{5}", "{5+}", '" OR ALL "', "\\", "NIL", "*"]
)
@pytest.mark.parametrize("name", TERMS)
def test_a_term_is_one_argument_whatever_it_says(name: str, term: str) -> None:
    parts = arguments(SearchCriteria(**{name: term}))
    assert len(parts) == 4
    escaped = term.replace("\\", "\\\\").replace('"', '\\"')
    assert parts[-1] == f'"{escaped}"'.encode()


@pytest.mark.parametrize("term", ["a\r\nA2 LOGOUT", "a\n", "a\r", "a\0", "\t", "\x7f", "\x85", "\u2028", "\ud800"])
@pytest.mark.parametrize("name", TERMS)
def test_control_characters_are_refused_by_the_name_of_the_filter(name: str, term: str) -> None:
    with pytest.raises(ValueError, match=f"^{name.rstrip('_')} holds control characters$"):
        SearchCriteria(**{name: term})


@pytest.mark.parametrize("name", TERMS)
def test_an_empty_term_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name.rstrip('_')} is empty$"):
        SearchCriteria(**{name: ""})


def test_a_term_is_bounded_in_octets() -> None:
    assert SearchCriteria(query="é" * (SEARCH_TERM_MAX // 2)).has_terms
    with pytest.raises(ValueError, match="query is longer than 512 octets"):
        SearchCriteria(query="é" * (SEARCH_TERM_MAX // 2) + "x")


def test_a_time_is_no_day() -> None:
    with pytest.raises(TypeError, match="days"):
        SearchCriteria(since=datetime(2024, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("name", TERMS)
def test_what_needs_a_charset_is_known(name: str) -> None:
    assert SearchCriteria(**{name: "x"}).is_ascii
    assert not SearchCriteria(**{name: "é"}).is_ascii
    assert SearchCriteria(**{name: "x"}).has_terms


def test_flags_and_days_are_no_terms() -> None:
    criteria = SearchCriteria(since=date(2024, 1, 1), unread=True)
    assert criteria.is_ascii
    assert not criteria.has_terms
    assert replace(criteria, query="x").has_terms
