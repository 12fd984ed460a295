"""What the write tools return: done, or accepted without a word about where."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from mailgate.imap.placement import Placed, Placement
from mailgate.imap.values import FolderName, MessageRef, ModSeq
from mailgate.mime.model import ReadWarning


class Status(StrEnum):
    """How far the server's word goes."""

    DONE = "done"
    """It happened, and the answer tells where."""
    ACCEPTED = "accepted"
    """The server took the command; what became of the message has to be looked up."""


@dataclass(frozen=True, slots=True)
class FlagsSet:
    """The flags that the message has now. `mod_seq` is None where the server gave none."""

    reference: MessageRef
    flags: tuple[str, ...]
    mod_seq: ModSeq | None
    warnings: tuple[ReadWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class FolderChanged:
    """A folder created or renamed, by the name it has now."""

    folder: FolderName
    warnings: tuple[ReadWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class MessagePlaced:
    """A message copied, moved or saved. `reference` is the new one, None exactly when only accepted."""

    reference: MessageRef | None
    warnings: tuple[ReadWarning, ...] = ()

    @classmethod
    def of(cls, placement: Placement, warnings: tuple[ReadWarning, ...] = ()) -> Self:
        """The result that a placement amounts to."""
        if isinstance(placement, Placed):
            return cls(placement.reference, warnings)
        return cls(None, (ReadWarning(placement.code, placement.sentence), *warnings))

    @property
    def status(self) -> Status:
        """Done only with a reference."""
        return Status.ACCEPTED if self.reference is None else Status.DONE


@dataclass(frozen=True, slots=True)
class DraftSaved:
    """A new draft, and the Message-ID by which it can be found, with brackets."""

    placed: MessagePlaced
    message_id: str


@dataclass(frozen=True, slots=True)
class MessageDeleted:
    """A message seen to be gone for good."""

    reference: MessageRef
    warnings: tuple[ReadWarning, ...] = ()
