"""What a message carries beside its text: every leaf that is not text, listed with what is safe to say about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mailgate.errors import AttachmentNotFound, AttachmentTooLarge
from mailgate.limits import ATTACHMENT_BYTES_MAX
from mailgate.mime.clean import clean, cut_chars
from mailgate.mime.filenames import safe_filename
from mailgate.mime.model import Attachment, AttachmentInfo, Clean
from mailgate.mime.protection import note_leaf, note_structure
from mailgate.mime.structure import Deadline, MessagePart
from mailgate.mime.text import Body
from mailgate.mime.transfer import decode_up_to, decoded_size, estimated_size
from mailgate.mime.warnings import WarningCode, WarningLog

_CONTENT_ID_CHARS_MAX: Final = 300
_CONTENT_ID: Final = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class AttachedPart:
    """A leaf that is not text; `related`: it belongs to a compound object, to which its body refers."""

    part: MessagePart
    related: bool


def attached_parts(root: MessagePart, body: Body) -> Iterator[AttachedPart]:
    """In order of appearance, so that the first has index 1."""
    pending = [AttachedPart(root, False)]
    while pending:
        current = pending.pop()
        part = current.part
        if part.children:
            related = current.related or part.content.content_type == "multipart/related"
            pending.extend(AttachedPart(child, related) for child in reversed(part.children))
        elif part.start not in body.text_leaves and not _is_empty_body(root, part):
            yield current


def _is_empty_body(root: MessagePart, part: MessagePart) -> bool:
    """A message that is nothing but an empty body has no attachment."""
    return part is root and part.start == part.end and part.content.disposition is None and not part.octets


def list_attachments(
    source: bytes, root: MessagePart, body: Body, log: WarningLog, deadline: Deadline | None = None
) -> tuple[AttachmentInfo, ...]:
    """All attachments with their decoded sizes; no content is kept."""
    note_structure(root, log)
    found: list[AttachmentInfo] = []
    for index, attached in enumerate(attached_parts(root, body), start=1):
        if deadline is not None and deadline():
            log.add(WarningCode.TIME_LIMIT)
            break
        found.append(_info(source, index, attached, log))
    return tuple(found)


def _info(source: bytes, index: int, attached: AttachedPart, log: WarningLog) -> AttachmentInfo:
    part = attached.part
    size, state = decoded_size(source, part.start, part.end, part.content.encoding)
    log.add(WarningCode.TRANSFER_UNKNOWN, when=state.unknown)
    log.add(WarningCode.TRANSFER_DAMAGED, when=state.damaged and part.complete)
    info = describe(index, attached, size)
    note_leaf(source, part, info.filename, log)
    return info


def describe(index: int, attached: AttachedPart, size: int) -> AttachmentInfo:
    """The attachment as it is shown. `size` counts only for a part that is whole."""
    part = attached.part
    content = part.content
    left = None if part.complete or part.octets is None else estimated_size(part.octets, content.encoding)
    name = safe_filename(content.filename)
    content_id = _content_id(content.content_id)
    return AttachmentInfo(
        index=index,
        filename=name.name,
        filename_changed=name.changed,
        content_type=content.content_type,
        size=size if part.complete else left,
        disposition=content.disposition,
        content_id=content_id.text or None,
        referenced=attached.related and bool(content_id.text) and content.disposition != "attachment",
        sanitized=content_id.changed or clean(content.filename or "").changed,
        estimated=left is not None,
    )


def _content_id(sent: str | None) -> Clean:
    match = _CONTENT_ID.search(sent or "")
    safe = clean(match[0] if match else sent or "")
    return Clean(cut_chars(safe.text, _CONTENT_ID_CHARS_MAX)[0], safe.changed)


def extract(source: bytes, root: MessagePart, body: Body, index: int) -> Attachment:
    """The attachment with its octets. Raises `AttachmentNotFound`, `AttachmentTooLarge`; never gives a part of one."""
    attached = next((one for at, one in enumerate(attached_parts(root, body), start=1) if at == index), None)
    if attached is None:
        raise AttachmentNotFound
    return extract_one(source, attached, index)


def extract_one(source: bytes, attached: AttachedPart, index: int) -> Attachment:
    """As `extract`, for the part that is known to have this index."""
    part = attached.part
    if not part.complete:
        raise AttachmentTooLarge("The attachment does not lie whole within the part of the message that is examined.")
    # Stops one block beyond the bound, however much is there.
    result = decode_up_to(source, part.start, part.end, part.content.encoding, ATTACHMENT_BYTES_MAX)
    if result.cut:
        raise AttachmentTooLarge
    return Attachment(describe(index, attached, len(result.data)), result.data)
