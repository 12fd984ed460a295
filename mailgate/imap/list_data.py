"""LIST and STATUS responses (RFC 9051, 7.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mailgate.imap.codes import ascii_of, number_of
from mailgate.imap.framing import Frame
from mailgate.imap.tokens import Atom, String, TokenError, TokenReader, Value
from mailgate.imap.values import MODSEQ_MAX


@dataclass(frozen=True, slots=True)
class ListData:
    """One folder as LIST names it.

    `attributes` as sent, `delimiter` one character or None (NIL: no hierarchy), `wire` the exact octets of the name.
    """

    attributes: tuple[str, ...]
    delimiter: str | None
    wire: bytes


@dataclass(frozen=True, slots=True)
class StatusData:
    """One folder's counts: item name in upper case -> number; items that are no number are left out."""

    wire: bytes
    items: Mapping[str, int]


def parse_list(frame: Frame, start: int) -> ListData:
    """Read what follows `* LIST`. Raises `TokenError`.

    mailbox-list = "(" [mbx-list-flags] ")" SP (DQUOTE QUOTED-CHAR DQUOTE / nil) SP mailbox [SP mbox-list-extended]
    """
    reader = TokenReader(frame, start)
    attributes = reader.value()
    if not isinstance(attributes, list):
        raise TokenError("a folder's attributes are no list")
    delimiter = reader.value()
    if isinstance(delimiter, list):
        raise TokenError("a hierarchy delimiter is a list")
    words = tuple(ascii_of(word) for word in attributes if isinstance(word, Atom))
    return ListData(words, _delimiter(delimiter), _folder_name(reader))


def _delimiter(value: Atom | String | None) -> str | None:
    return ascii_of(value) if value is not None and len(value) == 1 else None


def _folder_name(reader: TokenReader) -> bytes:
    """`mailbox`, or the rest of the line: Exchange sends names with spaces and TABs without quotes."""
    if reader.begins_string():
        return _whole(reader.value())
    rest = reader.rest()
    name, extended, _ = rest.partition(b" (")
    # mbox-list-extended begins with a parenthesised list of quoted names; in a name "(" needs quotes.
    name = name if extended and b" " not in name else rest.rstrip(b" ")
    if not name:
        raise TokenError("a folder has no name")
    return name


def _whole(value: Value) -> bytes:
    if not isinstance(value, String) or value.truncated:
        raise TokenError("a folder name is not whole")
    return bytes(value)


# An unquoted name with spaces: everything up to the last list.
_STATUS = re.compile(rb" *+(.+?) *(\([^()]*+\)) *\Z", re.DOTALL)


def parse_status(frame: Frame, start: int) -> StatusData:
    """Read what follows `* STATUS`. Raises `TokenError`.

    "STATUS" SP mailbox SP "(" [status-att-list] ")"
    """
    reader = TokenReader(frame, start)
    if reader.begins_string():
        name = _whole(reader.value())
    else:
        match = _STATUS.match(reader.rest())
        if match is None:
            raise TokenError("a folder's counts are missing")
        name, reader = match[1], TokenReader((match[2],))
    items = reader.value()
    if not isinstance(items, list):
        raise TokenError("a folder's counts are no list")
    return StatusData(name, _status_items(items))


def _status_items(items: list[Value]) -> dict[str, int]:
    """`status-att-list` as a mapping; the largest number is a mod-sequence's 63 bits."""
    numbers = {}
    for name, value in zip(items[::2], items[1::2], strict=False):
        number = number_of(value, minimum=0, maximum=MODSEQ_MAX)
        if isinstance(name, Atom) and number is not None:
            numbers[ascii_of(name).upper()] = number
    return numbers
