"""The parts of a message (RFC 2046, 5.1), found by offsets: no copy of any content, no recursion, linear work.

Every octet is looked at once, against the boundaries of the multiparts that are open there: fewer than
`limits.MIME_DEPTH_MAX`. The walk ends at `limits.MIME_PARTS_MAX` leaves.
An attached message is one leaf: what is in it is not this message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from mailgate.limits import HEADER_BYTES_MAX, MIME_DEPTH_MAX, MIME_PARTS_MAX
from mailgate.mime.content import Content, content_of
from mailgate.mime.fields import HeaderExtent, HeaderFields, header_extent, parse_fields, up_to_blank
from mailgate.mime.warnings import WarningCode, WarningLog

Deadline = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class MessagePart:
    """One node. `start` and `end` are the offsets of its body; `complete`: the body lies whole within the source.

    `octets`: the size of a body that was left with the server, encoded, as the server says.
    """

    content: Content
    start: int
    end: int
    complete: bool = True
    children: tuple[MessagePart, ...] = ()
    octets: int | None = None

    def leaves(self) -> Iterator[MessagePart]:
        """All leaves in order of appearance."""
        pending = [self]
        while pending:
            part = pending.pop()
            if part.children:
                pending.extend(reversed(part.children))
            else:
                yield part


@dataclass(slots=True)
class _Open:
    """A multipart whose parts are being read."""

    content: Content
    boundary: bytes
    start: int
    children: list[MessagePart] = field(default_factory=list)


def parse_structure(
    source: bytes,
    fields: HeaderFields,
    body: int,
    *,
    truncated: bool,
    log: WarningLog,
    deadline: Deadline | None = None,
) -> MessagePart:
    """The tree of parts. `body`: where the message's body starts; `truncated`: more exists than `source`."""
    return _Walk(source, truncated, log, deadline).walk(fields, body)


class _Walk:
    def __init__(self, source: bytes, truncated: bool, log: WarningLog, deadline: Deadline | None) -> None:
        self._source = source
        self._truncated = truncated
        self._log = log
        self._deadline = deadline
        self._open: list[_Open] = []
        self._delimiter = _delimiter_of(())
        self._leaf: tuple[Content, int] | None = None
        self._nodes = 0
        self._leaves = 0
        self._root: MessagePart | None = None

    def walk(self, fields: HeaderFields, body: int) -> MessagePart:
        self._begin(content_of(fields), body)
        end = self._run(body) if self._open else len(self._source)
        whole = end == len(self._source) and not self._truncated
        self._end_leaf(end, complete=whole)
        self._log.add(WarningCode.BOUNDARY_MISSING, when=bool(self._open) and whole)
        # What is still open here was never closed, by a cut or by its sender.
        while self._open:
            self._close(end, complete=whole)
        assert self._root is not None  # the first part begun is the last one closed
        return self._root

    def _run(self, at: int) -> int:
        """Goes from delimiter to delimiter; the offset where it stopped."""
        while match := self._delimiter.search(self._source, at):
            at = match.end()
            if self._deadline is not None and self._deadline():
                self._log.add(WarningCode.TIME_LIMIT)
                return match.start()
            level = max(index for index, one in enumerate(self._open) if one.boundary == match[1])
            before = self._before_line_end(match.start())
            self._end_leaf(before)
            while len(self._open) > level + 1:
                # An outer delimiter ends inner multiparts that were never closed (RFC 2046, 5.1.2).
                self._log.add(WarningCode.BOUNDARY_MISSING)
                self._close(before)
            if match[2]:
                self._close(before)
                if not self._open:
                    break
            elif not self._next_part(match):
                return match.start()
        return len(self._source)

    def _next_part(self, delimiter: re.Match[bytes]) -> bool:
        if self._leaves >= MIME_PARTS_MAX or self._nodes >= 2 * MIME_PARTS_MAX:
            self._log.add(WarningCode.PARTS_LIMIT)
            return False
        line_end = self._source.find(b"\n", delimiter.end())
        start = len(self._source) if line_end < 0 else line_end + 1
        extent = self._extent(start)
        parent = self._open[-1].content.content_type
        # RFC 2046, 5.1.5: within a digest an unlabelled part is a message.
        default = "message/rfc822" if parent == "multipart/digest" else "text/plain"
        fields = parse_fields(self._source, start, extent.end)
        self._log.add(WarningCode.HEADER_LIMIT, when=fields.cut)
        self._begin(content_of(fields, default), extent.body)
        return True

    def _extent(self, start: int) -> HeaderExtent:
        """The part's header, which ends at the next delimiter if that comes before a blank line."""
        bound = min(len(self._source), start + HEADER_BYTES_MAX)
        match = self._delimiter.search(self._source, start, up_to_blank(self._source, start, bound).body)
        return header_extent(self._source, start, match.start() if match else bound)

    def _begin(self, content: Content, body: int) -> None:
        self._nodes += 1
        boundary = content.boundary if content.main_type == "multipart" else None
        # The root is level 1 and the parts of the deepest multipart are the last level.
        if boundary is not None and len(self._open) < MIME_DEPTH_MAX - 1:
            self._open.append(_Open(content, boundary, body))
            self._delimiter = _delimiter_of(self._open)
            return
        if content.main_type == "multipart":
            self._log.add(WarningCode.DEPTH_LIMIT if boundary else WarningCode.BOUNDARY_MISSING)
            content = content if boundary else _as_text(content)
        # Its end is known once the next delimiter is.
        self._leaf = content, body

    def _end_leaf(self, end: int, *, complete: bool = True) -> None:
        if self._leaf is not None:
            content, start = self._leaf
            self._leaf = None
            self._leaves += 1
            self._attach(MessagePart(content, start, max(start, end), complete))

    def _close(self, end: int, *, complete: bool = True) -> None:
        done = self._open.pop()
        self._delimiter = _delimiter_of(self._open)
        if done.children:
            self._attach(MessagePart(done.content, done.start, max(done.start, end), complete, tuple(done.children)))
            return
        # A multipart without any part: what it holds is read as text (RFC 2045, 5.2).
        self._log.add(WarningCode.BOUNDARY_MISSING)
        self._leaves += 1
        self._attach(MessagePart(_as_text(done.content), done.start, max(done.start, end), complete))

    def _attach(self, part: MessagePart) -> None:
        if self._open:
            self._open[-1].children.append(part)
        else:
            self._root = part

    def _before_line_end(self, at: int) -> int:
        """The line end before a delimiter belongs to the delimiter (RFC 2046, 5.1.1)."""
        if self._source[at - 2 : at] == b"\r\n":
            return at - 2
        return at - 1 if self._source[at - 1 : at] == b"\n" else at


def _delimiter_of(multiparts: Sequence[_Open]) -> re.Pattern[bytes]:
    """Matches the delimiter lines of these multiparts: boundary, `--` at the end of the last, and blanks that were
    added on the way (RFC 2046, 5.1.1). The scan for them runs within the regular expression, once over every octet."""
    # Innermost first: where two multiparts share a boundary, the inner one is meant.
    names = b"|".join(re.escape(one.boundary) for one in reversed(multiparts))
    return re.compile(rb"^--(" + names + rb")(?:[ \t]*+(--))?+[ \t]*+\r?$" if names else rb"(?!)", re.MULTILINE)


def _as_text(content: Content) -> Content:
    return replace(content, content_type="text/plain", boundary=None, content_id=None)
