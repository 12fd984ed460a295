"""R1 to R9: how messages and folders are named, and that reading leaves no trace."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any

import pytest

from mailgate.demo.seed import seed_mailbox
from mailgate.demo.store import DemoMailbox
from mailgate.policy import Principal, Scope
from tests.contract.deployment import (
    READ_TOOLS,
    SEND_TOOLS,
    WHEN,
    WRITE_TOOLS,
    Deployment,
    demo_server,
    deployed,
    mailbox_with,
    multipart,
    on_demo,
    on_script,
    raw,
    unconfigured,
)
from tests.peers.demo import DemoPeer
from tests.server.fakes import BARE_TOKEN, ERAS, OWNER_TOKEN, READ_TOKEN, Post

FILE = "Content-Type: image/png\nContent-Disposition: attachment; filename=a.png\n\nx"


# --- R1 ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R1")
async def test_a_reference_has_three_fields_and_every_tool_gives_the_same_one(seeded: Deployment) -> None:
    reference = await seeded.reference(subject="Only a file")
    assert set(reference) == {"folder", "uid_validity", "uid"}
    assert [type(reference[name]) for name in ("folder", "uid_validity", "uid")] == [str, int, int]
    assert (await seeded.read(reference))["reference"] == reference
    assert (await seeded.attachment(reference, 1))["reference"] == reference


@pytest.mark.requirement("R1")
async def test_mail_read_takes_the_three_fields_at_top_level_and_get_attachment_does_not(seeded: Deployment) -> None:
    reference = await seeded.reference(subject="Only a file")
    assert await seeded.ok("mail_read", reference) == await seeded.read(reference)
    for missing in reference:
        incomplete = {name: value for name, value in reference.items() if name != missing}
        await seeded.fails("invalid_argument", "mail_read", incomplete)
    await seeded.fails("unknown_argument", "mail_get_attachment", {**reference, "index": 1})


@pytest.mark.requirement("R1")
async def test_a_message_in_a_folder_named_by_its_role_gets_a_reference_with_the_real_name(seeded: Deployment) -> None:
    page = await seeded.search(folder="role:sent")
    assert page["folder"] == "Sent"
    assert {row["reference"]["folder"] for row in page["messages"]} == {"Sent"}


# --- R2 ----------------------------------------------------------------------------------------------------------

HARMLESS = set("CAPABILITY ID LOGIN AUTHENTICATE ENABLE NAMESPACE LIST STATUS EXAMINE NOOP UNSELECT LOGOUT".split()) | {
    "UID SEARCH",
    "UID FETCH",
}
ITEMS = re.compile(
    rb"UID|FLAGS|INTERNALDATE|RFC822\.SIZE|MODSEQ|BODYSTRUCTURE"
    rb"|BODY\.PEEK\[(HEADER\.FIELDS \([A-Z -]+\))?\](<[0-9.]+>)?"
)


def contents(mailbox: DemoMailbox) -> dict[str, Any]:
    """All that reading could change: messages, flags, mod-sequences, folders."""
    return {
        name: (folder.uid_validity, folder.uid_next, folder.highest_mod_seq, dict(folder.messages))
        for name, folder in mailbox.folders.items()
    }


@pytest.mark.requirement("R2")
@pytest.mark.parametrize("without", [(), ("CONDSTORE",), ("LIST-STATUS",), ("LIST-EXTENDED", "SPECIAL-USE", "ESEARCH")])
async def test_reading_everything_leaves_the_mailbox_as_it_was(without: tuple[str, ...]) -> None:
    mailbox = seed_mailbox(WHEN)
    before = deepcopy(contents(mailbox))
    async with on_demo(mailbox, *without) as box:
        await box.ok("mail_capabilities")
        await box.ok("mail_list_folders", {"include_counts": True})
        for folder in ("INBOX", "Sent", "Junk"):
            await box.search(folder=folder, unread=True, query="e", order="oldest")
            rows, _ = await box.search_all(folder=folder, limit=10)
            for row in rows:
                read = await box.read(row["reference"])
                for entry in read["untrusted"]["attachments"]:
                    await box.attachment(row["reference"], entry["index"])
        await box.fails("message_not_found", "mail_read", {"folder": "Sent", "uid_validity": 1_700_000_003, "uid": 77})
    assert contents(mailbox) == before
    assert {command.name for command in box.commands()} <= HARMLESS
    fetched = [command.line for command in box.commands() if command.name == "UID FETCH"]
    assert len(fetched) > 50
    for line in fetched:
        items = re.fullmatch(rb"\S+ UID FETCH [0-9:,]+ \((.*)\)", line)
        assert items, line
        assert ITEMS.sub(b"", items[1]).strip() == b"", line


@pytest.mark.requirement("R2")
async def test_another_client_sees_unread_mail_still_unread() -> None:
    """The demo mailbox in a thread of its own, and the standard library's client beside us."""
    peer = DemoPeer()
    try:
        user = peer.new_user()
        user.append(multipart("Content-Type: text/plain\n\nwords", FILE))
        async with deployed(user.port, MAIL_USERNAME=user.name, MAIL_PASSWORD=user.password) as box:
            reference = await box.reference(unread=True)
            await box.read(reference)
            await box.attachment(reference, 1)
            assert user.flags(1) == set()
            assert await box.reference(unread=True) == reference
    finally:
        peer.stop()


# --- R3, R4, R5 --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R3")
@pytest.mark.parametrize("name", ["inbox", "Inbox", "iNbOx", "INBOX"])
async def test_inbox_is_the_same_in_any_case(small: Deployment, name: str) -> None:
    page = await small.search(folder=name)
    assert page["folder"] == "INBOX"
    assert len(page["messages"]) == 5
    read = await small.read({**page["messages"][0]["reference"], "folder": name})
    assert read["reference"] == page["messages"][0]["reference"]


@pytest.mark.requirement("R3")
async def test_other_names_are_taken_letter_for_letter(seeded: Deployment) -> None:
    for row in (await seeded.ok("mail_list_folders"))["folders"]:
        if row["selectable"]:
            assert (await seeded.search(folder=row["name"]))["folder"] == row["name"]
    for wrong in (
        "archive",
        "Archive ",
        " Archive",
        "Arch*",
        "%",
        "Archive/",
        "R\u00e9unions",
        "&ZeVnLIqe-",
        "Sent Mail",
    ):
        await seeded.fails("folder_not_found", "mail_search", {"folder": wrong})


@pytest.mark.requirement("R4")
async def test_a_role_is_the_folder_that_the_server_advertises() -> None:
    mailbox = DemoMailbox()
    roles = {role: f"My {role} box" for role in ("drafts", "sent", "trash", "junk", "archive", "all", "flagged")}
    for role, name in roles.items():
        mailbox.create(name, f"\\{role.title()}")
        mailbox.append(name, raw(subject=role), (), WHEN)
    mailbox.append("INBOX", raw(subject="inbox"), (), WHEN)
    for without in ((), ("LIST-EXTENDED",)):
        async with on_demo(mailbox, *without) as box:
            for role, name in {**roles, "inbox": "INBOX"}.items():
                page = await box.search(folder=f"role:{role}")
                assert page["folder"] == name
                assert [row["untrusted"]["subject"] for row in page["messages"]] == [role]
                reference = {**page["messages"][0]["reference"], "folder": f"role:{role}"}
                assert (await box.read(reference))["untrusted"]["headers"]["subject"] == role


@pytest.mark.requirement("R4")
async def test_the_operators_word_wins_and_works_without_special_use() -> None:
    mailbox = mailbox_with()
    mailbox.create("Gesendet & Ähnliches")
    mapped = {"MAIL_FOLDER_ROLES": "sent=Gesendet & Ähnliches,all=Archive"}
    for without in ((), ("SPECIAL-USE",)):
        async with on_demo(mailbox, *without, **mapped) as box:
            assert (await box.search(folder="role:sent"))["folder"] == "Gesendet & Ähnliches"
            assert (await box.search(folder="role:all"))["folder"] == "Archive"
    async with on_demo(mailbox) as box:
        assert (await box.search(folder="role:sent"))["folder"] == "Sent"


@pytest.mark.requirement("R4")
@pytest.mark.parametrize("role", ["", "outbox", "important", "sent ", "sent/x", "*"])
async def test_there_are_no_other_roles(small: Deployment, role: str) -> None:
    await small.fails("invalid_argument", "mail_search", {"folder": f"role:{role}"})
    assert small.sent == []


@pytest.mark.requirement("R5")
@pytest.mark.parametrize("role", ["drafts", "sent", "trash", "junk", "archive", "all", "flagged"])
async def test_a_role_without_a_folder_is_missing_and_nothing_is_guessed(role: str) -> None:
    mailbox = DemoMailbox()
    for name in ("Drafts", "Sent", "Sent Items", "Trash", "Junk", "Archive", "All", "All Mail", "Flagged", "Starred"):
        mailbox.create(name)
    async with on_demo(mailbox) as box:
        await box.fails("special_use_missing", "mail_search", {"folder": f"role:{role}"})


@pytest.mark.requirement("R5")
async def test_a_role_of_several_folders_is_ambiguous_until_the_operator_says_which() -> None:
    mailbox = mailbox_with()
    mailbox.create("Other Sent", "\\Sent")
    async with on_demo(mailbox) as box:
        await box.fails("special_use_ambiguous", "mail_search", {"folder": "role:sent"})
        reference = {"folder": "role:sent", "uid_validity": 1_700_000_003, "uid": 1}
        await box.fails("special_use_ambiguous", "mail_read", {"reference": reference})
    async with on_demo(mailbox, MAIL_FOLDER_ROLES="sent=Other Sent") as box:
        assert (await box.search(folder="role:sent"))["folder"] == "Other Sent"


# --- R6 ----------------------------------------------------------------------------------------------------------

LARGE = 2**63 - 1


@pytest.mark.requirement("R6")
async def test_a_modseq_is_a_decimal_string_of_all_63_bits() -> None:
    row = f'UID 3 FLAGS () INTERNALDATE "01-Jan-2024 00:00:00 +0000" RFC822.SIZE 3 MODSEQ ({LARGE})'
    script = "\n".join(
        [
            "@login IMAP4rev1 CONDSTORE",
            "C: $ EXAMINE ...\nS: * 1 EXISTS\nS: * OK [UIDVALIDITY 7] x\nS: * OK [UIDNEXT 4] x",
            f"S: * OK [HIGHESTMODSEQ {LARGE}] x\nS: $ OK done",
            "C: $ UID SEARCH ...\nS: * SEARCH 3\nS: $ OK done\nC: $ UID FETCH 3 ...MODSEQ...",
            f"S-raw: * 1 FETCH ({row} BODY[HEADER.FIELDS (FROM)] {{2}}\\r\\n\\r\\n)\\r\\n",
            "S: $ OK done\n@examine exists=1 uidvalidity=7 uidnext=4\nC: $ UID FETCH 3 ...MODSEQ...",
            f"S-raw: * 1 FETCH ({row} BODY[]<0> {{3}}\\r\\n\\r\\nx)\\r\\n",
            "S: $ OK done",
        ]
    )
    async with on_script(script) as box:
        (found,) = (await box.search(unread=True))["messages"]
        assert found["modseq"] == "9223372036854775807"
        assert (await box.read(found["reference"]))["modseq"] == "9223372036854775807"


@pytest.mark.requirement("R6")
async def test_without_condstore_there_is_no_modseq() -> None:
    mailbox = mailbox_with(raw())
    mailbox.folder("INBOX").change_flags(1, "+", ["\\Seen"])
    async with on_demo(mailbox) as box:
        reference = await box.reference()
        current = str(mailbox.folder("INBOX").messages[1].mod_seq)
        assert [(await box.search())["messages"][0]["modseq"], (await box.read(reference))["modseq"]] == [current] * 2
    async with on_demo(mailbox, "CONDSTORE") as box:
        assert "modseq" not in (await box.search())["messages"][0]
        assert "modseq" not in await box.read(reference)


# --- R7, R8 ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R7")
@pytest.mark.parametrize("warm", [False, True])
async def test_a_rebuilt_folder_makes_references_stale_and_shows_nothing_of_what_has_their_uid_now(warm: bool) -> None:
    mailbox = mailbox_with(multipart("Content-Type: text/plain\n\nwords", FILE), raw())
    async with on_demo(mailbox) as box:
        reference = (await box.search(limit=1, order="oldest"))["messages"][0]["reference"]
        if warm:
            await box.read(reference)
    async with demo_server(mailbox) as (port, sent), deployed(port, sent) as box:
        if warm:
            await box.search(folder="Archive")
        mailbox.renew_uid_validity("INBOX")
        for name, arguments in (("mail_read", {}), ("mail_get_attachment", {"index": 1})):
            text = await box.fails("stale_reference", name, {"reference": reference, **arguments})
            assert not re.search("words|Hello", text)
        assert set(box.names()) <= HARMLESS | {"UID FETCH"}
        assert await box.reference(limit=1, subject="Hello", query="Some") != reference


@pytest.mark.requirement("R8")
async def test_a_uid_that_is_not_there_is_message_not_found(small: Deployment) -> None:
    reference = {"folder": "INBOX", "uid_validity": 1_700_000_001, "uid": 3}
    await small.read(reference)
    for uid in (6, 99, 2**32 - 1):
        await small.fails("message_not_found", "mail_read", {"reference": {**reference, "uid": uid}})
        await small.fails(
            "message_not_found", "mail_get_attachment", {"reference": {**reference, "uid": uid}, "index": 1}
        )


@pytest.mark.requirement("R8")
async def test_a_message_expunged_in_the_meantime_is_message_not_found() -> None:
    mailbox = mailbox_with(raw(), raw())
    async with on_demo(mailbox) as box:
        reference = (await box.search())["messages"][0]["reference"]
        mailbox.folder("INBOX").expunge([2])
        await box.fails("message_not_found", "mail_read", {"reference": reference})


@pytest.mark.requirement("R8")
async def test_a_hidden_folder_and_what_is_below_are_not_found_like_any_other() -> None:
    mailbox = mailbox_with()
    for name in ("Secret", "Secret/Deep", "Secrets"):
        mailbox.create(name)
        mailbox.append(name, raw(), (), WHEN)
    async with on_demo(mailbox, MAIL_HIDDEN_FOLDERS="Secret") as box:
        nowhere = await box.fails("folder_not_found", "mail_search", {"folder": "Nowhere"})
        reference = {"uid_validity": mailbox.folder("Secret").uid_validity, "uid": 1}
        for name in ("Secret", "Secret/Deep"):
            assert await box.fails("folder_not_found", "mail_search", {"folder": name}) == nowhere
            for tool, more in (("mail_read", {}), ("mail_get_attachment", {"index": 1})):
                arguments = {"reference": {"folder": name, **reference}, **more}
                assert await box.fails("folder_not_found", tool, arguments) == nowhere
        assert not [command for command in box.commands() if b"Secret" in command.line and command.name == "EXAMINE"]
        assert len((await box.search(folder="Secrets"))["messages"]) == 1


@pytest.mark.requirement("R8")
async def test_a_hidden_folder_has_no_role() -> None:
    async with on_demo(mailbox_with(), MAIL_HIDDEN_FOLDERS="Trash") as box:
        await box.fails("special_use_missing", "mail_search", {"folder": "role:trash"})


@pytest.mark.requirement("R8")
async def test_a_folder_that_only_holds_others_is_not_selectable(seeded: Deployment) -> None:
    await seeded.fails("folder_not_selectable", "mail_search", {"folder": "Projects"})
    reference = {"folder": "Projects", "uid_validity": 1, "uid": 1}
    await seeded.fails("folder_not_selectable", "mail_read", {"reference": reference})
    await seeded.fails("folder_not_selectable", "mail_get_attachment", {"reference": reference, "index": 1})


# --- R9 ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("R9")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("token", [OWNER_TOKEN, READ_TOKEN, BARE_TOKEN])
async def test_all_reading_tools_are_listed_as_read_only_for_everybody(small: Deployment, era: str, token: str) -> None:
    for box in (small, unconfigured(), unconfigured(MAIL_ENABLE_WRITES="1")):
        listed = (await Post("tools/list", era=era, token=token).to(box.app)).json()["result"]["tools"]
        read_only = [tool["name"] for tool in listed if tool["annotations"]["readOnlyHint"]]
        assert read_only == list(READ_TOOLS)
        assert [tool["name"] for tool in listed] == [*READ_TOOLS, *WRITE_TOOLS, *SEND_TOOLS]
    assert small.sent == []


@pytest.mark.requirement("R9")
async def test_a_caller_who_may_only_write_sees_why_it_cannot_read(small: Deployment) -> None:
    writer = Principal("local", "owner", frozenset({Scope.WRITE}))
    await small.fails("scope_missing", "mail_list_folders", caller=writer)
