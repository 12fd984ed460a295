"""What reading needs of a mailbox, and nothing more: no method here can change anything.

`imap/mailbox.py` satisfies these protocols; so do the folders in memory that the tests use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from mailgate.imap.values import FolderName, ModSeq, ScanWindow, SpecialUse, Uid, UidValidity

if TYPE_CHECKING:
    from mailgate.imap.ahead import FirstLook
    from mailgate.imap.capabilities import CapabilitySet
    from mailgate.imap.criteria import SearchCriteria
    from mailgate.imap.folders import Role
    from mailgate.imap.rows import FolderList, HeadRow, PreviewRow, SourceRow, SummaryPage
    from mailgate.imap.sections import Span


class ReadableFolder(Protocol):
    """A folder opened with EXAMINE (RFC 9051, 6.3.3), lent for the length of one `async with`."""

    @property
    def name(self) -> FolderName:
        """The folder's name, resolved."""

    @property
    def uid_validity(self) -> UidValidity:
        """Under which the folder's UIDs hold."""

    @property
    def messages(self) -> int:
        """How many messages there were when it was opened."""

    @property
    def highest_modseq(self) -> ModSeq | None:
        """None without CONDSTORE, or where this folder keeps none."""

    @property
    def capabilities(self) -> CapabilitySet:
        """What the server announced after the login."""

    @property
    def at_hand(self) -> ScanWindow | None:
        """The UIDs about which the search begun at the opening has been answered; asking again costs nothing."""

    async def last_uid(self) -> int:
        """The highest UID that a message can have now; 0 for a folder that never held one."""

    async def uid_search(self, criteria: SearchCriteria, window: ScanWindow) -> tuple[Uid, ...]:
        """UIDs in the window that match, ascending and unique. `SearchNotSupported`."""

    async def fetch_summaries(self, uids: Sequence[Uid]) -> SummaryPage:
        """A row for each UID that still exists; an unreadable one has no header."""

    async def fetch_source(self, uid: Uid, limit: int) -> SourceRow:
        """The first `limit` octets of one message. `MessageNotFound`."""

    async def fetch_beginning(self, uid: Uid, limit: int) -> SourceRow | None:
        """As `fetch_source`, with the outline of a message that is longer; None where the server cannot give that."""

    async def fetch_sections(self, uid: Uid, spans: Sequence[Span]) -> Mapping[str, bytes] | None:
        """These pieces of one message by section; None unless each came as it was asked for."""

    async def fetch_sources(self, uids: Sequence[Uid], each: int) -> tuple[SourceRow, ...]:
        """Those messages that are smaller than `each` and came whole; the others are to be asked for alone."""

    async def fetch_head(self, uid: Uid, limit: int) -> HeadRow:
        """The header and structure of one message, without its text. `MessageNotFound`."""

    async def fetch_heads(self, uids: Sequence[Uid], limit: int) -> tuple[HeadRow, ...]:
        """The same of several, as far as they came readable; the others are to be asked for alone."""

    async def fetch_previews(self, uids: Sequence[Uid]) -> tuple[PreviewRow, ...]:
        """What previews are made of, from one command, as far as it came readable."""


class Mailbox(Protocol):
    """The owner's mailbox."""

    @property
    def identity(self) -> str:
        """Names this mailbox for good; binds cursors, is never shown."""

    async def capabilities(self) -> CapabilitySet:
        """What the server announced after the login."""

    async def list_folders(self, *, counts: bool = False) -> FolderList:
        """All folders that are not hidden, with their counts where asked for."""

    async def roles(self) -> Mapping[SpecialUse, Role]:
        """The folder for each role, or why there is none."""

    async def resolve(self, argument: str) -> FolderName:
        """A folder's name from a name or `role:NAME`. `SpecialUseMissing`, `SpecialUseAmbiguous`, `FolderNotFound`."""

    def examine(
        self, folder: FolderName, *, uid_validity: UidValidity | None = None, look: FirstLook | None = None
    ) -> AbstractAsyncContextManager[ReadableFolder]:
        """Lend the folder. `StaleReference` when its UIDVALIDITY is another than the one given, at the latest from the
        first method that asks for something. `look`: a search that may be begun while the folder is being opened.
        """
