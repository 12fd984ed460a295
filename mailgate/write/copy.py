"""`mail_copy`: one message into another folder, which must exist."""

from __future__ import annotations

from typing import Final

from mailgate.imap.placement import placement_of_copy
from mailgate.imap.values import MessageRef
from mailgate.write.change import Change
from mailgate.write.opened import opened_message
from mailgate.write.ports import Mailbox
from mailgate.write.results import MessagePlaced

MAY_BE_COPIED: Final = "The mail server's answer did not arrive; the message may have been copied."
LOOK: Final = "Look in the destination with mail_search, newest first, before copying again: it would be there twice."


async def copy_message(mailbox: Mailbox, reference: MessageRef, destination: str, *, change: Change) -> MessagePlaced:
    """UID COPY (RFC 9051, 6.4.7). Raises what opening the message raises, and `FolderNotFound` for a destination."""
    target = await mailbox.resolve(destination)
    async with opened_message(mailbox, reference, changes_folder=False) as message:
        uid = message.reference.uid
        with change.under_way(MAY_BE_COPIED, look=LOOK):
            copied = await message.folder.copy(uid, target)
    return MessagePlaced.of(placement_of_copy(copied, uid, target))
