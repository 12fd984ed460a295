"""The changing tools from call to wire, against the embedded mail server and against scripted ones.

The numbers are those of docs/tools.md.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mailgate.demo.store import DemoMailbox
from mailgate.policy import Gate, Principal, Scope
from mailgate.server.catalog import TOOLS
from tests.contract.deployment import (
    OWNER,
    WHEN,
    Deployment,
    codes,
    demo_server,
    deployed,
    mailbox_with,
    on_script,
    raw,
)
from tests.peers.processes import eventually

OPEN = {"MAIL_ENABLE_WRITES": "1", "MAIL_ENABLE_DELETE": "1", "MAIL_FROM": "The Owner <owner@example.org>"}
CHANGING = {"UID STORE", "UID COPY", "UID MOVE", "UID EXPUNGE", "CREATE", "RENAME", "APPEND"}
HARMLESS = {"CAPABILITY", "LOGIN", "AUTHENTICATE", "ID", "ENABLE", "LIST", "SELECT", "UID FETCH", "NOOP", "UNSELECT"}
LOGIN = "@login IMAP4rev1 MOVE UIDPLUS UNSELECT\n"
SELECTED = "@select uidvalidity=7\nC: $ UID FETCH 9 (UID FLAGS)\nS: * 1 FETCH (UID 9 FLAGS ())\nS: $ OK\n"
SCRIPTED = {"folder": "INBOX", "uid_validity": 7, "uid": 9}


class Writing(Deployment):
    """A deployment with open gates, and the mailbox behind it."""

    mailbox: DemoMailbox

    def changes(self) -> list[str]:
        return [name for name in self.names() if name in CHANGING]

    def flags(self, uid: int, folder: str = "INBOX") -> set[str]:
        return set(self.mailbox.folder(folder).messages[uid].flags)

    def uids(self, folder: str = "INBOX") -> list[int]:
        return list(self.mailbox.folder(folder).messages)

    def reference(self, uid: int, folder: str = "INBOX") -> dict[str, Any]:  # type: ignore[override]
        return {"folder": folder, "uid_validity": self.mailbox.folder(folder).uid_validity, "uid": uid}


@pytest.fixture
async def box(request: pytest.FixtureRequest) -> AsyncIterator[Writing]:
    """INBOX with UIDs 1 to 3. Parameters: extensions the server lacks, and settings as `NAME=value`."""
    wanted: tuple[str, ...] = getattr(request, "param", ())
    without = [word for word in wanted if "=" not in word]
    variables = {**OPEN, **dict(word.split("=", 1) for word in wanted if "=" in word)}
    mailbox = mailbox_with(*(raw(subject=f"Letter {number}") for number in (1, 2, 3)))
    async with demo_server(mailbox, *without) as (port, sent), deployed(port, sent, **variables) as deployment:
        writing = Writing(deployment.service, sent)
        writing.mailbox = mailbox
        yield writing


def lacking(*words: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("box", [words], indirect=True, ids=["-".join(words).replace("=", ":")])


def calls(box: Writing) -> dict[str, dict[str, Any]]:
    one = {"reference": box.reference(2)}
    return {
        "mail_set_flags": {**one, "operation": "add", "flags": ["\\Seen"]},
        "mail_create_folder": {"name": "New"},
        "mail_rename_folder": {"old": "Archive", "new": "Old"},
        "mail_copy": {**one, "destination": "Archive"},
        "mail_move": {**one, "destination": "Archive"},
        "mail_trash": one,
        "mail_save_draft": {"message": {}},
        "mail_delete_permanently": one,
    }


ONE_COMMAND = {
    "mail_set_flags": ["UID STORE"],
    "mail_create_folder": ["CREATE"],
    "mail_rename_folder": ["RENAME"],
    "mail_copy": ["UID COPY"],
    "mail_move": ["UID MOVE"],
    "mail_trash": ["UID MOVE"],
    "mail_save_draft": ["APPEND"],
    "mail_delete_permanently": ["UID STORE", "UID EXPUNGE"],
}
EACH = pytest.mark.parametrize("name", list(ONE_COMMAND))
ON_A_MESSAGE = [name for name in ONE_COMMAND if "folder" not in name and "draft" not in name]


# --- writing in general ------------------------------------------------------------------------------------------


@pytest.mark.requirement("W4")
@EACH
async def test_a_call_sends_its_one_command_and_nothing_else_that_changes(box: Writing, name: str) -> None:
    assert (await box.ok(name, calls(box)[name]))["status"] == "done"
    assert box.changes() == ONE_COMMAND[name]
    assert set(box.names()) <= CHANGING | HARMLESS
    assert set(box.uids()) >= {1, 3}
    assert box.flags(1) == box.flags(3) == set()


@pytest.mark.requirement("W5", "W8")
@pytest.mark.parametrize("name", ON_A_MESSAGE)
async def test_a_reference_that_does_not_fit_changes_nothing(box: Writing, name: str) -> None:
    for wrong, code in (({"uid_validity": 1}, "stale_reference"), ({"uid": 99}, "message_not_found")):
        arguments = {**calls(box)[name], "reference": {**box.reference(2), **wrong}}
        await box.fails(code, name, arguments)
    assert box.changes() == []


LOST = {
    "mail_set_flags": ("C: $ UID STORE ...", "mail_read"),
    "mail_copy": ("C: $ UID COPY ...", "mail_search"),
    "mail_move": ("C: $ UID MOVE ...", "mail_search"),
    "mail_delete_permanently": ("C: $ UID STORE ...", "mail_read"),
}


def lost_call(name: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {"reference": SCRIPTED}
    if name == "mail_set_flags":
        arguments |= {"operation": "add", "flags": ["\\Seen"]}
    return arguments | ({"destination": "Archive"} if name in ("mail_copy", "mail_move") else {})


@pytest.mark.requirement("W6")
@pytest.mark.parametrize("ending", ["S-close", "S-cut", "S: * BYE going"])
@pytest.mark.parametrize("name", list(LOST))
async def test_a_connection_lost_after_the_command_is_unknown_and_says_how_to_look(name: str, ending: str) -> None:
    command, look = LOST[name]
    async with on_script(f"{LOGIN}{SELECTED}{command}\n{ending}", **OPEN) as box:
        text = await box.fails("outcome_unknown", name, lost_call(name))
        assert look in text.splitlines()[1]
        assert "INBOX" not in text
        assert "Archive" not in text


@pytest.mark.requirement("W6")
@pytest.mark.parametrize("name", list(LOST))
async def test_a_deadline_that_passes_after_the_command_is_unknown_too(name: str) -> None:
    command, look = LOST[name]
    script = f"{LOGIN}{SELECTED}{command}\nS-stall"
    async with on_script(script, strict=False, **OPEN, MAIL_UPSTREAM_TIMEOUT_SECONDS="1") as box:
        text = await box.fails("outcome_unknown", name, lost_call(name))
        assert look in text.splitlines()[1]


async def test_a_deadline_that_passes_before_the_command_is_no_doubt() -> None:
    script = f"{LOGIN}C: $ SELECT ...\nS-stall"
    async with on_script(script, strict=False, **OPEN, MAIL_UPSTREAM_TIMEOUT_SECONDS="1") as box:
        await box.fails("upstream_timeout", "mail_copy", lost_call("mail_copy"))


@pytest.mark.requirement("W7", "W6")
@lacking("UIDPLUS")
@pytest.mark.parametrize("name", ["mail_copy", "mail_move", "mail_trash", "mail_save_draft"])
async def test_without_the_servers_word_it_is_accepted(box: Writing, name: str) -> None:
    result = await box.ok(name, calls(box)[name])
    assert result["status"] == "accepted"
    assert "reference" not in result
    assert codes(result) == ["new_reference_unknown"]
    assert box.changes() == ONE_COMMAND[name]


@pytest.mark.requirement("W9")
@lacking("MAIL_HIDDEN_FOLDERS=Archive")
async def test_hidden_folders_do_not_exist_as_source_or_destination(box: Writing) -> None:
    box.mailbox.append("Archive", raw(), (), WHEN)
    for name, arguments in (
        ("mail_copy", {"reference": box.reference(1), "destination": "Archive"}),
        ("mail_move", {"reference": box.reference(1), "destination": "archive/below"}),
        ("mail_trash", {"reference": box.reference(1, "Archive")}),
        ("mail_delete_permanently", {"reference": box.reference(1, "Archive")}),
        ("mail_rename_folder", {"old": "Archive", "new": "Shown"}),
        ("mail_rename_folder", {"old": "Sent", "new": "Archive"}),
        ("mail_create_folder", {"name": "Archive/New"}),
        ("mail_save_draft", {"message": {}, "folder": "Archive"}),
    ):
        await box.fails("folder_not_found", name, arguments)
    assert box.changes() == []


@pytest.mark.requirement("W9")
@pytest.mark.parametrize("name", ["mail_copy", "mail_move"])
async def test_a_destination_that_does_not_exist_is_not_created(box: Writing, name: str) -> None:
    await box.fails("folder_not_found", name, {"reference": box.reference(1), "destination": "New"})
    assert "CREATE" not in box.names()
    assert not box.mailbox.has("New")
    assert box.uids() == [1, 2, 3]


@pytest.mark.requirement("W9")
async def test_a_folder_can_be_named_by_its_role(box: Writing) -> None:
    moved = await box.ok("mail_move", {"reference": box.reference(1), "destination": "role:archive"})
    assert moved["reference"]["folder"] == "Archive"


@pytest.mark.requirement("W10")
@pytest.mark.parametrize("name", ["mail_set_flags", "mail_move", "mail_delete_permanently"])
async def test_a_folder_that_opens_read_only_is_refused(name: str) -> None:
    look = "C: $ UID FETCH 9 (UID FLAGS)\nS: * 1 FETCH (UID 9 FLAGS ())\nS: $ OK\n"
    script = f"{LOGIN}@select uidvalidity=7 access=READ-ONLY\n{look}C: $ UNSELECT\nS: $ OK"
    async with on_script(script, **OPEN) as box:
        await box.fails("upstream_refused", name, lost_call(name))


@pytest.mark.requirement("W11")
def test_changing_tools_are_annotated_as_such() -> None:
    changing = [tool for tool in TOOLS if tool.name in ONE_COMMAND]
    writing = [tool.name for tool in TOOLS if not tool.hints.read_only and Gate.WRITES in tool.requirement.gates]
    assert writing == list(ONE_COMMAND)
    assert [tool.name for tool in changing if tool.hints.destructive] == ["mail_trash", "mail_delete_permanently"]
    assert not any(tool.hints.open_world for tool in changing)


@pytest.mark.requirement("W3")
@lacking("MOVE", "UIDPLUS", "MAIL_FROM=")
async def test_capabilities_say_why_a_tool_cannot_be_called(box: Writing) -> None:
    told = await box.ok("mail_capabilities")
    assert {row["name"] for row in told["tools"]} >= set(ONE_COMMAND)
    sending = {
        row["name"]: row["reason"] for row in told["tools"] if row["name"].startswith(("mail_prepare", "mail_send"))
    }
    assert set(sending.values()) == {"gate closed: MAIL_ENABLE_SEND"}
    refused = {row["name"]: row["reason"] for row in told["tools"] if not row["callable"]}
    assert {name: reason for name, reason in refused.items() if name not in sending} == {
        "mail_move": "the mail server lacks MOVE",
        "mail_trash": "the mail server lacks MOVE",
        "mail_save_draft": "not configured: MAIL_FROM",
        "mail_delete_permanently": "the mail server lacks UIDPLUS",
    }


async def test_without_a_grant_nothing_is_sent(box: Writing) -> None:
    reader = Principal("test", "reader", frozenset({Scope.READ}))
    for name, arguments in calls(box).items():
        await box.fails("scope_missing", name, arguments, reader)
    assert box.sent == []


# --- mail_set_flags ----------------------------------------------------------------------------------------------

NO_FLAGS = ["\\Deleted", "\\deleted", "\\RECENT", "\\*", "\\Custom", "a b", "a(b", "a)b", "*", "%", "{1}", "", "é"]
NO_FLAGS += ['"x"', "a\\b", "x" * 65, "x" * 300, "a\r\nA1 EXPUNGE", "NIL", "a]b"]


@pytest.mark.requirement("WF1")
@pytest.mark.parametrize("flag", NO_FLAGS, ids=ascii)
@pytest.mark.parametrize("operation", ["add", "remove"])
async def test_what_is_no_flag_that_may_be_set_is_refused(box: Writing, flag: str, operation: str) -> None:
    arguments = {"reference": box.reference(1), "operation": operation, "flags": ["\\Seen", flag]}
    text = await box.fails("invalid_argument", "mail_set_flags", arguments)
    assert "`flags.1`" in text
    assert box.sent == []


@pytest.mark.requirement("WF1")
@pytest.mark.parametrize("flags", [[], ["a"] * 21, "\\Seen", None, [1]], ids=ascii)
async def test_there_is_at_least_one_flag_and_not_too_many(box: Writing, flags: Any) -> None:
    arguments = {"reference": box.reference(1), "operation": "add", "flags": flags}
    await box.fails("invalid_argument", "mail_set_flags", arguments)
    await box.fails("invalid_argument", "mail_set_flags", {**arguments, "flags": ["x"], "operation": "replace"})
    assert box.sent == []


@pytest.mark.requirement("WF2", "WF6")
async def test_flags_are_added_and_removed_and_others_stay(box: Writing) -> None:
    box.mailbox.folder("INBOX").change_flags(2, "+", ["\\Answered", "$Label1"])
    one = {"reference": box.reference(2)}
    added = await box.ok("mail_set_flags", {**one, "operation": "add", "flags": ["\\seen", "$Forwarded"]})
    assert set(added["flags"]) == {"\\Answered", "\\Seen", "$Label1", "$Forwarded"} == box.flags(2)
    removed = await box.ok("mail_set_flags", {**one, "operation": "remove", "flags": ["\\Answered", "$Label1"]})
    assert set(removed["flags"]) == {"\\Seen", "$Forwarded"} == box.flags(2)
    assert (await box.read(box.reference(2)))["flags"] == removed["flags"]
    assert (await box.read(box.reference(2)))["modseq"] == removed["modseq"]


@pytest.mark.requirement("WF3")
async def test_a_message_changed_by_another_client_is_a_conflict(box: Writing) -> None:
    seen = (await box.read(box.reference(2)))["modseq"]
    box.mailbox.folder("INBOX").change_flags(2, "+", ["\\Flagged"])
    arguments = {"reference": box.reference(2), "operation": "add", "flags": ["\\Seen"]}
    await box.fails("modified_conflict", "mail_set_flags", {**arguments, "unchanged_since": seen})
    assert box.flags(2) == {"\\Flagged"}
    now = (await box.read(box.reference(2)))["modseq"]
    done = await box.ok("mail_set_flags", {**arguments, "unchanged_since": now})
    assert int(done["modseq"]) > int(now)
    assert all(b"UNCHANGEDSINCE" in command.line for command in box.commands() if command.name == "UID STORE")


@pytest.mark.requirement("WF3")
@pytest.mark.parametrize("wrong", ["0", "", "-1", "1.5", "9223372036854775808", "007", " 1", "x", 905, True], ids=ascii)
async def test_a_condition_is_a_modseq_in_decimal_digits(box: Writing, wrong: Any) -> None:
    arguments = {"reference": box.reference(2), "operation": "add", "flags": ["\\Seen"], "unchanged_since": wrong}
    assert "`unchanged_since`" in await box.fails("invalid_argument", "mail_set_flags", arguments)
    assert box.sent == []


@pytest.mark.requirement("WF4")
@lacking("CONDSTORE")
async def test_without_mod_sequences_it_warns_and_takes_no_condition(box: Writing) -> None:
    arguments = {"reference": box.reference(2), "operation": "add", "flags": ["\\Seen"]}
    await box.fails("capability_missing", "mail_set_flags", {**arguments, "unchanged_since": "5"})
    assert box.changes() == []
    result = await box.ok("mail_set_flags", arguments)
    assert codes(result) == ["not_conditional"]
    assert "modseq" not in result


@pytest.mark.requirement("WF5")
async def test_a_flag_outside_permanentflags_is_not_sent() -> None:
    script = (
        f"{LOGIN}C: $ SELECT ...\nS: * 1 EXISTS\nS: * OK [UIDVALIDITY 7] x\nS: * OK [UIDNEXT 10] x\n"
        "S: * OK [PERMANENTFLAGS (\\Seen \\Flagged)] x\nS: $ OK [READ-WRITE] x\n"
        "C: $ UID FETCH 9 (UID FLAGS)\nS: * 1 FETCH (UID 9 FLAGS ())\nS: $ OK x\nC: $ UNSELECT\nS: $ OK x"
    )
    async with on_script(script, **OPEN) as box:
        arguments = {"reference": SCRIPTED, "operation": "add", "flags": ["\\Seen", "work"]}
        await box.fails("flag_not_permitted", "mail_set_flags", arguments)


@pytest.mark.requirement("WF6")
async def test_a_keyword_that_the_server_drops_is_said_to_be_missing() -> None:
    row = "S: * 1 FETCH (UID 9 FLAGS (\\Seen))\nS: $ OK x\n"
    script = f"{LOGIN}{SELECTED}C: $ UID STORE 9 +FLAGS (work)\n{row}C: $ UID FETCH ...\n{row}C: $ UNSELECT\nS: $ OK x"
    async with on_script(script, **OPEN) as box:
        result = await box.ok("mail_set_flags", {"reference": SCRIPTED, "operation": "add", "flags": ["work"]})
        assert result["flags"] == ["\\Seen"]
        assert "flag_not_kept" in codes(result)


# --- folders -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("WN1")
async def test_a_created_and_a_renamed_folder_are_what_the_other_tools_take(box: Writing) -> None:
    for name in ("Projekte/Größe", "a&b", 'with "quotes" and \\', "日本語", "star * and %"):
        created = await box.ok("mail_create_folder", {"name": name})
        assert created["folder"] == name
        assert (await box.search(folder=name))["messages"] == []
    renamed = await box.ok("mail_rename_folder", {"old": "日本語", "new": "Nihongo"})
    assert renamed["folder"] == "Nihongo"
    names = [row["name"] for row in (await box.ok("mail_list_folders"))["folders"]]
    assert "Nihongo" in names
    assert "日本語" not in names


@pytest.mark.requirement("WN2")
async def test_what_exists_is_never_overwritten(box: Writing) -> None:
    await box.fails("folder_exists", "mail_create_folder", {"name": "Archive"})
    await box.fails("folder_exists", "mail_rename_folder", {"old": "Sent", "new": "Archive"})
    assert box.changes() == []


@pytest.mark.requirement("WN3")
async def test_inbox_is_neither_created_nor_renamed(box: Writing) -> None:
    await box.fails("folder_exists", "mail_create_folder", {"name": "inbox"})
    await box.fails("folder_exists", "mail_rename_folder", {"old": "Archive", "new": "INBOX"})
    for old in ("INBOX", "inbox", "role:inbox"):
        await box.fails("invalid_argument", "mail_rename_folder", {"old": old, "new": "Old"})
    assert box.changes() == []
    assert box.uids() == [1, 2, 3]


@pytest.mark.requirement("WN4")
@pytest.mark.parametrize(
    "name", ["a\u202eb", "a\u200bb", "role:sent", "wire:x", "a\r\nb", "a\0b", "", "x" * 1001], ids=ascii
)
async def test_a_name_that_could_not_be_shown_is_refused(box: Writing, name: str) -> None:
    await box.fails("invalid_argument", "mail_create_folder", {"name": name})
    await box.fails("invalid_argument", "mail_rename_folder", {"old": "Archive", "new": name})
    assert box.sent == []


# --- copying, moving, Trash --------------------------------------------------------------------------------------


@pytest.mark.requirement("WC1", "W7")
@pytest.mark.parametrize(
    ("name", "folder", "left"),
    [("mail_copy", "Archive", [1, 2, 3]), ("mail_move", "Archive", [1, 3]), ("mail_trash", "Trash", [1, 3])],
)
async def test_done_comes_with_the_new_reference(box: Writing, name: str, folder: str, left: list[int]) -> None:
    result = await box.ok(name, calls(box)[name])
    assert (result["status"], result["reference"]["folder"]) == ("done", folder)
    assert (await box.read(result["reference"]))["untrusted"]["headers"]["subject"] == "Letter 2"
    assert box.uids() == left


@pytest.mark.requirement("WC2")
@lacking("MOVE")
@pytest.mark.parametrize("name", ["mail_move", "mail_trash"])
async def test_without_move_nothing_is_put_in_its_place(box: Writing, name: str) -> None:
    await box.fails("capability_missing", name, calls(box)[name])
    assert set(box.names()) <= HARMLESS - {"SELECT"}
    assert box.uids() == [1, 2, 3]


@pytest.mark.requirement("WC3")
async def test_trash_is_the_one_with_the_role(box: Writing) -> None:
    box.mailbox.folder("Trash").attributes = ()
    await box.fails("special_use_missing", "mail_trash", calls(box)["mail_trash"])
    assert box.changes() == []


@pytest.mark.requirement("WC3")
@lacking("MAIL_FOLDER_ROLES=trash=Junk")
async def test_the_operators_trash_wins(box: Writing) -> None:
    assert (await box.ok("mail_trash", calls(box)["mail_trash"]))["reference"]["folder"] == "Junk"


@pytest.mark.requirement("WC3")
async def test_trash_and_delete_take_the_three_fields_at_top_level(box: Writing) -> None:
    trashed = await box.ok("mail_trash", {key: str(value) for key, value in box.reference(1).items()})
    await box.ok("mail_delete_permanently", trashed["reference"])
    assert box.uids("Trash") == []
    for name in ("mail_trash", "mail_delete_permanently"):
        await box.fails("invalid_argument", name, {"reference": box.reference(2), "uid": 3})
        await box.fails("invalid_argument", name, {})
    assert box.uids() == [2, 3]


@pytest.mark.requirement("WC4")
async def test_a_message_is_not_moved_to_where_it_is(box: Writing) -> None:
    await box.fails("invalid_argument", "mail_move", {"reference": box.reference(1), "destination": "inbox"})
    box.mailbox.append("Trash", raw(), (), WHEN)
    await box.fails("invalid_argument", "mail_trash", {"reference": box.reference(1, "Trash")})
    assert box.changes() == []


# --- drafts ------------------------------------------------------------------------------------------------------

LETTER = {
    "to": ["ann@example.org"],
    "cc": ["cy@example.org"],
    "bcc": ["bo@example.org"],
    "subject": "Über alles",
    "text": "Hello,\n.\nFrom me\n",
    "attachments": [
        {"filename": "a.txt", "content_type": "text/plain", "data_base64": base64.b64encode(b"one\ntwo").decode()}
    ],
    "in_reply_to": "<one@example.org>",
    "references": ["<zero@example.org>", "<one@example.org>"],
}


@pytest.mark.requirement("WD1", "WD6")
async def test_a_draft_is_kept_as_it_was_asked_for(box: Writing) -> None:
    saved = await box.ok("mail_save_draft", {"message": LETTER})
    assert saved["reference"]["folder"] == "Drafts"
    assert box.flags(saved["reference"]["uid"], "Drafts") == {"\\Draft"}
    shown = (await box.read(saved["reference"]))["untrusted"]
    headers = shown["headers"]
    assert headers["message_id"] == saved["message_id"]
    assert headers["from"] == ["The Owner <owner@example.org>"]
    assert (headers["to"], headers["cc"], headers["bcc"]) == (LETTER["to"], LETTER["cc"], LETTER["bcc"])
    assert (headers["subject"], headers["in_reply_to"]) == (LETTER["subject"], [LETTER["in_reply_to"]])
    assert shown["text"].split() == str(LETTER["text"]).split()
    assert (await box.attachment(saved["reference"], 1))["untrusted"]["data_base64"] == "b25lCnR3bw=="


@pytest.mark.requirement("WD2")
async def test_a_draft_goes_to_the_named_folder_or_to_the_one_with_the_role(box: Writing) -> None:
    assert (await box.ok("mail_save_draft", {"message": {}, "folder": "Archive"}))["reference"]["folder"] == "Archive"
    box.mailbox.folder("Drafts").attributes = ()
    await box.fails("special_use_missing", "mail_save_draft", {"message": {}})
    await box.fails("folder_not_found", "mail_save_draft", {"message": {}, "folder": "New"})
    assert not box.mailbox.has("New")


@pytest.mark.requirement("WD3")
async def test_an_empty_draft_is_a_draft(box: Writing) -> None:
    saved = await box.ok("mail_save_draft", {"message": {}})
    assert (saved["status"], saved["warnings"]) == ("done", [])


UNFIT: list[tuple[str, Any]] = [
    ("to", ["Ann <ann@example.org>"]),
    ("to", ["a@example.org, b@example.org"]),
    ("cc", ["a@b@c.example"]),
    ("bcc", ["ann@exämple.org"]),
    ("to", ["a@example.org\r\nBcc: x@example.org"]),
    ("subject", "one\r\nBcc: x@example.org"),
    ("subject", "one\u2028two"),
    ("text", "bell\x07"),
    ("in_reply_to", "one@example.org"),
    ("references", ["<a@b> <c@d>"]),
    ("attachments", [{"filename": "../a", "content_type": "text/plain", "data_base64": ""}]),
    ("attachments", [{"filename": "a", "content_type": "multipart/mixed", "data_base64": ""}]),
    ("attachments", [{"filename": "a", "content_type": "text/plain", "data_base64": "a"}]),
    ("attachments", [{"filename": "a", "content_type": "text/plain"}]),
]


@pytest.mark.requirement("WD3")
@pytest.mark.parametrize(("field", "value"), UNFIT, ids=ascii)
async def test_what_is_not_plain_is_refused_before_the_mailbox_is_asked(box: Writing, field: str, value: Any) -> None:
    text = await box.fails("invalid_argument", "mail_save_draft", {"message": {field: value}})
    assert f"`message.{field}" in text
    assert box.sent == []


@pytest.mark.requirement("WD4")
@pytest.mark.parametrize(
    "message",
    [
        {"to": [f"a{n}@example.org" for n in range(26)], "cc": [f"b{n}@example.org" for n in range(25)]},
        {"subject": "x" * 513},
        {"text": "x" * (1024 * 1024 + 1)},
        {"attachments": [{"filename": "a", "content_type": "text/plain", "data_base64": ""}] * 21},
        {"attachments": [{"filename": "a", "content_type": "a/b", "data_base64": "A" * (4 * 1024 * 1024 + 8)}]},
    ],
    ids=["recipients", "subject", "text", "attachments", "octets"],
)
async def test_a_draft_beyond_a_bound_is_refused(box: Writing, message: dict[str, Any]) -> None:
    await box.fails("limit_exceeded", "mail_save_draft", {"message": message})
    assert box.sent == []


@pytest.mark.requirement("WD5")
@lacking("MAIL_FROM=")
async def test_without_a_sender_there_is_no_draft(box: Writing) -> None:
    assert "MAIL_FROM" in await box.fails("not_configured", "mail_save_draft", {"message": LETTER})
    assert box.sent == []


# --- permanent deletion ------------------------------------------------------------------------------------------


@pytest.mark.requirement("WX1", "WX3")
async def test_one_message_is_removed_and_other_marked_ones_stay(box: Writing) -> None:
    box.mailbox.folder("INBOX").change_flags(1, "+", ["\\Deleted"])
    result = await box.ok("mail_delete_permanently", {"reference": box.reference(2)})
    assert (result["status"], result["reference"]) == ("done", box.reference(2))
    assert box.uids() == [1, 3]
    lines = [command.line.partition(b" ")[2] for command in box.commands() if command.name in CHANGING]
    assert lines == [b"UID STORE 2 +FLAGS (\\Deleted)", b"UID EXPUNGE 2"]
    assert await eventually(lambda: box.names()[-2:] == ["UID FETCH", "UNSELECT"])
    await box.fails("message_not_found", "mail_delete_permanently", {"reference": box.reference(2)})


@pytest.mark.requirement("WX2")
@lacking("UIDPLUS")
async def test_without_uidplus_nothing_is_marked(box: Writing) -> None:
    await box.fails("capability_missing", "mail_delete_permanently", {"reference": box.reference(2)})
    assert set(box.names()) <= HARMLESS - {"SELECT"}
    assert box.flags(2) == set()


MARKED = f"{LOGIN}{SELECTED}C: $ UID STORE 9 +FLAGS (\\Deleted)\nS: * 1 FETCH (UID 9 FLAGS (\\Deleted))\nS: $ OK x\n"


@pytest.mark.requirement("WX4", "W6")
@pytest.mark.parametrize(
    ("script", "said"),
    [
        (f"{LOGIN}{SELECTED}C: $ UID STORE 9 ...\nS-close", "may be marked as deleted, and is not removed"),
        (f"{MARKED}C: $ UID EXPUNGE 9\nS-close", "is marked as deleted and may be removed"),
        (f"{MARKED}C: $ UID EXPUNGE 9\nS: $ OK x\nC: $ UID FETCH ...\nS-close", "may be removed"),
        (
            f"{MARKED}C: $ UID EXPUNGE 9\nS: $ OK x\nC: $ UID FETCH ...\nS: * 1 FETCH (UID 9 FLAGS (\\Deleted))\n"
            "S: $ OK x\nC: $ UNSELECT\nS: $ OK x",
            "still there, marked as deleted",
        ),
    ],
    ids=["at the mark", "at the expunge", "at the look", "not removed"],
)
async def test_interrupted_it_says_how_far_it_may_have_come(script: str, said: str) -> None:
    async with on_script(script, **OPEN) as box:
        text = await box.fails("outcome_unknown", "mail_delete_permanently", {"reference": SCRIPTED})
        assert said in text
        assert "mail_read" in text.splitlines()[1]


@pytest.mark.requirement("WX5", "W5")
@pytest.mark.parametrize("answer", ["NO not today", "BAD what", "NO [NONEXISTENT] x", "NO [CANNOT] x", "NO [NOPERM] x"])
async def test_a_refused_expunge_says_that_the_message_is_marked(answer: str) -> None:
    script = f"{MARKED}C: $ UID EXPUNGE 9\nS: $ {answer}\nC: $ UNSELECT\nS: $ OK x"
    async with on_script(script, **OPEN) as box:
        text = await box.fails("upstream_refused", "mail_delete_permanently", {"reference": SCRIPTED})
        assert "marked as deleted and not removed" in text


@pytest.mark.requirement("WX6")
async def test_on_gmail_it_warns_about_all_mail() -> None:
    script = (
        f"{MARKED.replace('UNSELECT', 'UNSELECT X-GM-EXT-1', 1)}C: $ UID EXPUNGE 9\nS: * 1 EXPUNGE\nS: $ OK x\n"
        "C: $ UID FETCH ...\nS: $ OK x\nC: $ UNSELECT\nS: $ OK x"
    )
    async with on_script(script, **OPEN) as box:
        result = await box.ok("mail_delete_permanently", {"reference": SCRIPTED}, OWNER)
        assert codes(result) == ["gmail_labels"]
