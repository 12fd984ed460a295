"""F1 to F8: what mail_list_folders shows, and that each name reaches its own folder."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mailgate.demo.store import DemoMailbox
from tests.contract.deployment import (
    WHEN,
    Deployment,
    Result,
    codes,
    mailbox_with,
    on_demo,
    on_script,
    raw,
    uids,
)

COUNTS = {"messages", "unseen", "uid_next", "uid_validity"}


async def listed(box: Deployment, **arguments: Any) -> dict[str, Result]:
    """The rows by name."""
    rows = (await box.ok("mail_list_folders", arguments))["folders"]
    found = {row["name"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def lists(*rows: str) -> str:
    """One answer to LIST."""
    return "\n".join(["C: $ LIST ...", *(f"S: * LIST {row}" for row in rows), "S: $ OK done"])


# --- F1 ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("F1")
async def test_a_row_tells_what_the_server_says_of_a_folder() -> None:
    rows = lists(
        '(\\HasNoChildren) "/" INBOX',
        '(\\HasChildren \\Sent) "/" "Sent Items"',
        '(\\Noselect \\HasChildren) "/" Work',
        '() "." Dotted',
        "() NIL Flat",
        '(\\hasnochildren \\TRASH \\X-Own) "/" Bin',
        '(\\NoInferiors) "/" &ZeVnLIqe-',
    )
    async with on_script(f"@login IMAP4rev1\n{rows}") as box:
        found = await listed(box)
    assert list(found) == ["INBOX", "Sent Items", "Work", "Dotted", "Flat", "Bin", "日本語"]
    assert found["INBOX"]["role"] == "inbox"
    assert found["Sent Items"] == {
        "name": "Sent Items",
        "delimiter": "/",
        "attributes": ["\\HasChildren", "\\Sent"],
        "role": "sent",
        "selectable": True,
        "has_children": True,
    }
    assert (found["Work"]["selectable"], found["Work"].get("role")) == (False, None)
    assert found["Dotted"] == {"name": "Dotted", "delimiter": ".", "selectable": True}
    assert found["Flat"] == {"name": "Flat", "selectable": True}
    assert (found["Bin"]["role"], found["Bin"]["has_children"]) == ("trash", False)
    assert [word.lower() for word in found["Bin"]["attributes"]] == ["\\hasnochildren", "\\trash", "\\x-own"]


# --- F2 ----------------------------------------------------------------------------------------------------------


def filled() -> DemoMailbox:
    mailbox = mailbox_with(raw(), raw(), raw())
    mailbox.folder("INBOX").change_flags(2, "+", ["\\Seen"])
    mailbox.folder("INBOX").expunge([1])
    mailbox.create("Work/Deep")
    return mailbox


@pytest.mark.requirement("F2")
@pytest.mark.parametrize("without", [(), ("LIST-STATUS",), ("LIST-EXTENDED", "SPECIAL-USE")])
async def test_counts_are_those_of_the_folder(without: tuple[str, ...]) -> None:
    async with on_demo(filled(), *without) as box:
        plain, counted = await listed(box), await listed(box, include_counts=True)
    assert not any(COUNTS & set(row) for row in plain.values())
    assert {name: counted["INBOX"][name] for name in COUNTS} == {
        "messages": 2,
        "unseen": 1,
        "uid_next": 4,
        "uid_validity": 1_700_000_001,
    }
    assert (counted["Drafts"]["messages"], counted["Drafts"]["unseen"], counted["Drafts"]["uid_next"]) == (0, 0, 1)
    assert all(set(row) >= COUNTS for row in counted.values() if row["selectable"])


@pytest.mark.requirement("F2")
async def test_counts_come_with_one_list_where_the_server_offers_that() -> None:
    async with on_demo(filled()) as box:
        await listed(box)
        before = len(box.commands())
        await listed(box, include_counts=True)
        assert box.names()[before:] == ["LIST"]


@pytest.mark.requirement("F2", "F4")
async def test_otherwise_they_come_from_a_bounded_number_of_status() -> None:
    mailbox = mailbox_with()
    for number in range(250):
        mailbox.create(f"F{number:03}")
    async with on_demo(mailbox, "LIST-STATUS") as box:
        found = await listed(box, include_counts=True)
        asked = [command.line for command in box.commands() if command.name == "STATUS"]
    assert len(found) == 256
    assert len(asked) == len(set(asked)) == 200
    counted = [row for row in found.values() if "messages" in row]
    assert len(counted) == 200
    assert all(codes(row) == ["status_failed"] for row in found.values() if "messages" not in row)


# --- F3 ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("F3")
@pytest.mark.parametrize(
    ("there", "shown", "truncated", "counts"),
    [(2000, 2000, False, False), (2001, 2000, True, False), (2001, 2000, True, True)],
)
async def test_at_most_2000_folders_are_listed(there: int, shown: int, truncated: bool, counts: bool) -> None:
    status = "\nS-repeat: 1..{0} * STATUS F{{n}} (MESSAGES 0 UNSEEN 0 UIDNEXT 1 UIDVALIDITY 1)" if counts else ""
    rows = f'C: $ LIST ...\nS-repeat: 1..{there} * LIST () "/" F{{n}}{status.format(there)}\nS: $ OK done'
    offers = "IMAP4rev1 LIST-EXTENDED LIST-STATUS"
    async with on_script(f"@login {offers}\n{rows}") as box:
        answer = await box.ok("mail_list_folders", {"include_counts": counts})
    assert (len(answer["folders"]), answer["truncated"]) == (shown, truncated)


# --- F4 ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("F4")
@pytest.mark.parametrize("said", ["S: $ NO not now", "S: $ NO [SERVERBUG] x", "S: $ BAD x", "S: $ OK without a row"])
async def test_a_folder_whose_status_fails_is_a_row_with_a_warning(said: str) -> None:
    good = "S: * STATUS {0} (MESSAGES 5 UNSEEN 1 UIDNEXT 9 UIDVALIDITY 3)\nS: $ OK done"
    script = "\n".join(
        [
            "@login IMAP4rev1",
            lists('() "/" INBOX', '() "/" Bad', '() "/" Last'),
            f"C: $ STATUS ...INBOX... ...\n{good.format('INBOX')}",
            f"C: $ STATUS ...Bad... ...\n{said}",
            f"C: $ STATUS ...Last... ...\n{good.format('Last')}",
        ]
    )
    async with on_script(script) as box:
        found = await listed(box, include_counts=True)
    assert list(found) == ["INBOX", "Bad", "Last"]
    assert codes(found["Bad"]) == ["status_failed"]
    assert not COUNTS & set(found["Bad"])
    for name in ("INBOX", "Last"):
        assert {key: found[name][key] for key in COUNTS} == {
            "messages": 5,
            "unseen": 1,
            "uid_next": 9,
            "uid_validity": 3,
        }
        assert "warnings" not in found[name]


@pytest.mark.requirement("F4")
async def test_the_same_holds_where_counts_come_with_the_list() -> None:
    script = "\n".join(
        [
            "@login IMAP4rev1 LIST-EXTENDED LIST-STATUS",
            'C: $ LIST ...\nS: * LIST () "/" INBOX\nS: * LIST () "/" Bad\nS: * STATUS INBOX (MESSAGES 5 UNSEEN 1)',
            "S: $ OK done",
        ]
    )
    async with on_script(script) as box:
        found = await listed(box, include_counts=True)
    assert (found["INBOX"]["messages"], found["INBOX"]["unseen"]) == (5, 1)
    assert codes(found["Bad"]) == ["status_failed"]
    assert "warnings" not in found["INBOX"]


# --- F5, F8 ------------------------------------------------------------------------------------------------------

ODD = [
    "plain",
    "with space",
    " leading and trailing ",
    "dots.and/slashes",
    'quote\\"inside',
    "back\\\\slash",
    "star* and percent%",
    "{5}",
    "(paren) [bracket]",
    "~tilde",
    "&-ampersand",
    "&AOk-t&AOk-",
    "&ZeVnLIqe-",
    "&2D3eAA-",
    "role:sent",
    "ROLE:x",
    "wire:abc",
    "Wire:%41",
    "percent%41",
    "&IGs-",
    "&bad",
    "&AGE-",
    "&AOk",
    "&AOkA-",
    "&2D0-",
    "&IC4-gnp.exe",
    "&IAs-",
    "NIL",
    "null",
]
"""Names as a server quotes them; among them ones that are no modified UTF-7, or hide something."""


def unquoted(row: str) -> bytes:
    """The octets that a quoted string stands for."""
    return re.sub(r"\\(.)", r"\1", row).encode()


@pytest.mark.requirement("F8", "R3")
@pytest.mark.parametrize("row", ODD)
async def test_every_name_shown_opens_exactly_that_folder(row: str) -> None:
    script = "\n".join(["@login IMAP4rev1", lists(f'() "/" "{row}"'), "@examine exists=0 uidnext=1"])
    async with on_script(script) as box:
        (name,) = await listed(box)
        assert not re.search("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]", name)
        page = await box.search(folder=name)
        opened = box.sent[-1]
    assert page["folder"] == name
    assert re.fullmatch(rb'EXAMINE "(.*)"', opened), opened
    assert unquoted(opened.decode()[len('EXAMINE "') : -1]) == unquoted(row)


@pytest.mark.requirement("F8")
@pytest.mark.parametrize("wire", [b"caf\xc3\xa9", b"\xff\xfe", b"tab\there", b"bell\x07"])
async def test_names_that_no_server_should_have_open_their_folder_too(wire: bytes) -> None:
    shown = "".join(f"\\x{octet:02X}" for octet in wire)
    listing = f'C: $ LIST ...\nS-raw: * LIST () "/" {{{len(wire)}}}\\r\\n{shown}\\r\\n\nS: $ OK done'
    opening = f"C: $ EXAMINE {{{len(wire)}}}\nS: + go on\nC: {shown}\nS: * 0 EXISTS\nS: * OK [UIDVALIDITY 7] x"
    async with on_script(f"@login IMAP4rev1\n{listing}\n{opening}\nS: * OK [UIDNEXT 1] x\nS: $ OK done") as box:
        (name,) = await listed(box)
        assert name.startswith("wire:")
        assert name.isprintable()
        assert (await box.search(folder=name))["folder"] == name


ALIKE = [
    ("&AOk-", "&AOkA-"),
    ("a", "&AGE-"),
    ("&AOkA6Q-", "&AOk-&AOk-"),
    ("wire:a", "a"),
    ("&AOk-", "e&AwE-"),
    ("x", "x "),
    ("a&-b", "a&ACY-b"),
]


@pytest.mark.requirement("F5")
@pytest.mark.parametrize(("one", "other"), ALIKE)
async def test_names_that_decode_alike_are_two_names_and_two_folders(one: str, other: str) -> None:
    rows = lists(f'() "/" "{one}"', f'() "/" "{other}"')
    script = f"@login IMAP4rev1\n{rows}\n@examine exists=0 uidnext=1\n@examine exists=0 uidnext=1"
    async with on_script(script) as box:
        first, second = await listed(box)
        for name, wire in ((first, one), (second, other)):
            assert (await box.search(folder=name))["folder"] == name
            assert box.sent[-1] == f'EXAMINE "{wire}"'.encode()


# --- F6, F7 ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("F6")
async def test_folders_without_messages_are_listed_and_never_counted() -> None:
    script = "\n".join(
        [
            "@login IMAP4rev1",
            lists('() "/" INBOX', '(\\Noselect) "/" Work', '(\\NonExistent) "/" Lost', '(\\noSELECT) "/" Odd'),
            "C: $ STATUS ...INBOX... ...\nS: * STATUS INBOX (MESSAGES 0 UNSEEN 0 UIDNEXT 1 UIDVALIDITY 3)",
            "S: $ OK done",
        ]
    )
    async with on_script(script) as box:
        found = await listed(box, include_counts=True)
    assert [row["selectable"] for row in found.values()] == [True, False, False, False]
    for name in ("Work", "Lost", "Odd"):
        assert not (COUNTS | {"warnings"}) & set(found[name])


@pytest.mark.requirement("F7")
@pytest.mark.parametrize("without", [(), ("LIST-EXTENDED",)])
async def test_hidden_folders_and_what_is_below_them_are_not_listed(without: tuple[str, ...]) -> None:
    mailbox = mailbox_with()
    for name in ("Secret", "Secret/Deep/Deeper", "Secrets", "Open", "Open/Secret", "日本語/x"):
        mailbox.create(name)
    async with on_demo(mailbox, *without, MAIL_HIDDEN_FOLDERS="Secret,日本語,Trash") as box:
        for counts in (False, True):
            text = (await box.call("mail_list_folders", {"include_counts": counts})).text
            assert {"Deep", "日本", "Trash"} & set(re.findall(r"\w+", text)) == set()
            found = await listed(box, include_counts=counts)
            assert set(found) == {"INBOX", "Drafts", "Sent", "Junk", "Archive", "Secrets", "Open", "Open/Secret"}
        asked = [command.line for command in box.commands() if command.name == "STATUS"]
        assert not [line for line in asked if b'"Secret"' in line or b"Deep" in line]
        roles = (await box.ok("mail_capabilities"))["roles"]
        assert "missing" in roles["trash"]


@pytest.mark.requirement("F7")
async def test_hiding_a_folder_leaves_the_mail_of_the_others(small: Deployment) -> None:
    mailbox = mailbox_with(raw())
    mailbox.append("Archive", raw(), (), WHEN)
    async with on_demo(mailbox, MAIL_HIDDEN_FOLDERS="Archive") as box:
        assert uids((await box.search())["messages"]) == [1]
