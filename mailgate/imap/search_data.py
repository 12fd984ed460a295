"""SEARCH, ESEARCH and VANISHED responses (RFC 3501, 7.2.5; RFC 9051, 7.3.4; RFC 7162, 3.2.10)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mailgate.imap.codes import ascii_of, mod_seq_of, number_of, set_of
from mailgate.imap.framing import Frame
from mailgate.imap.sequence import SequenceSet
from mailgate.imap.tokens import Atom, String, TokenError, TokenReader, Value
from mailgate.imap.values import UINT32_MAX, ModSeq


@dataclass(frozen=True, slots=True)
class SearchData:
    """`"SEARCH" *(SP nz-number)`: in the order sent, perhaps more than was asked for; the reader clamps."""

    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ESearchData:
    """An ESEARCH response. `all` is None where the item is missing and empty where it came without a set."""

    tag: str | None = None
    uid: bool = False
    minimum: int | None = None
    maximum: int | None = None
    count: int | None = None
    all: SequenceSet | None = None
    mod_seq: ModSeq | None = None


@dataclass(frozen=True, slots=True)
class Vanished:
    """`"VANISHED" [SP "(EARLIER)"] SP known-uids`: UIDs that are gone."""

    earlier: bool
    uids: SequenceSet


# Yahoo ends the line with a space; with CONDSTORE "(MODSEQ n)" may follow (RFC 7162, 3.1.5).
_SEARCH = re.compile(rb" *+((?:[0-9]{1,10}(?: ++|\Z))*+)(?:\(MODSEQ [0-9]++\) *+)?", re.IGNORECASE)


def parse_search(frame: Frame, start: int) -> SearchData:
    """Read what follows `* SEARCH`. Raises `TokenError`."""
    match = _SEARCH.fullmatch(TokenReader(frame, start).rest())
    if match is None:
        raise TokenError("a search answer holds something that is no number")
    numbers = tuple(map(int, match[1].split()))
    if numbers and not 1 <= min(numbers) <= max(numbers) <= UINT32_MAX:
        raise TokenError("a search answer holds a number out of range")
    return SearchData(numbers)


def parse_esearch(frame: Frame, start: int) -> ESearchData:
    """Read what follows `* ESEARCH`. Raises `TokenError`.

    esearch-response     = "ESEARCH" [search-correlator] [SP "UID"] *(SP search-return-data)
    search-correlator    = SP "(" "TAG" SP tag-string ")"
    """
    values = TokenReader(frame, start).values()
    tag = _correlator(values[0]) if values and isinstance(values[0], list) else None
    words = values[1:] if values and isinstance(values[0], list) else values
    uid = bool(words) and isinstance(words[0], Atom) and words[0].upper() == b"UID"
    items = _return_data(words[1:] if uid else words)
    found = items.get("ALL")
    return ESearchData(
        tag=tag,
        uid=uid,
        minimum=number_of(items.get("MIN")),
        maximum=number_of(items.get("MAX")),
        count=number_of(items.get("COUNT"), minimum=0),
        all=None if "ALL" not in items else SequenceSet() if found is None else set_of(found),
        mod_seq=mod_seq_of(items.get("MODSEQ")),
    )


def _correlator(value: list[Value]) -> str | None:
    if len(value) == 2 and isinstance(value[0], Atom) and value[0].upper() == b"TAG":
        return ascii_of(value[1]) if isinstance(value[1], (Atom, String)) else None
    return None


def _return_data(values: list[Value]) -> dict[str, Value]:
    """Item name -> value. Some servers send `ALL` with nothing after it when nothing was found."""
    items: dict[str, Value] = {}
    name: str | None = None
    for value in values:
        if isinstance(value, Atom) and value[:1].isalpha():
            name = ascii_of(value).upper()
            items.setdefault(name, None)
        elif name is not None:
            items[name] = value
            name = None
    return items


def parse_vanished(frame: Frame, start: int) -> Vanished:
    """Read what follows `* VANISHED`. Raises `TokenError`."""
    values = TokenReader(frame, start).values()
    uids = set_of(values[-1]) if values else None
    if uids is None:
        raise TokenError("a list of vanished messages is no set")
    return Vanished(earlier=isinstance(values[0], list), uids=uids)
