from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.imap.sequence import SequenceSet


@pytest.mark.parametrize(
    ("text", "ranges"),
    [
        (b"7", ((7, 7),)),
        (b"1:3", ((1, 3),)),
        (b"3:1", ((1, 3),)),
        (b"304,319:320", ((304, 304), (319, 320))),
        (b"9,5,7", ((9, 9), (5, 5), (7, 7))),
        (b"1:4294967295", ((1, 4294967295),)),
    ],
)
def test_ranges_keep_their_order(text: bytes, ranges: tuple[tuple[int, int], ...]) -> None:
    assert SequenceSet.parse(text).ranges == ranges


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b",",
        b"1,",
        b"0",
        b"01",
        b"*",
        b"1:*",
        b"1:",
        b":1",
        b"1:2:3",
        b"-1",
        b"+1",
        b"1_0",
        b"4294967296",
        b"a",
        b" 1",
        b"1 ",
        b"1\n",
        b"9" * 5000,
    ],
)
def test_what_is_no_set_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="sequence set"):
        SequenceSet.parse(text)


def test_a_set_of_four_billion_is_never_expanded() -> None:
    everything = SequenceSet.parse(b"1:4294967295")
    assert everything.count == 4294967295
    assert 4294967295 in everything
    assert 0 not in everything
    assert everything.serialize() == b"1:4294967295"
    with pytest.raises(ValueError, match="larger than expected"):
        everything.numbers(1000)


def test_numbers_come_in_the_order_of_the_set() -> None:
    assert list(SequenceSet.parse(b"9,2:4,9").numbers(5)) == [9, 2, 3, 4, 9]
    assert list(SequenceSet().numbers(0)) == []


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([5], b"5"), ([9, 7, 5], b"5,7,9"), ([3, 1, 2, 2], b"1:3"), ([1, 2, 4, 5, 9], b"1:2,4:5,9"), ([], b"")],
)
def test_a_set_is_written_ascending_once_and_short(numbers: list[int], text: bytes) -> None:
    assert SequenceSet.of(numbers).serialize() == text


@pytest.mark.parametrize("ranges", [((0, 1),), ((2, 1),), ((1, 2**32),)])
def test_a_range_that_cannot_be_is_refused(ranges: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(ValueError, match="out of range"):
        SequenceSet(ranges)


@given(st.lists(st.integers(1, 60) | st.integers(1, 2**32 - 1), min_size=1, max_size=40))
@settings(max_examples=200, derandomize=True, deadline=None)
def test_a_written_set_names_exactly_its_numbers(numbers: list[int]) -> None:
    parsed = SequenceSet.parse(SequenceSet.of(numbers).serialize())
    assert list(parsed.numbers(100)) == sorted(set(numbers))
    assert all(number in parsed for number in numbers)
