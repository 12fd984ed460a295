"""Response codes: the bracketed, machine-readable part of a status response (RFC 9051, 7.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.sequence import SequenceSet
from mailgate.imap.tokens import Atom, String, TokenError, TokenReader, Value
from mailgate.imap.values import MODSEQ_MAX, UINT32_MAX, ModSeq, UidValidity, canonical_flag

# resp-text = ["[" resp-text-code "]" SP] [text]
# resp-text-code = ... / atom [SP 1*<any TEXT-CHAR except "]">]                      (RFC 9051, 9)
# A quoted charset in BADCHARSET may hold "]". Gmail sends a code without any text after it.
_CODE = re.compile(rb'\[ *([^ \t"\[\]]++)((?:[^"\]]++|"(?:[^"\\]++|\\.)*+")*+)\] ?', re.DOTALL)
_CODE_WITHOUT_QUOTES = re.compile(rb'\[ *([^ \t"\[\]]++)([^\]]*+)\] ?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class CopyUid:
    """`"COPYUID" SP nz-number SP uid-set SP uid-set` (RFC 4315, 4): what became of copied or moved messages.

    The sets pair up by position and are kept as ranges, whatever size the server claims.
    """

    uid_validity: UidValidity
    source: SequenceSet
    destination: SequenceSet


@dataclass(frozen=True, slots=True)
class AppendUid:
    """`"APPENDUID" SP nz-number SP append-uid` (RFC 4315, 4); more than one UID only after MULTIAPPEND."""

    uid_validity: UidValidity
    uids: SequenceSet


@dataclass(frozen=True, slots=True)
class ResponseCode:
    """A code and what came with it. `name` is upper case; `arguments` are empty where they follow no grammar.

    The readers below give None for a code of another name, and for one whose arguments are not as the standard has
    them: a code that cannot be understood is a code that was not sent.
    """

    name: str
    arguments: tuple[Value, ...] = ()

    @property
    def number(self) -> int | None:
        """UIDVALIDITY, UIDNEXT, UNSEEN: a number from 1 to 2^32-1."""
        return number_of(self._argument(0))

    @property
    def mod_seq(self) -> ModSeq | None:
        """HIGHESTMODSEQ; 0 means that this folder has no mod-sequences (seen on an empty one), as NOMODSEQ does."""
        return mod_seq_of(self._argument(0)) if self.name == "HIGHESTMODSEQ" else None

    @property
    def flags(self) -> tuple[str, ...] | None:
        """PERMANENTFLAGS, `\\*` included."""
        value = self._argument(0)
        return flags_of(value) if self.name == "PERMANENTFLAGS" and isinstance(value, list) else None

    @property
    def capabilities(self) -> CapabilitySet | None:
        """CAPABILITY."""
        if self.name != "CAPABILITY":
            return None
        return CapabilitySet.of(value for value in self.arguments if isinstance(value, Atom))

    @property
    def copy_uid(self) -> CopyUid | None:
        """COPYUID, from an untagged OK (during MOVE) or the tagged one."""
        validity, source, destination = (self._argument(0), set_of(self._argument(1)), set_of(self._argument(2)))
        number = number_of(validity)
        if self.name != "COPYUID" or number is None or source is None or destination is None:
            return None
        return CopyUid(UidValidity(number), source, destination)

    @property
    def append_uid(self) -> AppendUid | None:
        """APPENDUID."""
        number, uids = number_of(self._argument(0)), set_of(self._argument(1))
        if self.name != "APPENDUID" or number is None or uids is None:
            return None
        return AppendUid(UidValidity(number), uids)

    @property
    def modified(self) -> SequenceSet | None:
        """`"MODIFIED" SP sequence-set`: the messages that a conditional STORE left alone (RFC 7162, 3.1.3)."""
        return set_of(self._argument(0)) if self.name == "MODIFIED" else None

    def _argument(self, index: int) -> Value:
        return self.arguments[index] if index < len(self.arguments) else None

    @classmethod
    def split(cls, text: bytes) -> tuple[Self | None, bytes]:
        """A code at the very start of the text of a status response, and the text after it."""
        match = _CODE.match(text) or _CODE_WITHOUT_QUOTES.match(text)
        if match is None:
            return None, text
        try:
            arguments = tuple(TokenReader((match[2],)).values())
        except TokenError:
            arguments = ()
        return cls(ascii_of(match[1]).upper(), arguments), text[match.end() :]


def ascii_of(octets: bytes) -> str:
    """Protocol words as text; an octet that has no place in one is shown escaped."""
    return octets.decode("ascii", "backslashreplace")


def number_of(value: Value, *, minimum: int = 1, maximum: int = UINT32_MAX) -> int | None:
    """`number` or `nz-number` within bounds, else None. Some servers quote numbers."""
    if not isinstance(value, (Atom, String)) or not value.isdigit() or len(value) > 19:
        return None
    number = int(value)
    return number if minimum <= number <= maximum else None


def mod_seq_of(value: Value) -> ModSeq | None:
    """`mod-sequence-value`, 63 bits (RFC 7162, 7), else None. 0 is none."""
    number = number_of(value, maximum=MODSEQ_MAX)
    return None if number is None else ModSeq(number)


def set_of(value: Value) -> SequenceSet | None:
    """A set of numbers, else None."""
    if not isinstance(value, Atom):
        return None
    try:
        return SequenceSet.parse(value)
    except ValueError:
        return None


def flags_of(values: list[Value]) -> tuple[str, ...]:
    """Flags in canonical spelling, in the order given, each once; what is no flag is left out."""
    words = (ascii_of(value) for value in values if isinstance(value, (Atom, String)) and value)
    return tuple(dict.fromkeys(map(canonical_flag, words)))
