"""Fetching one message's source: what reading, attachments and later replies start from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from mailgate.imap.values import MessageRef, ModSeq
from mailgate.limits import SOURCE_BYTES_MAX
from mailgate.mime.model import RawMessage, ReadWarning
from mailgate.read.flags import shown_flags
from mailgate.read.ports import Mailbox


@dataclass(frozen=True, slots=True)
class FetchedMessage:
    """A message's server facts and its first octets. `size` as the server says, which some get wrong."""

    reference: MessageRef
    flags: tuple[str, ...]
    internal_date: datetime | None
    size: int | None
    mod_seq: ModSeq | None
    raw: RawMessage
    warnings: tuple[ReadWarning, ...] = ()


async def fetch_message(mailbox: Mailbox, reference: MessageRef) -> FetchedMessage:
    """The message that `reference` names, without touching a flag.

    `StaleReference`, `MessageNotFound`, and whatever the mailbox raises. `raw` is cut at `SOURCE_BYTES_MAX` here too,
    because some servers answer a partial fetch with the whole message.
    """
    name = await mailbox.resolve(reference.folder.text)
    async with mailbox.examine(name, uid_validity=reference.uid_validity) as folder:
        row = await folder.fetch_source(reference.uid, SOURCE_BYTES_MAX)
        reference = MessageRef(folder.name, folder.uid_validity, reference.uid)
    flags = shown_flags(row.flags)
    truncated = row.truncated or len(row.source) > SOURCE_BYTES_MAX
    return FetchedMessage(
        reference=reference,
        flags=flags.flags,
        internal_date=row.internal_date,
        size=row.size,
        mod_seq=row.mod_seq,
        raw=RawMessage(row.source[:SOURCE_BYTES_MAX], truncated),
        warnings=flags.warnings,
    )
