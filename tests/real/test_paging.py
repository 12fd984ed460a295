"""Pages of a search while the folder changes under it."""

from __future__ import annotations

import pytest

from tests.peers.imap_user import ImapUser
from tests.real.letters import letter
from tests.real.tools import Tools, refused, settings_for, uids


@pytest.fixture
def thirty(user: ImapUser) -> ImapUser:
    """UIDs 1 to 30."""
    user.append_all([bytes(letter(f"Number {number}")) for number in range(1, 31)])
    return user


@pytest.mark.requirement("S3", "S7", "S9")
@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("limit", [1, 7, 10, 30, 100])
async def test_pages_together_are_the_folder_once(thirty: ImapUser, tools: Tools, order: str, limit: int) -> None:
    rows, _ = await tools.search_all(order=order, limit=limit)
    assert uids(rows) == (list(range(30, 0, -1)) if order == "newest" else list(range(1, 31)))


@pytest.mark.requirement("S10")
@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_new_mail_never_enters_a_running_pagination(thirty: ImapUser, tools: Tools, order: str) -> None:
    first = await tools.search(order=order, limit=10)
    thirty.append_all([bytes(letter("Late"))] * 5)
    second = await tools.search(order=order, limit=10, cursor=first["next_cursor"])
    thirty.append(bytes(letter("Later")))
    third = await tools.search(order=order, limit=100, cursor=second["next_cursor"])
    assert sorted(uids(first["messages"] + second["messages"] + third["messages"])) == list(range(1, 31))
    assert third["complete"]


@pytest.mark.requirement("S10")
@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_an_expunge_between_pages_loses_and_repeats_nothing_else(
    thirty: ImapUser, tools: Tools, order: str
) -> None:
    first = await tools.search(order=order, limit=10)
    seen = uids(first["messages"])
    gone_behind, gone_ahead = seen[3], 16
    thirty.expunge(gone_behind, gone_ahead)
    rest: list[int] = []
    cursor = first["next_cursor"]
    while cursor:
        page = await tools.search(order=order, limit=10, cursor=cursor)
        rest += uids(page["messages"])
        cursor = page.get("next_cursor")
    assert sorted(seen + rest) == [uid for uid in range(1, 31) if uid != gone_ahead]


@pytest.mark.requirement("S12", "R7")
async def test_after_a_rebuild_cursor_and_reference_are_stale(thirty: ImapUser, tools: Tools) -> None:
    page = await tools.search(limit=10)
    thirty.renew_uid_validity("INBOX", 4242)
    with refused("stale_reference"):
        await tools.search(limit=10, cursor=page["next_cursor"])
    with refused("stale_reference"):
        await tools.read(page["messages"][0]["reference"])
    assert len((await tools.search(limit=100))["messages"]) == 30


@pytest.mark.requirement("S11", "S12")
async def test_a_cursor_serves_only_the_search_it_was_made_for(thirty: ImapUser, tools: Tools) -> None:
    cursor = (await tools.search(limit=10, unread=True))["next_cursor"]
    for other in ({"unread": False}, {"unread": True, "order": "oldest"}, {"unread": True, "folder": "Sent"}):
        with refused("cursor_mismatch"):
            await tools.search(limit=10, cursor=cursor, **other)
    altered = cursor[:-6] + ("A" if cursor[-6] != "A" else "B") + cursor[-5:]
    with refused("cursor_invalid"):
        await tools.search(limit=10, unread=True, cursor=altered)
    assert len((await tools.search(limit=20, unread=True, cursor=cursor))["messages"]) == 20


@pytest.mark.requirement("S17", "S9")
async def test_without_a_time_budget_a_call_searches_exactly_one_window(thirty: ImapUser) -> None:
    tools = Tools(settings_for(thirty, MAIL_SEARCH_BUDGET_SECONDS="0", MAIL_SEARCH_SCAN_UIDS="8"))
    try:
        page = await tools.search(subject="Number 1", limit=100)
        assert (page["scanned_uids"], page["complete"]) == (8, False)
        rows, calls = await tools.search_all(subject="Number 1", limit=100)
        assert uids(rows) == [*range(19, 9, -1), 1]
        assert calls == 4
    finally:
        await tools.aclose()
