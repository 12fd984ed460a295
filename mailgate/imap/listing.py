"""All folders of the mailbox in one LIST, and their counts (RFC 9051, 6.3.9 and 6.3.11; RFC 5819; RFC 6154)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mailgate.imap import commands
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.commands import STATUS_ITEMS, Command
from mailgate.imap.connection import ImapConnection
from mailgate.imap.exchange import CommandResult
from mailgate.imap.folders import Folder, Role, RoleAmbiguous, RoleFolder
from mailgate.imap.hidden import HiddenFolders
from mailgate.imap.pool import Lease
from mailgate.imap.refusals import refusal
from mailgate.imap.responses import ListData, StatusData
from mailgate.imap.rows import FolderRow
from mailgate.imap.values import SpecialUse
from mailgate.limits import FOLDERS_MAX, MAX_RESPONSES, STATUS_MAX

# One row fewer than the bound whose breach is an error: a mailbox with very many folders is cut, not refused.
LIST_ROWS_MAX: Final = MAX_RESPONSES - 1

Counts = Mapping[bytes, Mapping[str, int]]
"""Wire name -> item -> number."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What one LIST gave: folders in the server's order, hidden ones left out.

    `counts`: what came along with the list; None when counts were not asked for in it.
    """

    folders: tuple[Folder, ...]
    truncated: bool = False
    counts: Counts | None = None


async def list_folders(lease: Lease, hidden: HiddenFolders, *, counts: bool, seconds: float) -> Listing:
    """LIST everything, with roles and counts in the same answer where the server offers that."""
    offered = lease.connection.capabilities
    command, with_counts = _list_command(offered, counts=counts)
    result = await lease.first(command, seconds=seconds, enough=LIST_ROWS_MAX)
    if not result.ok and with_counts:
        # Reading only: a server that cannot do what it offers is asked the plain way.
        command, with_counts = commands.list_folders(), False
        result = await lease.connection.run(command, seconds=seconds, enough=LIST_ROWS_MAX)
    if not result.ok:
        raise refusal(result.tagged)
    folders = _folders(result, hidden, utf8=lease.connection.utf8)
    return Listing(
        folders[:FOLDERS_MAX],
        result.cut or len(folders) > FOLDERS_MAX,
        _counts(result) if with_counts else None,
    )


def _list_command(offered: CapabilitySet, *, counts: bool) -> tuple[Command, bool]:
    """The widest LIST that is offered, and whether it brings counts.

    RFC 5258, 4: an extended LIST gives attributes of children only when asked; a plain one gives all it has.
    """
    if not offered.offers("LIST-EXTENDED"):
        return commands.list_folders(), False
    with_counts = counts and offered.offers("LIST-STATUS")
    status = STATUS_ITEMS if with_counts else ()
    return commands.list_folders(special_use="SPECIAL-USE" in offered, children=True, status=status), with_counts


def _folders(result: CommandResult, hidden: HiddenFolders, *, utf8: bool) -> tuple[Folder, ...]:
    """Each folder once; a name that cannot be shown within our bounds costs that folder only."""
    folders: dict[bytes, Folder] = {}
    for row in result.of(ListData):
        try:
            folder = Folder.of(row, utf8=utf8)
        except ValueError:
            continue
        if not hidden.hides(folder.name, folder.delimiter):
            folders.setdefault(folder.wire, folder)
    return tuple(folders.values())


def _counts(result: CommandResult) -> Counts:
    return {row.wire: row.items for row in result.of(StatusData)}


async def status_of_each(connection: ImapConnection, folders: Iterable[Folder], *, seconds: float) -> Counts:
    """STATUS of the first `STATUS_MAX` folders that can hold messages; a refused one is missing from the answer."""
    found: dict[bytes, Mapping[str, int]] = {}
    for folder in [folder for folder in folders if folder.selectable][:STATUS_MAX]:
        result = await connection.run(commands.status(folder.wire), seconds=seconds)
        rows = [row for row in result.of(StatusData) if is_same_wire(row.wire, folder.wire)]
        if result.ok and rows:
            found[folder.wire] = rows[-1].items
    return found


def is_same_wire(one: bytes, other: bytes) -> bool:
    """Whether two names are one folder: the same octets, or INBOX in any case (RFC 9051, 5.1)."""
    return one == other or one.upper() == other.upper() == b"INBOX"


def folder_rows(
    folders: Sequence[Folder], roles: Mapping[SpecialUse, Role], counts: Counts | None
) -> tuple[FolderRow, ...]:
    """Rows as handed out. `counts`: None when they were not asked for."""
    return tuple(_row(folder, _role(folder, roles), counts) for folder in folders)


def _role(folder: Folder, roles: Mapping[SpecialUse, Role]) -> SpecialUse | None:
    """The role this folder holds, or one of several folders claims to hold; the operator's word wins."""
    held = [role for role, holder in roles.items() if isinstance(holder, RoleFolder) and holder.folder == folder.name]
    claimed = [role for role in folder.roles if isinstance(roles[role], RoleAmbiguous)]
    return next(iter((*held, *claimed)), None)


def _row(folder: Folder, role: SpecialUse | None, counts: Counts | None) -> FolderRow:
    if counts is None or not folder.selectable:
        return FolderRow(folder, role)
    items = counts.get(folder.wire)
    if items is None:
        return FolderRow(folder, role, status_failed=True)
    messages, unseen, uid_next, uid_validity = (items.get(name) for name in STATUS_ITEMS)
    return FolderRow(folder, role, messages, unseen, uid_next, uid_validity, status_failed=messages is None)
