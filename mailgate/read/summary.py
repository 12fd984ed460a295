"""Rows of a search page: facts apart from the text that other people wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from mailgate.imap.values import FolderName, MessageRef, ModSeq, UidValidity
from mailgate.limits import PARSE_SECONDS
from mailgate.mime.model import MessageHeaders, ReadWarning
from mailgate.mime.parse import parse_headers
from mailgate.read.filters import contradicts_flags, contradicts_headers
from mailgate.read.flags import shown_flags
from mailgate.read.offload import Deadline, OutOfTime, off_loop

if TYPE_CHECKING:
    from mailgate.imap.criteria import SearchCriteria
    from mailgate.imap.rows import SummaryRow
    from mailgate.read.ports import ReadableFolder

UNREADABLE: Final = ReadWarning(
    "message_unreadable", "This message could not be summarised; it exists, and mail_read may show more of it."
)


@dataclass(frozen=True, slots=True)
class SummaryText:
    """What the message says of itself: untrusted, cleaned and bounded.

    `date` is ISO 8601 with offset, or None beside `date_raw`. `preview`: an extract of the text, where asked for.
    """

    subject: str | None
    from_: tuple[str, ...]
    to: tuple[str, ...]
    date: str | None
    date_raw: str | None
    message_id: str | None
    sanitized: bool = False
    preview: str | None = None


@dataclass(frozen=True, slots=True)
class MessageSummary:
    """One row. `size` in octets as the server says; `has_attachments` None where it cannot be known.

    `text` is None for a message that could not be read; a warning says so.
    """

    reference: MessageRef
    flags: tuple[str, ...]
    internal_date: datetime | None
    size: int | None
    mod_seq: ModSeq | None
    has_attachments: bool | None
    text: SummaryText | None
    warnings: tuple[ReadWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryMaker:
    """Makes the rows of one folder and drops those that contradict the filters."""

    folder: FolderName
    uid_validity: UidValidity
    criteria: SearchCriteria
    by_words: bool = False

    @classmethod
    def of(cls, folder: ReadableFolder, criteria: SearchCriteria) -> SummaryMaker:
        """For rows of this folder. Gmail, known by its extension, searches by words."""
        return cls(folder.name, folder.uid_validity, criteria, by_words="X-GM-EXT-1" in folder.capabilities)

    async def make_all(self, rows: Sequence[SummaryRow]) -> list[MessageSummary | None]:
        """A summary for each row, in order; None for a row that contradicts the filters.

        Never fails for one message's sake, and never stops the event loop: what cannot be read in time is unreadable.
        """
        try:
            return await off_loop(lambda expired: [self._make(row, expired) for row in rows], seconds=PARSE_SECONDS)
        except OutOfTime:
            return [self._unreadable(row) for row in rows]

    def _make(self, row: SummaryRow, expired: Deadline) -> MessageSummary | None:
        try:
            return self._unreadable(row) if row.header is None or expired() else self._readable(row, row.header)
        except Exception:
            # Whatever one hostile header does to a parser, the page is about the other messages.
            return self._unreadable(row)

    def _readable(self, row: SummaryRow, block: bytes) -> MessageSummary | None:
        headers = parse_headers(block)
        flags = shown_flags(row.flags)
        if contradicts_flags(self.criteria, flags.flags):
            return None
        if contradicts_headers(self.criteria, block, headers, by_words=self.by_words):
            return None
        return self._summary(row, _text(headers), (*headers.warnings, *flags.warnings))

    def _unreadable(self, row: SummaryRow) -> MessageSummary:
        return self._summary(row, None, (UNREADABLE, *shown_flags(row.flags).warnings))

    def _summary(self, row: SummaryRow, text: SummaryText | None, warnings: tuple[ReadWarning, ...]) -> MessageSummary:
        return MessageSummary(
            reference=MessageRef(self.folder, self.uid_validity, row.uid),
            flags=shown_flags(row.flags).flags,
            internal_date=row.internal_date,
            size=row.size,
            mod_seq=row.mod_seq,
            has_attachments=row.has_attachments,
            text=text,
            warnings=warnings,
        )


def _text(headers: MessageHeaders) -> SummaryText:
    return SummaryText(
        subject=headers.subject,
        from_=headers.from_,
        to=headers.to,
        date=headers.date,
        date_raw=headers.date_raw,
        message_id=headers.message_id,
        sanitized=headers.sanitized,
    )
