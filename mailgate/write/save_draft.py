"""`mail_save_draft`: composes a message and appends it as a new draft; nobody but the owner sees it."""

from __future__ import annotations

import asyncio
import secrets
from datetime import datetime
from typing import Final

from mailgate.imap.placement import placement_of_append
from mailgate.imap.values import SystemFlag
from mailgate.mime.compose import SenderLike, compose, make_message_id
from mailgate.mime.composition import Composition
from mailgate.write.change import Change
from mailgate.write.ports import Mailbox
from mailgate.write.results import DraftSaved, MessagePlaced

DRAFTS: Final = "role:drafts"
MAY_BE_SAVED: Final = "The mail server's answer did not arrive; the draft may have been saved."
LOOK: Final = "Look in the drafts folder with mail_search, newest first, before saving again: it would be there twice."


async def save_draft(
    mailbox: Mailbox,
    composition: Composition,
    folder: str | None = None,
    *,
    author: SenderLike,
    now: datetime,
    change: Change,
) -> DraftSaved:
    """Append the composed message with `\\Draft`, its Bcc kept; by default to the one Drafts folder.

    Raises `LimitExceeded` for a message that would be too large, `SpecialUseMissing`, `SpecialUseAmbiguous`,
    `FolderNotFound`, `UpstreamRefused` (a full mailbox, for one), `OutcomeUnknown`.
    """
    # Never an id that was used before: one provider takes a known one for the old message.
    message_id = make_message_id(author.address, secrets.token_hex(16))
    message = await asyncio.to_thread(
        compose, composition, sender=author, message_id=message_id, date=now, keep_bcc=True
    )
    name = await mailbox.resolve(folder or DRAFTS)
    with change.under_way(MAY_BE_SAVED, look=LOOK):
        answer = await mailbox.append(name, message.data, (SystemFlag.DRAFT,))
    return DraftSaved(MessagePlaced.of(placement_of_append(answer, name), message.warnings), message.message_id)
