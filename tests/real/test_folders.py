"""mail_list_folders against real servers, and every odd name on its way there and back."""

from __future__ import annotations

import pytest

from tests.peers.dovecot import Dovecot, MailUser
from tests.peers.fault_proxy import Conditions, FaultProxy
from tests.peers.imap_edit import ImapEdit
from tests.peers.imap_user import ImapUser, wire_name
from tests.real.letters import letter
from tests.real.tools import ToolFailed, Tools, refused, settings_for, subjects

ODD_NAMES = [
    "Two words",
    "Sale * 50",
    "a * b) (c",
    "100%",
    'quo"ted',
    "back\\slash",
    "R&D & more",
    "&",
    "{5}",
    "[Gmail]",
    "(paren",
    "tab-free ;,:'`^~$!?#+=|<>@",
    "日本語 フォルダ",
    "Café",
    "Cafe\N{COMBINING ACUTE ACCENT}",
    "emoji \N{OPEN MAILBOX WITH RAISED FLAG} mail",
    "ñandú/niño",
    "NIL",
    "INBOXES",
    "x" * 60,
]


@pytest.mark.requirement("F1", "C3")
async def test_a_new_mailbox_lists_inbox_and_the_special_folders_with_their_roles(user: ImapUser, tools: Tools) -> None:
    rows = await tools.folders()
    special = {user.folder(name) for name in ("Drafts", "Sent", "Trash", "Junk", "Archive")}
    assert set(rows) == {"INBOX", *special}
    advertised = {} if "SPECIAL-USE" in user.lacks else {name: name.lower() for name in special}
    roles = {name: row["role"] for name, row in rows.items() if "role" in row}
    assert roles == {"INBOX": "inbox", **advertised}
    assert all(row["selectable"] and row["delimiter"] == user.delimiter for row in rows.values())
    assert not any("messages" in row for row in rows.values())
    shown = (await tools.call("mail_capabilities"))["roles"]
    assert {role for role, value in shown.items() if "folder" in value} == set(roles.values())
    assert {role for role, value in shown.items() if "missing" in value} == set(shown) - set(roles.values())


@pytest.mark.requirement("F2")
async def test_counts_are_those_of_the_server(user: ImapUser, tools: Tools) -> None:
    user.append_all([bytes(letter())] * 3)
    user.append(bytes(letter()), flags=["\\Seen"])
    row = (await tools.folders(include_counts=True))["INBOX"]
    assert (row["messages"], row["unseen"], row["uid_next"]) == (4, 3, 5)
    assert row["uid_validity"] == (await tools.search())["uid_validity"]


@pytest.mark.requirement("F8", "R3")
async def test_every_odd_name_is_listed_once_and_opens_its_own_folder(user: ImapUser, tools: Tools) -> None:
    odd = [user.folder(*name.split("/")) for name in ODD_NAMES if name not in user.refused_names]
    user.create(*map(wire_name, odd))
    for number, name in enumerate(odd):
        user.append(bytes(letter(f"In {number}")), wire_name(name))
    listed = await tools.call("mail_list_folders", include_counts=True)
    names = [row["name"] for row in listed["folders"]]
    assert sorted(name for name in names if name in odd) == sorted(odd)
    counts = {row["name"]: row.get("messages") for row in listed["folders"]}
    for number, name in enumerate(odd):
        assert counts[name] == 1, name
        page = await tools.search(folder=name)
        assert subjects(page["messages"]) == [f"In {number}"]
        reference = page["messages"][0]["reference"]
        assert reference["folder"] == name
        assert (await tools.read(reference))["untrusted"]["headers"]["subject"] == f"In {number}"


@pytest.mark.requirement("F8")
@pytest.mark.parametrize("reserved", ["role:sent", "ROLE:trash", "wire:x"])
async def test_a_name_that_looks_like_a_reserved_word_still_opens_its_own_folder(
    user: ImapUser, tools: Tools, reserved: str
) -> None:
    if user.folder("") == "INBOX.":
        pytest.skip("every name begins with INBOX here")
    user.create(reserved)
    user.append(bytes(letter("In the odd one")), reserved)
    shown = next(name for name in await tools.folders() if name.lower() == f"wire:{reserved}".lower())
    assert subjects((await tools.search(folder=shown))["messages"]) == ["In the odd one"]


@pytest.mark.requirement("F5", "F8")
async def test_two_names_that_decode_alike_are_two_rows_and_two_folders(mail_user: MailUser, dovecot: Dovecot) -> None:
    # `&AGE-bc` is "abc" in a modified UTF-7 that is not canonical; only a server with a history has such a folder.
    mail_user.create("abc", "Twin")
    mail_user.append(bytes(letter("In abc")), "abc")
    mail_user.append_all([bytes(letter("In its twin"))] * 2, "Twin")
    async with FaultProxy(dovecot.plain_port, Conditions(edit=ImapEdit(renames={"Twin": "&AGE-bc"}))) as proxy:
        tools = Tools(settings_for(mail_user, MAIL_IMAP_PORT=str(proxy.port)))
        rows = await tools.folders(include_counts=True)
        assert {name: row["messages"] for name, row in rows.items() if "bc" in name} == {"abc": 1, "wire:&AGE-bc": 2}
        assert subjects((await tools.search(folder="abc"))["messages"]) == ["In abc"]
        assert subjects((await tools.search(folder="wire:&AGE-bc"))["messages"]) == ["In its twin"] * 2
        await tools.aclose()


@pytest.mark.requirement("F4")
async def test_a_folder_that_is_listed_and_cannot_be_opened_is_a_row_with_a_warning(
    mail_user: MailUser, dovecot_tools: Tools
) -> None:
    # What a restore may leave behind: the name on disk is no canonical modified UTF-7. Dovecot lists the folder under
    # an escaped name and then denies that it exists.
    mail_user.fill("caf&AOk-&AOk-", [1])
    rows = await dovecot_tools.folders(include_counts=True)
    broken = next(row for name, row in rows.items() if name.startswith("caf"))
    assert broken["warnings"][0].startswith("status_failed:")
    assert "messages" not in broken
    assert all(row["messages"] == 0 for row in rows.values() if row is not broken)


@pytest.mark.requirement("F6", "R8")
async def test_a_parent_that_holds_no_messages_is_listed_and_not_opened(user: ImapUser, tools: Tools) -> None:
    above, below = user.folder("Above"), user.folder("Above", "Below")
    user.create(below)
    rows = await tools.folders(include_counts=True)
    assert rows[below]["messages"] == 0
    if rows[above]["selectable"]:
        # Cyrus makes every level a folder that can hold messages.
        assert rows[above]["messages"] == 0
        return
    assert "messages" not in rows[above]
    with pytest.raises(ToolFailed) as failed:
        await tools.search(folder=above)
    assert failed.value.code in {"folder_not_selectable", "folder_not_found"}


@pytest.mark.requirement("R8")
async def test_a_folder_that_does_not_exist_is_not_found(tools: Tools) -> None:
    with refused("folder_not_found") as failed:
        await tools.search(folder="No such folder")
    assert "No such" not in failed.value.text


@pytest.mark.requirement("F7", "R8")
async def test_a_hidden_folder_and_what_is_below_it_do_not_exist(user: ImapUser) -> None:
    private, deep, other = user.folder("Private"), user.folder("Private", "Deep"), user.folder("Privately")
    user.create(private, deep, other)
    tools = Tools(settings_for(user, MAIL_HIDDEN_FOLDERS=private))
    try:
        assert {name for name in await tools.folders() if "Priv" in name} == {other}
        for name in (private, deep):
            with refused("folder_not_found"):
                await tools.search(folder=name)
    finally:
        await tools.aclose()


@pytest.mark.requirement("R4", "R5")
@pytest.mark.parametrize("mapped", [False, True], ids=["advertised", "mapped"])
async def test_a_role_stands_for_the_folder_that_has_it(user: ImapUser, mapped: bool) -> None:
    trash = user.folder("Trash")
    user.append(bytes(letter("Thrown away")), trash)
    tools = Tools(settings_for(user, **({"MAIL_FOLDER_ROLES": f"trash={trash}"} if mapped else {})))
    try:
        if "SPECIAL-USE" in user.lacks and not mapped:
            # It is called Trash, and nothing is guessed from a name.
            with refused("special_use_missing"):
                await tools.search(folder="role:trash")
            return
        page = await tools.search(folder="role:trash")
        assert (page["folder"], subjects(page["messages"])) == (trash, ["Thrown away"])
        with refused("special_use_missing"):
            await tools.search(folder="role:flagged")
    finally:
        await tools.aclose()


@pytest.mark.requirement("R3")
async def test_inbox_in_any_case_is_inbox(user: ImapUser, tools: Tools) -> None:
    user.append(bytes(letter("Found")))
    for name in ("inbox", "InBox", "role:inbox"):
        page = await tools.search(folder=name)
        assert (page["folder"], subjects(page["messages"])) == ("INBOX", ["Found"])
