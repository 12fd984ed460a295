"""Newsletters: every word a reader sees, in order, in an eighth of the octets; counts of octets, no timings."""

from statistics import median

import pytest

from bench.html import Sizes, sizes_of
from mailgate.mime.html_text import html_to_text
from tests.mime.newsletters import Newsletter, newsletters

ALL = list(newsletters())


@pytest.fixture(scope="module")
def sizes() -> list[Sizes]:
    return sizes_of(ALL)


def test_there_are_many_and_no_two_alike() -> None:
    assert len(ALL) >= 25
    assert len({each.html for each in ALL}) == len(ALL)


def test_the_median_is_at_most_an_eighth_of_the_raw_html(sizes: list[Sizes]) -> None:
    assert median(each.ours for each in sizes) * 8 <= median(each.raw for each in sizes)
    assert median(each.ours / each.raw for each in sizes) <= 1 / 8


def test_each_is_shorter_than_what_html2text_makes_of_it(sizes: list[Sizes]) -> None:
    assert [each.name for each in sizes if each.ours >= each.theirs] == []


@pytest.mark.parametrize("newsletter", ALL, ids=[each.name for each in ALL])
def test_all_that_is_seen_is_in_the_text_in_order_and_the_rest_is_not(newsletter: Newsletter) -> None:
    result = html_to_text(newsletter.html)
    words = " ".join(result.text.split())
    at = 0
    for piece in newsletter.shown:
        at = words.find(piece, at)
        assert at >= 0, piece
        at += len(piece)
    for piece in (*newsletter.hidden, "utm_", "mc_cid", ".gif", ".png", ".jpg", "mso", "<", "\u034f", "\u200c", "\xa0"):
        assert piece not in result.text
    assert result.hidden_chars >= len(newsletter.hidden[0])
    assert not result.limited
    assert "\n\n\n" not in result.text
