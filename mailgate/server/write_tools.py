"""The changing tools: arguments to a use case, and nothing else. Each loads its use case when it is first called."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from mailgate.errors import NotConfigured
from mailgate.server.backend import Call, Cut

if TYPE_CHECKING:
    from mailgate.server.write_arguments import (
        CreateFolderArguments,
        DeleteArguments,
        RenameFolderArguments,
        SaveDraftArguments,
        SetFlagsArguments,
        TransferArguments,
        TrashArguments,
    )
    from mailgate.write.results import DraftSaved, FlagsSet, FolderChanged, MessageDeleted, MessagePlaced


async def mail_set_flags(call: Call, arguments: SetFlagsArguments) -> FlagsSet:
    """Flags of one message, added or removed."""
    from mailgate.write.set_flags import set_flags

    return await set_flags(
        call.connected.mailbox,
        arguments.reference.to_reference(),
        arguments.delta,
        unchanged_since=arguments.since,
        change=call.change,
    )


async def mail_create_folder(call: Call, arguments: CreateFolderArguments) -> FolderChanged:
    """A new folder."""
    from mailgate.write.create_folder import create_folder

    return await create_folder(call.connected.mailbox, arguments.name, change=call.change)


async def mail_rename_folder(call: Call, arguments: RenameFolderArguments) -> FolderChanged:
    """Another name for a folder."""
    from mailgate.write.rename_folder import rename_folder

    return await rename_folder(call.connected.mailbox, arguments.old, arguments.new, change=call.change)


async def mail_copy(call: Call, arguments: TransferArguments) -> MessagePlaced:
    """One message copied."""
    from mailgate.write.copy import copy_message

    reference = arguments.reference.to_reference()
    return await copy_message(call.connected.mailbox, reference, arguments.destination, change=call.change)


async def mail_move(call: Call, arguments: TransferArguments) -> MessagePlaced:
    """One message moved."""
    from mailgate.write.move import move_message

    reference = arguments.reference.to_reference()
    return await move_message(call.connected.mailbox, reference, arguments.destination, change=call.change)


async def mail_trash(call: Call, arguments: TrashArguments) -> MessagePlaced:
    """One message moved to Trash."""
    from mailgate.write.trash import trash_message

    return await trash_message(call.connected.mailbox, arguments.named.to_reference(), change=call.change)


async def mail_save_draft(call: Call, arguments: SaveDraftArguments) -> DraftSaved:
    """A new draft, from the sender that the operator set."""
    from mailgate.write.save_draft import save_draft

    author = call.settings.mail_from
    if author is None:
        raise NotConfigured(("MAIL_FROM",), "A draft needs a sender, and MAIL_FROM is not set.")
    return await save_draft(
        call.connected.mailbox,
        arguments.message.to_composition(),
        arguments.folder,
        author=author,
        now=datetime.now(UTC),
        change=call.change,
    )


async def mail_delete_permanently(call: Call, arguments: DeleteArguments) -> MessageDeleted:
    """One message removed for good."""
    from mailgate.write.delete_permanently import delete_permanently

    return await delete_permanently(call.connected.mailbox, arguments.named.to_reference(), change=call.change)


def _fewer_flags(result: FlagsSet, count: int) -> FlagsSet:
    from mailgate.write.warnings import FLAGS_CUT

    return replace(result, flags=result.flags[: max(count, 0)], warnings=(*result.warnings, FLAGS_CUT))


FEWER_FLAGS: Final = Cut(length=lambda result: len(result.flags), to=_fewer_flags)
"""Fewer flags, said to be fewer: the change is done and must not be called refused."""
