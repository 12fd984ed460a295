"""A large message without its files: its beginning, and its parts in the server's words where that ends.

What the beginning shows is read from it, and what the server says has to agree with all of that: kind, order, nesting,
encoding, names, sizes. Where it does not, nothing is made of the server's words at all. Text that lies further down is
fetched, together with the header of every part that nobody has seen yet, and those have to agree as well. The parts
then go through the very functions that read a whole message: nothing is decided here about text or attachments.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from mailgate.limits import ATTACHMENT_BYTES_MAX, KIB, MIB, MIME_PARTS_MAX, PART_HEADER_BYTES, SOURCE_BYTES_MAX
from mailgate.mime.attachments import AttachedPart, attached_parts
from mailgate.mime.content import Content, content_of
from mailgate.mime.fields import header_extent, parse_fields
from mailgate.mime.line_ends import with_line_feeds
from mailgate.mime.protection import HEAD_OCTETS, needs_head
from mailgate.mime.structure import MessagePart, parse_structure
from mailgate.mime.text import find_body
from mailgate.mime.transfer import encoding_name, least_decoded
from mailgate.mime.warnings import WarningCode, WarningLog

OVERLAP: Final = 64
"""Octets of a text that are fetched a second time: they show that the server means the same octets by its number."""

_TEXT_OCTETS: Final = {"identity": 5 * MIB // 4, "base64": 2 * MIB, "quoted-printable": 4 * MIB}
"""Encoded octets of one text in which all that is looked at must be (`text._PLAIN_BYTES_MAX`, `HTML_BYTES_MAX`)."""
_UNSEEN_OCTETS: Final = KIB
"""Of a message that may be neither seen nor the body of a part: what ends it, and for each part its header."""
_ODD: Final = re.compile(r'[\x00-\x1f:"\\/<>|?*]')
"""What stands in a name that was not written as RFC 2045 has it: servers and readers repair that differently."""


class Disagreement(Exception):
    """The server's account and the octets are not about the same message."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """One part in the server's words. `section`: the number under which its body can be fetched (RFC 9051, 6.4.5.1)."""

    content: Content
    octets: int | None
    section: str
    children: tuple[Sketch, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part is to be had, and how it can be known again. It holds nothing that a message says.

    `default`: what it is without a Content-Type. `encoding`: as `encoding_name` spells it. `octets`: of its body, as
    encoded. `digest`: of what its header must say.
    """

    section: str
    default: str
    encoding: str | None
    octets: int | None
    digest: bytes

    @property
    def too_large(self) -> bool:
        """Whether its size alone tells that it passes the bound on attachments, or on what is examined."""
        if self.octets is None or self.octets > SOURCE_BYTES_MAX:
            return True
        return least_decoded(self.octets, self.encoding) > ATTACHMENT_BYTES_MAX

    def read(self, header: bytes) -> Content:
        """What the part's own header says. `Disagreement` where that is not what was expected."""
        extent = header_extent(header, 0, len(header))
        # Even a part without a field has a blank line; nothing at all is the answer about a part that does not exist.
        if not header or extent.body != len(header) or len(header) >= PART_HEADER_BYTES:
            raise Disagreement
        content = content_of(parse_fields(header, 0, extent.end), self.default)
        if digest_of(content) != self.digest:
            raise Disagreement
        return content


@dataclass(frozen=True, slots=True)
class Wanted:
    """`limit` octets of a part's body from `offset`. `start`: of the part in the skeleton; `whole`: no more follow;
    `enough`: what follows, if anything, would not be looked at in a message that is here whole either."""

    start: int
    section: str
    offset: int
    limit: int
    whole: bool
    enough: bool


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The octets that are here, and all parts. `places`: of each part that is not whole, or not seen, by its start.

    `unproven`: the parts of whose header only the server has spoken. `log`: what was noticed on the way.
    """

    source: bytes
    root: MessagePart
    places: Mapping[int, Place]
    unproven: tuple[Place, ...]
    log: WarningLog

    @property
    def cut(self) -> bool:
        """Whether text is missing that could be shown."""
        text = find_body(self.root).read
        return any(not part.complete and part.start in text for part in self.root.leaves())

    @property
    def doubtful(self) -> bool:
        """Whether the server's word alone is not enough for a part that nobody has seen.

        A text of no octets may have been taken for a header, and a file without a name or a suffix mostly has one that
        is written in a way which the server did not understand.
        """
        text = find_body(self.root).read
        unseen = [part for part in self.root.leaves() if part.start > len(self.source)]
        return any(not part.octets if part.start in text else _is_odd_name(part.content) for part in unseen)

    def wanted(self) -> tuple[Wanted, ...]:
        """What of the bodies is needed to read the message."""
        return tuple(self._wanted())

    def _wanted(self) -> Iterator[Wanted]:
        text = find_body(self.root).read
        room = SOURCE_BYTES_MAX - len(self.source)
        for part in self.root.leaves():
            if part.complete or part.octets is None:
                continue
            have = part.end - part.start
            is_text = part.start in text
            most = _most(part, is_text)
            end = min(part.octets, most, have + room)
            if end > have:
                room -= end - have
                offset = max(0, have - OVERLAP)
                whole = end == part.octets
                enough = whole or (is_text and end == most and part.octets <= SOURCE_BYTES_MAX)
                yield Wanted(part.start, self.places[part.start].section, offset, end - offset, whole, enough)

    def attachment(self, index: int) -> AttachedPart | None:
        """The attachment with this one-based index."""
        listed = enumerate(attached_parts(self.root, find_body(self.root)), start=1)
        return next((one for at, one in listed if at == index), None)

    def filled(self, headers: Mapping[str, bytes], bodies: Mapping[Wanted, bytes]) -> Skeleton:
        """With what was fetched: headers by section, all of `unproven`, and bodies. Raises `Disagreement`."""
        contents = {place.section: place.read(_given(headers, place.section)) for place in self.unproven}
        made = _Filling(self, contents, bodies).skeleton()
        if _texts(made) != _texts(self):
            raise Disagreement
        return made


def digest_of(content: Content) -> bytes:
    """Two headers with one digest describe one part: what decides about text, attachments and decoding is in it."""
    said: tuple[str | None, ...] = (content.content_type,)
    if content.main_type != "multipart":
        encoding = encoding_name(content.encoding) or content.encoding
        said = (*said, encoding, content.disposition, content.filename, content.content_id)
    return hashlib.sha256(repr(said).encode("utf-8", "surrogatepass")).digest()


def framed(prefix: bytes, sketch: Sketch, size: int | None) -> Skeleton | None:
    """A message that goes on after `prefix`; None where the prefix and the server's account do not agree.

    `size`: of the whole message as the server says, if it does.
    """
    if with_line_feeds(prefix) != prefix:
        return None  # the server counts other octets than those that are read
    # A delimiter or a field that is cut off says nothing yet.
    source = prefix[: prefix.rfind(b"\n") + 1]
    extent = header_extent(source, 0, len(source))
    if extent.body >= len(source) and not _after_blank(source):
        return None
    log = WarningLog()
    root = parse_structure(source, parse_fields(source, 0, extent.end), extent.body, truncated=True, log=log)
    if WarningCode.PARTS_LIMIT in log or WarningCode.DEPTH_LIMIT in log or bool(root.children) != bool(sketch.children):
        return None
    merge = _Merge(source)
    try:
        merged = merge.part(root, sketch, "text/plain")
    except Disagreement:
        return None
    made = Skeleton(source, merged, merge.places, tuple(merge.unproven), log)
    few = sum(1 for _ in merged.leaves()) <= MIME_PARTS_MAX
    return made if few and _accounts_for(made, size) else None


def _accounts_for(skeleton: Skeleton, size: int | None) -> bool:
    """Whether the parts make up the message: a server may have left one out."""
    bodies = sum((part.octets or 0) - (part.end - part.start) for part in skeleton.root.leaves() if not part.complete)
    rest = 0 if size is None else size - len(skeleton.source) - bodies
    return abs(rest) <= _UNSEEN_OCTETS * (1 + len(skeleton.unproven))


def is_whole(body: bytes, octets: int) -> bool:
    """Whether this is all of a body of that size. One server counts the CR of the line end before the next delimiter to
    an attached message, both in its size and in its octets."""
    return len(body) == octets and not body.endswith(b"\r")


class _Merge:
    """Recursion is bounded by `limits.MIME_DEPTH_MAX`, which holds for either account."""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._beyond = len(source)
        self.places: dict[int, Place] = {}
        self.unproven: list[Place] = []

    def part(self, part: MessagePart, sketch: Sketch, default: str) -> MessagePart:
        """The part as its octets say, as far as there are any."""
        begun = not (part.complete or part.children) and part.start >= len(self._source)
        if begun and (sketch.children or not _after_blank(self._source)):
            # There may be more of its header, or nothing yet of what it is made of.
            return self._unseen(sketch, default)
        if digest_of(part.content) != digest_of(sketch.content) or bool(part.children) != bool(sketch.children):
            raise Disagreement
        return self._multipart(part, sketch) if part.children else self._leaf(part, sketch, default)

    def _multipart(self, part: MessagePart, sketch: Sketch) -> MessagePart:
        seen, said = part.children, sketch.children
        if len(seen) > len(said) or (part.complete and len(seen) != len(said)):
            raise Disagreement
        default = _default_in(part.content)
        both = [self.part(one, other, default) for one, other in zip(seen, said, strict=False)]
        rest = [self._unseen(other, default) for other in said[len(seen) :]]
        return _checked(replace(part, children=(*both, *rest)), self.places)

    def _leaf(self, part: MessagePart, sketch: Sketch, default: str) -> MessagePart:
        octets, have = sketch.octets, part.end - part.start
        if octets is None or (part.complete and octets != have):
            raise Disagreement
        if part.complete:
            return part
        # The line end before a delimiter is not the part's (RFC 2046, 5.1.1).
        if octets <= have:
            end = part.start + octets
            if self._source[end : part.end] not in (b"", b"\n", b"\r\n") or self._source.endswith(
                b"\r", part.start, end
            ):
                raise Disagreement
            return replace(part, end=end, complete=True)
        self.places[part.start] = _place(sketch, default)
        return replace(part, octets=octets)

    def _unseen(self, sketch: Sketch, default: str) -> MessagePart:
        self._beyond += 1
        start = self._beyond
        self.places[start] = place = _place(sketch, default)
        self.unproven.append(place)
        if sketch.children:
            inner = _default_in(sketch.content)
            children = tuple(self._unseen(child, inner) for child in sketch.children)
            return _checked(MessagePart(sketch.content, start, start, False, children), self.places)
        if sketch.octets is None or sketch.content.main_type == "multipart":
            raise Disagreement
        return MessagePart(sketch.content, start, start, sketch.octets == 0, octets=sketch.octets)


class _Filling:
    """The skeleton once more, with the bodies behind the beginning: first their places, then the parts."""

    def __init__(self, old: Skeleton, contents: Mapping[str, Content], bodies: Mapping[Wanted, bytes]) -> None:
        self._old, self._contents = old, contents
        self._pieces = [old.source]
        self._length = len(old.source)
        self._found: dict[int, tuple[int, int, bool]] = {}
        self._places: dict[int, Place] = {}
        parts = {part.start: part for part in old.root.leaves()}
        # The text that was cut goes on where the beginning ends.
        for wanted, body in sorted(bodies.items(), key=lambda one: one[0].start):
            self._add(wanted, parts[wanted.start], body)
        self._beyond = self._length

    def _add(self, wanted: Wanted, part: MessagePart, body: bytes) -> None:
        again = part.end - part.start - wanted.offset
        # One octet more than there should be was asked for, so that a part which is longer is found out.
        if len(body) != wanted.limit or body[:again] != self._old.source[part.end - again : part.end]:
            raise Disagreement
        if wanted.whole and not is_whole(body, wanted.limit):
            raise Disagreement
        start = part.start
        if part.end != len(self._old.source) or part.end == part.start:
            self._pieces.append(b"\n")  # two bodies never begin at one place, and each begins a line
            self._length += 1
            start = self._length
        self._pieces.append(body[again:])
        self._length += len(body) - again
        self._found[part.start] = start, self._length, wanted.enough

    def skeleton(self) -> Skeleton:
        """Everything, none of it unproven."""
        root = self._part(self._old.root)
        return Skeleton(b"".join(self._pieces), root, self._places, (), self._old.log)

    def _part(self, part: MessagePart) -> MessagePart:
        place = self._old.places.get(part.start)
        content = part.content if place is None else self._contents.get(place.section, part.content)
        children = tuple(map(self._part, part.children))
        start, end, complete = self._found.get(part.start, (part.start, part.end, part.complete))
        if place is not None and part.start not in self._found and part.start >= len(self._old.source):
            self._beyond += 1
            start = end = self._beyond
        if place is not None:
            self._places[start] = place
        return MessagePart(content, start, end, complete, children, part.octets)


def _most(part: MessagePart, is_text: bool) -> int:
    """How many octets of a body are looked at."""
    if is_text:
        return _TEXT_OCTETS.get(encoding_name(part.content.encoding) or "", SOURCE_BYTES_MAX)
    return HEAD_OCTETS if needs_head(part.content) else 0


def _after_blank(source: bytes) -> bool:
    """Whether the last line is blank: what ends there is a header, whole."""
    return source.endswith((b"\n\r\n", b"\n\n"))


def _is_odd_name(content: Content) -> bool:
    if content.filename is None:
        return content.disposition == "attachment" or content.main_type == "application"
    return "." not in content.filename or _ODD.search(content.filename) is not None


def _given(headers: Mapping[str, bytes], section: str) -> bytes:
    if section not in headers:
        raise Disagreement
    return headers[section]


def _texts(skeleton: Skeleton) -> list[bool]:
    text = find_body(skeleton.root).read
    return [part.start in text for part in skeleton.root.leaves()]


def _place(sketch: Sketch, default: str) -> Place:
    content = sketch.content
    return Place(sketch.section, default, encoding_name(content.encoding), sketch.octets, digest_of(content))


def _default_in(content: Content) -> str:
    """RFC 2046, 5.1.5: within a digest an unlabelled part is a message."""
    return "message/rfc822" if content.content_type == "multipart/digest" else "text/plain"


def _checked(part: MessagePart, places: Mapping[int, Place]) -> MessagePart:
    """No server gives the Content-ID of a multipart, so that one which `start` may name has to have been seen."""
    start = (part.content.start or "").strip("<>")
    if part.content.content_type == "multipart/related" and start:
        named = any((child.content.content_id or "").strip("<>") == start for child in part.children)
        if not named and any(child.children and child.start in places for child in part.children):
            raise Disagreement
    return part
