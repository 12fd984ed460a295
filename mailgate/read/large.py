"""A message that is larger than its beginning, read by its structure (decision 12).

One FETCH brings the beginning and the server's account of the parts. Where the text lies within the beginning, that is
all. Else one more brings the text that is missing, with the headers of the parts that nobody has seen. Whenever server
and octets disagree, or a piece does not come as it was asked for, there is no answer here, and the message is read in
the plain way: its first `limits.SOURCE_BYTES_MAX` octets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mailgate.errors import AttachmentNotFound, AttachmentTooLarge
from mailgate.imap.sections import Span
from mailgate.imap.values import Uid
from mailgate.limits import PARSE_SECONDS, PART_HEADER_BYTES
from mailgate.mime.attachments import AttachedPart, attached_parts
from mailgate.mime.skeleton import Disagreement, Place, Skeleton, framed, is_whole
from mailgate.mime.structure import MessagePart
from mailgate.mime.text import find_body
from mailgate.read.attached import sketch_of
from mailgate.read.offload import OutOfTime, off_loop
from mailgate.read.places import KnownPart
from mailgate.read.ports import ReadableFolder

if TYPE_CHECKING:
    from mailgate.imap.rows import SourceRow


@dataclass(frozen=True, slots=True)
class FetchedPart:
    """An attachment that was fetched by itself: its body, encoded, and the part with offsets into that."""

    body: bytes
    attached: AttachedPart


async def skeleton_of(row: SourceRow) -> Skeleton | None:
    """The parts of a message whose beginning this is; None where that is not sure."""
    outline = row.outline
    if outline is None:
        return None
    try:
        return await off_loop(lambda _: framed(row.source, sketch_of(outline), row.size), seconds=PARSE_SECONDS)
    except OutOfTime:
        return None


async def with_text(folder: ReadableFolder, uid: Uid, skeleton: Skeleton) -> Skeleton | None:
    """With the text that the skeleton lacks, from one FETCH at most."""
    wanted = skeleton.wanted()
    if not wanted and not skeleton.doubtful:
        return skeleton
    spans = [Span(one.section, one.limit + one.whole, one.offset) for one in wanted]
    found = await folder.fetch_sections(uid, [*spans, *_headers(skeleton.unproven)])
    if found is None:
        return None
    try:
        return skeleton.filled(
            {place.section: found[_header_of(place)] for place in skeleton.unproven},
            {one: found[one.section] for one in wanted},
        )
    except Disagreement:
        return None


def known_parts(skeleton: Skeleton) -> dict[int, KnownPart]:
    """The attachments that are not here, by index."""
    listed = enumerate(attached_parts(skeleton.root, find_body(skeleton.root)), start=1)
    return {
        index: KnownPart(skeleton.places[one.part.start], one.related, skeleton.unproven)
        for index, one in listed
        if one.part.start in skeleton.places
    }


async def part_at(folder: ReadableFolder, uid: Uid, skeleton: Skeleton, index: int) -> FetchedPart | None:
    """The attachment with this index, from the octets of the skeleton or by itself. None where that is not sure.

    Raises `AttachmentNotFound`, and `AttachmentTooLarge` before anything is fetched.
    """
    found = skeleton.attachment(index)
    place = None if found is None else skeleton.places.get(found.part.start)
    if found is None or place is None:
        # Which number an attachment has can depend on parts that follow it.
        if not await _proven(folder, uid, skeleton.unproven):
            return None
        if found is None:
            raise AttachmentNotFound
        return FetchedPart(skeleton.source, found)
    if place.too_large:
        raise AttachmentTooLarge
    return await fetch_part(folder, uid, KnownPart(place, found.related, skeleton.unproven))


async def fetch_part(folder: ReadableFolder, uid: Uid, known: KnownPart) -> FetchedPart | None:
    """The part, with its own header and those of all parts of which only the server has spoken."""
    place, octets = known.place, known.place.octets
    if octets is None:
        return None
    places = {one.section: one for one in (place, *known.unproven)}
    spans = [Span(place.section, octets + 1), *_headers(places.values())]
    found = await folder.fetch_sections(uid, spans)
    if found is None:
        return None
    body = found[place.section]
    try:
        contents = {section: one.read(found[_header_of(one)]) for section, one in places.items()}
    except Disagreement:
        return None
    if not is_whole(body, octets):
        return None
    return FetchedPart(body, AttachedPart(MessagePart(contents[place.section], 0, octets), known.related))


async def _proven(folder: ReadableFolder, uid: Uid, places: Iterable[Place]) -> bool:
    """Whether the headers of these parts say what the server said."""
    spans = _headers(places)
    if not spans:
        return True
    found = await folder.fetch_sections(uid, spans)
    try:
        return found is not None and all(place.read(found[_header_of(place)]) is not None for place in places)
    except Disagreement:
        return False


def _headers(places: Iterable[Place]) -> list[Span]:
    return [Span(_header_of(place), PART_HEADER_BYTES) for place in places]


def _header_of(place: Place) -> str:
    return f"{place.section}.MIME"
