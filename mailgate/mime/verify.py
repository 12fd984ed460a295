"""Finished octets read back and compared with what was asked, by the code that reads other people's mail.

Whatever would go wrong between a composition and its octets stops here, before anybody approves, stores or sends it.
A difference is a fault of ours: `RuntimeError`, which names the aspect and holds no content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mailgate.limits import COMPOSED_BYTES_MAX
from mailgate.mime.addresses import NAME_CHARS_MAX, parse_addresses
from mailgate.mime.attachments import AttachedPart, attached_parts
from mailgate.mime.clean import clean, cut_chars
from mailgate.mime.composition import AttachmentUpload, Composition
from mailgate.mime.encoded_words import decode_words
from mailgate.mime.encoding import canonical_text
from mailgate.mime.fields import HeaderFields, header_extent, parse_fields, raw_text
from mailgate.mime.structure import MessagePart, parse_structure
from mailgate.mime.text import Body, find_body
from mailgate.mime.transfer import decode_up_to
from mailgate.mime.warnings import WarningLog

# RFC 5322, 2.1.1 and 2.3: lines of at most 998 octets, ended by CRLF and by nothing else. Neither a dot nor `From `
# begins a line, so that what is stuffed or quoted on the way is never ours.
_LINES: Final = re.compile(rb"(?:(?!\.|From )[\t -~]{0,998}+\r\n)++")


@dataclass(frozen=True, slots=True)
class Identity:
    """What the message says of itself: the sender's display name (may be empty) and address, its id, its date."""

    name: str
    address: str
    message_id: str
    date: str


def verify(data: bytes, asked: Composition, identity: Identity, *, keep_bcc: bool) -> None:
    """Raises `RuntimeError` unless `data` is canonical and reads back as exactly what was asked."""
    for aspect, holds in _aspects(data, asked, identity, keep_bcc):
        if not holds:
            raise RuntimeError(f"a composed message does not read back as asked: {aspect}")


def _aspects(data: bytes, asked: Composition, identity: Identity, keep_bcc: bool) -> Iterator[tuple[str, bool]]:
    yield "form", _LINES.fullmatch(data) is not None
    extent = header_extent(data, 0, len(data))
    fields = parse_fields(data, 0, extent.end)
    bcc = asked.bcc if keep_bcc else ()
    yield "fields", [name for name, _ in fields.fields] == list(_names(asked, bool(bcc)))
    yield "from", _addresses(fields, "from") == ((_name_as_read(identity), identity.address),)
    for role, addresses in (("to", asked.to), ("cc", asked.cc), ("bcc", bcc)):
        yield role, _addresses(fields, role) == tuple(("", address) for address in addresses)
    yield "subject", decode_words(_value(fields, "subject")).text == asked.subject
    yield "date", _value(fields, "date") == identity.date
    yield "message-id", _value(fields, "message-id") == identity.message_id
    yield "in-reply-to", _value(fields, "in-reply-to") == (asked.in_reply_to or "")
    yield "references", _value(fields, "references").split() == list(asked.references)
    yield from _content(data, fields, extent.body, asked)


def _names(asked: Composition, has_bcc: bool) -> Iterator[str]:
    """Every field that the message has, in order: one more or less, and it is not the message that was asked for."""
    optional = {"to": asked.to, "cc": asked.cc, "bcc": has_bcc, "subject": asked.subject}
    yield "from"
    yield from (name for name, value in optional.items() if value)
    yield from ("date", "message-id")
    thread = {"in-reply-to": asked.in_reply_to, "references": asked.references}
    yield from (name for name, value in thread.items() if value)
    yield from ("mime-version", "content-type")
    # A multipart needs no transfer encoding: its parts have theirs (RFC 2045, 6.4).
    if not asked.attachments:
        yield "content-transfer-encoding"


def _value(fields: HeaderFields, name: str) -> str:
    return raw_text(fields.first(name) or b"")


def _addresses(fields: HeaderFields, name: str) -> tuple[tuple[str, str], ...]:
    return tuple((one.name, one.address) for one in parse_addresses(_value(fields, name)).addresses)


def _name_as_read(identity: Identity) -> str:
    """The operator's name as a reader is shown it, which is cleaned, bounded, and not the address once more."""
    name, _ = cut_chars(clean(identity.name).text, NAME_CHARS_MAX)
    return "" if name == identity.address else name


# --- text and attachments --------------------------------------------------------------------------------------


def _content(data: bytes, fields: HeaderFields, start: int, asked: Composition) -> Iterator[tuple[str, bool]]:
    log = WarningLog()
    root = parse_structure(data, fields, start, truncated=False, log=log)
    yield "structure", not log.warnings()
    body = find_body(root)
    yield "text", _text(data, body) == canonical_text(asked.text)
    attached = list(attached_parts(root, body))
    yield "attachments", len(attached) == len(asked.attachments)
    for found, upload in zip(attached, asked.attachments, strict=True):
        yield "attachment", _is_same(data, found, upload)


def _text(data: bytes, body: Body) -> bytes | None:
    """The octets of the one text part, None where there is any other number of them or it says it is something else."""
    parts = [part for segment in body.segments for part in (*segment.plain, *segment.html)]
    if len(parts) != 1 or (parts[0].content.content_type, parts[0].content.charset) != ("text/plain", "utf-8"):
        return None
    return _decoded(data, parts[0])


def _is_same(data: bytes, found: AttachedPart, upload: AttachmentUpload) -> bool:
    content = found.part.content
    described = (content.filename, content.content_type, content.disposition)
    return (
        described == (upload.filename, upload.content_type, "attachment") and _decoded(data, found.part) == upload.data
    )


def _decoded(data: bytes, part: MessagePart) -> bytes | None:
    result = decode_up_to(data, part.start, part.end, part.content.encoding, COMPOSED_BYTES_MAX)
    return None if result.cut or result.state.damaged or result.state.unknown else result.data
