"""What a command line is made of: ready octets, and literals that wait for the server's go-ahead (RFC 9051, 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from mailgate.imap.tokens import is_quotable, quote

_QUOTED_MAX = 1000
"""Longer strings go as literals: RFC 7162, 4 lets a server stop reading a command line at 8,192 octets."""


@dataclass(frozen=True, slots=True)
class OutgoingLiteral:
    """`literal = "{" number64 "}" CRLF *CHAR8`; CHAR8 is any octet but NUL. The octets never show in a repr."""

    data: bytes

    def __post_init__(self) -> None:
        if 0 in self.data:
            raise ValueError("a literal holds NUL")

    def __repr__(self) -> str:
        return f"OutgoingLiteral({len(self.data)} octets)"


Part: TypeAlias = bytes | OutgoingLiteral
"""One argument of a command, as it goes over the wire."""


def text_argument(octets: bytes) -> Part:
    """`string`: quoted where every server understands that, else a literal.

    8-bit text in quotes is refused by servers without UTF8=ACCEPT, and an unquoted word by some with it.
    """
    return quote(octets) if is_quotable(octets) and len(octets) <= _QUOTED_MAX else OutgoingLiteral(octets)
