"""`mail_get_attachment`: one attachment's octets and their hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from mailgate.errors import InvalidArgument, LimitExceeded
from mailgate.imap.values import MessageRef
from mailgate.limits import PARSE_SECONDS
from mailgate.mime.attached_text import AttachedText, extract_with_text
from mailgate.mime.model import Attachment, AttachmentInfo, RawMessage, ReadWarning
from mailgate.mime.parse import extract_attachment
from mailgate.read.offload import Deadline, OutOfTime, off_loop
from mailgate.read.paging import page_end
from mailgate.read.ports import Mailbox
from mailgate.read.source import fetch_message


@dataclass(frozen=True, slots=True)
class ReadAttachment:
    """One attachment. `size` and `sha256` (lower-case hex) are of `data`, the decoded octets.

    `described` is what the message says of it, and `text` what it holds: untrusted.
    """

    reference: MessageRef
    index: int
    size: int
    sha256: str
    data: bytes
    described: AttachmentInfo
    warnings: tuple[ReadWarning, ...] = ()
    text: AttachedText | None = None

    def shortened(self, chars: int) -> ReadAttachment:
        """The same with at most `chars` characters of text; octets cannot be shortened."""
        text = self.text
        if text is None or len(text.text) <= chars:
            return self
        return replace(self, text=replace(text, text=text.text[: page_end(text.text, 0, chars)], truncated=True))


async def get_attachment(
    mailbox: Mailbox, reference: MessageRef, index: int, *, as_text: bool = False
) -> ReadAttachment:
    """The attachment with this one-based index, as `mail_read` lists it; `as_text`: with its text in place of octets.

    Raises `InvalidArgument` for an attachment that is no text, `AttachmentNotFound`, `AttachmentTooLarge`,
    `LimitExceeded` for a message that takes too long to parse, and what `fetch_message` raises.
    """
    if index < 1:
        raise InvalidArgument("`index` is a number from 1, as mail_read lists it.")
    fetched = await fetch_message(mailbox, reference)
    attachment, text = await _extracted(fetched.raw, index, as_text=as_text)
    if as_text and text is None:
        raise InvalidArgument(
            "`as` is text, and this attachment is neither text nor HTML.",
            next_step="Ask for the same attachment with `as`: bytes.",
        )
    return ReadAttachment(
        reference=fetched.reference,
        index=index,
        size=len(attachment.data),
        sha256=hashlib.sha256(attachment.data).hexdigest(),
        data=attachment.data,
        described=attachment.info,
        warnings=() if text is None else text.warnings,
        text=text,
    )


async def _extracted(raw: RawMessage, index: int, *, as_text: bool) -> tuple[Attachment, AttachedText | None]:
    def work(expired: Deadline) -> tuple[Attachment, AttachedText | None]:
        return extract_with_text(raw, index, deadline=expired) if as_text else (extract_attachment(raw, index), None)

    try:
        return await off_loop(work, seconds=PARSE_SECONDS)
    except OutOfTime:
        raise LimitExceeded("The message takes longer to examine than this server allows.") from None
