"""`mail_get_attachment`: one attachment's octets and their hash."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

from mailgate.errors import InvalidArgument, LimitExceeded
from mailgate.imap.values import MessageRef, Uid
from mailgate.limits import FIRST_BYTES, PARSE_SECONDS, SOURCE_BYTES_MAX
from mailgate.mime.attached_text import AttachedText, extract_with_text, one_with_text
from mailgate.mime.attachments import extract_one
from mailgate.mime.model import Attachment, AttachmentInfo, RawMessage, ReadWarning
from mailgate.mime.parse import extract_attachment
from mailgate.read.large import FetchedPart, fetch_part, known_parts, part_at, skeleton_of
from mailgate.read.offload import Deadline, OutOfTime, off_loop
from mailgate.read.paging import page_end
from mailgate.read.places import KnownPlaces, places_in
from mailgate.read.ports import Mailbox, ReadableFolder
from mailgate.read.source import fetched_message


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
    name = await mailbox.resolve(reference.folder.text)
    async with mailbox.examine(name, uid_validity=reference.uid_validity) as folder:
        found = await _fetched(folder, reference.uid, index, places_in(mailbox))
        where = MessageRef(folder.name, folder.uid_validity, reference.uid)
    attachment, text = await _extracted(found, index, as_text=as_text)
    if as_text and text is None:
        raise InvalidArgument(
            "`as` is text, and this attachment is neither text nor HTML.",
            next_step="Ask for the same attachment with `as`: bytes.",
        )
    return ReadAttachment(
        reference=where,
        index=index,
        size=len(attachment.data),
        sha256=hashlib.sha256(attachment.data).hexdigest(),
        data=attachment.data,
        described=attachment.info,
        warnings=() if text is None else text.warnings,
        text=text,
    )


async def _fetched(folder: ReadableFolder, uid: Uid, index: int, places: KnownPlaces) -> FetchedPart | RawMessage:
    """The attachment by itself, or a message in whose octets it is, if anywhere."""
    reference = MessageRef(folder.name, folder.uid_validity, uid)
    known = places.find(reference, index)
    if known is not None and not known.place.too_large:
        found = await fetch_part(folder, uid, known)
        if found is not None:
            return found
        places.forget(reference)
    row = await folder.fetch_beginning(uid, FIRST_BYTES)
    if row is not None and row.truncated:
        skeleton = await skeleton_of(row)
        if skeleton is not None:
            places.keep(reference, known_parts(skeleton))
            found = await part_at(folder, uid, skeleton, index)
            if found is not None:
                return found
            places.forget(reference)
        row = None
    return fetched_message(folder, row or await folder.fetch_source(uid, SOURCE_BYTES_MAX)).raw


async def _extracted(
    found: FetchedPart | RawMessage, index: int, *, as_text: bool
) -> tuple[Attachment, AttachedText | None]:
    def work(expired: Deadline) -> tuple[Attachment, AttachedText | None]:
        if isinstance(found, FetchedPart):
            if as_text:
                return one_with_text(found.body, found.attached, index, deadline=expired)
            return extract_one(found.body, found.attached, index), None
        return (
            extract_with_text(found, index, deadline=expired) if as_text else (extract_attachment(found, index), None)
        )

    try:
        return await off_loop(work, seconds=PARSE_SECONDS)
    except OutOfTime:
        raise LimitExceeded("The message takes longer to examine than this server allows.") from None
