"""FETCH responses (RFC 9051, 7.5.2), read item by item so that what came before a fault still names the message."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any, Final

from mailgate.imap.codes import ascii_of, flags_of, mod_seq_of, number_of
from mailgate.imap.framing import Frame
from mailgate.imap.tokens import Atom, String, TokenError, TokenReader, Value
from mailgate.imap.values import ModSeq


@dataclass(frozen=True, slots=True)
class FetchData:
    """What one row says about one message; None for each item that is missing or cannot be relied on.

    `uid` is None in rows that the server sent on its own account. `sections`: `BODY[...]` in upper case, without
    `<n>` and quotes -> octets; a section that is NIL is not there. `body_structure`: values as sent.
    """

    sequence: int
    uid: int | None = None
    flags: tuple[str, ...] | None = None
    internal_date: datetime | None = None
    size: int | None = None
    mod_seq: ModSeq | None = None
    sections: Mapping[str, String] = field(default_factory=lambda: MappingProxyType({}))
    body_structure: list[Value] | None = None
    preview: String | None = None

    @property
    def source(self) -> String | None:
        """`BODY[]`: the message itself, or the prefix that was asked for."""
        return self.sections.get("BODY[]")

    @property
    def header(self) -> String | None:
        """The `BODY[HEADER...]` section, however the server spelled the list of fields."""
        return next((data for name, data in self.sections.items() if name.startswith("BODY[HEADER")), None)


class FetchError(TokenError):
    """A row that cannot be read to its end. `uid`: the message, when it was named before the fault."""

    def __init__(self, sentence: str, uid: int | None) -> None:
        super().__init__(sentence)
        self.uid = uid


def parse_fetch(sequence: int, frame: Frame, start: int) -> FetchData:
    """Read what follows `* n FETCH`. Raises `FetchError`.

    message-data = nz-number SP ("EXPUNGE" / ("FETCH" SP msg-att))
    msg-att      = "(" (msg-att-dynamic / msg-att-static) *(SP (msg-att-dynamic / msg-att-static)) ")"
    """
    items: dict[str, Any] = {}
    sections: dict[str, String] = {}
    reader = TokenReader(frame, start)
    try:
        _read_items(reader, items, sections)
    except TokenError as fault:
        raise FetchError(str(fault), items.get("uid")) from None
    return FetchData(sequence, sections=MappingProxyType(sections), **items)


def _read_items(reader: TokenReader, items: dict[str, Any], sections: dict[str, String]) -> None:
    if not reader.opens():
        raise TokenError("a message's data is no list")
    while not reader.closes():
        name = reader.value()
        if not isinstance(name, Atom):
            raise TokenError("an item has no name")
        _take_item(bytes(name.upper()), reader.value(), items, sections)
    if not reader.at_end():
        raise TokenError("something follows a message's data")


def _take_item(name: bytes, value: Value, items: dict[str, Any], sections: dict[str, String]) -> None:
    """Keep one item, if it is one that mailgate asks for."""
    if name.startswith(b"BODY[") and value is not None:
        if not isinstance(value, String):
            raise TokenError("a section is no string")
        sections[section_name(name)] = value
    elif name in _READERS:
        key, read = _READERS[name]
        found = read(value)
        if key == "uid" and items.setdefault("uid", found) != found:
            items["uid"] = None
            raise TokenError("a row names two messages")
        items[key] = found


_SECTION_SPACES = re.compile(r" +")


def section_name(name: bytes) -> str:
    """One spelling for a section: servers differ in case, in quotes around field names, and in how they write `<n>`."""
    text = ascii_of(name).upper().replace('"', "")
    return _SECTION_SPACES.sub(" ", text[: text.rindex("]") + 1])


def _uid(value: Value) -> int:
    uid = number_of(value)
    if uid is None:
        raise TokenError("a UID is no number")
    return uid


def _flags(value: Value) -> tuple[str, ...]:
    if value is not None and not isinstance(value, list):
        raise TokenError("flags are no list")
    return flags_of(value or [])


def _size(value: Value) -> int | None:
    return number_of(value, minimum=0, maximum=2**63 - 1)


def _mod_seq(value: Value) -> ModSeq | None:
    """`"MODSEQ" SP "(" permsg-modsequence ")"` (RFC 7162, 7)."""
    return mod_seq_of(value[0] if isinstance(value, list) and len(value) == 1 else None)


def _internal_date(value: Value) -> datetime | None:
    return parse_internal_date(value) if isinstance(value, String) else None


def _preview(value: Value) -> String | None:
    """`"PREVIEW" SP nstring` (RFC 8970, 6)."""
    return value if isinstance(value, String) else None


def _body_structure(value: Value) -> list[Value] | None:
    return value if isinstance(value, list) else None


_READERS: Final[Mapping[bytes, tuple[str, Callable[[Value], object]]]] = {
    b"UID": ("uid", _uid),
    b"FLAGS": ("flags", _flags),
    b"INTERNALDATE": ("internal_date", _internal_date),
    b"RFC822.SIZE": ("size", _size),
    b"MODSEQ": ("mod_seq", _mod_seq),
    b"BODYSTRUCTURE": ("body_structure", _body_structure),
    b"PREVIEW": ("preview", _preview),
}

_MONTHS: Final = {
    name: number for number, name in enumerate(b"jan feb mar apr may jun jul aug sep oct nov dec".split(), start=1)
}

# date-time      = DQUOTE date-day-fixed "-" date-month "-" date-year SP time SP zone DQUOTE
# date-day-fixed = (SP DIGIT) / 2DIGIT
# zone           = ("+" / "-") 4DIGIT                                                  (RFC 9051, 9)
_DATE_TIME = re.compile(
    rb" *([0-9]{1,2})-([A-Za-z]{3})-([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) ([+-])([0-9]{2})([0-9]{2})"
)


def parse_internal_date(text: bytes) -> datetime | None:
    """INTERNALDATE with its own offset, or None: a date that does not exist costs the row nothing else."""
    match = _DATE_TIME.fullmatch(text)
    month = _MONTHS.get(match[2].lower()) if match else None
    if match is None or month is None:
        return None
    day, year, hour, minute, second = (int(match[group]) for group in (1, 3, 4, 5, 6))
    offset = timedelta(hours=int(match[8]), minutes=int(match[9])) * (-1 if match[7] == b"-" else 1)
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=timezone(offset))
    except ValueError:
        return None
