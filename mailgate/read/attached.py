"""The server's account of a message's structure in the terms of `mime`, and the attachments in it.

The same rules that list a downloaded message's attachments list these, so that an index means the same in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mailgate.mime.attachments import attached_parts, describe
from mailgate.mime.content import Content, content_of
from mailgate.mime.fields import HeaderFields, parse_fields
from mailgate.mime.line_ends import with_line_feeds
from mailgate.mime.model import AttachmentInfo
from mailgate.mime.skeleton import Sketch
from mailgate.mime.structure import MessagePart
from mailgate.mime.text import find_body

if TYPE_CHECKING:
    from mailgate.imap.outline import PartOutline

_IDENTITY = frozenset({"", "7bit", "8bit", "binary"})


def attachments_in(outline: PartOutline | None, header: bytes) -> tuple[AttachmentInfo, ...] | None:
    """The list, or None without an outline, or with one that cannot be of the message with this header.

    `size` is known where the part is not encoded (RFC 2045, 6.2).
    """
    if outline is None or not _is_of(outline, header):
        return None
    places = iter(range(1_000_000))
    root = _part(outline, places)
    sizes = dict(_sizes(outline, root))
    attached = attached_parts(root, find_body(root))
    return tuple(describe(index, one, sizes.get(one.part.start) or 0) for index, one in enumerate(attached, start=1))


def _is_of(outline: PartOutline, header: bytes) -> bool:
    """Whether both say that there are parts, or both that there are none; and parts that are there hold something.

    Seen with Dovecot: where lines end in CR alone it finds no parts, or one without an octet.
    """
    honest = with_line_feeds(header)
    own = content_of(parse_fields(honest, 0, len(honest)))
    return bool(outline.children) == (own.main_type == "multipart") and (not outline.children or _holds(outline))


def _holds(outline: PartOutline) -> bool:
    return any(map(_holds, outline.children)) if outline.children else outline.octets != 0


def _part(outline: PartOutline, places: Iterator[int]) -> MessagePart:
    """A part as parsing would have found it, with a place of its own instead of offsets."""
    children = tuple(_part(child, places) for child in outline.children)
    place = next(places)
    content = _content(outline)
    known = outline.octets is not None and content.encoding in _IDENTITY
    return MessagePart(content, place, place + (outline.octets != 0), complete=known, children=children)


def sketch_of(outline: PartOutline, path: str = "") -> Sketch:
    """The parts with the number of each (RFC 9051, 6.4.5.1); the only part of a message that is no multipart is 1."""
    below = f"{path}." if path else ""
    children = tuple(sketch_of(child, f"{below}{number}") for number, child in enumerate(outline.children, start=1))
    return Sketch(_content(outline), outline.octets, path or ("" if children else "1"), children)


def _content(outline: PartOutline) -> Content:
    kind = b"%b/%b" % (outline.kind, outline.subtype)
    fields = [
        ("content-type", kind + _shown(outline.parameters)),
        ("content-transfer-encoding", outline.encoding),
        ("content-id", outline.content_id),
    ]
    if outline.disposition:
        fields.append(("content-disposition", outline.disposition + _shown(outline.disposition_parameters)))
    return content_of(HeaderFields(tuple(fields)))


def _shown(parameters: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Parameters as a header field has them (RFC 2045, 5.1), quoted whatever they hold."""
    quoted = ((name, value.replace(b"\\", b"\\\\").replace(b'"', b'\\"')) for name, value in parameters if name)
    return b"".join(b"; %b=%b" % (name, value if name.endswith(b"*") else b'"%b"' % value) for name, value in quoted)


def _sizes(outline: PartOutline, part: MessagePart) -> Iterator[tuple[int, int]]:
    """The size of each leaf by its place."""
    if not part.children and outline.octets is not None:
        yield part.start, outline.octets
    for inner, child in zip(outline.children, part.children, strict=True):
        yield from _sizes(inner, child)
