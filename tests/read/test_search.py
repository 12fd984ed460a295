from __future__ import annotations

from dataclasses import replace

import pytest

from mailgate.errors import (
    CursorInvalid,
    CursorMismatch,
    SearchNotSupported,
    StaleReference,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.values import FolderName, UidValidity
from mailgate.read.cursor import CursorCodec, SearchOrder
from mailgate.read.request import SearchRequest
from mailgate.read.search import search_messages

from .fakes import FakeFolder, FakeMailbox, FakeMessage, VirtualClock, codec, search, uids


def folder_of(count: int, *, every: int = 1) -> FakeFolder:
    folder = FakeFolder()
    for number in range(1, count + 1):
        folder.append(uid=number * every)
    return folder


async def pages(folder: FakeFolder, request: SearchRequest, **settings: object) -> list[list[int]]:
    """All pages of a search, as UIDs."""
    found = []
    while True:
        page = await search(folder, request, **settings)
        found.append(uids(page))
        if page.complete:
            return found
        request = replace(request, cursor=page.next_cursor)


# --- order and pages -------------------------------------------------------------------------------------------


async def test_newest_comes_first_and_pages_go_on_where_the_last_one_ended() -> None:
    assert await pages(folder_of(5), SearchRequest(limit=2)) == [[5, 4], [3, 2], [1]]


async def test_oldest_walks_up_to_the_bound() -> None:
    assert await pages(folder_of(5), SearchRequest(limit=2, order=SearchOrder.OLDEST)) == [[1, 2], [3, 4], [5]]


async def test_an_empty_folder_is_complete_without_a_search() -> None:
    folder = FakeFolder()
    page = await search(folder, SearchRequest())
    assert page.complete
    assert page.messages == ()
    assert page.scanned_uids == 0
    assert folder.count("search") == 0


async def test_complete_is_true_exactly_when_there_is_no_cursor() -> None:
    folder = folder_of(3)
    first = await search(folder, SearchRequest(limit=2))
    assert (first.complete, first.next_cursor is None) == (False, False)
    last = await search(folder, SearchRequest(limit=2, cursor=first.next_cursor))
    assert (last.complete, last.next_cursor is None) == (True, True)


async def test_a_full_page_that_ends_with_the_last_message_of_the_range_is_complete() -> None:
    page = await search(folder_of(2), SearchRequest(limit=2))
    assert page.complete
    assert page.scanned_uids == 2


async def test_scanned_uids_add_up_to_the_whole_range() -> None:
    folder, request, total = folder_of(30, every=100), SearchRequest(limit=4), 0
    while True:
        page = await search(folder, request, scan_uids=50)
        total += page.scanned_uids
        if page.complete:
            break
        request = replace(request, cursor=page.next_cursor)
    assert total == 3000


async def test_the_limit_may_differ_from_page_to_page() -> None:
    folder = folder_of(10)
    first = await search(folder, SearchRequest(limit=3))
    second = await search(folder, SearchRequest(limit=7, cursor=first.next_cursor))
    assert uids(first) + uids(second) == list(range(10, 0, -1))


async def test_rows_name_the_resolved_folder_and_its_uidvalidity() -> None:
    folder = FakeFolder("Gesendet", uid_validity=33)
    folder.append()
    mailbox = FakeMailbox(folder, roles={"sent": "Gesendet"})
    page = await search_messages(mailbox, SearchRequest(folder="role:sent"), cursors=codec())
    assert page.folder == FolderName("Gesendet")
    assert page.messages[0].reference.folder == FolderName("Gesendet")
    assert page.messages[0].reference.uid_validity == page.uid_validity == UidValidity(33)


# --- cursors ---------------------------------------------------------------------------------------------------


async def test_new_mail_never_enters_a_running_search() -> None:
    for order in SearchOrder:
        folder = folder_of(4)
        first = await search(folder, SearchRequest(limit=2, order=order))
        folder.append()
        second = await search(folder, SearchRequest(limit=9, order=order, cursor=first.next_cursor))
        assert sorted(uids(first) + uids(second)) == [1, 2, 3, 4]


async def test_the_bound_is_asked_for_once_and_then_comes_from_the_cursor() -> None:
    folder = folder_of(4)
    first = await search(folder, SearchRequest(limit=2))
    await search(folder, SearchRequest(limit=2, cursor=first.next_cursor))
    assert folder.count("last_uid") == 1


async def test_a_forged_cursor_is_refused_before_anything_is_asked_of_the_server() -> None:
    folder = folder_of(2)
    mailbox = FakeMailbox(folder)
    with pytest.raises(CursorInvalid):
        await search_messages(mailbox, SearchRequest(cursor="A" * 71), cursors=codec())
    assert mailbox.examined == []


async def test_a_cursor_with_other_filters_is_a_mismatch_before_the_folder_is_opened() -> None:
    folder = folder_of(4)
    first = await search(folder, SearchRequest(limit=2))
    mailbox = FakeMailbox(folder)
    request = SearchRequest(cursor=first.next_cursor, criteria=SearchCriteria(unread=True))
    with pytest.raises(CursorMismatch):
        await search_messages(mailbox, request, cursors=codec())
    assert mailbox.examined == []


async def test_a_changed_uidvalidity_makes_the_cursor_stale() -> None:
    folder = folder_of(4)
    first = await search(folder, SearchRequest(limit=2))
    folder.uid_validity = UidValidity(8)
    with pytest.raises(StaleReference):
        await search(folder, SearchRequest(limit=2, cursor=first.next_cursor))


async def test_the_cursor_key_is_not_made_for_a_search_that_needs_no_cursor() -> None:
    lazy = CursorCodec(lambda: b"k" * 32, "owner@imap.example")
    assert (await search(folder_of(2), SearchRequest(), cursors=lazy)).complete
    assert not lazy.ready


# --- windows, time and the number of commands ------------------------------------------------------------------


@pytest.mark.parametrize("size", [1000, 100_000])
async def test_a_page_without_filters_costs_three_commands_however_large_the_folder(size: int) -> None:
    folder = FakeFolder()
    for uid in range(size - 1500 if size > 1500 else 1, size + 1):
        folder.append(uid=uid)
    page = await search(folder, SearchRequest())
    assert len(page.messages) == 25
    assert [name for name, _ in folder.calls] == ["last_uid", "search", "fetch"]
    assert len(folder.windows()[0]) == 1000


async def test_sparse_folders_are_searched_to_the_end_in_a_handful_of_calls() -> None:
    folder = folder_of(200, every=1500)
    found = await pages(folder, SearchRequest(limit=100))
    assert len(found) <= 4
    assert [uid for page in found for uid in page] == sorted(folder.content, reverse=True)
    assert folder.count("search") <= 16


async def test_a_filter_that_matches_nothing_walks_a_large_folder_in_one_call() -> None:
    folder = FakeFolder()
    folder.append(uid=300_000)
    page = await search(folder, SearchRequest(criteria=SearchCriteria(subject="nothing")))
    assert page.complete
    assert page.scanned_uids == 300_000
    assert folder.count("search") <= 14
    assert folder.count("fetch") == 0


async def test_a_gap_of_four_billion_uids_is_crossed_in_one_call() -> None:
    folder = FakeFolder()
    for uid in (1, 500_000, 4_000_000_000):
        folder.append(uid=uid)
    page = await search(folder, SearchRequest())
    assert [int(row.reference.uid) for row in page.messages] == [4_000_000_000, 500_000, 1]
    assert page.complete
    assert folder.count("search") <= 25


async def test_a_page_spread_over_many_windows_is_fetched_at_once() -> None:
    folder = folder_of(10, every=5000)
    page = await search(folder, SearchRequest())
    assert len(page.messages) == 10
    assert folder.count("fetch") == 1


async def test_rows_are_fetched_for_exactly_the_uids_of_the_page() -> None:
    folder = folder_of(100)
    await search(folder, SearchRequest(limit=5))
    assert [value for name, value in folder.calls if name == "fetch"] == [(100, 99, 98, 97, 96)]


async def test_budget_zero_is_exactly_one_window_of_the_configured_width() -> None:
    folder = folder_of(4, every=1000)
    assert await pages(folder, SearchRequest(), scan_uids=1000, budget_seconds=0) == [[4000], [3000], [2000], [1000]]
    assert [(window.low, window.high) for window in folder.windows()] == [
        (3001, 4000),
        (2001, 3000),
        (1001, 2000),
        (1, 1000),
    ]


async def test_with_budget_zero_an_empty_page_carries_a_cursor() -> None:
    folder = FakeFolder()
    folder.append(uid=5)
    folder.append(uid=5000)
    folder.expunge(5000)
    page = await search(folder, SearchRequest(), budget_seconds=0)
    assert page.messages == ()
    assert not page.complete
    assert page.scanned_uids == 1000


async def test_the_budget_ends_a_search_with_what_was_found_so_far_and_a_cursor() -> None:
    folder = folder_of(20, every=1000)
    folder.search_seconds = lambda width: 2.0
    page = await search(folder, SearchRequest(), scan_uids=1000, budget_seconds=5)
    assert uids(page)
    assert not page.complete
    assert folder.count("search") == 3
    rest = await pages(folder, SearchRequest(cursor=page.next_cursor), scan_uids=1000, budget_seconds=5)
    assert uids(page) + [uid for found in rest for uid in found] == sorted(folder.content, reverse=True)


async def test_every_call_searches_one_window_even_when_its_budget_is_spent_at_once() -> None:
    folder = folder_of(4, every=1000)
    folder.search_seconds = lambda width: 60.0
    page = await search(folder, SearchRequest(), budget_seconds=0.001)
    assert uids(page) == [4000]
    assert folder.count("search") == 1


async def test_the_width_that_a_call_learnt_goes_on_in_the_next_one() -> None:
    folder = folder_of(60, every=1000)
    first = await search(folder, SearchRequest(limit=25), scan_uids=1000)
    widest = max(len(window) for window in folder.windows())
    folder.calls.clear()
    await search(folder, SearchRequest(limit=25, cursor=first.next_cursor), scan_uids=1000)
    assert len(folder.windows()[0]) >= widest > 1000


# --- what changes or lies while a page is made -----------------------------------------------------------------


async def test_a_message_expunged_between_search_and_fetch_is_skipped_and_the_page_filled_on() -> None:
    folder = folder_of(10)

    def expunge_once(command: str) -> None:
        if command == "fetch" and 9 in folder.content:
            folder.expunge(9)

    folder.before = expunge_once
    page = await search(folder, SearchRequest(limit=3))
    assert uids(page) == [10, 8, 7]
    assert page.warnings == ()


@pytest.mark.parametrize(
    ("ignored", "criteria"),
    [
        ("from", SearchCriteria(from_="bob")),
        ("to", SearchCriteria(to="bob")),
        ("cc", SearchCriteria(cc="bob")),
        ("subject", SearchCriteria(subject="bob")),
        ("unread", SearchCriteria(unread=True)),
        ("unread", SearchCriteria(unread=False)),
        ("flagged", SearchCriteria(flagged=True)),
    ],
)
async def test_rows_against_an_exact_filter_are_dropped_with_one_warning_and_the_page_filled_on(
    ignored: str, criteria: SearchCriteria
) -> None:
    folder = FakeFolder()
    plain = set() if criteria.unread is False else {"\\Seen"}
    match = FakeMessage("Bob <bob@example.org>", "bob@example.org", "bob@example.org", "for Bob")
    match.flags = {"\\Flagged"} if plain else {"\\Seen", "\\Flagged"}
    for number in range(1, 301):
        folder.append(match if number % 100 == 0 else FakeMessage(flags=set(plain)))
    folder.ignored = frozenset({ignored})
    page = await search(folder, SearchRequest(limit=3, criteria=criteria))
    assert uids(page) == [300, 200, 100]
    assert [warning.code for warning in page.warnings] == ["server_ignored_filter"]


async def test_a_server_that_ignores_filters_costs_a_bounded_number_of_fetches() -> None:
    folder = folder_of(1000)
    folder.ignored = frozenset({"from"})
    page = await search(folder, SearchRequest(criteria=SearchCriteria(from_="nobody")))
    assert page.complete
    assert page.messages == ()
    assert folder.count("fetch") <= 13


async def test_when_time_ends_among_ignored_filters_the_next_page_goes_on_at_the_next_match() -> None:
    folder = FakeFolder()
    for number in range(1, 201):
        folder.append(FakeMessage("Bob <bob@example.org>") if number in (10, 190) else None)
    folder.ignored = frozenset({"from"})
    folder.fetch_seconds = lambda rows: 3.0
    found = await pages(folder, SearchRequest(limit=20, criteria=SearchCriteria(from_="bob")), budget_seconds=5)
    assert [uid for page in found for uid in page] == [190, 10]
    assert len(found) > 1


async def test_a_body_term_is_never_second_guessed() -> None:
    folder = folder_of(3)
    folder.ignored = frozenset({"query"})
    page = await search(folder, SearchRequest(criteria=SearchCriteria(query="not in any header")))
    assert len(page.messages) == 3
    assert page.warnings == ()


async def test_gmail_may_match_words_out_of_order() -> None:
    folder = FakeFolder()
    folder.append(FakeMessage("Ada M. Byron <ada@example.org>"))
    folder.ignored = frozenset({"from"})
    request = SearchRequest(criteria=SearchCriteria(from_="ada byron"))
    assert uids(await search(folder, request)) == []
    folder.capabilities = CapabilitySet.of(["IMAP4rev1", "X-GM-EXT-1"])
    assert uids(await search(folder, request)) == [1]


async def test_uids_outside_the_window_are_not_taken() -> None:
    folder = folder_of(10)
    folder.stray_uids = (3, 10, 10, 11, 4_000_000)
    found = await pages(folder, SearchRequest(limit=100), scan_uids=5, budget_seconds=0)
    assert found == [[10, 9, 8, 7, 6], [5, 4, 3, 2, 1]]


async def test_an_unreadable_message_is_one_flagged_row_without_its_own_text() -> None:
    folder = folder_of(3)
    folder.unreadable = {2}
    page = await search(folder, SearchRequest(criteria=SearchCriteria(subject="hello")))
    assert uids(page) == [3, 2, 1]
    bad = page.messages[1]
    assert bad.text is None
    assert [warning.code for warning in bad.warnings] == ["message_unreadable"]
    assert all(row.text is not None and not row.warnings for row in (page.messages[0], page.messages[2]))


# --- failures --------------------------------------------------------------------------------------------------


async def test_a_search_that_the_server_cannot_do_is_not_an_empty_page() -> None:
    folder = folder_of(3)
    folder.before = _raise_on("search", 1, SearchNotSupported())
    with pytest.raises(SearchNotSupported):
        await search(folder, SearchRequest(criteria=SearchCriteria(query="é")))


@pytest.mark.parametrize("command", ["search", "fetch"])
@pytest.mark.parametrize("failure", [UpstreamUnavailable(), UpstreamTimeout()])
async def test_a_failure_after_some_windows_is_an_error_and_not_a_short_page(command: str, failure: Exception) -> None:
    folder = folder_of(10, every=1000)
    folder.before = _raise_on(command, 3 if command == "search" else 1, failure)
    with pytest.raises(type(failure)):
        await search(folder, SearchRequest())


def _raise_on(command: str, occurrence: int, failure: Exception):  # type: ignore[no-untyped-def]
    seen: list[str] = []

    def hook(called: str) -> None:
        seen.append(called)
        if seen.count(command) == occurrence and called == command:
            raise failure

    return hook


async def test_time_is_measured_by_the_clock_that_is_passed() -> None:
    clock = VirtualClock()
    folder = FakeFolder(clock=clock)
    folder.append(uid=10_000)
    folder.search_seconds = lambda width: 1.5
    request = SearchRequest(criteria=SearchCriteria(subject="nothing"))
    page = await search(folder, request, scan_uids=100, budget_seconds=4)
    assert folder.count("search") == 3
    assert clock.now == 1004.5
    assert not page.complete
