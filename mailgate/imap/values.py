"""The values that name mail, valid once built (RFC 9051, RFC 7162).

Raises `ValueError` with a sentence that holds no value; the surface turns it into `invalid_argument`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from mailgate.limits import FOLDER_NAME_MAX

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
