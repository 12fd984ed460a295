"""`mail_get_attachment`: one attachment's octets and their hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from mailgate.errors import InvalidArgument, LimitExceeded
from mailgate.imap.values import MessageRef
from mailgate.limits import PARSE_SECONDS
from mailgate.mime.model import Attachment, AttachmentInfo, RawMessage, ReadWarning
from mailgate.mime.parse import extract_attachment
from mailgate.read.offload import OutOfTime, off_loop
from mailgate.read.ports import Mailbox
from mailgate.read.source import fetch_message


@dataclass(frozen=True, slots=True)
class ReadAttachment:
    """One attachment. `size` and `sha256` (lower-case hex) are of `data`, the decoded octets.

    `described` is what the message says of it: untrusted.
    """

    reference: MessageRef
    index: int
    size: int
    sha256: str
    data: bytes
    described: AttachmentInfo
    warnings: tuple[ReadWarning, ...] = ()


async def get_attachment(mailbox: Mailbox, reference: MessageRef, index: int) -> ReadAttachment:
    """The attachment with this one-based index, as `mail_read` lists it.

    Raises `AttachmentNotFound`, `AttachmentTooLarge`, `LimitExceeded` for a message that takes too long to parse, and
    what `fetch_message` raises.
    """
    if index < 1:
        raise InvalidArgument("`index` is a number from 1, as mail_read lists it.")
    fetched = await fetch_message(mailbox, reference)
    attachment = await _extracted(fetched.raw, index)
    return ReadAttachment(
        reference=fetched.reference,
        index=index,
        size=len(attachment.data),
        sha256=hashlib.sha256(attachment.data).hexdigest(),
        data=attachment.data,
        described=attachment.info,
    )


async def _extracted(raw: RawMessage, index: int) -> Attachment:
    try:
        return await off_loop(lambda _: extract_attachment(raw, index), seconds=PARSE_SECONDS)
    except OutOfTime:
        raise LimitExceeded("The message takes longer to examine than this server allows.") from None
