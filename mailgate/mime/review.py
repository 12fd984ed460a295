"""A finished message read back for the owner to look at: all of it, from its octets and from nothing else.

Unlike `parse`, which reads strangers' mail within bounds, this leaves nothing out: what is shown is what is approved.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from mailgate.limits import COMPOSED_BYTES_MAX
from mailgate.mime.addresses import parse_addresses
from mailgate.mime.attachments import AttachedPart, attached_parts
from mailgate.mime.clean import revealed
from mailgate.mime.encoded_words import decode_words
from mailgate.mime.fields import HeaderFields, header_extent, parse_fields, raw_text
from mailgate.mime.structure import MessagePart, parse_structure
from mailgate.mime.text import Body, find_body
from mailgate.mime.transfer import decode_up_to
from mailgate.mime.warnings import WarningLog


@dataclass(frozen=True, slots=True)
class ReviewedAttachment:
    """One attachment as it will arrive. `size`: decoded octets; `sha256` of them, hex."""

    filename: str
    content_type: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What the octets say. `from_` is `Name <addr@host>` or `addr@host`; `to` and `cc` are bare addresses.

    Strings are safe to show; `has_invisible`: something that nobody would see is in the message, and stands here
    as `[U+200B]`, each in its place.
    """

    from_: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str = field(repr=False)
    text: str = field(repr=False)
    attachments: tuple[ReviewedAttachment, ...] = ()
    has_invisible: bool = False


def review(data: bytes) -> Reviewed:
    """The message in `data`, one that `compose` made. Raises `RuntimeError` for any other."""
    extent = header_extent(data, 0, len(data))
    fields = parse_fields(data, 0, extent.end)
    root = parse_structure(data, fields, extent.body, truncated=False, log=WarningLog())
    body = find_body(root)
    text = _text(data, body)
    subject = decode_words(_value(fields, "subject")).text
    attached = tuple(attached_parts(root, body))
    names = [part.part.content.filename or "" for part in attached]
    # Not as a single line: the blanks of a subject are part of it.
    shown = [revealed(each) for each in (subject, text, *names)]
    return Reviewed(
        from_=str(_senders(fields)),
        to=_addresses(fields, "to"),
        cc=_addresses(fields, "cc"),
        subject=shown[0].text,
        text=shown[1].text,
        attachments=tuple(_attachment(data, part, name.text) for part, name in zip(attached, shown[2:], strict=True)),
        has_invisible=any(each.changed for each in shown),
    )


def _value(fields: HeaderFields, name: str) -> str:
    return raw_text(fields.first(name) or b"")


def _addresses(fields: HeaderFields, name: str) -> tuple[str, ...]:
    return tuple(one.address for one in parse_addresses(_value(fields, name)).addresses)


def _senders(fields: HeaderFields) -> object:
    senders = parse_addresses(_value(fields, "from")).addresses
    if len(senders) != 1:
        raise RuntimeError("a composed message does not name one sender")
    return senders[0]


def _text(data: bytes, body: Body) -> str:
    """The one text part with LF line ends, without the end of its last line, which composing adds."""
    parts = [part for segment in body.segments for part in (*segment.plain, *segment.html)]
    if len(parts) != 1:
        raise RuntimeError("a composed message does not have one text")
    return _decoded(data, parts[0]).decode("utf-8").replace("\r\n", "\n").removesuffix("\n")


def _attachment(data: bytes, attached: AttachedPart, name: str) -> ReviewedAttachment:
    octets = _decoded(data, attached.part)
    kind = attached.part.content.content_type
    return ReviewedAttachment(name, kind, len(octets), hashlib.sha256(octets).hexdigest())


def _decoded(data: bytes, part: MessagePart) -> bytes:
    result = decode_up_to(data, part.start, part.end, part.content.encoding, COMPOSED_BYTES_MAX)
    if result.cut or result.state.damaged or result.state.unknown:
        raise RuntimeError("a part of a composed message cannot be decoded")
    return result.data
