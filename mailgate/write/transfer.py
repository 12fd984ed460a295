"""What `mail_copy`, `mail_move` and `mail_trash` share: one message into another folder, by one command."""

from __future__ import annotations

from typing import Final

from mailgate.imap.placement import placement_of_copy
from mailgate.imap.values import FolderName, MessageRef
from mailgate.write.change import Change
from mailgate.write.opened import opened_message
from mailgate.write.ports import Mailbox
from mailgate.write.results import MessagePlaced

NO_MOVE: Final = "The mail server lacks MOVE; mailgate does not put copying and deleting in its place."
MAY_BE_MOVED: Final = "The mail server's answer did not arrive; the message may have been moved."
LOOK_IN_BOTH: Final = "Look in both folders with mail_search before moving anything again."


async def move_to(mailbox: Mailbox, reference: MessageRef, destination: FolderName, change: Change) -> MessagePlaced:
    """UID MOVE (RFC 6851) of one message. The caller has checked that the server can."""
    async with opened_message(mailbox, reference) as message:
        uid = message.reference.uid
        with change.under_way(MAY_BE_MOVED, look=LOOK_IN_BOTH):
            copied = await message.folder.move(uid, destination)
    return MessagePlaced.of(placement_of_copy(copied, uid, destination))
