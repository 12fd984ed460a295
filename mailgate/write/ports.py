"""What writing needs of a mailbox, beyond reading. `imap/mailbox.py` satisfies these protocols.

Every method that changes something sends one command, once. It raises a refusal when nothing happened, and
`OutcomeUnknown` when the command had left whole and no answer came.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from mailgate.imap.values import FlagDelta, FolderName, ModSeq, PermanentFlags, Uid, UidValidity
from mailgate.read import ports as reading

if TYPE_CHECKING:
    from mailgate.imap.codes import AppendUid, CopyUid
    from mailgate.imap.writable import MessageState, StoreOutcome


class WritableFolder(reading.ReadableFolder, Protocol):
    """A folder opened with SELECT (RFC 9051, 6.3.2), lent for the length of one `async with`."""

    @property
    def read_only(self) -> bool:
        """The server opened it with [READ-ONLY] although SELECT was asked for."""

    @property
    def permanent_flags(self) -> PermanentFlags:
        """What this folder keeps, as told when it was opened."""

    @property
    def keeps_mod_seqs(self) -> bool:
        """Whether a change can be made on a condition here: CONDSTORE, and a folder that takes part in it."""

    async def fetch_state(self, uid: Uid) -> MessageState:
        """Flags and MODSEQ of one message. `MessageNotFound`."""

    async def store(self, uid: Uid, delta: FlagDelta, unchanged_since: ModSeq | None = None) -> StoreOutcome:
        """UID STORE of named flags, on a condition where one is given."""

    async def mark_deleted(self, uid: Uid) -> StoreOutcome:
        """UID STORE of `\\Deleted`."""

    async def copy(self, uid: Uid, destination: FolderName) -> CopyUid | None:
        """UID COPY. `FolderNotFound` for a destination that is not there or hidden."""

    async def move(self, uid: Uid, destination: FolderName) -> CopyUid | None:
        """UID MOVE, natively."""

    async def expunge(self, uid: Uid) -> None:
        """UID EXPUNGE of this one."""


class Mailbox(reading.Mailbox, Protocol):
    """The owner's mailbox, for changing."""

    def select(
        self, folder: FolderName, *, uid_validity: UidValidity | None = None
    ) -> AbstractAsyncContextManager[WritableFolder]:
        """Lend the folder. `StaleReference` when its UIDVALIDITY is another than the one given."""

    async def create_folder(self, name: FolderName) -> None:
        """CREATE. `FolderExists`."""

    async def rename_folder(self, old: FolderName, new: FolderName) -> None:
        """RENAME. `FolderNotFound`, `FolderExists`, `InvalidArgument` for INBOX."""

    async def append(self, folder: FolderName, message: bytes, flags: Sequence[str]) -> AppendUid | None:
        """APPEND of one message with CRLF line ends. `FolderNotFound`: nothing is ever created on the way."""
