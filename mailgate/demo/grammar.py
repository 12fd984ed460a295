"""The grammar of IMAP commands: one command's text, and a scanner over it (RFC 3501, 9; RFC 9051, 9).

This is the demo server's own reading of the standard. It shares no parser with mailgate's client, so that neither
can hide the other's mistakes, and it is strict: one space between arguments, 7-bit quoted strings, no stray octets.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime

_ATOM = re.compile(rb"[^\x00-\x20(){%*\"\\\]\x7f-\xff]+")
_ASTRING = re.compile(rb"[^\x00-\x20(){%*\"\\\x7f-\xff]+")
_PATTERN = re.compile(rb"[^\x00-\x20(){\"\\\x7f-\xff]+")
_FLAG = re.compile(rb"\\?[^\x00-\x20(){%*\"\\\]\x7f-\xff]+")
_QUOTED = re.compile(rb'"((?:[^"\\\x00\r\n\x80-\xff]|\\["\\])*)"')
_LITERAL = re.compile(rb"\{\d+\+?\}")
_NUMBER = re.compile(rb"\d{1,19}")
_SET = re.compile(rb"[0-9:,*]+")
_RANGE = re.compile(rb"(\d{1,10}|\*)(?::(\d{1,10}|\*))?")
_TAG = re.compile(rb"[^\x00-\x20(){%*\"\\+\x7f-\xff]+")


class BadCommand(Exception):
    """The command breaks the grammar or is not known: answered with a tagged BAD."""


class Refused(Exception):
    """The command is well formed and was not done: answered with a tagged NO and, where one fits, a code."""

    def __init__(self, text: str, code: str = "") -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class CommandText:
    """One command: `line` holds the text, each literal standing there as its announcement `{n}` or `{n+}`.

    `literals` maps the offset of that announcement to the literal's octets.
    """

    line: bytes
    literals: Mapping[int, bytes] = field(default_factory=dict)

    @property
    def raw(self) -> bytes:
        """The octets as the client sent them, without the last CRLF."""
        pieces, position = [], 0
        for offset, octets in sorted(self.literals.items()):
            end = self.line.index(b"}", offset) + 1
            pieces += [self.line[position:end], b"\r\n", octets]
            position = end
        return b"".join([*pieces, self.line[position:]])


@dataclass(frozen=True, slots=True)
class SequenceSet:
    """`sequence-set` of RFC 3501, 9: ranges of numbers, `None` standing for `*`."""

    ranges: tuple[tuple[int | None, int | None], ...]

    def members(self, existing: list[int]) -> list[int]:
        """The numbers of `existing` (ascending) that the set names; `*` is the last of them (RFC 9051, 6.4.8)."""
        last = existing[-1] if existing else 0
        found: set[int] = set()
        for pair in self.ranges:
            low, high = sorted(last if bound is None else bound for bound in pair)
            found.update(existing[bisect_left(existing, low) : bisect_right(existing, high)])
        return sorted(found)

    def highest(self) -> int:
        """The largest number written in the set; 0 when it holds only `*`."""
        return max((bound for pair in self.ranges for bound in pair if bound is not None), default=0)


class Scanner:
    """Reads one command's text from left to right; every method raises `BadCommand` where the text does not fit."""

    def __init__(self, text: CommandText) -> None:
        self._line = text.line
        self._literals = text.literals
        self._position = 0

    def _match(self, pattern: re.Pattern[bytes], expected: str) -> bytes:
        found = pattern.match(self._line, self._position)
        if found is None:
            raise BadCommand(f"expected {expected}")
        self._position = found.end()
        return found.group()

    def peek(self) -> bytes:
        """The next octet, or nothing at the end."""
        return self._line[self._position : self._position + 1]

    def accept(self, octets: bytes) -> bool:
        """Steps over `octets` when they come next (any case)."""
        end = self._position + len(octets)
        if self._line[self._position : end].upper() != octets.upper():
            return False
        self._position = end
        return True

    def expect(self, octets: bytes) -> None:
        """Steps over `octets`, which must come next."""
        if not self.accept(octets):
            raise BadCommand(f"expected {octets.decode('ascii')!r}")

    def space(self) -> None:
        """Exactly one space: a second one fits no grammar rule."""
        self.expect(b" ")

    def end(self) -> None:
        """Nothing may be left."""
        if self._position != len(self._line):
            raise BadCommand("unexpected text after the command")

    def tag(self) -> bytes:
        """`tag`: no `+`, which begins a continuation."""
        return self._match(_TAG, "a tag")

    def word(self) -> str:
        """An atom in upper case, for what the standard compares without case."""
        return self._match(_ATOM, "an atom").decode("ascii").upper()

    def matching(self, pattern: re.Pattern[bytes], expected: str) -> bytes:
        """What `pattern` matches here."""
        return self._match(pattern, expected)

    def number(self) -> int:
        """Decimal digits, at most the 63 bits of a mod-sequence."""
        value = int(self._match(_NUMBER, "a number"))
        if value >= 2**63:
            raise BadCommand("a number is too large")
        return value

    def string(self) -> bytes:
        """`string`: quoted or literal."""
        if self.peek() == b"{":
            start = self._position
            self._match(_LITERAL, "a literal")
            if start not in self._literals:
                raise BadCommand("a literal's octets are missing")
            return self._literals[start]
        quoted = self._match(_QUOTED, "a string")
        return re.sub(rb"\\(.)", rb"\1", quoted[1:-1])

    def is_literal(self) -> bool:
        """Whether a literal comes next."""
        return self.peek() == b"{"

    def astring(self) -> bytes:
        """`astring`: an atom or a string."""
        return self.string() if self.peek() in b'{"' and self.peek() else self._match(_ASTRING, "a string or atom")

    def list_pattern(self) -> bytes:
        """`list-mailbox`: as `astring`, with `%` and `*` among the atom's octets."""
        return self.string() if self.peek() in b'{"' and self.peek() else self._match(_PATTERN, "a pattern")

    def nstring(self) -> bytes | None:
        """`nstring`: a string, or NIL."""
        return None if self.accept(b"NIL") else self.string()

    def sequence_set(self) -> SequenceSet:
        """`sequence-set`; zero is no message number and no UID."""
        ranges = []
        for part in self._match(_SET, "a sequence set").split(b","):
            found = _RANGE.fullmatch(part)
            if found is None:
                raise BadCommand("a sequence set is malformed")
            low, high = found.group(1), found.group(2) or found.group(1)
            ranges.append((_set_number(low), _set_number(high)))
        return SequenceSet(tuple(ranges))

    def flag(self) -> str:
        """`flag`: a system flag or a keyword."""
        return self._match(_FLAG, "a flag").decode("ascii")

    def parenthesised_flags(self) -> list[str]:
        """`flag-list`: flags in parentheses, possibly none."""
        self.expect(b"(")
        flags: list[str] = []
        while not self.accept(b")"):
            if flags:
                self.space()
            flags.append(self.flag())
        return flags

    def words(self) -> list[str]:
        """Atoms in parentheses, at least one, in upper case."""
        self.expect(b"(")
        words = [self.word()]
        while not self.accept(b")"):
            self.space()
            words.append(self.word())
        return words

    def day(self) -> date:
        """`date`: `1-Feb-2024`, quoted or not."""
        return parse_day(self.astring())

    def date_time(self) -> datetime:
        """`date-time`: `" 1-Feb-2024 10:11:12 +0100"`, always quoted."""
        return parse_date_time(self.string())


def _set_number(text: bytes) -> int | None:
    if text == b"*":
        return None
    value = int(text)
    if not 1 <= value < 2**32:
        raise BadCommand("a sequence set is out of range")
    return value


MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""English whatever the process's locale, so no `strftime`."""
_DAY = re.compile(rb" ?(\d{1,2})-([A-Za-z]{3})-(\d{4})")
_CLOCK = re.compile(rb"(\d{2}):(\d{2}):(\d{2}) ([+-]\d{4})")


def parse_day(text: bytes) -> date:
    """`date-text` of RFC 3501, 9. Raises `BadCommand`."""
    found = _DAY.fullmatch(text)
    month = found.group(2).decode().capitalize() if found else ""
    if found is None or month not in MONTHS:
        raise BadCommand("expected a date")
    try:
        return date(int(found.group(3)), MONTHS.index(month) + 1, int(found.group(1)))
    except ValueError:
        raise BadCommand("no such day") from None


def parse_date_time(text: bytes) -> datetime:
    """`date-time` of RFC 3501, 9, without its quotes. Raises `BadCommand`."""
    if len(text) != 26 or _CLOCK.fullmatch(text[12:]) is None:
        raise BadCommand("expected a date and time")
    day = parse_day(text[:11])
    try:
        clock = datetime.strptime(text[12:].decode("ascii"), "%H:%M:%S %z")
    except ValueError:
        raise BadCommand("no such time") from None
    return datetime.combine(day, clock.timetz())


def serialize_date_time(value: datetime) -> bytes:
    """`date-time` with its quotes, the day padded with a space (`date-day-fixed`)."""
    month = MONTHS[value.month - 1]
    return f'"{value.day:2d}-{month}-{value.year:04d} {value:%H:%M:%S %z}"'.encode()


def serialize_string(octets: bytes) -> bytes:
    """`string`: quoted when 7-bit, short and free of CR, LF, NUL; else a literal."""
    if len(octets) <= 1000 and re.search(rb"[\x00\r\n\x80-\xff]", octets) is None:
        return b'"' + re.sub(rb'(["\\])', rb"\\\1", octets) + b'"'
    return b"{%d}\r\n%b" % (len(octets), octets)


def serialize_nstring(octets: bytes | None) -> bytes:
    """`nstring`: `NIL` or a string."""
    return b"NIL" if octets is None else serialize_string(octets)


def serialize_set(numbers: list[int]) -> bytes:
    """Numbers as a set in the given order, runs that count up by one written as a range."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] + 1 == number:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return b",".join(b"%d" % low if low == high else b"%d:%d" % (low, high) for low, high in runs)
