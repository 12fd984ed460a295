"""The demo mailbox in memory: folders, messages, UIDs and mod-sequences (RFC 9051, 2.3; RFC 7162, 3.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

DELIMITER = "/"
FIRST_UID_VALIDITY = 1_700_000_001
"""Fixed, so that a seeded mailbox is the same every time; every further folder gets the next number."""
MAX_FOLDERS = 2000
MAX_OCTETS = 512 * 1024 * 1024
"""Octets of all messages together: the mailbox lives in memory."""

SYSTEM_FLAGS = ("\\Answered", "\\Flagged", "\\Deleted", "\\Seen", "\\Draft")
_CANONICAL = {flag.lower(): flag for flag in SYSTEM_FLAGS}


class NoSuchFolder(Exception):
    """There is no folder of that name, or it holds no messages."""


class MailboxFull(Exception):
    """A bound of this module is reached."""


@dataclass(frozen=True, slots=True)
class DemoMessage:
    """One message as stored: `raw` never changes, a flag change makes a new value with a higher `mod_seq`."""

    uid: int
    raw: bytes
    flags: frozenset[str]
    internal_date: datetime
    mod_seq: int


class DemoFolder:
    """A folder: its messages by UID, ascending, and the counters that only grow."""

    def __init__(self, name: str, uid_validity: int, attributes: tuple[str, ...] = (), *, selectable: bool = True):
        self.name = name
        self.uid_validity = uid_validity
        self.attributes = attributes
        self.selectable = selectable
        self.uid_next = 1
        self.highest_mod_seq = 1
        self.messages: dict[int, DemoMessage] = {}
        self.octets = 0
        self.gone = False
        """Deleted, or its UIDVALIDITY changed: a session that has it selected must end."""
        self._keywords: dict[str, str] = {}

    @property
    def keywords(self) -> tuple[str, ...]:
        """Every keyword that a message of this folder ever had, in its first spelling."""
        return tuple(self._keywords.values())

    def _canonical(self, flags: Iterable[str]) -> frozenset[str]:
        """System flags in canonical spelling, keywords as first seen: both compare without case (RFC 9051, 2.3.2)."""
        return frozenset(
            _CANONICAL.get(flag.lower()) or self._keywords.setdefault(flag.lower(), flag) for flag in flags
        )

    def _next_mod_seq(self) -> int:
        self.highest_mod_seq += 1
        return self.highest_mod_seq

    def add(self, raw: bytes, flags: Iterable[str], internal_date: datetime) -> int:
        """Appends a message and answers its UID."""
        uid = self.uid_next
        self.uid_next += 1
        kept = self._canonical(tuple(flags))
        self.octets += len(raw)
        self.messages[uid] = DemoMessage(uid, raw, kept, internal_date, self._next_mod_seq())
        return uid

    def change_flags(self, uid: int, operation: str, flags: Iterable[str]) -> DemoMessage:
        """Applies `+`, `-` or `=` to a message's flags. No change, no new mod-sequence (RFC 7162, 3.1.3)."""
        message, given = self.messages[uid], self._canonical(tuple(flags))
        wanted = {"+": message.flags | given, "-": message.flags - given, "=": given}[operation]
        if wanted != message.flags:
            message = replace(message, flags=wanted, mod_seq=self._next_mod_seq())
            self.messages[uid] = message
        return message

    def expunge(self, uids: Iterable[int]) -> None:
        """Removes messages for good; their UIDs are never given again."""
        for uid in uids:
            message = self.messages.pop(uid, None)
            if message is not None:
                self.octets -= len(message.raw)
                self._next_mod_seq()

    def uids(self) -> list[int]:
        """All UIDs, ascending."""
        return list(self.messages)

    def unseen(self) -> int:
        """How many messages lack `\\Seen`."""
        return sum("\\Seen" not in message.flags for message in self.messages.values())


class DemoMailbox:
    """All folders by decoded name, in the order of creation; INBOX is always there."""

    def __init__(self) -> None:
        self._next_uid_validity = FIRST_UID_VALIDITY
        self.folders: dict[str, DemoFolder] = {}
        self.create("INBOX")

    def folder(self, name: str) -> DemoFolder:
        """The folder of that decoded name (`inbox` in any case is INBOX). Raises `NoSuchFolder`."""
        try:
            return self.folders[_inbox(name)]
        except KeyError:
            raise NoSuchFolder from None

    def has(self, name: str) -> bool:
        """Whether a folder of that name is listed."""
        return _inbox(name) in self.folders

    def has_children(self, name: str) -> bool:
        """Whether some folder lies below."""
        return any(other.startswith(name + DELIMITER) for other in self.folders)

    def create(self, name: str, *attributes: str, selectable: bool = True) -> DemoFolder:
        """Makes a folder, and as `\\Noselect` the levels above it that are missing (RFC 9051, 6.3.4)."""
        if len(self.folders) >= MAX_FOLDERS:
            raise MailboxFull
        above = name.rpartition(DELIMITER)[0]
        if above and above not in self.folders:
            self.create(above, selectable=False)
        folder = DemoFolder(name, self._new_uid_validity(), attributes, selectable=selectable)
        self.folders[name] = folder
        return folder

    def append(self, folder: str, raw: bytes, flags: Iterable[str], internal_date: datetime) -> int:
        """Stores a message byte for byte and answers its UID.

        `internal_date` must carry an offset. Raises `NoSuchFolder`, `MailboxFull`, `ValueError`.
        """
        if internal_date.tzinfo is None:
            raise ValueError("an internal date needs its offset")
        target = self.folder(folder)
        if not target.selectable:
            raise NoSuchFolder
        if sum(one.octets for one in self.folders.values()) + len(raw) > MAX_OCTETS:
            raise MailboxFull
        return target.add(raw, flags, internal_date)

    def delete(self, name: str) -> None:
        """Removes a folder and its mail; one with folders below stays as `\\Noselect` (RFC 9051, 6.3.5)."""
        self.folder(name).gone = True
        if self.has_children(name):
            self.folders[name] = DemoFolder(name, self._new_uid_validity(), selectable=False)
        else:
            del self.folders[name]

    def rename(self, old: str, new: str) -> None:
        """Renames a folder with all below it; INBOX instead hands its mail to the new folder (RFC 9051, 6.3.6)."""
        if _inbox(old) == "INBOX":
            inbox, target = self.folder("INBOX"), self.create(new)
            for message in list(inbox.messages.values()):
                target.add(message.raw, message.flags, message.internal_date)
            inbox.expunge(inbox.uids())
            return
        above = new.rpartition(DELIMITER)[0]
        if above and above not in self.folders:
            self.create(above, selectable=False)
        moved = {}
        for name, folder in self.folders.items():
            if name == old or name.startswith(old + DELIMITER):
                folder.name = new + name[len(old) :]
            moved[folder.name] = folder
        self.folders = moved

    def renew_uid_validity(self, name: str) -> int:
        """Gives a folder a new UIDVALIDITY and its messages new UIDs from 1, as after a restore; answers the value.

        Sessions that have the folder selected are told BYE: there is no other way to tell them.
        """
        old = self.folder(name)
        new = DemoFolder(old.name, self._new_uid_validity(), old.attributes, selectable=old.selectable)
        for message in old.messages.values():
            new.add(message.raw, message.flags, message.internal_date)
        old.gone = True
        self.folders[old.name] = new
        return new.uid_validity

    def _new_uid_validity(self) -> int:
        value = self._next_uid_validity
        self._next_uid_validity += 1
        return value


def _inbox(name: str) -> str:
    return "INBOX" if name.upper() == "INBOX" else name
