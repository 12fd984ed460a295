"""S1 to S19: what mail_search finds, in which order, and that it never says "nothing" when it does not know."""

from __future__ import annotations

import base64
import itertools
import re
from datetime import UTC, datetime
from typing import Any

import pytest

from mailgate.demo.store import DemoFolder, DemoMailbox
from tests.contract.deployment import (
    WHEN,
    Deployment,
    codes,
    demo_server,
    deployed,
    html,
    mailbox_with,
    multipart,
    on_demo,
    on_script,
    raw,
    uids,
)

READY = "@login IMAP4rev1 CONDSTORE"


def day(number: int) -> datetime:
    """Noon of a day of March 2024."""
    return datetime(2024, 3, number, 12, tzinfo=UTC)


def library() -> DemoMailbox:
    """Six messages that differ in all that can be asked for; message n arrived on day n."""
    mailbox = mailbox_with()
    for number, (message, flags) in enumerate(
        [
            (raw("Please pay soon.", subject="Invoice 17", to="a@example.org", cc="boss@example.org"), ()),
            (raw("Nothing special", subject="Réunion à Zürich", from_="Zoë <zoe@example.net>"), ("\\Seen",)),
            (raw("明日の会議", subject="Plain", to="Else <else@example.com>"), ("\\Flagged",)),
            (raw("The word invoice is in the text.", subject="Other"), ("\\Seen", "\\Flagged")),
            (raw('He said "stop".', subject='With " and \\ in it', cc="ann@example.org"), ()),
            (raw("OR NOT ALL", subject="ALL (UNSEEN)", from_="boss@example.org"), ()),
        ],
        start=1,
    ):
        mailbox.append("INBOX", message, flags, day(number))
    return mailbox


def sparse(*uids: int, uid_next: int) -> DemoMailbox:
    """INBOX with messages at these UIDs only."""
    mailbox = mailbox_with()
    inbox = mailbox.folder("INBOX")
    for uid in uids:
        inbox.uid_next = uid
        inbox.add(raw(subject=f"Number {uid}"), (), WHEN)
    inbox.uid_next = uid_next
    return mailbox


def searches(box: Deployment) -> list[bytes]:
    """The UID SEARCH commands so far, without tags."""
    return [command.line.partition(b" ")[2] for command in box.commands() if command.name == "UID SEARCH"]


def windows(box: Deployment) -> list[tuple[int, int]]:
    """The UID ranges that were searched."""
    found = [re.search(rb"UID (\d+)(?::(\d+))?", line.removeprefix(b"UID ")) for line in searches(box)]
    return [(int(each[1]), int(each[2] or each[1])) for each in found if each]


# --- S1, S2, S3 --------------------------------------------------------------------------------------------------

FILTERS: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [6, 5, 4, 3, 2, 1]),
    ({"query": "invoice"}, [4, 1]),
    ({"query": "pay soon"}, [1]),
    ({"query": "soon pay"}, []),
    ({"query": "OR NOT ALL"}, [6]),
    ({"query": "zoe@example.net"}, [2]),
    ({"query": 'said "stop"'}, [5]),
    ({"subject": "invoice"}, [1]),
    ({"subject": "ALL (UNSEEN)"}, [6]),
    ({"subject": '" and \\'}, [5]),
    ({"subject": "Zürich"}, [2]),
    ({"query": "会議"}, [3]),
    ({"from": "ann"}, [5, 4, 3, 1]),
    ({"from": "ZOE@EXAMPLE"}, [2]),
    ({"from": "Zoë"}, [2]),
    ({"to": "else"}, [3]),
    ({"to": "boss"}, []),
    ({"cc": "boss"}, [1]),
    ({"cc": "ann@example.org"}, [5]),
    ({"since": "2024-03-05"}, [6, 5]),
    ({"before": "2024-03-02"}, [1]),
    ({"since": "2024-03-03", "before": "2024-03-05"}, [4, 3]),
    ({"since": "2024-03-03", "before": "2024-03-04"}, [3]),
    ({"unread": True}, [6, 5, 3, 1]),
    ({"unread": False}, [4, 2]),
    ({"flagged": True}, [4, 3]),
    ({"flagged": False}, [6, 5, 2, 1]),
    ({"unread": True, "flagged": True}, [3]),
    ({"query": "invoice", "from": "ann", "subject": "other"}, [4]),
    ({"query": "invoice", "unread": True, "since": "2024-03-02"}, []),
    ({"from": "ann", "cc": "boss", "before": "2024-03-02", "flagged": False}, [1]),
    ({"order": "oldest"}, [1, 2, 3, 4, 5, 6]),
    ({"order": "oldest", "from": "ann"}, [1, 3, 4, 5]),
    ({"order": "oldest", "limit": 2}, [1, 2]),
    ({"order": "newest", "limit": 2}, [6, 5]),
]


@pytest.mark.requirement("S1", "S2", "S3")
@pytest.mark.parametrize("without", [(), ("ESEARCH", "CONDSTORE", "LITERAL+")])
async def test_every_filter_finds_what_matches_and_nothing_else(without: tuple[str, ...]) -> None:
    async with on_demo(library(), *without) as box:
        found = [uids((await box.ok("mail_search", filters))["messages"]) for filters, _ in FILTERS]
    assert found == [expected for _, expected in FILTERS]


@pytest.mark.requirement("S1")
async def test_the_words_of_a_query_are_one_term_and_no_syntax() -> None:
    script = f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: * SEARCH\nS: $ OK done"
    async with on_script(script) as box:
        await box.search(query='a OR b NOT "c" UNSEEN', from_="x) DELETED", subject="y")
        (sent,) = [line for line in box.sent if line.startswith(b"UID SEARCH")]
    assert rb'TEXT "a OR b NOT \"c\" UNSEEN"' in sent
    assert b'FROM "x) DELETED"' in sent
    assert b'SUBJECT "y"' in sent
    assert len(re.findall(rb"(?:TEXT|FROM|SUBJECT|HEADER) ", sent)) == 3


@pytest.mark.requirement("S2")
async def test_dates_are_sent_as_the_server_reckons_them() -> None:
    script = f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: * SEARCH\nS: $ OK done"
    async with on_script(script) as box:
        await box.search(since="2024-02-01", before="2024-12-31")
        (sent,) = [line for line in box.sent if line.startswith(b"UID SEARCH")]
    assert re.search(rb'SINCE "?1-Feb-2024"?', sent)
    assert re.search(rb'BEFORE "?31-Dec-2024"?', sent)
    assert b"SENT" not in sent


# --- S4, S5 ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S4")
async def test_a_page_says_where_it_looked_and_whether_that_was_all(small: Deployment) -> None:
    whole = await small.search()
    assert set(whole) == {"folder", "uid_validity", "messages", "scanned_uids", "complete", "warnings"}
    assert (whole["folder"], whole["uid_validity"], whole["scanned_uids"]) == ("INBOX", 1_700_000_001, 5)
    assert (whole["complete"], whole["warnings"]) == (True, [])
    part = await small.search(limit=2)
    assert set(part) == set(whole) | {"next_cursor"}
    assert (part["complete"], part["scanned_uids"]) == (False, 2)
    rest = await small.search(limit=10, cursor=part["next_cursor"])
    assert (rest["complete"], rest["scanned_uids"], uids(rest["messages"])) == (True, 3, [3, 2, 1])


@pytest.mark.requirement("S5", "R6")
async def test_a_row_has_the_facts_and_under_untrusted_what_the_sender_wrote() -> None:
    message = raw(
        from_="Zoë <zoe@example.net>",
        to="c@example.org, d@example.org",
        cc="d@example.org",
        subject="Hello =?utf-8?Q?w=C3=B6rld?=",
        date="Fri, 01 Mar 2024 10:00:00 -0500",
        message_id="<1@example.net>",
    )
    mailbox = mailbox_with()
    mailbox.append("INBOX", message, ("\\Flagged", "$Label"), day(2))
    async with on_demo(mailbox) as box:
        (row,) = (await box.search())["messages"]
    assert sorted(row.pop("flags")) == ["$Label", "\\Flagged"]
    assert row == {
        "reference": {"folder": "INBOX", "uid_validity": 1_700_000_001, "uid": 1},
        "size": len(message),
        "internal_date": "2024-03-02T12:00:00+00:00",
        "modseq": "2",
        "has_attachments": False,
        "untrusted": {
            "subject": "Hello wörld",
            "from": ["Zoë <zoe@example.net>"],
            "to": ["c@example.org", "d@example.org"],
            "date": "2024-03-01T10:00:00-05:00",
            "message_id": "<1@example.net>",
        },
    }


# --- S6 ----------------------------------------------------------------------------------------------------------

TEXT = "Content-Type: text/plain\n\nwords"
PAGE = 'Content-Type: text/html\n\n<img src="cid:pic@example.org">'
PICTURE = "Content-Type: image/png\nContent-ID: <pic@example.org>\n{0}\nx"
INLINE = "Content-Disposition: inline\n"
ATTACHED = "Content-Disposition: attachment; filename=a.png\n"


def nested(kind: str, *parts: str) -> str:
    inner = "".join(f"--{kind}\n{part}\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="{kind}"\n\n{inner}--{kind}--'


SHAPES = {
    "text": (raw(), False),
    "html": (html("<p>words</p>"), False),
    "alternatives": (multipart(TEXT, PAGE, kind="alternative"), False),
    "a file": (multipart(TEXT, PICTURE.format(ATTACHED)), True),
    "a picture in the text": (multipart(PAGE, PICTURE.format(INLINE), kind="related"), False),
    "a picture in one alternative": (
        multipart(TEXT, nested("related", PAGE, PICTURE.format(INLINE)), kind="alternative"),
        False,
    ),
    "a picture without disposition": (multipart(PAGE, PICTURE.format(""), kind="related"), False),
    "a picture and a file": (
        multipart(nested("related", PAGE, PICTURE.format(INLINE)), PICTURE.format(ATTACHED)),
        True,
    ),
    "a file among pictures": (multipart(PAGE, PICTURE.format(ATTACHED), kind="related"), True),
    "a message": (multipart(TEXT, "Content-Type: message/rfc822\n\nSubject: x\n\nwords"), True),
    "nothing but a file": (raw(content_type="application/pdf", content_disposition="attachment"), True),
}


@pytest.mark.requirement("S6")
async def test_attachments_are_told_from_pictures_that_the_text_refers_to() -> None:
    async with on_demo(mailbox_with(*(message for message, _ in SHAPES.values()))) as box:
        rows = (await box.search(order="oldest"))["messages"]
    found = dict(zip(SHAPES, (row["has_attachments"] for row in rows), strict=True))
    assert found == {name: expected for name, (_, expected) in SHAPES.items()}


@pytest.mark.requirement("S6")
async def test_what_is_not_known_is_null() -> None:
    row = 'UID 3 FLAGS () INTERNALDATE "01-Jan-2024 00:00:00 +0000" RFC822.SIZE 3'
    script = "\n".join(
        [
            f"{READY}\n@examine exists=1 uidnext=4\nC: $ UID SEARCH ...\nS: * SEARCH 3\nS: $ OK done",
            f"C: $ UID FETCH 3 ...\nS-raw: * 1 FETCH ({row} BODY[HEADER.FIELDS (FROM)] {{2}}\\r\\n\\r\\n)\\r\\n",
            "S: $ OK done",
        ]
    )
    async with on_script(script) as box:
        (found,) = (await box.search(unread=True))["messages"]
    assert "has_attachments" in found
    assert found["has_attachments"] is None


# --- S7, S8, S9, S17 ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("S7", "S17", "S9")
@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_with_a_budget_of_zero_every_call_is_exactly_one_window(order: str) -> None:
    variables = {"MAIL_SEARCH_SCAN_UIDS": "10", "MAIL_SEARCH_BUDGET_SECONDS": "0"}
    async with on_demo(sparse(3, 4, 38, uid_next=46), **variables) as box:
        found, cursor, calls = [], {}, 0
        while True:
            page = await box.search(order=order, **cursor)
            calls += 1
            assert len(searches(box)) == calls
            found.append(uids(page["messages"]))
            assert page["complete"] is ("next_cursor" not in page)
            if page["complete"]:
                break
            assert page["scanned_uids"] == 10
            cursor = {"cursor": page["next_cursor"]}
        covered = windows(box)
    if order == "newest":
        assert covered == [(36, 45), (26, 35), (16, 25), (6, 15), (1, 5)]
        assert found == [[38], [], [], [], [4, 3]]
    else:
        assert covered == [(1, 10), (11, 20), (21, 30), (31, 40), (41, 45)]
        assert found == [[3, 4], [], [], [38], []]
    assert page["scanned_uids"] == 5


@pytest.mark.requirement("S7")
async def test_a_call_walks_windows_until_its_page_is_full() -> None:
    async with on_demo(sparse(1, 500, 1000, uid_next=1001), MAIL_SEARCH_SCAN_UIDS="100") as box:
        page = await box.search(limit=2)
        assert uids(page["messages"]) == [1000, 500]
        covered = windows(box)
        assert covered[0] == (901, 1000)
        assert all(low - 1 == following for (low, _), (_, following) in itertools.pairwise(covered))
        assert covered[-1][0] <= 500
        assert box.names().count("UID FETCH") == 1
        rest = await box.search(limit=2, cursor=page["next_cursor"])
    assert uids(rest["messages"]) == [1]


@pytest.mark.requirement("S7")
async def test_no_command_ever_names_the_star() -> None:
    async with on_demo(sparse(5, 900, uid_next=1001), MAIL_SEARCH_SCAN_UIDS="100") as box:
        await box.search_all(limit=1)
        assert not [command.line for command in box.commands() if b"*" in command.line and command.name != "LIST"]


@pytest.mark.requirement("S8", "S9")
@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_a_sparse_folder_is_searched_to_its_end_in_a_handful_of_calls(order: str) -> None:
    spread = tuple(range(2_000, 400_001, 4_000))
    async with on_demo(sparse(*spread, uid_next=400_001)) as box:
        rows, calls = await box.search_all(order=order)
        assert sorted(uids(rows)) == list(spread)
        assert calls <= 2 + len(spread) // 25
        assert len(searches(box)) < 60
        found, calls = await box.search_all(order=order, subject="Number 2000 ")
        assert (found, calls) == ([], 1)


@pytest.mark.requirement("S8")
async def test_a_page_costs_the_same_commands_in_a_folder_of_any_size() -> None:
    costs = []
    for size in (100, 10_000):
        mailbox = mailbox_with()
        inbox: DemoFolder = mailbox.folder("INBOX")
        for number in range(size):
            inbox.add(raw(subject=f"Number {number}"), (), WHEN)
        async with on_demo(mailbox) as box:
            await box.search(folder="Archive")
            before = len(box.names())
            assert len((await box.search())["messages"]) == 25
            assert len((await box.search(order="oldest"))["messages"]) == 25
            costs.append(box.names()[before:])
    # A large folder stays open: NOOP in place of EXAMINE.
    assert sorted(name.replace("NOOP", "EXAMINE") for name in costs[1]) == sorted(costs[0])
    assert len(costs[0]) <= 8


@pytest.mark.requirement("S9")
@pytest.mark.parametrize("count", [0, 1, 25, 26, 50])
async def test_a_search_is_complete_exactly_when_there_is_no_cursor(count: int) -> None:
    async with on_demo(mailbox_with(*[raw()] * count)) as box:
        arguments: dict[str, Any] = {}
        seen = 0
        while True:
            page = await box.search(**arguments)
            seen += len(page["messages"])
            assert page["complete"] is ("next_cursor" not in page)
            if page["complete"]:
                break
            arguments = {"cursor": page["next_cursor"]}
    assert seen == count


# --- S10 ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S10")
@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_new_and_expunged_mail_neither_enters_nor_shifts_a_running_search(order: str) -> None:
    mailbox = mailbox_with(*(raw() for _ in range(12)))
    inbox = mailbox.folder("INBOX")
    async with on_demo(mailbox) as box:
        found: list[int] = []
        cursor: dict[str, str] = {}
        while True:
            page = await box.search(order=order, limit=3, **cursor)
            found += uids(page["messages"])
            if page["complete"]:
                break
            cursor = {"cursor": page["next_cursor"]}
            inbox.add(raw(subject="new"), (), WHEN)
            if len(found) == 6:
                inbox.expunge([found[0], 9 if order == "oldest" else 4])
        whole = list(range(1, 13)) if order == "oldest" else list(range(12, 0, -1))
        whole.remove(9 if order == "oldest" else 4)
        assert found == whole
        fresh, _ = await box.search_all(order=order)
        assert len(fresh) > len(found)


# --- S11, S12 ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S11")
async def test_an_altered_cursor_is_invalid(small: Deployment) -> None:
    cursor = (await small.search(limit=2))["next_cursor"]
    before = len(small.commands())
    for place in range(len(cursor)):
        for other in {"A", "_", chr(ord(cursor[place]) ^ 1)} - {cursor[place]}:
            altered = cursor[:place] + other + cursor[place + 1 :]
            await small.fails("cursor_invalid", "mail_search", {"limit": 2, "cursor": altered})
    for altered in (cursor[:-1], cursor + "A", cursor + "=", cursor * 2, "x", cursor.swapcase()):
        await small.fails("cursor_invalid", "mail_search", {"limit": 2, "cursor": altered})
    assert len(small.commands()) == before
    assert uids((await small.search(limit=2, cursor=cursor))["messages"]) == [3, 2]


@pytest.mark.requirement("S11")
async def test_a_cursor_of_another_mailbox_is_invalid_and_one_of_another_process_is_not() -> None:
    mailbox = mailbox_with(raw(), raw())
    async with demo_server(mailbox) as (port, _), demo_server(mailbox) as (other_port, _):
        async with deployed(port) as one, deployed(port) as again, deployed(other_port) as other:
            cursor = (await one.search(limit=1))["next_cursor"]
            assert uids((await again.search(limit=1, cursor=cursor))["messages"]) == [1]
            await other.fails("cursor_invalid", "mail_search", {"limit": 1, "cursor": cursor})
        key = base64.b64encode(b"k" * 32).decode()
        async with deployed(port, MAIL_STORE_KEY=key) as rekeyed:
            await rekeyed.fails("cursor_invalid", "mail_search", {"limit": 1, "cursor": cursor})
        async with deployed(port, MAIL_STORE_KEY="") as unkeyed:
            await unkeyed.fails("cursor_invalid", "mail_search", {"limit": 1, "cursor": cursor})
            own = (await unkeyed.search(limit=1))["next_cursor"]
            assert uids((await unkeyed.search(limit=1, cursor=own))["messages"]) == [1]


@pytest.mark.requirement("S11")
async def test_a_cursor_shows_nothing_of_the_search() -> None:
    async with on_demo(mailbox_with(raw(subject="needle"), raw(subject="needle"))) as box:
        cursor = (await box.search(limit=1, subject="needle"))["next_cursor"]
    assert re.fullmatch(r"[A-Za-z0-9_-]+", cursor)
    octets = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    assert b"needle" not in octets
    assert b"INBOX" not in octets


@pytest.mark.requirement("S12")
@pytest.mark.parametrize(
    "other",
    [
        {"folder": "Archive"},
        {"order": "oldest"},
        {"query": "x"},
        {"from": "ann@"},
        {"from": "Ann"},
        {"to": "x"},
        {"cc": "x"},
        {"subject": "x"},
        {"since": "2020-01-01"},
        {"before": "2030-01-01"},
        {"unread": True},
        {"unread": False},
        {"flagged": False},
    ],
    ids=str,
)
async def test_a_cursor_with_another_folder_order_or_filter_is_a_mismatch(
    small: Deployment, other: dict[str, Any]
) -> None:
    cursor = (await small.search(limit=2, from_="ann"))["next_cursor"]
    await small.fails("cursor_mismatch", "mail_search", {"from": "ann", **other, "cursor": cursor})
    await small.fails("cursor_mismatch", "mail_search", {"cursor": cursor})
    page = await small.ok("mail_search", {"from": "ann", "limit": 3, "folder": "inbox", "cursor": cursor})
    assert uids(page["messages"]) == [3, 2, 1]


@pytest.mark.requirement("S12", "R7")
async def test_after_a_change_of_uidvalidity_a_cursor_is_stale() -> None:
    mailbox = mailbox_with(raw(), raw())
    async with demo_server(mailbox) as (port, sent):
        async with deployed(port) as box:
            cursor = (await box.search(limit=1))["next_cursor"]
        mailbox.renew_uid_validity("INBOX")
        async with deployed(port, sent) as box:
            before = len(box.commands())
            await box.fails("stale_reference", "mail_search", {"limit": 1, "cursor": cursor})
            assert box.names()[before:].count("EXAMINE") == 1
            assert "UID FETCH" not in box.names()[before:]


# --- S13, S15 ----------------------------------------------------------------------------------------------------

FACTS = 'FLAGS (\\Seen) INTERNALDATE "01-Jan-2024 00:00:00 +0000" RFC822.SIZE 30'
FACTS += ' BODYSTRUCTURE ("TEXT" "PLAIN" NIL NIL NIL "7BIT" 5 1)'


def row(uid: int, subject: str = "fine", sender: str = "Ann <ann@example.org>") -> str:
    """A FETCH row with its header."""
    head = f"From: {sender}\r\nSubject: {subject}\r\n\r\n"
    shown = head.replace("\r\n", "\\r\\n")
    return f"S-raw: * {uid} FETCH (UID {uid} {FACTS} BODY[HEADER.FIELDS (FROM)] {{{len(head)}}}\\r\\n{shown})\\r\\n"


def found(*numbers: int, literal: bool = False) -> str:
    """A search that finds these, up to the FETCH that asks about them; `literal`: one term has to be sent as one."""
    listed = " ".join(map(str, numbers))
    wait = "\nS: + go on\nC: ..." if literal else ""
    searched = f"C: $ UID SEARCH ...{wait}\nS: * SEARCH {listed}\nS: $ OK done"
    return f"{READY}\n@examine exists=9\n{searched}\nC: $ UID FETCH ..."


UNREADABLE = {
    "no header": [f"S: * 2 FETCH (UID 2 {FACTS})"],
    "a header of nil": [f"S: * 2 FETCH (UID 2 {FACTS} BODY[HEADER.FIELDS (FROM)] NIL)"],
    "a broken row": [f"S: * 2 FETCH (UID 2 {FACTS} BODY[HEADER.FIELDS (FROM)] (oops"],
    "deep nesting": [f"S: * 2 FETCH (UID 2 BODYSTRUCTURE {'(' * 5000}"],
    "rubbish": ["S: * 2 FETCH (UID 2 FLAGS FLAGS FLAGS)"],
}


@pytest.mark.requirement("S13")
@pytest.mark.parametrize("how", list(UNREADABLE))
async def test_a_message_that_cannot_be_read_is_one_row_with_a_warning(how: str) -> None:
    bad = UNREADABLE[how]
    again = ["C: $ UID FETCH 2 ...", *bad, "S: $ OK done"]
    script = "\n".join([found(1, 2, 3), row(1), *bad, row(3), "S: $ OK done", *again])
    async with on_script(script, strict=False) as box:
        page = await box.search(order="oldest")
    assert uids(page["messages"]) == [1, 2, 3]
    assert page["complete"] is True
    assert [each["untrusted"].get("subject") for each in page["messages"]] == ["fine", None, "fine"]
    assert [codes(each) for each in page["messages"]] == [[], ["message_unreadable"], []]


@pytest.mark.requirement("S13")
async def test_a_fetch_that_is_refused_for_one_message_costs_that_row_only() -> None:
    refused = ["S: $ NO cannot", "C: $ UID FETCH 2:3 ...", "S: $ NO cannot", "C: $ UID FETCH 2 ...", "S: $ NO cannot"]
    script = "\n".join([found(1, 2, 3), row(1), *refused, "C: $ UID FETCH 3 ...", row(3), "S: $ OK done"])
    async with on_script(script) as box:
        page = await box.search(order="oldest")
    assert uids(page["messages"]) == [1, 2, 3]
    assert [codes(each) for each in page["messages"]] == [[], ["message_unreadable"], []]


IGNORED = [
    {"from_": "zoe"},
    {"to": "zoe"},
    {"cc": "zoe"},
    {"subject": "zoe"},
    {"unread": True},
    {"flagged": True},
    {"from_": "ann", "subject": "zoe"},
]


@pytest.mark.requirement("S15")
@pytest.mark.parametrize("filters", IGNORED, ids=str)
async def test_rows_that_contradict_a_filter_are_dropped_and_that_is_said(filters: dict[str, Any]) -> None:
    script = "\n".join([found(1, 2, 3), row(1), row(2), row(3), "S: $ OK done"])
    async with on_script(script) as box:
        page = await box.search(**filters)
    assert (page["messages"], page["complete"], codes(page)) == ([], True, ["server_ignored_filter"])


@pytest.mark.requirement("S15")
async def test_rows_that_match_stay_and_a_query_is_the_servers_own_affair() -> None:
    zoe = row(2, "=?utf-8?Q?Gr=C3=BC=C3=9Fe?=", "=?utf-8?Q?Zo=C3=AB?= <z@example.org>")
    for filters, expected, warned in (
        ({"from_": "zoë"}, [2], True),
        ({"subject": "GRÜSSE"}, [2], True),
        ({"from_": "z@example"}, [2], True),
        ({"query": "anything"}, [3, 2, 1], False),
        ({"since": "2030-01-01"}, [3, 2, 1], False),
        ({"from_": "example.org"}, [3, 2, 1], False),
        ({"unread": False}, [3, 2, 1], False),
    ):
        literal = not str(filters).isascii()
        script = "\n".join([found(1, 2, 3, literal=literal), row(1), zoe, row(3), "S: $ OK done"])
        async with on_script(script) as box:
            page = await box.search(**filters)
        assert uids(page["messages"]) == expected, filters
        assert codes(page) == ["server_ignored_filter"] * warned


# --- S14, S16, S19 -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("S14")
async def test_a_term_beyond_ascii_is_sent_as_utf8_with_its_charset() -> None:
    octets = len("Zürich 東京".encode())
    sent = f"C: $ UID SEARCH CHARSET UTF-8 ...SUBJECT {{{octets}}}\nS: + go on\nC: Zürich 東京"
    async with on_script(f"{READY}\n@examine\n{sent}\nS: * SEARCH\nS: $ OK done") as box:
        assert (await box.search(subject="Zürich 東京"))["complete"] is True


@pytest.mark.requirement("S14")
async def test_once_the_server_has_confirmed_utf8_no_charset_is_declared() -> None:
    enabled = "C: $ ENABLE UTF8=ACCEPT\nS: * ENABLED UTF8=ACCEPT\nS: $ OK done"
    sent = "C: $ UID SEARCH ...SUBJECT {7}\nS: + go on\nC: Zürich\nS: * SEARCH\nS: $ OK done"
    async with on_script(f"@login IMAP4rev1 ENABLE UTF8=ACCEPT\n{enabled}\n@examine\n{sent}") as box:
        await box.search(subject="Zürich")
        assert b"CHARSET" not in box.sent[-1]


@pytest.mark.requirement("S14")
async def test_an_ascii_term_declares_no_charset() -> None:
    async with on_script(f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: * SEARCH\nS: $ OK done") as box:
        await box.search(subject="Zurich")
        assert b"CHARSET" not in box.sent[-1]


UNSEARCHABLE = {
    "the charset": "NO [BADCHARSET (US-ASCII)] no",
    "the charset, without a list": "NO [BADCHARSET] no",
    "the key": "BAD unknown search key",
    "the term": "NO [CANNOT] that term cannot be searched",
}


@pytest.mark.requirement("S14", "S19", "S16")
@pytest.mark.parametrize("what", list(UNSEARCHABLE))
@pytest.mark.parametrize("filters", [{"subject": "Zürich"}, {"query": "東京"}, {"cc": "a"}, {"flagged": True}], ids=str)
async def test_what_a_server_cannot_search_is_said_and_never_an_empty_page(what: str, filters: dict[str, Any]) -> None:
    literal = any(isinstance(value, str) and not value.isascii() for value in filters.values())
    wait = "\nS: + go on\nC: ..." if literal else ""
    script = f"@login IMAP4rev1\n@examine\nC: $ UID SEARCH ...{wait}\nS: $ {UNSEARCHABLE[what]}"
    async with on_script(script) as box:
        text = await box.fails("search_not_supported", "mail_search", filters)
    assert "nothing" not in text.lower()


@pytest.mark.requirement("S14")
async def test_a_charset_refused_before_the_term_was_sent_is_said_too() -> None:
    script = "@login IMAP4rev1\n@examine\nC: $ UID SEARCH ...\nS: $ NO [BADCHARSET (US-ASCII)] no"
    async with on_script(script) as box:
        await box.fails("search_not_supported", "mail_search", {"subject": "Zürich"})


HALF = {
    "no answer to the second window": "C: $ UID SEARCH ...\nS-close",
    "refused": "C: $ UID SEARCH ...\nS: $ NO no",
    "unavailable": "C: $ UID SEARCH ...\nS: $ NO [UNAVAILABLE] later",
    "only a count": 'C: $ UID SEARCH ...\nS: * ESEARCH (TAG "x") UID COUNT 5\nS: * ESEARCH UID COUNT 5\nS: $ OK done',
    "bye": "C: $ UID SEARCH ...\nS: * BYE\nS-close",
}


@pytest.mark.requirement("S16")
@pytest.mark.parametrize("how", list(HALF))
async def test_a_search_that_breaks_off_half_way_is_an_error(how: str) -> None:
    script = f"{READY}\n@examine exists=9 uidnext=5000\nC: $ UID SEARCH ...\nS: * SEARCH\nS: $ OK done\n{HALF[how]}"
    async with on_script(script, strict=False) as box:
        answer = await box.call("mail_search", {"query": "words"})
    assert answer.failed
    assert answer.text.startswith("error upstream_")


@pytest.mark.requirement("S16")
async def test_a_fetch_that_fails_as_a_whole_is_an_error() -> None:
    script = found(1, 2) + "\nS: $ NO [UNAVAILABLE] later"
    async with on_script(script) as box:
        await box.fails("upstream_unavailable", "mail_search", {"unread": True})


# --- S18 ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S18")
@pytest.mark.parametrize(
    "arguments",
    [
        {"limit": 0},
        {"limit": -1},
        {"limit": 101},
        {"since": "2024-02-30"},
        {"since": "2023-02-29"},
        {"before": "2024-13-01"},
        {"before": "0000-01-01"},
        {"since": "2024-2-1"},
        {"since": "20240201"},
        {"since": "2024-W05-4"},
        {"since": "2024-02-01T00:00:00"},
        {"since": "\u0662\u0660\u0662\u0664-02-01"},
        {"before": "yesterday"},
        {"since": ""},
        {"since": "2024-03-02", "before": "2024-03-02"},
        {"since": "2024-03-03", "before": "2024-03-02"},
        {"order": "sideways"},
    ],
    ids=ascii,
)
async def test_a_search_that_cannot_be_meant_is_refused(small: Deployment, arguments: dict[str, Any]) -> None:
    await small.fails("invalid_argument", "mail_search", arguments)
    assert small.sent == []


@pytest.mark.requirement("S18")
@pytest.mark.parametrize(
    "arguments",
    [{"limit": 1}, {"limit": 100}, {"since": "2024-02-29"}, {"since": "2024-03-02", "before": "2024-03-03"}],
)
async def test_the_edges_of_what_is_allowed_are_allowed(small: Deployment, arguments: dict[str, Any]) -> None:
    await small.ok("mail_search", arguments)
