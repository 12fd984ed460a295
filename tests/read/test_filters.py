from __future__ import annotations

import pytest

from mailgate.imap.criteria import SearchCriteria
from mailgate.limits import SUMMARY_HEADER_BYTES
from mailgate.mime.parse import parse_headers
from mailgate.read.filters import contradicts_flags, contradicts_headers, normalised


def contradicts(criteria: SearchCriteria, block: bytes, *, by_words: bool = False) -> bool:
    return contradicts_headers(criteria, block, parse_headers(block), by_words=by_words)


@pytest.mark.parametrize(
    ("term", "block"),
    [
        ("invoice", b"Subject: Your INVOICE of May\r\n\r\n"),
        ("your invoice", b"Subject: Your\r\n\t   invoice\r\n\r\n"),
        ("reunion", b"Subject: =?utf-8?q?R=C3=A9union?=\r\n\r\n"),
        ("RÉUNION", b"Subject: =?iso-8859-1?q?r=E9union?=\r\n\r\n"),
        ("strasse", "Subject: Straße\r\n\r\n".encode()),
        ("ABC", "Subject: ＡＢＣ\r\n\r\n".encode()),
        ("=?utf-8?q?R=C3", b"Subject: =?utf-8?q?R=C3=A9union?=\r\n\r\n"),
        ("会議", b"Subject: =?utf-8?b?5Lya?= =?utf-8?b?6K2w?=\r\n\r\n"),
    ],
    ids=["case", "folding", "accents", "charset", "sharp s", "width", "raw form", "split word"],
)
def test_a_row_that_matches_in_some_reading_stays(term: str, block: bytes) -> None:
    assert not contradicts(SearchCriteria(subject=term), block)


@pytest.mark.parametrize(
    ("criteria", "wrong"),
    [
        (SearchCriteria(from_="bob"), b"From: Ada <ada@example.org>\r\nTo: bob@example.org\r\nSubject: bob\r\n\r\n"),
        (SearchCriteria(to="bob"), b"From: bob@example.org\r\nTo: ada@example.org\r\nCc: bob@example.org\r\n\r\n"),
        (SearchCriteria(cc="bob"), b"From: bob@example.org\r\nTo: bob@example.org\r\n\r\n"),
        (SearchCriteria(subject="bob"), b"From: bob@example.org\r\nSubject: hello\r\n\r\n"),
        (SearchCriteria(subject="bob"), b"\r\n"),
        (SearchCriteria(from_="ada", subject="bob"), b"From: ada@example.org\r\nSubject: hello\r\n\r\n"),
        (SearchCriteria(subject="byron ada"), b"Subject: ada byron\r\n\r\n"),
    ],
)
def test_a_term_in_another_field_or_order_does_not_count(criteria: SearchCriteria, wrong: bytes) -> None:
    assert contradicts(criteria, wrong)


@pytest.mark.parametrize(
    "block",
    [
        b"Subject: hello\r\nTo: " + b"a@example.org, " * 4000 + b"\r\n\r\n",
        b"Subject: pay\xe2\x80\x8bpal\r\n\r\n",
        b"Subject: =?x-unheard-of?b?/////w==?= \xff\xfe\r\n\r\n",
        b"Subject: =?utf-8?b?/////w==?=\r\n\r\n",
        b"Subject: " + b"x" * 5000 + b"\r\n\r\n",
    ],
    ids=["cut", "cleaned", "unknown charset", "damaged", "too long to be shown"],
)
def test_in_doubt_a_row_stays(block: bytes) -> None:
    assert not contradicts(SearchCriteria(subject="paypal"), block)


def test_the_cut_header_above_is_really_cut() -> None:
    assert len(b"a@example.org, " * 4000) > SUMMARY_HEADER_BYTES


def test_a_field_with_more_addresses_than_are_shown_is_in_doubt() -> None:
    many = b", ".join(b"u%d@example.org" % number for number in range(300))
    block = b"To: " + many + b"\r\n\r\n"
    assert not contradicts(SearchCriteria(to="somebody else"), block)
    few = b"To: " + many[:1000] + b"\r\n\r\n"
    assert contradicts(SearchCriteria(to="somebody else"), few)


def test_every_field_of_a_name_counts() -> None:
    block = b"From: ada@example.org\r\nFROM : bob@example.org\r\n\r\n"
    assert not contradicts(SearchCriteria(from_="bob"), block)


def test_words_in_any_position_count_only_for_a_server_that_searches_by_words() -> None:
    block = b"Subject: the report, quarterly\r\n\r\n"
    assert contradicts(SearchCriteria(subject="quarterly report"), block)
    assert not contradicts(SearchCriteria(subject="quarterly report"), block, by_words=True)
    assert contradicts(SearchCriteria(subject="yearly invoice"), block, by_words=True)


def test_query_and_dates_are_never_checked() -> None:
    assert not contradicts(SearchCriteria(query="nowhere"), b"Subject: hello\r\n\r\n")


@pytest.mark.parametrize(
    ("criteria", "flags", "wrong"),
    [
        (SearchCriteria(unread=True), (), False),
        (SearchCriteria(unread=True), ("\\Seen",), True),
        (SearchCriteria(unread=False), (), True),
        (SearchCriteria(unread=False), ("\\Seen",), False),
        (SearchCriteria(flagged=True), ("\\Seen",), True),
        (SearchCriteria(flagged=False), ("\\Flagged",), True),
        (SearchCriteria(flagged=True), ("\\Flagged",), False),
        (SearchCriteria(), ("\\Flagged",), False),
    ],
)
def test_flags_are_checked_both_ways(criteria: SearchCriteria, flags: tuple[str, ...], wrong: bool) -> None:
    assert contradicts_flags(criteria, flags) is wrong


def test_normalised_text_has_no_case_accents_width_or_runs_of_space() -> None:
    assert normalised("  Ｆｏｏ\t\n ÉTÉ ﬁn ") == "foo ete fin"
