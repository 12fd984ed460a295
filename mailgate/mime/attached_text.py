"""The readable text of an attachment, under the limits that a message's own text has."""

from __future__ import annotations

from dataclasses import dataclass

from mailgate.errors import AttachmentNotFound
from mailgate.limits import TEXT_BYTES_MAX
from mailgate.mime.attachments import AttachedPart, attached_parts, extract_one
from mailgate.mime.clean import cut_bytes
from mailgate.mime.model import (
    Attachment,
    MessageHeaders,
    ParsedMessage,
    RawMessage,
    ReadWarning,
    TextFormat,
    Truncation,
)
from mailgate.mime.parse import opened, parse_message
from mailgate.mime.structure import Deadline, MessagePart
from mailgate.mime.text import Body, Segment, TextReader, find_body
from mailgate.mime.warnings import WarningCode, WarningLog, read_warning

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_MESSAGE = frozenset({"message/rfc822", "message/global"})


@dataclass(frozen=True, slots=True)
class AttachedText:
    """The text, at most `limits.TEXT_BYTES_MAX` octets of UTF-8. `chars`: its length before it was shortened for a
    result; `truncated`: there is more than `text`."""

    text: str
    format: TextFormat
    chars: int
    truncated: bool = False
    sanitized: bool = False
    warnings: tuple[ReadWarning, ...] = ()


def extract_with_text(
    raw: RawMessage, index: int, *, deadline: Deadline | None = None
) -> tuple[Attachment, AttachedText | None]:
    """As `parse.extract_attachment`, and what the attachment says; None for what is neither text nor a message."""
    log = WarningLog()
    message = opened(raw, log)
    body = find_body(message.root)
    listed = enumerate(attached_parts(message.root, body), start=1)
    found = next((one for at, one in listed if at == index), None)
    if found is None:
        raise AttachmentNotFound
    return one_with_text(message.source, found, index, deadline=deadline)


def one_with_text(
    source: bytes, attached: AttachedPart, index: int, *, deadline: Deadline | None = None
) -> tuple[Attachment, AttachedText | None]:
    """As `extract_with_text`, for the part that is known to have this index."""
    attachment = extract_one(source, attached, index)
    part = attached.part
    kind = part.content.content_type
    if kind in _MESSAGE:
        return attachment, _of_message(parse_message(RawMessage(attachment.data), deadline=deadline))
    if kind in _HTML:
        return attachment, _of_part(source, Segment(html=(part,)), part, deadline)
    if part.content.main_type == "text":
        return attachment, _of_part(source, Segment(plain=(part,)), part, deadline)
    return attachment, None


def _of_part(source: bytes, segment: Segment, part: MessagePart, deadline: Deadline | None) -> AttachedText:
    log = WarningLog()
    try:
        found = TextReader(source, log, deadline).read(Body((segment,), frozenset({part.start})))
    except Exception:
        return AttachedText("", TextFormat.PLAIN, 0, truncated=True, warnings=(read_warning(_UNREADABLE),))
    cut = found.truncation is not Truncation.NONE
    return AttachedText(found.text, found.format, len(found.text), cut, found.sanitized, log.warnings())


_UNREADABLE = WarningCode.PART_UNREADABLE


def _of_message(parsed: ParsedMessage) -> AttachedText:
    """An attached message's own fields and text."""
    whole = "\n".join([*_fields(parsed.headers), "", parsed.text.text])
    text, cut = cut_bytes(whole, TEXT_BYTES_MAX)
    return AttachedText(
        text,
        parsed.text.format,
        len(text),
        cut or parsed.text.truncation is not Truncation.NONE,
        parsed.text.sanitized or parsed.headers.sanitized,
        (*parsed.headers.warnings, *parsed.warnings),
    )


def _fields(headers: MessageHeaders) -> list[str]:
    fields = {
        "From": ", ".join(headers.from_),
        "To": ", ".join(headers.to),
        "Cc": ", ".join(headers.cc),
        "Date": headers.date or headers.date_raw,
        "Subject": headers.subject,
    }
    return [f"{name}: {value}" for name, value in fields.items() if value]
