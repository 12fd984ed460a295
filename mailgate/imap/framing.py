"""Cuts the octets of a connection into responses before anything tries to understand them (RFC 9051, 2.2.2).

Frame first, parse second: where a response ends depends on line ends and announced literal lengths alone, so a
response that cannot be parsed is one lost row and the octets of a message are never taken for protocol.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from mailgate.limits import MAX_LINE, MAX_LITERAL, MAX_RESPONSE_BYTES, MAX_RESPONSES


class FramingError(ValueError):
    """A bound was passed, or where a response ends cannot be told; the connection must be closed."""


@dataclass(frozen=True, slots=True)
class FramingLimits:
    """What one command's responses may cost; see `limits.py` for the reasons. All but `frames` in octets.

    line: the text of one response without its literals. literal: the longest announcement. frames, total: everything
    since `ResponseFramer.reset_counters`.
    """

    line: int = MAX_LINE
    literal: int = MAX_LITERAL
    frames: int = MAX_RESPONSES
    total: int = MAX_RESPONSE_BYTES


@dataclass(frozen=True, slots=True)
class Literal:
    """Octets sent with a length before them. `announced`: that length; `truncated`: only a prefix was kept."""

    data: bytes
    announced: int
    truncated: bool = False


class Cut(bytes):
    """The beginning of an untagged line that was too long to keep. Always the last segment of its frame."""

    __slots__ = ()


Frame: TypeAlias = tuple[bytes | Literal, ...]
"""One response: text without CRLF and without `{n}`, each literal in its place."""


# literal  = "{" number64 ["+"] "}" CRLF *CHAR8      ; number64 <= 2^63 - 1, at most 19 digits
# literal8 = "~{" number64 "}" CRLF *OCTET           (RFC 9051, 9)
_LITERAL = re.compile(rb"~?\{([0-9]+)\+?\}\Z")

# response-data = "*" SP (resp-cond-state / resp-cond-bye / mailbox-data / message-data / capability-data / ...)
# The first group is free text for people, which may well end in "{5}".
_CONDITION = re.compile(rb"\* +(?:OK|NO|BAD|BYE|PREAUTH)(?: |\Z)", re.IGNORECASE)
_TAGGED = re.compile(rb"[^ \t(){%*\"\\+]+ +(?:OK|NO|BAD)(?: |\Z)", re.IGNORECASE)
_MESSAGE_DATA = re.compile(rb"\* +[0-9]+ +FETCH\b", re.IGNORECASE)

# One token as `tokens.py` would see it: a quoted string (its closing quote in group 1), or an atom, inside which a
# quote is an ordinary octet.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+("?)|[^ \t()\[\]"][^ \t()\[\]]*+', re.DOTALL)


# All that comes before a quoted string without an end; linear, because nothing in it is tried twice.
_BEFORE_OPEN_QUOTE = re.compile(rb'(?:"(?:[^"\\]++|\\.)*+"|[^ \t()\[\]"][^ \t()\[\]]*+|[ \t()\[\]]++)*+', re.DOTALL)


class _Kind(Enum):
    """What the first line of a frame says about literals in it."""

    FREE_TEXT = "free text"
    MESSAGE = "message data"
    DATA = "data"
    UNKNOWN = "unknown"


def _kind(line: bytes) -> _Kind:
    """Whether a frame that starts with this line can hold literals."""
    if line.startswith(b"+") or _CONDITION.match(line) or _TAGGED.match(line):
        return _Kind.FREE_TEXT
    if _MESSAGE_DATA.match(line):
        return _Kind.MESSAGE
    return _Kind.DATA if line.startswith(b"* ") else _Kind.UNKNOWN


def _ends_inside_quotes(line: bytes) -> bool:
    """Whether a quoted string is still open at the end; only asked of lines that end in `{n}`."""
    match = _BEFORE_OPEN_QUOTE.match(line)
    return match is not None and match.end() < len(line)


_CUT_OCTETS = 1024  # enough to tell what a line was about: its name, and the UID where that comes first
_ATOM_TAIL = 32  # octets of an unfinished atom that tell whether it ends in `{n}`


class _Skipped:
    """The rest of a line that is too long to keep: all that is remembered is whether it ends in a literal.

    `_tail` is the last token so far: of an open quoted string only its opening quote, of an atom its end.
    """

    def __init__(self) -> None:
        self._tail = b""

    def pass_over(self, text: bytes) -> None:
        """Take the next octets of the line."""
        text = self._tail + text
        last = next(iter(deque(_TOKEN.finditer(text), maxlen=1)), None)
        if last is None:
            self._tail = b""
        elif last[0].startswith(b'"'):
            rest = text[last.end() :]  # a lone backslash, waiting for the octet it escapes; or separators
            self._tail = rest[-1:] if last[1] else b'"' + rest
        else:
            # Behind a letter a quote is an ordinary octet, as it is in the whole atom.
            self._tail = b"x" + last[0][-_ATOM_TAIL:] if last.end() == len(text) else b""

    def announcement(self) -> re.Match[bytes] | None:
        """`{n}` at the end, outside quotes."""
        return None if self._tail.startswith(b'"') else _LITERAL.search(self._tail)


class ResponseFramer:
    """`feed` stores octets, `next_frame` takes one response out of them or says None for "not yet".

    Each octet is looked at a fixed number of times, however the network cut the stream. Call `next_frame` until it
    is None after every `feed`, so that discarded octets are not held.
    """

    def __init__(self, limits: FramingLimits | None = None) -> None:
        self._limits = limits or FramingLimits()
        self._buffer = bytearray()
        self._searched = 0  # octets of the buffer known to hold no CRLF
        self._segments: list[bytes | Literal] = []
        self._kind = _Kind.UNKNOWN
        self._line_octets = 0
        self._literal: bytearray | None = None
        self._announced = 0
        self._missing = 0  # octets of the current literal still to come
        self._cut: Cut | None = None  # the frame is too long, and this is what was kept of the line that was
        self._skipped = _Skipped()
        self._frames = 0
        self._total = 0
        self.keep_literal: int | None = None
        """How many octets of each literal to keep; None keeps all. The rest is counted and dropped, because some
        servers answer a request for the first octets with the whole message."""

    def feed(self, data: bytes) -> None:
        """Add octets as they came from the network."""
        self._buffer += data

    def reset_counters(self) -> None:
        """Start counting anew: a command is about to be sent."""
        self._frames = 0
        self._total = 0

    @property
    def pending(self) -> int:
        """Octets received that belong to no finished frame. Must be 0 when TLS starts (RFC 9051, 6.2.1)."""
        return len(self._buffer) + sum(map(_size, self._segments)) + len(self._literal or b"")

    def next_frame(self) -> Frame | None:
        """The next whole response, or None until more octets are fed. Raises `FramingError`."""
        while True:
            if self._literal is not None and not self._take_literal(self._literal):
                return None
            line = self._take_line()
            if line is None:
                return None
            frame = self._add_line(line)
            if frame is not None:
                return frame

    def _take_literal(self, kept: bytearray) -> bool:
        """Move octets into the literal; whether it is complete."""
        chunk = min(self._missing, len(self._buffer))
        keep = 0 if self._cut is not None else self.keep_literal
        room = chunk if keep is None else min(chunk, max(0, keep - len(kept)))
        kept += self._buffer[:room]
        self._consume(chunk)
        self._missing -= chunk
        if self._missing:
            return False
        if self._cut is None:
            self._segments.append(Literal(bytes(kept), self._announced, len(kept) < self._announced))
        self._literal = None
        return True

    def _take_line(self) -> bytes | None:
        """Text up to CRLF, the only line end: a bare CR or LF is an ordinary octet. Of a frame too long: nothing."""
        end = self._buffer.find(b"\r\n", self._searched)
        octets = len(self._buffer) - self._buffer.endswith(b"\r") if end < 0 else end
        if self._cut is not None or self._line_octets + octets > self._limits.line:
            return self._skip_line(end)
        if end < 0:
            self._searched = octets  # a CR may be waiting for its LF
            return None
        line = bytes(self._buffer[:end])
        self._line_octets += octets
        self._consume(end + 2)
        return line

    def _skip_line(self, end: int) -> bytes | None:
        """Pass over text up to CRLF. One message's enormous structure costs its own row and no other.

        Only an untagged response can be lost like this: the end of a command cannot.
        """
        if self._cut is None:
            beginning = b"" if self._segments else self._buffer[: min(_CUT_OCTETS, self._limits.line)]
            self._cut = Cut(beginning)
            kind = self._kind if self._segments else _kind(self._cut)
            if kind not in (_Kind.MESSAGE, _Kind.DATA):
                raise FramingError("a response line is too long")
        octets = len(self._buffer) - self._buffer.endswith(b"\r") if end < 0 else end
        self._skipped.pass_over(bytes(self._buffer[:octets]))
        self._consume(octets if end < 0 else octets + 2)
        return None if end < 0 else b""

    def _consume(self, octets: int) -> None:
        """Drop octets from the front (which CPython does without moving the rest) and count them."""
        del self._buffer[:octets]
        self._searched = 0
        self._total += octets
        if self._total > self._limits.total:
            raise FramingError("the responses to one command are too large")

    def _add_line(self, line: bytes) -> Frame | None:
        """The finished frame, or None when a literal follows or the line was blank."""
        if self._cut is not None:
            return self._end_cut(self._cut)
        if not self._segments:
            self._kind = _kind(line)
        announcement = self._announcement(line)
        if announcement is not None:
            self._segments.append(line[: announcement.start()])
            self._begin_literal(announcement[1])
            return None
        if not self._segments and not line:
            return None
        return self._finish(line)

    def _end_cut(self, cut: Cut) -> Frame | None:
        announcement = self._skipped.announcement()
        self._skipped = _Skipped()
        if announcement is not None:
            self._begin_literal(announcement[1])
            return None
        self._cut = None
        return self._finish(cut)

    def _finish(self, line: bytes) -> Frame:
        self._frames += 1
        if self._frames > self._limits.frames:
            raise FramingError("too many responses to one command")
        frame: Frame = (*self._segments, line)
        self._segments = []
        self._line_octets = 0
        return frame

    def _announcement(self, line: bytes) -> re.Match[bytes] | None:
        """`{n}` at the end of the line, where the grammar allows a literal there."""
        match = _LITERAL.search(line) if line.endswith(b"}") else None
        if match is None or self._kind is _Kind.FREE_TEXT:
            return None
        if self._kind is _Kind.DATA and match.start() and line[match.start() - 1] not in b" (":
            return None  # the tail of an unquoted folder name; in message data no atom can end so
        if self._kind is _Kind.UNKNOWN or _ends_inside_quotes(line[: match.start()]):
            # Text or literal? To guess wrong is to read a message's octets as protocol.
            raise FramingError("a response line cannot be told from a literal")
        return match

    def _begin_literal(self, digits: bytes) -> None:
        if len(digits) > 19 or int(digits) > self._limits.literal:
            raise FramingError("a literal is too large")
        self._announced = self._missing = int(digits)
        self._literal = bytearray()


def _size(segment: bytes | Literal) -> int:
    return len(segment.data) if isinstance(segment, Literal) else len(segment)
