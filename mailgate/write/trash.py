"""`mail_trash`: one message into the one Trash that the server advertises or the operator named."""

from __future__ import annotations

from typing import Final

from mailgate.errors import InvalidArgument
from mailgate.imap.values import MessageRef
from mailgate.write.change import Change
from mailgate.write.opened import require
from mailgate.write.ports import Mailbox
from mailgate.write.results import MessagePlaced
from mailgate.write.transfer import NO_MOVE, move_to

TRASH: Final = "role:trash"


async def trash_message(mailbox: Mailbox, reference: MessageRef, *, change: Change) -> MessagePlaced:
    """Raises `CapabilityMissing` without MOVE, `SpecialUseMissing` and `SpecialUseAmbiguous`."""
    await require(mailbox, "move", NO_MOVE)
    target = await mailbox.resolve(TRASH)
    if target == await mailbox.resolve(reference.folder.text):
        raise InvalidArgument(
            "`reference` names a message that is in Trash already.",
            next_step="Leave it there, or ask the owner whether to delete it permanently.",
        )
    return await move_to(mailbox, reference, target, change)
