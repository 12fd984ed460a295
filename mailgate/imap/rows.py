"""What the mailbox hands out: one frozen row for each thing it was asked about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from mailgate.imap.folders import Folder
from mailgate.imap.outline import PartOutline
from mailgate.imap.values import ModSeq, SpecialUse, Uid


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One message of a search page.

    `header`: the asked header fields as the server sent them, at most `limits.SUMMARY_HEADER_BYTES` octets; None when
    the server could not give them, which marks the row as unreadable. `size`: RFC822.SIZE, a hint only.
    `mod_seq`: only with CONDSTORE. `has_attachments`: None when it is not known.
    """

    uid: Uid
    flags: tuple[str, ...] = ()
    internal_date: datetime | None = None
    size: int | None = None
    mod_seq: ModSeq | None = None
    header: bytes | None = None
    has_attachments: bool | None = None


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """Rows in the order asked; a UID that names no message any more has none."""

    rows: tuple[SummaryRow, ...] = ()

    def __iter__(self) -> Iterator[SummaryRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class SourceRow:
    """The first octets of one message. `truncated`: more may exist, decided by what came back, never by `size`.

    `outline`: its parts in the server's words, where that was asked for and makes sense.
    """

    uid: Uid
    flags: tuple[str, ...]
    internal_date: datetime | None
    size: int | None
    mod_seq: ModSeq | None
    source: bytes
    truncated: bool
    outline: PartOutline | None = None


@dataclass(frozen=True, slots=True)
class HeadRow:
    """One message without its text. `header`: the whole header block with its blank line, or its first octets.

    `outline`: its parts in the server's words, None where that makes no sense.
    """

    uid: Uid
    flags: tuple[str, ...]
    internal_date: datetime | None
    size: int | None
    mod_seq: ModSeq | None
    header: bytes
    truncated: bool
    outline: PartOutline | None = None


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """What a preview of one message is made of.

    `header`: the fields that say how to read the text; `text`: the first octets of what follows the header; `cut`:
    there are more.
    """

    uid: Uid
    header: bytes = b""
    text: bytes = b""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class FolderRow:
    """One folder, with counts where they were asked for. `status_failed`: the server, or our bound, gave none."""

    folder: Folder
    role: SpecialUse | None = None
    messages: int | None = None
    unseen: int | None = None
    uid_next: int | None = None
    uid_validity: int | None = None
    status_failed: bool = False


@dataclass(frozen=True, slots=True)
class FolderList:
    """Folders in the server's order, at most `limits.FOLDERS_MAX`; `truncated` when there are more."""

    folders: tuple[FolderRow, ...]
    truncated: bool = False
