"""mail_create_folder and mail_rename_folder: never over anything that exists, never INBOX."""

from __future__ import annotations

import pytest

from mailgate.errors import FolderExists, FolderNotFound, InvalidArgument, OutcomeUnknown, UpstreamRefused
from mailgate.imap.values import FolderName
from mailgate.write.change import Change
from mailgate.write.create_folder import create_folder
from mailgate.write.rename_folder import rename_folder
from tests.write.fakes import mailbox, raising

UNFIT = ["", "x" * 1001, "a\tb", "a\x00b", "a\u202eb", "a\u200bb", "role:new", "ROLE:x", "wire:x", "Wire:%41", "\ud800"]


async def test_a_folder_is_created() -> None:
    box = mailbox()
    result = await create_folder(box, "Projects/Größe", change=Change())
    assert (result.folder, result.warnings) == (FolderName("Projects/Größe"), ())
    assert FolderName("Projects/Größe") in box.folders
    assert box.changes() == ["create"]


@pytest.mark.parametrize("name", UNFIT, ids=ascii)
async def test_a_name_that_would_not_be_shown_as_it_is_is_refused(name: str) -> None:
    box = mailbox()
    with pytest.raises(InvalidArgument) as caught:
        await create_folder(box, name, change=Change())
    assert "`name`" in caught.value.sentence
    with pytest.raises(InvalidArgument) as caught:
        await rename_folder(box, "Trash", name, change=Change())
    assert "`new`" in caught.value.sentence
    assert box.changes() == []


@pytest.mark.parametrize("name", ["INBOX", "inbox", "Inbox"])
async def test_inbox_exists_always(name: str) -> None:
    box = mailbox()
    with pytest.raises(FolderExists):
        await create_folder(box, name, change=Change())
    with pytest.raises(FolderExists):
        await rename_folder(box, "Trash", name, change=Change())
    with pytest.raises(InvalidArgument):
        await rename_folder(box, name, "Other", change=Change())
    with pytest.raises(InvalidArgument):
        await rename_folder(box, name, name + "2", change=Change())
    assert box.changes() == []


async def test_what_exists_is_not_overwritten() -> None:
    box = mailbox()
    with pytest.raises(FolderExists):
        await create_folder(box, "Trash", change=Change())
    with pytest.raises(FolderExists):
        await rename_folder(box, "Trash", "Drafts", change=Change())
    with pytest.raises(FolderExists):
        await rename_folder(box, "Trash", "Trash", change=Change())


async def test_a_folder_is_renamed() -> None:
    box = mailbox()
    result = await rename_folder(box, "Trash", "Old", change=Change())
    assert result.folder == FolderName("Old")
    assert box.changes() == ["rename"]
    assert FolderName("Trash") not in box.folders


async def test_a_folder_that_is_not_there_cannot_be_renamed() -> None:
    with pytest.raises(FolderNotFound):
        await rename_folder(mailbox(), "Gone", "New", change=Change())


@pytest.mark.parametrize("command", ["create", "rename"])
async def test_a_lost_answer_is_unknown_and_says_how_to_look(command: str) -> None:
    box = mailbox()
    box.after = raising(command, OutcomeUnknown())
    create, rename = create_folder(box, "New", change=Change()), rename_folder(box, "Trash", "New", change=Change())
    wanted, other = (create, rename) if command == "create" else (rename, create)
    other.close()
    with pytest.raises(OutcomeUnknown) as caught:
        await wanted
    assert "mail_list_folders" in caught.value.next_step
    assert box.changes() == [command]


async def test_a_refusal_leaves_nothing_in_doubt() -> None:
    box = mailbox()
    box.before = raising("create", UpstreamRefused())
    change = Change()
    with pytest.raises(UpstreamRefused):
        await create_folder(box, "New", change=change)
    assert change.in_doubt is None
