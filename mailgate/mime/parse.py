"""A message read: headers, text, attachments. Synchronous, pure, bounded; nothing that a stranger writes raises.

Callers run these functions off the event loop and give a `deadline`: a function that says whether time is up, asked
between parts and blocks. When it is, what was found until then is returned, with a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from mailgate.limits import SOURCE_BYTES_MAX
from mailgate.mime.attachments import extract, list_attachments
from mailgate.mime.fields import HeaderFields, header_extent, parse_fields
from mailgate.mime.headers import HeaderReader
from mailgate.mime.line_ends import with_line_feeds
from mailgate.mime.model import Attachment, MessageHeaders, MessageText, ParsedMessage, RawMessage
from mailgate.mime.sender import SenderFacts, sender_facts
from mailgate.mime.structure import Deadline, MessagePart, parse_structure
from mailgate.mime.text import Body, TextReader, find_body
from mailgate.mime.warnings import WarningCode, WarningLog

_NO_TEXT: Final = MessageText("")


def parse_message(
    raw: RawMessage, *, deadline: Deadline | None = None, trusted_authserv_id: str | None = None
) -> ParsedMessage:
    """All of a message. Octets beyond `limits.SOURCE_BYTES_MAX` are not looked at.

    `trusted_authserv_id`: whose Authentication-Results are believed; None believes nobody.
    """
    log = WarningLog()
    source, truncated = _bounded(raw)
    log.add(WarningCode.SOURCE_TRUNCATED, when=truncated)
    fields, body_start = _fields(source)
    headers = _headers(fields, log)
    if raw.skeleton is None:
        root = parse_structure(source, fields, body_start, truncated=truncated, log=log, deadline=deadline)
    else:
        log.extend(raw.skeleton.log)
        root = raw.skeleton.root
    body = find_body(root)
    text = _text(source, body, log, deadline)
    attachments = list_attachments(source, root, body, log, deadline)
    return ParsedMessage(headers, text, attachments, log.warnings(), _sender(fields, log, trusted_authserv_id))


def parse_headers(block: bytes) -> MessageHeaders:
    """The fields of one header block, as a search row needs them. What follows a blank line is not looked at."""
    log = WarningLog()
    fields, _ = _fields(with_line_feeds(block))
    return replace(_headers(fields, log), warnings=log.warnings())


def parse_head(block: bytes, *, truncated: bool = False, trusted_authserv_id: str | None = None) -> ParsedMessage:
    """What the header block alone says of a message: no text, no attachments. `truncated`: there is more of it."""
    log = WarningLog()
    fields, _ = _fields(with_line_feeds(block))
    log.add(WarningCode.HEADER_LIMIT, when=truncated)
    headers = _headers(fields, log)
    sender = _sender(fields, log, trusted_authserv_id)
    return ParsedMessage(headers, _NO_TEXT, (), log.warnings(), sender)


def extract_attachment(raw: RawMessage, index: int) -> Attachment:
    """The attachment that `parse_message` lists under this one-based index.

    Raises `AttachmentNotFound`, and `AttachmentTooLarge` for one that is larger than `limits.ATTACHMENT_BYTES_MAX` or
    does not lie whole within the source.
    """
    message = opened(raw, WarningLog())
    return extract(message.source, message.root, find_body(message.root), index)


@dataclass(frozen=True, slots=True)
class OpenedMessage:
    """A message taken apart: its octets, and its parts as offsets into them."""

    source: bytes
    root: MessagePart


def opened(raw: RawMessage, log: WarningLog) -> OpenedMessage:
    """The structure alone."""
    source, truncated = _bounded(raw)
    if raw.skeleton is not None:
        return OpenedMessage(source, raw.skeleton.root)
    fields, body_start = _fields(source)
    return OpenedMessage(source, parse_structure(source, fields, body_start, truncated=truncated, log=log))


def _bounded(raw: RawMessage) -> tuple[bytes, bool]:
    if raw.skeleton is not None:
        # A skeleton is bounded when it is made, by octets that have honest line ends.
        return raw.prefix, raw.truncated
    source = with_line_feeds(raw.prefix[:SOURCE_BYTES_MAX])
    return source, raw.truncated or len(raw.prefix) > SOURCE_BYTES_MAX


def _fields(source: bytes) -> tuple[HeaderFields, int]:
    extent = header_extent(source, 0, len(source))
    return parse_fields(source, 0, extent.end), extent.body


def _headers(fields: HeaderFields, log: WarningLog) -> MessageHeaders:
    try:
        return HeaderReader(fields, log).headers()
    except Exception:
        log.add(WarningCode.PART_UNREADABLE)
        return MessageHeaders()


def _sender(fields: HeaderFields, log: WarningLog, trusted_authserv_id: str | None) -> SenderFacts:
    try:
        return sender_facts(fields, trusted_authserv_id=trusted_authserv_id)
    except Exception:
        log.add(WarningCode.PART_UNREADABLE)
        return SenderFacts(None, (), None)


def _text(source: bytes, body: Body, log: WarningLog, deadline: Deadline | None) -> MessageText:
    try:
        return TextReader(source, log, deadline).read(body)
    except Exception:
        log.add(WarningCode.PART_UNREADABLE)
        return _NO_TEXT
