"""mail_copy, mail_move, mail_trash: one command, and a new reference only on the server's word."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from mailgate.errors import (
    CapabilityMissing,
    FolderNotFound,
    InvalidArgument,
    MessageNotFound,
    OutcomeUnknown,
    SpecialUseMissing,
    StaleReference,
    UpstreamRefused,
)
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.values import MessageRef
from mailgate.write.change import Change
from mailgate.write.copy import copy_message
from mailgate.write.move import move_message
from mailgate.write.results import MessagePlaced, Status
from mailgate.write.trash import trash_message
from tests.write.fakes import WritableFakeMailbox, mailbox, raising, reference

Tool = Callable[[WritableFakeMailbox, MessageRef, Change], Awaitable[MessagePlaced]]


async def copy(box: WritableFakeMailbox, named: MessageRef, change: Change) -> MessagePlaced:
    return await copy_message(box, named, "Trash", change=change)


async def move(box: WritableFakeMailbox, named: MessageRef, change: Change) -> MessagePlaced:
    return await move_message(box, named, "Trash", change=change)


async def trash(box: WritableFakeMailbox, named: MessageRef, change: Change) -> MessagePlaced:
    return await trash_message(box, named, change=change)


ALL = pytest.mark.parametrize(("tool", "command"), [(copy, "copy"), (move, "move"), (trash, "move")])
MOVING = pytest.mark.parametrize("tool", [move, trash])


@ALL
async def test_it_is_done_with_the_new_reference(tool: Tool, command: str) -> None:
    box = mailbox()
    result = await tool(box, reference(), Change())
    assert (result.status, result.reference, result.warnings) == (Status.DONE, reference(1, "Trash"), ())
    assert box.changes() == [command]
    assert (1 in box.inbox.content) is (command == "copy")


@ALL
async def test_without_the_servers_word_it_is_accepted_and_says_where_to_look(tool: Tool, command: str) -> None:
    box = mailbox()
    box.inbox.says_copy_uid = False
    result = await tool(box, reference(), Change())
    assert (result.status, result.reference) == (Status.ACCEPTED, None)
    assert "destination" in result.warnings[0].sentence
    assert box.changes() == [command]


@ALL
async def test_a_lost_answer_is_unknown_and_nothing_is_tried_again(tool: Tool, command: str) -> None:
    box = mailbox()
    box.inbox.after = raising(command, OutcomeUnknown())
    with pytest.raises(OutcomeUnknown) as caught:
        await tool(box, reference(), Change())
    assert "mail_search" in caught.value.next_step
    assert box.changes() == [command]


@ALL
async def test_a_refusal_is_passed_on_and_nothing_else_is_tried(tool: Tool, command: str) -> None:
    box = mailbox()
    box.inbox.before = raising(command, UpstreamRefused())
    with pytest.raises(UpstreamRefused):
        await tool(box, reference(), Change())
    assert box.changes() == [command]


@ALL
async def test_what_is_wrong_beforehand_sends_no_command_that_changes(tool: Tool, command: str) -> None:
    box = mailbox()
    for named, error in (
        (reference(9), MessageNotFound),
        (reference(uid_validity=8), StaleReference),
        (reference(folder="Gone"), FolderNotFound),
    ):
        with pytest.raises(error):
            await tool(box, named, Change())
    assert box.changes() == []


@MOVING
async def test_without_move_nothing_is_put_in_its_place(tool: Tool) -> None:
    box = mailbox()
    box.announced = CapabilitySet.of(["IMAP4rev1", "UIDPLUS"])
    with pytest.raises(CapabilityMissing):
        await tool(box, reference(), Change())
    assert box.selected == []
    assert box.changes() == []


@MOVING
async def test_a_message_is_not_moved_to_where_it_is(tool: Tool) -> None:
    box = mailbox()
    box.folder("Trash").append()
    with pytest.raises(InvalidArgument):
        await tool(box, reference(folder="Trash"), Change())
    assert box.selected == []


@MOVING
async def test_a_folder_open_for_reading_only_is_not_moved_out_of(tool: Tool) -> None:
    box = mailbox()
    box.inbox.read_only = True
    with pytest.raises(UpstreamRefused):
        await tool(box, reference(), Change())
    assert box.changes() == []


async def test_a_folder_open_for_reading_only_can_be_copied_from() -> None:
    box = mailbox()
    box.inbox.read_only = True
    assert (await copy(box, reference(), Change())).status is Status.DONE


async def test_copying_needs_no_extension() -> None:
    box = mailbox()
    box.announced = CapabilitySet.of(["IMAP4rev1"])
    assert (await copy(box, reference(), Change())).status is Status.DONE


@pytest.mark.parametrize("tool", [copy_message, move_message])
async def test_a_destination_is_never_created(tool: Callable[..., Awaitable[MessagePlaced]]) -> None:
    box = mailbox()
    with pytest.raises(FolderNotFound):
        await tool(box, reference(), "New", change=Change())
    assert "create" not in box.changes()
    assert list(box.inbox.content) == [1]


@pytest.mark.parametrize("tool", [copy_message, move_message])
async def test_a_destination_can_be_a_role(tool: Callable[..., Awaitable[MessagePlaced]]) -> None:
    result = await tool(mailbox(), reference(), "role:trash", change=Change())
    assert result.reference == reference(1, "Trash")


async def test_without_one_trash_nothing_is_guessed() -> None:
    box = mailbox()
    del box.role_names["trash"]
    with pytest.raises(SpecialUseMissing):
        await trash(box, reference(), Change())
    assert box.selected == []
