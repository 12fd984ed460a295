"""`mail_list_folders`: the folders, as names that every other tool takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mailgate.imap.values import FolderName, SpecialUse
from mailgate.limits import FOLDERS_MAX
from mailgate.mime.clean import clean
from mailgate.mime.model import ReadWarning
from mailgate.read.ports import Mailbox

if TYPE_CHECKING:
    from mailgate.imap.rows import FolderRow

ATTRIBUTES_MAX: Final = 32
"""Attributes shown of one folder; RFC 9051, 6154 and 5258 together define fewer than twenty."""
ATTRIBUTE_CHARS_MAX: Final = 64

STATUS_FAILED: Final = ReadWarning(
    "status_failed",
    "The counts of this folder are not known: the server gave none, or too many folders were asked for.",
)


@dataclass(frozen=True, slots=True)
class FolderCounts:
    """What STATUS says (RFC 9051, 6.3.11); None for an item the server left out."""

    messages: int | None
    unseen: int | None
    uid_next: int | None
    uid_validity: int | None


@dataclass(frozen=True, slots=True)
class ListedFolder:
    """One folder. `delimiter` None: no hierarchy. `has_children` None: the server does not say.

    `counts` is None where they were not asked for, cannot be (`\\Noselect`), or failed; then a warning says so.
    """

    name: FolderName
    delimiter: str | None
    attributes: tuple[str, ...]
    role: SpecialUse | None
    selectable: bool
    has_children: bool | None
    counts: FolderCounts | None = None
    warnings: tuple[ReadWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class FolderListing:
    """At most `FOLDERS_MAX` folders, in the server's order; `truncated` when there are more."""

    folders: tuple[ListedFolder, ...]
    truncated: bool


async def list_folders(mailbox: Mailbox, *, include_counts: bool = False) -> FolderListing:
    """All folders that the operator does not hide. A folder without counts is a row with a warning, never an error."""
    listed = await mailbox.list_folders(counts=include_counts)
    rows = tuple(_listed(row, include_counts) for row in listed.folders[:FOLDERS_MAX])
    return FolderListing(rows, listed.truncated or len(listed.folders) > FOLDERS_MAX)


def _listed(row: FolderRow, include_counts: bool) -> ListedFolder:
    folder = row.folder
    counted = include_counts and folder.selectable
    return ListedFolder(
        name=folder.name,
        delimiter=folder.delimiter,
        attributes=_attributes(folder.attributes),
        role=row.role,
        selectable=folder.selectable,
        has_children=folder.has_children,
        counts=_counts(row) if counted and not row.status_failed else None,
        warnings=(STATUS_FAILED,) if counted and row.status_failed else (),
    )


def _counts(row: FolderRow) -> FolderCounts:
    return FolderCounts(row.messages, row.unseen, row.uid_next, row.uid_validity)


def _attributes(attributes: tuple[str, ...]) -> tuple[str, ...]:
    """Attributes as the server spells them, but bounded and safe to show."""
    safe = (clean(attribute[:ATTRIBUTE_CHARS_MAX]).text for attribute in attributes[:ATTRIBUTES_MAX])
    return tuple(attribute for attribute in safe if attribute)
