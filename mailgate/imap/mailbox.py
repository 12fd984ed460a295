"""The mailbox behind one login: discovers folders and roles, and lends a folder for the time of one call.

A handle is a permission: `examine` lends a folder that has no writing method, on a connection where EXAMINE was the
last word about it. UIDVALIDITY is compared in the very session that then reads.
"""

from __future__ import annotations

import functools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final, TypeVar

from mailgate.errors import (
    FolderNotFound,
    InvalidArgument,
    SpecialUseAmbiguous,
    StaleReference,
)
from mailgate.imap import commands, listing
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.connection import ImapConnection
from mailgate.imap.endpoint import Credentials, ImapEndpoint
from mailgate.imap.exchange import CommandResult
from mailgate.imap.folders import Folder, Role, RoleAmbiguous, RoleMissing
from mailgate.imap.folders import roles as roles_of
from mailgate.imap.hidden import ANY_DELIMITER, HiddenFolders
from mailgate.imap.login import open_session
from mailgate.imap.mutf7 import to_wire
from mailgate.imap.opening import opened_folder, why_not_opened
from mailgate.imap.pool import ConnectionPool, Lease
from mailgate.imap.readable import ReadableFolder
from mailgate.imap.responses import ListData
from mailgate.imap.rows import FolderList
from mailgate.imap.tls import client_context
from mailgate.imap.values import INBOX, FolderName, SpecialUse, UidValidity
from mailgate.limits import IMAP_CONNECTIONS_DEFAULT, UPSTREAM_TIMEOUT_DEFAULT

ROLES_SECONDS: Final = 60.0
"""How long the answer to "which folder is Trash" is believed."""
ROLE_PREFIX: Final = "role:"

_Folder = TypeVar("_Folder", bound=ReadableFolder)


class WritableFolder(ReadableFolder):
    """A folder opened with SELECT. What changes it is not built yet; SELECT by itself changes nothing that is kept."""


class Mailbox:
    """One owner's mailbox.

    `connections`: most connections kept at a time. `command_seconds`: deadline of each command. `roles`: the
    operator's own role map, which wins over the server's. `hidden`: folders that do not exist for any caller, with
    everything below them. `clock`: seconds, monotonic.
    """

    def __init__(
        self,
        endpoint: ImapEndpoint,
        credentials: Credentials,
        *,
        connections: int = IMAP_CONNECTIONS_DEFAULT,
        command_seconds: float = UPSTREAM_TIMEOUT_DEFAULT,
        roles: Mapping[SpecialUse, FolderName] = MappingProxyType({}),
        hidden: frozenset[FolderName] = frozenset(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.identity = f"{credentials.username}@{endpoint.host.lower()}:{endpoint.port}"
        """Names this mailbox and no other, for binding cursors. Never logged or shown."""
        self._seconds = command_seconds
        self._role_map = dict(roles)
        self._hidden = HiddenFolders(hidden)
        self._clock = clock
        self._delimiters: str | None = None
        self._roles: tuple[float, Mapping[SpecialUse, Role]] | None = None
        self._pool = ConnectionPool(
            self._opener(endpoint, credentials),
            size=connections,
            clock=clock,
            call_seconds=command_seconds,
        )

    def _opener(self, endpoint: ImapEndpoint, credentials: Credentials) -> Callable[[], Awaitable[ImapConnection]]:
        context = functools.cache(functools.partial(client_context, endpoint.ca_file))
        return functools.partial(open_session, endpoint, credentials, context, seconds=self._seconds)

    async def capabilities(self) -> CapabilitySet:
        """What the server offers after login."""
        async with self._pool.lend() as lease:
            return lease.connection.capabilities

    async def list_folders(self, *, counts: bool = False) -> FolderList:
        """Every folder that is not hidden, with its role, and with counts on request.

        Counts come with the list where the server offers LIST-STATUS, else from one STATUS each, within bounds. A
        folder whose counts could not be had is a row that says so.
        """
        async with self._pool.lend() as lease:
            found = await listing.list_folders(lease, self._hidden, counts=counts, seconds=self._seconds)
            numbers = found.counts
            if counts and numbers is None and not lease.connection.closed:
                numbers = await listing.status_of_each(lease.connection, found.folders, seconds=self._seconds)
        rows = listing.folder_rows(found.folders, self._remember(found.folders), numbers if counts else None)
        return FolderList(rows, found.truncated)

    async def roles(self) -> Mapping[SpecialUse, Role]:
        """Who holds each role: the operator's word, else the one folder that the server names. Kept for a minute."""
        if self._roles is not None and self._clock() - self._roles[0] < ROLES_SECONDS:
            return self._roles[1]
        async with self._pool.lend() as lease:
            found = await listing.list_folders(lease, self._hidden, counts=False, seconds=self._seconds)
        return self._remember(found.folders)

    def _remember(self, folders: tuple[Folder, ...]) -> Mapping[SpecialUse, Role]:
        self._roles = (self._clock(), MappingProxyType(roles_of(folders, self._role_map)))
        return self._roles[1]

    async def resolve(self, argument: str) -> FolderName:
        """The folder that an argument names: `role:NAME`, or an exact name.

        Raises `InvalidArgument` for bad form, `SpecialUseMissing` and `SpecialUseAmbiguous`, and `FolderNotFound` for
        a hidden folder. Whether the folder exists shows when it is opened.
        """
        name, role = _folder_or_role(argument)
        if name is None:
            return await self._holder(role)
        if self._hidden:
            async with self._pool.lend() as lease:
                await self._refuse_hidden(lease, name)
        return name

    async def _holder(self, role: SpecialUse) -> FolderName:
        holder = (await self.roles())[role]
        if isinstance(holder, RoleMissing):
            raise holder.error
        if isinstance(holder, RoleAmbiguous):
            raise SpecialUseAmbiguous
        return holder.folder

    @asynccontextmanager
    async def examine(
        self, folder: FolderName, *, uid_validity: UidValidity | None = None
    ) -> AsyncIterator[ReadableFolder]:
        """Lend a folder for reading; a message's reference passes the UIDVALIDITY it was made under.

        Raises `FolderNotFound`, `FolderNotSelectable`, `StaleReference`, `UpstreamBusy` and the upstream errors. A
        kept connection that died unnoticed is replaced once, before the folder is lent and never after.
        """
        async with self._lend(folder, uid_validity, ReadableFolder) as lent:
            yield lent

    @asynccontextmanager
    async def select(
        self, folder: FolderName, *, uid_validity: UidValidity | None = None
    ) -> AsyncIterator[WritableFolder]:
        """Lend a folder for writing. As `examine`, but nothing is ever repeated."""
        async with self._lend(folder, uid_validity, WritableFolder) as lent:
            yield lent

    async def aclose(self) -> None:
        """Log out and close what is kept."""
        await self._pool.aclose()

    @asynccontextmanager
    async def _lend(
        self, name: FolderName, uid_validity: UidValidity | None, kind: type[_Folder]
    ) -> AsyncIterator[_Folder]:
        async with self._pool.lend() as lease:
            lent = await self._open(lease, name, uid_validity, kind)
            try:
                yield lent
            finally:
                lent.give_back()

    async def _open(
        self, lease: Lease, name: FolderName, uid_validity: UidValidity | None, kind: type[_Folder]
    ) -> _Folder:
        await self._refuse_hidden(lease, name)
        try:
            wire = to_wire(name, utf8=lease.connection.utf8)
        except ValueError:
            raise FolderNotFound from None  # no server can have a folder of that name
        condstore = lease.connection.capabilities.features()["condstore"]
        result = await self._run_opening(lease, wire, condstore=condstore, repeatable=kind is ReadableFolder)
        if not result.ok:
            raise await why_not_opened(lease.connection, wire, result.tagged, seconds=self._seconds)
        opened = opened_folder(result, condstore=condstore)
        if uid_validity is not None and uid_validity != opened.uid_validity:
            raise StaleReference
        return kind(name, wire, opened, lease.connection, seconds=self._seconds)

    async def _run_opening(self, lease: Lease, wire: bytes, *, condstore: bool, repeatable: bool) -> CommandResult:
        if repeatable:
            return await lease.first(commands.examine(wire, condstore=condstore), seconds=self._seconds)
        return await lease.connection.run(commands.select(wire, condstore=condstore), seconds=self._seconds)

    async def _refuse_hidden(self, lease: Lease, name: FolderName) -> None:
        """`FolderNotFound` for a hidden folder, in the very words for one that does not exist."""
        if self._hidden and self._hidden.hides(name, await self._known_delimiters(lease)):
            raise FolderNotFound

    async def _known_delimiters(self, lease: Lease) -> str:
        """What separates levels here: asked once; any usual character when the server does not say."""
        if self._delimiters is None:
            result = await lease.first(commands.list_delimiter(), seconds=self._seconds)
            rows = result.of(ListData)
            self._delimiters = (rows[0].delimiter or "") if result.ok and rows else ANY_DELIMITER
        return self._delimiters


def _folder_or_role(argument: str) -> tuple[FolderName | None, SpecialUse]:
    """A name, or None and a role. INBOX is no matter of roles: the protocol itself names it (RFC 9051, 5.1)."""
    prefix, text = argument[: len(ROLE_PREFIX)], argument[len(ROLE_PREFIX) :]
    try:
        if prefix.lower() != ROLE_PREFIX:
            return FolderName(argument), SpecialUse.INBOX
        role = SpecialUse(text.lower())
    except ValueError:
        raise InvalidArgument(_BAD_ROLE if prefix.lower() == ROLE_PREFIX else _BAD_NAME) from None
    return (INBOX if role is SpecialUse.INBOX else None), role


_BAD_NAME: Final = "folder is empty, too long, or holds control characters."
_BAD_ROLE: Final = f"folder names a role that does not exist; the roles are {', '.join(SpecialUse)}."
