"""Sets of message numbers and UIDs, kept as ranges (RFC 9051, 9: `sequence-set`; RFC 4315, 4: `uid-set`).

A set of four billion is eleven octets on the wire, so nothing here expands one unless told how far.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Self

from mailgate.imap.values import UINT32_MAX

_RANGE = re.compile(rb"([1-9][0-9]{0,9})(?::([1-9][0-9]{0,9}))?")


@dataclass(frozen=True, slots=True)
class SequenceSet:
    """Ranges `(low, high)`, both inclusive, in the order in which they were given.

    COPYUID pairs two sets by position, so the order of ranges is part of the value (RFC 4315, 3).
    """

    ranges: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if any(not 1 <= low <= high <= UINT32_MAX for low, high in self.ranges):
            raise ValueError("a sequence set holds a number out of range")

    @classmethod
    def parse(cls, text: bytes) -> Self:
        """Read `uid-set`; `ValueError` for anything else, `*` included: a server names numbers only.

        uid-set   = (uniqueid / uid-range) *("," uid-set)
        uid-range = (uniqueid ":" uniqueid)
                      ; two uniqueid values and all values between these two regards of order
        """
        return cls(tuple(_parse_range(item) for item in text.split(b",")))

    @classmethod
    def of(cls, numbers: Iterable[int]) -> Self:
        """The shortest set of these numbers, ascending and each once: some servers refuse any other order."""
        ranges: list[tuple[int, int]] = []
        for number in sorted(set(numbers)):
            if ranges and number == ranges[-1][1] + 1:
                ranges[-1] = (ranges[-1][0], number)
            else:
                ranges.append((number, number))
        return cls(tuple(ranges))

    @property
    def count(self) -> int:
        """How many numbers; a number given twice counts twice."""
        return sum(high - low + 1 for low, high in self.ranges)

    def __contains__(self, number: int) -> bool:
        return any(low <= number <= high for low, high in self.ranges)

    def numbers(self, limit: int) -> Iterator[int]:
        """The single numbers in order; `ValueError` when there are more than `limit`."""
        if self.count > limit:
            raise ValueError("a sequence set is larger than expected")
        return chain.from_iterable(range(low, high + 1) for low, high in self.ranges)

    def serialize(self) -> bytes:
        """The set as it goes over the wire, for example `1:3,7`."""
        return b",".join(b"%d" % low if low == high else b"%d:%d" % (low, high) for low, high in self.ranges)


def _parse_range(item: bytes) -> tuple[int, int]:
    """`ValueError` unless one number or two with a colon between."""
    match = _RANGE.fullmatch(item)
    if match is None:
        raise ValueError("not a sequence set")
    first = int(match[1])
    second = int(match[2]) if match[2] else first
    return min(first, second), max(first, second)
