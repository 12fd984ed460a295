from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailgate.imap.values import UINT32_MAX
from mailgate.limits import SCAN_UIDS_MAX
from mailgate.read.cursor import SearchOrder
from mailgate.read.scan import Pace, ScanRange


@given(st.sampled_from(SearchOrder), st.integers(0, 5000), st.lists(st.integers(1, 900), min_size=1))
def test_windows_cover_every_uid_once_whatever_their_widths(order: SearchOrder, bound: int, widths: list[int]) -> None:
    span, covered = ScanRange.whole(order, bound), []
    while not span.done:
        window = span.window(widths[len(covered) % len(widths)])
        covered += list(range(window.low, window.high + 1))
        span.passed(window)
    assert sorted(covered) == list(range(1, bound + 1))


@given(st.sampled_from(SearchOrder), st.integers(0, 5000), st.integers(1, 900))
def test_windows_that_take_what_little_is_left_cover_every_uid_once(order: SearchOrder, bound: int, width: int) -> None:
    span, covered, windows = ScanRange.whole(order, bound), [], 0
    while not span.done:
        window = span.window(width, all_of_little=True)
        covered += list(range(window.low, window.high + 1))
        span.passed(window)
        windows += 1
        assert width // 2 < len(window) or len(covered) == bound
    assert sorted(covered) == list(range(1, bound + 1))
    assert windows <= max(1, -(-bound // width))


def pace(width: int = 1000, *, scan_uids: int = 1000, budget: float = 8.0) -> Pace:
    return Pace(scan_uids, budget, width)


@pytest.mark.parametrize(
    ("seconds", "found", "expected"),
    [
        (0.1, 0, 2000),
        (0.1, 24, 2000),
        (0.1, 25, 1000),
        (1.0, 0, 1000),
        (2.1, 0, 500),
        (2.1, 900, 500),
    ],
    ids=["quick and empty", "quick and few", "a full page", "neither quick nor slow", "slow", "slow and many"],
)
def test_a_window_follows_what_the_last_one_cost_and_gave(seconds: float, found: int, expected: int) -> None:
    tempo = pace()
    tempo.after(seconds=seconds, found=found, limit=25)
    assert tempo.width == expected


def test_windows_never_grow_beyond_what_one_answer_can_carry() -> None:
    tempo = pace()
    for _ in range(20):
        tempo.after(seconds=0, found=0, limit=25)
    assert tempo.width == SCAN_UIDS_MAX


def test_in_a_folder_of_few_messages_any_gap_is_one_window_soon() -> None:
    tempo = Pace.start(1000, 5.0, messages=SCAN_UIDS_MAX)
    for _ in range(23):
        tempo.after(seconds=0, found=0, limit=25)
    assert tempo.width == UINT32_MAX


@pytest.mark.parametrize(("scan_uids", "narrowest"), [(1000, 125), (5, 1), (1, 1)])
def test_windows_never_shrink_below_an_eighth_of_the_configured_width(scan_uids: int, narrowest: int) -> None:
    tempo = pace(scan_uids, scan_uids=scan_uids)
    for _ in range(20):
        tempo.after(seconds=60, found=0, limit=25)
    assert tempo.width == narrowest


def test_a_window_that_turned_out_crowded_goes_back_to_the_configured_width() -> None:
    tempo = pace(32_000)
    tempo.after(seconds=0.1, found=500, limit=25)
    assert tempo.width == 1000


def test_with_budget_zero_the_width_never_changes() -> None:
    tempo = Pace.start(1000, 0.0, learnt=32_000)
    tempo.after(seconds=0, found=0, limit=25)
    tempo.after(seconds=99, found=0, limit=25)
    assert tempo.width == 1000


@pytest.mark.parametrize(("learnt", "expected"), [(None, 1000), (4000, 4000), (1, 125), (10**9, SCAN_UIDS_MAX)])
def test_a_learnt_width_is_taken_over_within_todays_bounds(learnt: int | None, expected: int) -> None:
    assert Pace.start(1000, 5.0, learnt).width == expected
