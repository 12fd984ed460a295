"""`mail_move`: one message into another folder, natively or not at all."""

from __future__ import annotations

from mailgate.errors import InvalidArgument
from mailgate.imap.values import MessageRef
from mailgate.write.change import Change
from mailgate.write.names import same_folder
from mailgate.write.opened import require
from mailgate.write.ports import Mailbox
from mailgate.write.results import MessagePlaced
from mailgate.write.transfer import NO_MOVE, move_to


async def move_message(mailbox: Mailbox, reference: MessageRef, destination: str, *, change: Change) -> MessagePlaced:
    """Raises `CapabilityMissing` without MOVE, `InvalidArgument` when the message is in the destination already."""
    await require(mailbox, "move", NO_MOVE)
    target = await mailbox.resolve(destination)
    if same_folder(target, await mailbox.resolve(reference.folder.text)):
        raise InvalidArgument("`destination` is the folder that the message is in.")
    return await move_to(mailbox, reference, target, change)
