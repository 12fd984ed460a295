"""The tools that create and rename folders, against real servers; every effect is seen by a second client."""

from __future__ import annotations

import pytest

from tests.peers.imap_user import ImapUser, Kept, wire_name
from tests.peers.rawlog import sent_since
from tests.real.letters import letter
from tests.real.test_folders import ODD_NAMES
from tests.real.tools import ToolFailed, Tools, refused

Everything = dict[str, dict[int, Kept]]


def names_of(everything: Everything) -> set[str]:
    return set(everything)


@pytest.mark.requirement("WN1")
async def test_a_new_folder_is_there_for_everybody_and_empty(user: ImapUser, writer: Tools) -> None:
    before = user.everything()
    name = user.folder("Projects 2024")
    result = await writer.call("mail_create_folder", name=name)
    assert result == {"status": "done", "folder": name, "warnings": []}
    assert user.everything() == {**before, name: {}}
    assert (await writer.search(folder=name))["complete"]


@pytest.mark.requirement("WN1", "WN2")
async def test_every_odd_name_is_created_as_it_is_or_refused_and_not_created(user: ImapUser, writer: Tools) -> None:
    before = user.everything()
    made = []
    for name in ODD_NAMES:
        whole = user.folder(*name.split("/"))
        result = await writer.attempt("mail_create_folder", name=whole)
        if isinstance(result, ToolFailed):
            dead = name in user.deadly_names
            assert name in user.refused_names
            assert result.code in ({"upstream_unavailable"} if dead else {"upstream_refused", "invalid_argument"})
        else:
            assert result["folder"] == whole
            made.append(whole)
    shown = await writer.folders()
    for whole in made:
        assert shown[whole]["selectable"], whole
    # What lies above a new folder is made by the server along with it.
    parents = {whole.rpartition(user.delimiter)[0] for whole in made} - {""}
    assert names_of(user.everything()) - {wire_name(parent) for parent in parents} == {
        *before,
        *map(wire_name, made),
    } - {wire_name(parent) for parent in parents}
    for whole in made:
        with refused("folder_exists"):
            await writer.call("mail_create_folder", name=whole)


@pytest.mark.requirement("WN2", "WN3")
async def test_what_exists_is_not_created_again(user: ImapUser, writer: Tools) -> None:
    user.append(bytes(letter()), user.folder("Archive"))
    before = user.everything()
    for name in (user.folder("Archive"), "INBOX", "inbox"):
        with refused("folder_exists"):
            await writer.call("mail_create_folder", name=name)
    assert user.everything() == before


@pytest.mark.requirement("WN1")
async def test_a_renamed_folder_keeps_its_messages_and_takes_along_what_is_below(user: ImapUser, writer: Tools) -> None:
    old, below, new = user.folder("Work"), user.folder("Work", "Deep"), user.folder("Arbeit & Spaß")
    user.create(old, below)
    user.append(bytes(letter("Kept")), old, flags=["\\Flagged", "\\Deleted"])
    user.append(bytes(letter("Below")), below)
    before = user.everything()
    result = await writer.call("mail_rename_folder", old=old, new=new)
    assert result == {"status": "done", "folder": new, "warnings": []}
    moved = user.delimiter.join((new, "Deep"))
    before[wire_name(new)], before[wire_name(moved)] = before.pop(old), before.pop(below)
    assert user.everything() == before
    assert (await writer.search(folder=new))["messages"][0]["untrusted"]["subject"] == "Kept"
    with refused("folder_not_found"):
        await writer.search(folder=old)


@pytest.mark.requirement("WN2")
@pytest.mark.parametrize("level", ["Archive", "Sent"])
async def test_renaming_never_overwrites(user: ImapUser, writer: Tools, level: str) -> None:
    user.create(user.folder("Work"))
    user.append(bytes(letter("In the way")), user.folder(level))
    before = user.everything()
    with refused("folder_exists"):
        await writer.call("mail_rename_folder", old=user.folder("Work"), new=user.folder(level))
    with refused("folder_exists"):
        await writer.call("mail_rename_folder", old=user.folder("Work"), new="Inbox")
    with refused("folder_not_found"):
        await writer.call("mail_rename_folder", old=user.folder("Nowhere"), new=user.folder("Somewhere"))
    assert user.everything() == before


@pytest.mark.requirement("WN3")
@pytest.mark.parametrize("name", ["INBOX", "inbox", "role:inbox", "role:INBOX"])
async def test_inbox_is_never_renamed(user: ImapUser, writer: Tools, name: str) -> None:
    user.append(bytes(letter()))
    before = user.everything()
    with refused("invalid_argument"):
        await writer.call("mail_rename_folder", old=name, new=user.folder("Elsewhere"))
    assert user.everything() == before


BAD_NAMES = ["", "role:trash", "Role:X", "wire:abc", "x" * 1001, "a\u202eb", "a\u200bb", "a\x7fb", "a\ud800b"]


@pytest.mark.requirement("WN4")
@pytest.mark.parametrize("name", BAD_NAMES, ids=lambda name: ascii(name[:12]))
async def test_a_name_that_could_not_be_shown_as_it_is_is_refused_unseen(
    user: ImapUser, writer: Tools, name: str
) -> None:
    user.create(user.folder("Work"))
    before = user.everything()
    sent = user.commands()
    for tool, arguments in (
        ("mail_create_folder", {"name": name}),
        ("mail_rename_folder", {"old": user.folder("Work"), "new": name}),
    ):
        with refused("invalid_argument"):
            await writer.call(tool, **arguments)
    assert not {"CREATE", "RENAME"} & {command.name for command in sent_since(sent, user.commands())}
    assert user.everything() == before


@pytest.mark.requirement("WN1", "W7")
async def test_a_name_of_a_thousand_characters_is_never_said_to_be_given_when_it_is_not(
    user: ImapUser, writer: Tools
) -> None:
    work, name = user.folder("Work"), user.folder("x" * 990)
    user.create(work)
    user.append(bytes(letter("Kept")), work)
    before = user.everything()
    for tool, arguments in (
        ("mail_rename_folder", {"old": work, "new": name}),
        ("mail_create_folder", {"name": name + "y"}),
    ):
        result = await writer.attempt(tool, **arguments)
        if not isinstance(result, ToolFailed):
            assert result["folder"] == list(arguments.values())[-1]
            before[result["folder"]] = before.pop(arguments.get("old", ""), {})
        elif result.code == "outcome_unknown":
            # Cyrus cuts the name when it renames, without a word.
            (cut,) = set(user.everything()) - set(before)
            assert name.startswith(cut)
            before[cut] = before.pop(work)
        else:
            assert result.code == "upstream_refused"
        assert user.everything() == before


@pytest.mark.requirement("WN4")
@pytest.mark.parametrize("shape", ["{0}{d}{d}Deep", "{0}{d}", "{0}{d}{d}"])
async def test_a_level_without_a_name_is_never_made(user: ImapUser, writer: Tools, shape: str) -> None:
    name = shape.format(user.folder("Work"), d=user.delimiter)
    user.create(user.folder("Play"))
    before = user.everything()
    for tool, arguments in (
        ("mail_create_folder", {"name": name}),
        ("mail_rename_folder", {"old": user.folder("Play"), "new": name}),
    ):
        with refused("invalid_argument"):
            await writer.call(tool, **arguments)
    assert user.everything() == before


async def test_a_name_with_the_delimiter_makes_levels(user: ImapUser, writer: Tools) -> None:
    before = user.everything()
    deep = user.folder("One", "Two", "Three")
    assert (await writer.call("mail_create_folder", name=deep))["folder"] == deep
    after = user.everything()
    assert set(after) - set(before) <= {user.folder("One"), user.folder("One", "Two"), deep}
    assert after[deep] == {}


async def test_an_old_server_gets_no_name_that_would_lock_out_other_clients(user: ImapUser, writer: Tools) -> None:
    name = user.folder("Party \N{PARTY POPPER}")
    if user.delimiter == "/":
        assert (await writer.call("mail_create_folder", name=name))["folder"] == name
    else:
        # Courier takes it in UTF-8; from then on its LIST ends every session without UTF-8, this second client's too.
        with refused("invalid_argument"):
            await writer.call("mail_create_folder", name=name)
    assert (wire_name(name) in user.everything()) is (user.delimiter == "/")
