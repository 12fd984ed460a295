"""Where a message now is, as far as the server's word can be relied on (RFC 4315, 3; RFC 6851, 4.3).

COPYUID and APPENDUID count only when they say exactly one thing about exactly the message that was asked for. Anything
else is no error, since the command itself was accepted, and no reference either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from mailgate.imap.codes import AppendUid, CopyUid
from mailgate.imap.sequence import SequenceSet
from mailgate.imap.values import FolderName, MessageRef, Uid


@dataclass(frozen=True, slots=True)
class Placed:
    """The server has named the message's new place."""

    reference: MessageRef


@dataclass(frozen=True, slots=True)
class Unverified:
    """The server accepted the command and did not say, or not credibly, where the message is now."""

    code: str
    sentence: str

    @property
    def warning(self) -> str:
        """The form in which a result carries it."""
        return f"{self.code}: {self.sentence}"


Placement: TypeAlias = Placed | Unverified

NOT_NAMED: Final = Unverified(
    "new_reference_unknown",
    "The mail server accepted this and did not say where the message is now; look for it in the destination.",
)
NOT_CREDIBLE: Final = Unverified(
    "new_reference_unverified",
    "What the mail server said about the message's new place does not fit; look for it in the destination.",
)


def placement_of_copy(copy_uid: CopyUid | None, uid: Uid, destination: FolderName) -> Placement:
    """The place of the copy of the message `uid`, or of itself after a move.

    The sets are never expanded: `1:4294967295` is eleven octets on the wire.
    """
    if copy_uid is None:
        return NOT_NAMED
    placed = _only(copy_uid.destination)
    if _only(copy_uid.source) != uid or placed is None:
        return NOT_CREDIBLE
    return Placed(MessageRef(destination, copy_uid.uid_validity, placed))


def placement_of_append(append_uid: AppendUid | None, folder: FolderName) -> Placement:
    """The place of an appended message."""
    if append_uid is None:
        return NOT_NAMED
    placed = _only(append_uid.uids)
    return NOT_CREDIBLE if placed is None else Placed(MessageRef(folder, append_uid.uid_validity, placed))


def _only(numbers: SequenceSet) -> Uid | None:
    """The one number of a set that names one."""
    return Uid(numbers.ranges[0][0]) if numbers.count == 1 else None
