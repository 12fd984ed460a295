"""`mail_delete_permanently`: marks one message and expunges that one UID, or says exactly how far it came."""

from __future__ import annotations

from typing import Final

from mailgate.errors import (
    FlagNotPermitted,
    MailgateError,
    MessageNotFound,
    ModifiedConflict,
    OutcomeUnknown,
    UpstreamError,
    UpstreamRefused,
)
from mailgate.imap.values import MessageRef, SystemFlag
from mailgate.write.change import Change
from mailgate.write.opened import OpenedMessage, opened_message, require
from mailgate.write.ports import Mailbox
from mailgate.write.results import MessageDeleted
from mailgate.write.warnings import GMAIL_LABELS

NO_UIDPLUS: Final = (
    "The mail server lacks UIDPLUS; without it, removing one message would remove every other marked one."
)
MAY_BE_MARKED: Final = (
    "The mail server's answer did not arrive; the message may be marked as deleted, and is not removed yet."
)
MARKED_OR_GONE: Final = "The mail server's answer did not arrive; the message is marked as deleted and may be removed."
STILL_MARKED: Final = "The mail server accepted the removal, but the message is still there, marked as deleted."
UNMARKED: Final = "Another client took the deletion mark away before the message was removed; it is still there."
NOT_REMOVED: Final = "The mail server refused to remove the message: it is marked as deleted and not removed."
LOOK: Final = (
    "Look for the message with mail_read: message_not_found means that it is gone; \\Deleted among its flags, that "
    "it is marked and goes when any mail program expunges the folder."
)
MARKED: Final = (
    "Tell the owner: it stays until a mail program expunges the folder, and a mail program can take the mark away."
)


async def delete_permanently(mailbox: Mailbox, reference: MessageRef, *, change: Change) -> MessageDeleted:
    """`\\Deleted`, then UID EXPUNGE (RFC 4315, 2.1); done only when the same session no longer finds the message.

    Raises `CapabilityMissing` without UIDPLUS and `FlagNotPermitted`, both before anything is changed;
    `UpstreamRefused`, which says whether the message is marked; `ModifiedConflict` when another client took the mark
    away in between; `OutcomeUnknown`.
    """
    await require(mailbox, "uidplus", NO_UIDPLUS)
    async with opened_message(mailbox, reference) as message:
        if message.folder.permanent_flags.not_kept((SystemFlag.DELETED,)):
            raise FlagNotPermitted("This folder does not let messages be marked as deleted; nothing was changed.")
        with change.under_way(MAY_BE_MARKED, look=LOOK):
            await message.folder.mark_deleted(message.reference.uid)
        await _expunge(message, change)
        with change.settling():
            await _see_that_it_is_gone(message)
        gmail = "X-GM-EXT-1" in message.folder.capabilities
    return MessageDeleted(message.reference, (GMAIL_LABELS,) if gmail else ())


async def _expunge(message: OpenedMessage, change: Change) -> None:
    """From here on the message is marked, so no failure may sound as if nothing had happened."""
    try:
        with change.under_way(MARKED_OR_GONE, look=LOOK):
            await message.folder.expunge(message.reference.uid)
    except OutcomeUnknown:
        raise
    except MailgateError as error:
        if isinstance(error, UpstreamError) and not isinstance(error, UpstreamRefused):
            raise OutcomeUnknown(MARKED_OR_GONE, next_step=LOOK) from None
        raise UpstreamRefused(NOT_REMOVED, next_step=MARKED) from None


async def _see_that_it_is_gone(message: OpenedMessage) -> None:
    """Raises `ModifiedConflict` when another client kept the message, and `OutcomeUnknown` when it is there and marked.

    In that case the server said OK and has not done it yet, or never will.
    """
    try:
        state = await message.folder.fetch_state(message.reference.uid)
    except MessageNotFound:
        return
    if SystemFlag.DELETED not in state.flags:
        # UID EXPUNGE removes what is marked (RFC 4315, 2.1), so it did what it was asked: nothing.
        raise ModifiedConflict(UNMARKED)
    raise OutcomeUnknown(STILL_MARKED, next_step=LOOK)
