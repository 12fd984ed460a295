"""A copy of an accepted message in the owner's Sent folder: the very octets that were sent, looked for first.

Some providers file what they accept, so a copy that is there already is not made twice. A copy that fails is a warning
and never a reason to send or to append again.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from mailgate.errors import MailgateError, OutcomeUnknown
from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.values import FolderName, ScanWindow, SystemFlag, Uid
from mailgate.limits import SCAN_UIDS_MAX
from mailgate.send.record import SentCopy

if TYPE_CHECKING:
    from mailgate.imap.codes import AppendUid

SENT: Final = "role:sent"
COPY_FAILED: Final = "sent_copy_failed: The message was accepted; the copy in Sent could not be saved."
COPY_IN_DOUBT: Final = (
    "sent_copy_in_doubt: The message was accepted; no answer came whether the copy was saved. Look in Sent."
)


@dataclass(frozen=True, slots=True)
class FiledCopy:
    """The copy, and what a caller is to be warned of."""

    copy: SentCopy
    warnings: tuple[str, ...] = ()


class _SentFolder(Protocol):
    async def last_uid(self) -> int: ...
    async def uid_search(self, criteria: SearchCriteria, window: ScanWindow) -> tuple[Uid, ...]: ...


class FilingMailbox(Protocol):
    """What filing needs of a mailbox; `imap/mailbox.py` satisfies it."""

    async def resolve(self, argument: str) -> FolderName:
        """The folder of a role. `SpecialUseMissing`, `SpecialUseAmbiguous`."""
        ...

    def examine(self, folder: FolderName) -> AbstractAsyncContextManager[_SentFolder]:
        """Lend the folder for reading."""
        ...

    async def append(self, folder: FolderName, message: bytes, flags: Sequence[str]) -> AppendUid | None:
        """APPEND, sent once."""
        ...


async def sent_folder(mailbox: FilingMailbox) -> FolderName:
    """The one Sent folder. Raises `SpecialUseMissing`, `SpecialUseAmbiguous` and what the mailbox raises."""
    return await mailbox.resolve(SENT)


async def file_sent(mailbox: FilingMailbox, folder: FolderName, message: bytes, message_id: str) -> FiledCopy:
    """Save `message` with `\\Seen` in `folder`, unless a message with that id (brackets included) is there.

    Never raises a `MailgateError`: the message itself has been accepted, whatever becomes of the copy.
    """
    try:
        if await _is_there(mailbox, folder, message_id):
            return FiledCopy(SentCopy.ALREADY_THERE)
        await mailbox.append(folder, message, (SystemFlag.SEEN,))
    except OutcomeUnknown:
        return FiledCopy(SentCopy.FAILED, (COPY_IN_DOUBT,))
    except MailgateError:
        return FiledCopy(SentCopy.FAILED, (COPY_FAILED,))
    return FiledCopy(SentCopy.SAVED)


async def _is_there(mailbox: FilingMailbox, folder: FolderName, message_id: str) -> bool:
    """Looked for among the newest messages: a copy of what was accepted a moment ago can be nowhere else."""
    async with mailbox.examine(folder) as lent:
        last = await lent.last_uid()
        if not last:
            return False
        window = ScanWindow(Uid(max(1, last - SCAN_UIDS_MAX + 1)), Uid(last))
        return bool(await lent.uid_search(SearchCriteria(message_id=message_id), window))
