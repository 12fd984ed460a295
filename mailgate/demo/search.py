"""SEARCH: its keys, and which messages they match (RFC 3501, 6.4.4; RFC 4731; RFC 7162, 3.1.5).

Text is compared decoded and without case, as substrings; HTML is not interpreted and attachments other than text are
not searched.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from email.utils import getaddresses, parsedate_to_datetime
from operator import eq, ge, lt

from mailgate.demo.bodystructure import unfold
from mailgate.demo.decoding import comparable, decode_header, decoded
from mailgate.demo.grammar import BadCommand, Refused, Scanner, SequenceSet, serialize_set
from mailgate.demo.store import DemoMessage
from mailgate.demo.structure import parse_structure

MAX_DEPTH = 32
"""Nesting of NOT, OR and parentheses."""

Match = Callable[[DemoMessage, int], bool]
"""Whether a message, at its sequence number, is meant."""

_FLAG_KEYS = {
    "SEEN": ("\\Seen", True),
    "UNSEEN": ("\\Seen", False),
    "ANSWERED": ("\\Answered", True),
    "UNANSWERED": ("\\Answered", False),
    "FLAGGED": ("\\Flagged", True),
    "UNFLAGGED": ("\\Flagged", False),
    "DELETED": ("\\Deleted", True),
    "UNDELETED": ("\\Deleted", False),
    "DRAFT": ("\\Draft", True),
    "UNDRAFT": ("\\Draft", False),
    "RECENT": ("\\Recent", True),
    "OLD": ("\\Recent", False),
}
_ADDRESS_KEYS = ("FROM", "TO", "CC", "BCC")
_DATE_KEYS = ("SINCE", "BEFORE", "ON")


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What a search may use and needs: the folder's UIDs, and whether MODSEQ is a key here."""

    uids: list[int]
    condstore: bool


class SearchParser:
    """Reads the search program of one command. Raises `BadCommand`, `Refused` (BADCHARSET)."""

    def __init__(self, scanner: Scanner, options: SearchOptions) -> None:
        self._scanner = scanner
        self._options = options
        self._utf8 = False
        self.uses_mod_seq = False

    def program(self) -> Match:
        """`[CHARSET name SP] search-key *(SP search-key)` up to the end of the command."""
        if self._scanner.accept(b"CHARSET "):
            charset = self._scanner.astring().upper()
            if charset not in (b"UTF-8", b"US-ASCII"):
                raise Refused("that charset is not known", "BADCHARSET (US-ASCII UTF-8)")
            self._utf8 = charset == b"UTF-8"
            self._scanner.space()
        matches = [self._key(0)]
        while self._scanner.peek():
            self._scanner.space()
            matches.append(self._key(0))
        return _all_of(matches)

    def _key(self, depth: int) -> Match:
        scanner = self._scanner
        if depth > MAX_DEPTH:
            raise BadCommand("search keys are nested too deep")
        if scanner.accept(b"("):
            matches = [self._key(depth + 1)]
            while not scanner.accept(b")"):
                scanner.space()
                matches.append(self._key(depth + 1))
            return _all_of(matches)
        if scanner.peek() in b"0123456789*" and scanner.peek():
            return self._sequence_numbers(scanner.sequence_set())
        name = scanner.word()
        if name == "ALL":
            return lambda message, number: True
        if name == "NEW":
            return lambda message, number: False
        if name in _FLAG_KEYS:
            return _flag(*_FLAG_KEYS[name])
        scanner.space()
        return self._key_with_argument(name, depth)

    def _key_with_argument(self, name: str, depth: int) -> Match:
        scanner = self._scanner
        match name:
            case "NOT":
                inner = self._key(depth + 1)
                return lambda message, number: not inner(message, number)
            case "OR":
                left = self._key(depth + 1)
                scanner.space()
                right = self._key(depth + 1)
                return lambda message, number: left(message, number) or right(message, number)
            case "UID":
                return self._uids(scanner.sequence_set())
            case "KEYWORD" | "UNKEYWORD":
                return _flag(scanner.flag(), name == "KEYWORD")
            case "LARGER" | "SMALLER":
                return _size(name, scanner.number())
            case "MODSEQ" if self._options.condstore:
                return self._mod_seq()
            case _ if name.removeprefix("SENT") in _DATE_KEYS:
                return self._dates(name)
            case _:
                return self._text(name)

    def _sequence_numbers(self, numbers: SequenceSet) -> Match:
        wanted = set(numbers.members(list(range(1, len(self._options.uids) + 1))))
        return lambda message, number: number in wanted

    def _uids(self, numbers: SequenceSet) -> Match:
        wanted = set(numbers.members(self._options.uids))
        return lambda message, number: message.uid in wanted

    def _dates(self, name: str) -> Match:
        """Days compare as written, whatever their offset (RFC 3501, 6.4.4)."""
        wanted = self._scanner.day()
        day_of = sent_day if name.startswith("SENT") else internal_day
        compare = {"SINCE": ge, "BEFORE": lt, "ON": eq}[name.removeprefix("SENT")]

        def match(message: DemoMessage, number: int) -> bool:
            day = day_of(message)
            return day is not None and bool(compare(day, wanted))

        return match

    def _mod_seq(self) -> Match:
        """`MODSEQ [entry-name SP entry-type SP] value`; the entry makes no difference here."""
        if self._scanner.peek() == b'"':
            self._scanner.string()
            self._scanner.space()
            self._scanner.word()
            self._scanner.space()
        least = self._scanner.number()
        self.uses_mod_seq = True
        return lambda message, number: message.mod_seq >= least

    def _text(self, name: str) -> Match:
        if name not in ("HEADER", "SUBJECT", "BODY", "TEXT", *_ADDRESS_KEYS):
            raise BadCommand("unknown search key")
        field = ""
        if name == "HEADER":
            field = self._term()
            self._scanner.space()
        term = self._term()
        match name:
            case "BODY":
                return lambda message, number: any(term in body for body in decoded(message.raw).bodies)
            case "TEXT":
                return lambda message, number: matches_text(message.raw, term)
            case "HEADER" | "SUBJECT":
                wanted = field or name
                return lambda message, number: matches_field(message.raw, wanted, term)
            case _:
                return lambda message, number: matches_address(message.raw, name, term)

    def _term(self) -> str:
        octets = self._scanner.astring()
        if not self._utf8 and not octets.isascii():
            raise BadCommand("octets outside US-ASCII need a charset")
        try:
            return comparable(octets.decode("utf-8"))
        except UnicodeDecodeError:
            raise BadCommand("the term is not in its charset") from None


def internal_day(message: DemoMessage) -> date | None:
    """The day of the internal date, in its own offset."""
    return message.internal_date.date()


def sent_day(message: DemoMessage) -> date | None:
    """The day of the Date field, in its own offset; `None` where it cannot be read."""
    value = parse_structure(message.raw).value(b"date")
    try:
        return parsedate_to_datetime((value or b"").decode("ascii", "replace")).date()
    except (ValueError, OverflowError, IndexError, TypeError):
        return None


def _all_of(matches: list[Match]) -> Match:
    return lambda message, number: all(match(message, number) for match in matches)


def _flag(flag: str, present: bool) -> Match:
    low = flag.lower()
    return lambda message, number: any(other.lower() == low for other in message.flags) == present


def _size(name: str, octets: int) -> Match:
    if name == "LARGER":
        return lambda message, number: len(message.raw) > octets
    return lambda message, number: len(message.raw) < octets


def matches_field(raw: bytes, name: str, term: str) -> bool:
    """HEADER and SUBJECT: a field of that name has the term in its value; an empty term asks for the field alone."""
    return any(term in value for field, value in decoded(raw).top_fields if field == name)


def matches_text(raw: bytes, term: str) -> bool:
    """TEXT: the term stands in a header line of any part, or in a text body."""
    message = decoded(raw)
    return any(term in f"{name}: {value}" for name, value in message.fields) or any(
        term in body for body in message.bodies
    )


def matches_address(raw: bytes, name: str, term: str) -> bool:
    """FROM, TO, CC, BCC: the term stands in the field as addresses in their usual form, `name <address>`."""
    for field, value in parse_structure(raw).fields:
        if field.upper() == name.encode() and term in comparable(_usual_form(value)):
            return True
    return False


def _usual_form(value: bytes) -> str:
    """Split at the commas before decoding: one inside an encoded word separates nothing (RFC 2047, 5)."""
    pairs = getaddresses([(unfold(value) or b"").decode("utf-8", "replace")])
    # Where nothing can be read as an address, the text itself is all there is to search.
    shown = [f"{_phrase(name)} <{address}>" if name else address for name, address in pairs if name or address]
    return ", ".join(shown) or decode_header(value)


def _phrase(name: str) -> str:
    """A display name, decoded; quoted with escapes where its characters ask for it (RFC 5322, 3.2.4)."""
    if re.search(r'[()<>@,;:\\".\[\]]', name):
        return '"' + re.sub(r'(["\\])', r"\\\1", name) + '"'
    return decode_header(name.encode())


def search(match: Match, messages: list[tuple[int, DemoMessage]]) -> list[tuple[int, DemoMessage]]:
    """Those of the numbered messages that match, in their order."""
    return [(number, message) for number, message in messages if match(message, number)]


def render_esearch(numbers: list[int], wanted: list[str], *, tag: bytes, by_uid: bool) -> bytes:
    """`ESEARCH` (RFC 4731, 3.1): MIN, MAX and ALL are left out when nothing matched, COUNT never is."""
    words = [b'ESEARCH (TAG "%b")' % tag]
    if by_uid:
        words.append(b"UID")
    if "MIN" in wanted and numbers:
        words.append(b"MIN %d" % numbers[0])
    if "MAX" in wanted and numbers:
        words.append(b"MAX %d" % numbers[-1])
    if "COUNT" in wanted:
        words.append(b"COUNT %d" % len(numbers))
    if "ALL" in wanted and numbers:
        words.append(b"ALL " + serialize_set(numbers))
    return b" ".join(words)
