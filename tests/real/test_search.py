"""mail_search against real servers: every filter, both orders, terms in other scripts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from tests.peers.imap_user import ImapUser
from tests.real.letters import letter, with_attachments, with_inline_picture
from tests.real.tools import Tools, refused, subjects, uids


@pytest.fixture
def filled(user: ImapUser) -> ImapUser:
    """Six messages that differ in everything a filter can ask for; message n arrived on day n of March 2024."""
    messages = [
        (letter("Invoice 2024-17", "Please pay soon.\n", cc="boss@example.org"), []),
        (letter("Réunion à Zürich", "Le café est prêt.\n", sender="Zoë <zoe@example.net>"), ["\\Seen"]),
        (letter("会議のお知らせ", "明日の会議は東京です。\n", sender="田中 <tanaka@example.jp>"), ["\\Flagged"]),
        (letter("Plain words", "nothing special\n", to="Someone Else <else@example.com>"), ["\\Seen", "\\Flagged"]),
        (letter('Quotes " and \\ back', 'He said "stop".\n'), []),
        (letter("Emoji \N{PARTY POPPER} party", "grinning \N{GRINNING FACE} text\n"), []),
    ]
    for day, (message, flags) in enumerate(messages, start=1):
        user.append(bytes(message), flags=flags, date=datetime(2024, 3, day, 12, tzinfo=UTC))
    return user


FILTERS: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [6, 5, 4, 3, 2, 1]),
    ({"query": "pay soon"}, [1]),
    ({"query": "INVOICE"}, [1]),
    ({"query": "café"}, [2]),
    ({"query": "東京"}, [3]),
    ({"query": 'said "stop"'}, [5]),
    ({"query": "\N{GRINNING FACE}"}, [6]),
    ({"query": "no such words anywhere"}, []),
    ({"from_": "zoe@example.net"}, [2]),
    ({"from_": "田中"}, [3]),
    ({"from_": "ann"}, [6, 5, 4, 1]),
    ({"to": "else@"}, [4]),
    ({"cc": "boss"}, [1]),
    ({"subject": "Zürich"}, [2]),
    ({"subject": "会議"}, [3]),
    ({"subject": '" and \\'}, [5]),
    ({"subject": "\N{PARTY POPPER}"}, [6]),
    ({"since": "2024-03-03"}, [6, 5, 4, 3]),
    ({"before": "2024-03-03"}, [2, 1]),
    ({"since": "2024-03-03", "before": "2024-03-04"}, [3]),
    ({"unread": True}, [6, 5, 3, 1]),
    ({"unread": False}, [4, 2]),
    ({"flagged": True}, [4, 3]),
    ({"flagged": False}, [6, 5, 2, 1]),
    ({"unread": False, "flagged": True}, [4]),
    ({"from_": "ann", "subject": "invoice", "since": "2024-03-01", "unread": True}, [1]),
    ({"from_": "ann", "subject": "Zürich"}, []),
    ({"order": "oldest", "limit": 2}, [1, 2]),
    ({"order": "newest", "limit": 2}, [6, 5]),
]


@pytest.mark.requirement("S1", "S2", "S3", "S14")
async def test_every_filter_finds_exactly_what_matches(filled: ImapUser, tools: Tools) -> None:
    found = [uids((await tools.search(**filters))["messages"]) for filters, _ in FILTERS]
    assert found == [expected for _, expected in FILTERS]


@pytest.mark.requirement("S5", "R6")
async def test_a_row_has_the_facts_and_apart_from_them_the_text(filled: ImapUser, tools: Tools) -> None:
    row = (await tools.search(subject="Invoice"))["messages"][0]
    assert row["reference"]["uid"] == 1
    assert set(row.get("flags", [])) <= {"\\Recent"}
    assert row["internal_date"].startswith("2024-03-01T")
    if "CONDSTORE" in filled.lacks:
        assert "modseq" not in row
    else:
        assert int(row["modseq"]) >= 1
        assert isinstance(row["modseq"], str)
    assert row["size"] == len(bytes(letter("Invoice 2024-17", "Please pay soon.\n", cc="boss@example.org")))
    assert row["untrusted"] == {
        "subject": "Invoice 2024-17",
        "from": ["Ann Other <ann@example.org>"],
        "to": ["owner@example.org"],
        "date": "2024-02-03T04:05:06+01:00",
        "message_id": "<1@example.org>",
    }


async def test_the_internal_date_keeps_its_moment(user: ImapUser, tools: Tools) -> None:
    arrived = datetime(2024, 5, 6, 7, 8, 9, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    user.append(bytes(letter()), date=arrived)
    row = (await tools.search())["messages"][0]
    assert datetime.fromisoformat(row["internal_date"]) == arrived


@pytest.mark.requirement("S6")
async def test_attachments_are_told_from_pictures_in_the_text(user: ImapUser, tools: Tools) -> None:
    user.append_all([bytes(each) for each in (letter(), with_attachments(), with_inline_picture())])
    rows = (await tools.search(order="oldest"))["messages"]
    assert [row["has_attachments"] for row in rows] == [False, True, False]


@pytest.mark.requirement("S9")
async def test_an_empty_folder_is_complete_at_once(tools: Tools) -> None:
    page = await tools.search()
    assert (page["messages"], page["complete"], page["scanned_uids"]) == ([], True, 0)


@pytest.mark.requirement("S13")
async def test_a_message_full_of_rubbish_is_a_row_among_others(user: ImapUser, tools: Tools) -> None:
    rubbish = bytes(byte for byte in range(1, 256)) * 20
    hostile = [rubbish, b"\r\n", b"\r\n\r\n"]
    if user.refuses_rubbish:
        hostile = [b"Subject: =?utf-8?b?//8=?=\r\nContent-Type: multipart/mixed; boundary\r\n\r\n" + b"--\r\n" * 20] * 3
    user.append_all([bytes(letter("Before")), *hostile, bytes(letter("After"))])
    rows = (await tools.search(order="oldest"))["messages"]
    assert uids(rows) == [1, 2, 3, 4, 5]
    assert subjects([rows[0], rows[-1]]) == ["Before", "After"]


@pytest.mark.requirement("S18")
@pytest.mark.parametrize(
    "arguments",
    [{"limit": 0}, {"limit": 101}, {"since": "2024-02-30"}, {"since": "2024-03-02", "before": "2024-03-02"}],
    ids=str,
)
async def test_a_search_that_makes_no_sense_is_refused(tools: Tools, arguments: dict[str, Any]) -> None:
    with refused("invalid_argument"):
        await tools.search(**arguments)
