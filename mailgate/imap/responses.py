"""Responses as values (RFC 9051, 7). `parse_response` understands one frame and never raises.

A row that cannot be read becomes `Malformed`, so one bad message or folder stays one bad row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.codes import AppendUid, CopyUid, ResponseCode, ascii_of, flags_of
from mailgate.imap.fetch_data import FetchData, FetchError, parse_fetch
from mailgate.imap.framing import Cut, Frame, Literal
from mailgate.imap.list_data import ListData, StatusData, parse_list, parse_status
from mailgate.imap.search_data import ESearchData, SearchData, Vanished, parse_esearch, parse_search, parse_vanished
from mailgate.imap.tokens import TokenError, TokenReader
from mailgate.imap.values import UINT32_MAX

__all__ = [
    "AppendUid",
    "CapabilityData",
    "Condition",
    "Continuation",
    "CopyUid",
    "ESearchData",
    "Enabled",
    "Exists",
    "Expunge",
    "FetchData",
    "FlagsData",
    "ListData",
    "Malformed",
    "Other",
    "Recent",
    "Response",
    "ResponseCode",
    "SearchData",
    "Status",
    "StatusData",
    "Tagged",
    "Untagged",
    "Vanished",
    "parse_response",
]


class Status(StrEnum):
    """How a status response judges (RFC 9051, 7.1)."""

    OK = "OK"
    NO = "NO"
    BAD = "BAD"
    BYE = "BYE"
    PREAUTH = "PREAUTH"


@dataclass(frozen=True, slots=True)
class Tagged:
    """The end of a command: OK, NO or BAD. `text` is untrusted and never shown."""

    tag: str
    status: Status
    code: ResponseCode | None = None
    text: bytes = b""


@dataclass(frozen=True, slots=True)
class Condition:
    """An untagged status response. `text` is untrusted and never shown."""

    status: Status
    code: ResponseCode | None = None
    text: bytes = b""


@dataclass(frozen=True, slots=True)
class Continuation:
    """`+`: the server waits for the next part of the command. `text` without the marker, often empty."""

    text: bytes = b""


@dataclass(frozen=True, slots=True)
class CapabilityData:
    """An untagged CAPABILITY response."""

    capabilities: CapabilitySet


@dataclass(frozen=True, slots=True)
class FlagsData:
    """The flags that are defined in the folder (RFC 9051, 7.3.5)."""

    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exists:
    """How many messages the folder holds."""

    count: int


@dataclass(frozen=True, slots=True)
class Recent:
    """How many messages are recent (RFC 3501, 7.3.2)."""

    count: int


@dataclass(frozen=True, slots=True)
class Expunge:
    """The message with this sequence number is gone."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Enabled:
    """The extensions that ENABLE switched on, upper case (RFC 9051, 7.2.1)."""

    capabilities: CapabilitySet


@dataclass(frozen=True, slots=True)
class Other:
    """A response of a kind that mailgate has no use for. `name` is upper case."""

    name: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """A row that could not be read. `kind`: its name in upper case, or `LINE` when not even that was clear.

    `uid`: the message it is about, where the row said so before it went wrong.
    """

    kind: str
    uid: int | None = None


Untagged: TypeAlias = (
    Condition
    | CapabilityData
    | ListData
    | StatusData
    | SearchData
    | ESearchData
    | FlagsData
    | Exists
    | Recent
    | Expunge
    | Vanished
    | FetchData
    | Enabled
    | Other
    | Malformed
)
Response: TypeAlias = Tagged | Continuation | Untagged

# response-tagged = tag SP resp-cond-state CRLF
# tag             = 1*<any ASTRING-CHAR except "+">                                    (RFC 9051, 9)
# Names and conditions compare without case; some servers answer "ok".
_TAGGED = re.compile(rb"([^ \t(){%*\"\\+]++) ++(OK|NO|BAD)(?: ++(.*)|)", re.DOTALL | re.IGNORECASE)
_CONDITION = re.compile(rb"\* ++(OK|NO|BAD|BYE|PREAUTH)(?: ++(.*)|)", re.DOTALL | re.IGNORECASE)
_NUMBERED = re.compile(rb"\* ++([0-9]{1,10}) ++([A-Za-z0-9.=-]++)")
_NAMED = re.compile(rb"\* ++([A-Za-z][A-Za-z0-9.=-]*+)(?![^ (])")


def parse_response(frame: Frame) -> Response:
    """What this frame says. Never raises."""
    first = frame[0] if frame else b""
    if isinstance(first, Literal):
        return Malformed("LINE")
    if first.startswith(b"+"):
        # continue-req = "+" SP (resp-text / base64) CRLF ; some servers send the bare "+"
        return Continuation(first[1:].removeprefix(b" "))
    if not first.startswith(b"* "):
        return _tagged(first)
    if isinstance(frame[-1], Cut):
        return _cut(first, frame)
    return _condition(first) or _numbered(first, frame) or _named(first, frame)


def _cut(first: bytes, frame: Frame) -> Malformed:
    """A row too long to keep, however readable its beginning: half a set of numbers is not a set of numbers."""
    match = _NUMBERED.match(first)
    if match is not None and ascii_of(match[2]).upper() == "FETCH":
        beginning = _fetch(int(match[1]), frame, match.end())
        return Malformed("FETCH", beginning.uid)
    named = _NAMED.match(first)
    return Malformed("LINE" if named is None else ascii_of(named[1]).upper())


def _tagged(line: bytes) -> Tagged | Malformed:
    match = _TAGGED.fullmatch(line)
    if match is None:
        return Malformed("LINE")
    code, text = ResponseCode.split(match[3] or b"")
    return Tagged(ascii_of(match[1]), Status(ascii_of(match[2]).upper()), code, text)


def _condition(line: bytes) -> Condition | None:
    match = _CONDITION.fullmatch(line)
    if match is None:
        return None
    code, text = ResponseCode.split(match[2] or b"")
    return Condition(Status(ascii_of(match[1]).upper()), code, text)


def _numbered(line: bytes, frame: Frame) -> Untagged | None:
    """`nz-number SP name`: message data, EXISTS and RECENT."""
    match = _NUMBERED.match(line)
    if match is None:
        return None
    number, name = int(match[1]), ascii_of(match[2]).upper()
    if number > UINT32_MAX or (number == 0 and name in ("FETCH", "EXPUNGE")):
        return Malformed(name)
    if name == "FETCH":
        return _fetch(number, frame, match.end())
    known: dict[str, Callable[[int], Untagged]] = {"EXISTS": Exists, "RECENT": Recent, "EXPUNGE": Expunge}
    return known[name](number) if name in known else Other(name)


def _fetch(sequence: int, frame: Frame, start: int) -> FetchData | Malformed:
    try:
        return parse_fetch(sequence, frame, start)
    except FetchError as fault:
        return Malformed("FETCH", fault.uid)


def _named(line: bytes, frame: Frame) -> Untagged:
    match = _NAMED.match(line)
    if match is None:
        return Malformed("LINE")
    name = ascii_of(match[1]).upper()
    parse = _PARSERS.get(name)
    if parse is None:
        return Other(name)
    try:
        return parse(frame, match.end())
    except TokenError:
        return Malformed(name)


def _capability(frame: Frame, start: int) -> CapabilityData:
    return CapabilityData(CapabilitySet.of(TokenReader(frame, start).rest().split()))


def _enabled(frame: Frame, start: int) -> Enabled:
    return Enabled(CapabilitySet.of(TokenReader(frame, start).rest().split()))


def _flags(frame: Frame, start: int) -> FlagsData:
    flags = TokenReader(frame, start).value()
    if not isinstance(flags, list):
        raise TokenError("flags are no list")
    return FlagsData(flags_of(flags))


_PARSERS: Final[Mapping[str, Callable[[Frame, int], Untagged]]] = {
    "CAPABILITY": _capability,
    "ENABLED": _enabled,
    "FLAGS": _flags,
    "LIST": parse_list,
    "STATUS": parse_status,
    "SEARCH": parse_search,
    "ESEARCH": parse_esearch,
    "VANISHED": parse_vanished,
}
