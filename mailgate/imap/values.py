"""The values that name mail, valid once built (RFC 9051, RFC 7162).

Raises `ValueError` with a sentence that holds no value; the surface turns it into `invalid_argument`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from mailgate.limits import FLAGS_MAX, FOLDER_NAME_MAX, KEYWORD_CHARS_MAX

UINT32_MAX = 2**32 - 1
MODSEQ_MAX = 2**63 - 1


class _BoundedInt(int):
    """An `int` from 1 to a maximum. `bool` is refused: `True` is not a UID."""

    maximum: int = UINT32_MAX

    def __new__(cls, value: int) -> Self:
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeError(f"{cls.__name__} takes an integer")
        if not 1 <= value <= cls.maximum:
            raise ValueError(f"{cls.__name__} is out of range")
        return super().__new__(cls, value)


class Uid(_BoundedInt):
    """`uniqueid = nz-number` (RFC 9051, 9): 1 to 2^32-1, unique in a folder under one UIDVALIDITY."""


class UidValidity(_BoundedInt):
    """`nz-number`: while it stays the same, the folder's UIDs keep their meaning (RFC 9051, 2.3.1.1)."""


class ModSeq(_BoundedInt):
    """`mod-sequence-value`, a positive 63-bit number (RFC 7162, 7). Shown as a decimal string outside."""

    maximum = MODSEQ_MAX


_NAME_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class FolderName:
    """A folder's decoded name, exactly as `mail_list_folders` shows it.

    `mutf7.py` turns it into the mailbox name on the wire and back, one to one. INBOX in any case is INBOX
    (RFC 9051, 5.1). Control characters, line separators and surrogates have no place in a name.
    """

    text: str

    def __post_init__(self) -> None:
        if not self.text:
            raise ValueError("a folder name is empty")
        if _NAME_FORBIDDEN.search(self.text):
            raise ValueError("a folder name holds control characters")
        if len(self.text.encode()) > FOLDER_NAME_MAX:
            raise ValueError("a folder name is too long")
        # ASCII case alone: "\u0131nbox" in upper case is INBOX too, and another folder.
        if self.text.isascii() and self.text.upper() == "INBOX" and self.text != "INBOX":
            object.__setattr__(self, "text", "INBOX")

    def __str__(self) -> str:
        return self.text


INBOX = FolderName("INBOX")


@dataclass(frozen=True, slots=True)
class MessageRef:
    """What names one message for good: folder, UIDVALIDITY and UID together."""

    folder: FolderName
    uid_validity: UidValidity
    uid: Uid


class SystemFlag(StrEnum):
    """The flags of RFC 9051, 2.3.2, in their canonical spelling."""

    SEEN = "\\Seen"
    ANSWERED = "\\Answered"
    FLAGGED = "\\Flagged"
    DELETED = "\\Deleted"
    DRAFT = "\\Draft"
    RECENT = "\\Recent"


_SYSTEM = {flag.value.lower(): flag.value for flag in SystemFlag}


def canonical_flag(text: str) -> str:
    """A flag in canonical spelling: system flags compare without case (RFC 9051, 2.3.2), keywords stay."""
    return _SYSTEM.get(text.lower(), text)


class FlagOperation(StrEnum):
    """How a change treats the flags it names. There is none that replaces the whole set: others set flags, too."""

    ADD = "add"
    REMOVE = "remove"


_SETTABLE = frozenset({SystemFlag.SEEN, SystemFlag.ANSWERED, SystemFlag.FLAGGED, SystemFlag.DRAFT})
# flag-keyword = "$MDNSent" / ... / atom
# atom-specials = "(" / ")" / "{" / SP / CTL / list-wildcards / quoted-specials / resp-specials       (RFC 9051, 9)
_KEYWORD = re.compile(r"""[!#$&'+,\-./0-9:;<=>?@A-Z\[^_`a-z|}~]+""")


def settable_flag(text: str) -> str:
    """A flag that a caller may set, in canonical spelling; `ValueError` for any other.

    \\Seen, \\Answered, \\Flagged, \\Draft in any case, and keywords. \\Deleted would remove the message the next time
    anyone expunges, \\Recent is the server's own, `\\*` is no flag, and a keyword NIL could not be read back.
    """
    flag = canonical_flag(text)
    if flag in _SETTABLE:
        return flag
    if flag.startswith("\\"):
        raise ValueError("a flag is none of \\Seen, \\Answered, \\Flagged, \\Draft and no keyword")
    if not _KEYWORD.fullmatch(flag) or flag.upper() == "NIL":
        raise ValueError("a keyword holds characters that flags cannot have")
    if len(flag) > KEYWORD_CHARS_MAX:
        raise ValueError(f"a keyword is longer than {KEYWORD_CHARS_MAX} characters")
    return flag


def flag_key(flag: str) -> str:
    """What two spellings of one flag have in common. Servers differ on the case of keywords; most disregard it."""
    return flag.lower()


@dataclass(frozen=True, slots=True)
class FlagDelta:
    """Flags to add or to remove, one to twenty, each once; see `settable_flag`."""

    operation: FlagOperation
    flags: tuple[str, ...]

    def __post_init__(self) -> None:
        named: dict[str, str] = {}
        for flag in map(settable_flag, self.flags):
            named.setdefault(flag_key(flag), flag)
        if not named or len(self.flags) > FLAGS_MAX:
            raise ValueError(f"flags are none, or more than {FLAGS_MAX}")
        object.__setattr__(self, "flags", tuple(named.values()))

    def is_done_by(self, flags: Iterable[str]) -> bool:
        """Whether a message with these flags is as the change wants it."""
        have = {flag_key(flag) for flag in flags}
        wanted = {flag_key(flag) for flag in self.flags}
        return wanted <= have if self.operation is FlagOperation.ADD else not wanted & have


@dataclass(frozen=True, slots=True)
class PermanentFlags:
    """PERMANENTFLAGS of an opened folder (RFC 9051, 7.1): what survives the session.

    `accepts_new`: `\\*` was among them, new keywords can be made.
    """

    flags: tuple[str, ...] = ()
    accepts_new: bool = False

    @classmethod
    def of(cls, flags: Iterable[str]) -> Self:
        """Read the flags of the response code, `\\*` included."""
        listed = tuple(map(canonical_flag, flags))
        return cls(tuple(flag for flag in listed if flag != "\\*"), "\\*" in listed)

    @classmethod
    def anything(cls) -> Self:
        """Without the code "the client should assume that all flags can be changed permanently" (RFC 9051, 6.3.2)."""
        return cls(tuple(flag for flag in SystemFlag if flag is not SystemFlag.RECENT), True)

    def not_kept(self, flags: Iterable[str]) -> tuple[str, ...]:
        """Which of the flags the folder does not keep."""
        kept = {flag_key(flag) for flag in self.flags}
        return tuple(
            flag
            for flag in flags
            if flag_key(flag) not in kept and not (self.accepts_new and not flag.startswith("\\"))
        )


class SpecialUse(StrEnum):
    """Roles of folders: RFC 6154, plus `inbox`, which the protocol itself names."""

    INBOX = "inbox"
    DRAFTS = "drafts"
    SENT = "sent"
    TRASH = "trash"
    JUNK = "junk"
    ARCHIVE = "archive"
    ALL = "all"
    FLAGGED = "flagged"


class HierarchyDelimiter(str):
    """One character between levels of a folder name; a server without hierarchy sends NIL (`None` here)."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ScanWindow:
    """UIDs from `low` to `high`, both inclusive; always numbers, never `*`.

    `n:*` names the last message even when n is larger (RFC 9051, 6.4.8), which makes endless loops.
    """

    low: Uid
    high: Uid

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("a window runs upwards")

    def __len__(self) -> int:
        return self.high - self.low + 1

    def __contains__(self, uid: int) -> bool:
        return self.low <= uid <= self.high
