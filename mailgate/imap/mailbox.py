"""The mailbox behind one login: discovers folders and roles, and lends a folder for the time of one call.

A handle is a permission: `examine` lends a folder that has no writing method, on a connection where EXAMINE was the
last word about it; `select` lends one that changes single messages. UIDVALIDITY is compared in the very session that
then reads or writes. What changes anything is sent once, and never again.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final

from mailgate.errors import (
    FolderExists,
    FolderNotFound,
    InvalidArgument,
    SpecialUseAmbiguous,
)
from mailgate.imap import changes, commands, listing
from mailgate.imap.ahead import FirstLook
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.codes import AppendUid
from mailgate.imap.connection import ImapConnection
from mailgate.imap.endpoint import Credentials, ImapEndpoint
from mailgate.imap.folders import Folder, Role, RoleAmbiguous, RoleMissing
from mailgate.imap.folders import roles as roles_of
from mailgate.imap.hidden import ANY_DELIMITER, HiddenFolders
from mailgate.imap.login import open_session
from mailgate.imap.mutf7 import WIRE_PREFIX, to_wire
from mailgate.imap.opening import Experience, FolderOpening, OpeningCommand
from mailgate.imap.pool import ConnectionPool, Lease
from mailgate.imap.readable import ReadableFolder
from mailgate.imap.responses import ListData
from mailgate.imap.rows import FolderList
from mailgate.imap.tls import session_context
from mailgate.imap.values import INBOX, FolderName, SpecialUse, UidValidity
from mailgate.imap.writable import WritableFolder
from mailgate.limits import IMAP_CONNECTIONS_DEFAULT, UPSTREAM_TIMEOUT_DEFAULT

ROLES_SECONDS: Final = 60.0
"""How long the answer to "which folder is Trash" is believed."""
ROLE_PREFIX: Final = "role:"


_PLAIN: Final = re.compile(r"[ -%'-~]+")
"""Printable ASCII without "&", which alone means something else in modified UTF-7 (RFC 3501, 5.1.3)."""


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
        self._experience = Experience()
        self._delimiters: str | None = None
        self._roles: tuple[float, Mapping[SpecialUse, Role]] | None = None
        self._pool = ConnectionPool(
            self._opener(endpoint, credentials),
            size=connections,
            clock=clock,
            call_seconds=command_seconds,
        )

    def _opener(self, endpoint: ImapEndpoint, credentials: Credentials) -> Callable[[], Awaitable[ImapConnection]]:
        context = functools.partial(session_context, endpoint.ca_file)
        return functools.partial(open_session, endpoint, credentials, context, seconds=self._seconds)

    async def capabilities(self) -> CapabilitySet:
        """What the server offers after login."""
        async with self._pool.lend() as lease:
            await lease.make_sure(seconds=self._seconds)
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
        self, folder: FolderName, *, uid_validity: UidValidity | None = None, look: FirstLook | None = None
    ) -> AsyncIterator[ReadableFolder]:
        """Lend a folder for reading; a message's reference passes the UIDVALIDITY it was made under.

        Raises `FolderNotFound`, `FolderNotSelectable`, `StaleReference`, `UpstreamBusy` and the upstream errors; with
        `uid_validity` alone that is left to the first method that reads, with which EXAMINE then leaves in one flight.
        `look`: a search to begin in the same flight. A kept connection that died unnoticed is replaced once, before it
        has answered anything and never after.
        """
        async with self._pool.lend() as lease:
            lent = ReadableFolder(
                folder, await self._opening(lease, folder, uid_validity, commands.examine), seconds=self._seconds
            )
            if look is not None:
                await lent.look(look)
            elif uid_validity is None:
                await lent.open()
            try:
                yield lent
            finally:
                lent.give_back()

    @asynccontextmanager
    async def select(
        self, folder: FolderName, *, uid_validity: UidValidity | None = None
    ) -> AsyncIterator[WritableFolder]:
        """Lend a folder for changing single messages. As `examine`; a change is sent only after SELECT was answered.

        SELECT itself may be repeated on a fresh connection: all it changes is \\Recent, which nobody is shown. Nothing
        that the folder's methods send is.
        """
        async with self._pool.lend() as lease:
            opening = await self._opening(lease, folder, uid_validity, commands.select)
            lent = WritableFolder(folder, opening, seconds=self._seconds, is_hidden=self._is_hidden)
            if uid_validity is None:
                await lent.open()
            try:
                yield lent
            finally:
                lent.leave()

    async def create_folder(self, name: FolderName) -> None:
        """Create a folder.

        Raises `InvalidArgument` for a name that could not be shown again as it is, `FolderExists`, `FolderNotFound`
        for a hidden one, `UpstreamRefused`, `OutcomeUnknown`.
        """
        async with self._pool.lend() as lease:
            wire = await self._new_wire(lease, name, "name")
            self._roles = None
            await changes.create_folder(lease, wire, seconds=self._seconds)

    async def rename_folder(self, old: FolderName, new: FolderName) -> None:
        """Rename a folder together with those below it; never onto an existing one.

        As `create_folder`; also `InvalidArgument` for INBOX, whose renaming would move its messages (RFC 9051,
        6.3.6), and for one that would bring a hidden folder to light or another one into hiding.
        """
        if old == INBOX:
            raise InvalidArgument("old is INBOX, which cannot be renamed.")
        async with self._pool.lend() as lease:
            await self._refuse_hidden(lease, old)
            new_wire = await self._new_wire(lease, new, "new")
            await self._refuse_to_uncover(lease, old, new)
            self._roles = None  # which folder is Trash may change with it
            await changes.rename_folder(lease, await self._wire_of(lease, old), new_wire, seconds=self._seconds)

    async def append(self, folder: FolderName, message: bytes, flags: Sequence[str] = ()) -> AppendUid | None:
        """Add a message with CRLF line ends; what the server says about its place, for `placement_of_append`.

        Raises `FolderNotFound` (the folder is never created), `FolderNotSelectable`, `UpstreamRefused`,
        `OutcomeUnknown`; `ValueError` for octets that are no message, and for flags that nobody may set.
        """
        async with self._pool.lend() as lease:
            await self._refuse_hidden(lease, folder)
            wire = await self._wire_of(lease, folder)
            return await changes.append_message(lease, wire, message, flags, seconds=self._seconds)

    async def aclose(self) -> None:
        """Log out and close what is kept."""
        await self._pool.aclose()

    async def _opening(
        self, lease: Lease, name: FolderName, uid_validity: UidValidity | None, command: OpeningCommand
    ) -> FolderOpening:
        await self._refuse_hidden(lease, name)
        wire = await self._wire_of(lease, name)
        return FolderOpening(lease, wire, command, uid_validity, self._experience, self._seconds)

    async def _wire_of(self, lease: Lease, name: FolderName) -> bytes:
        """The octets that name the folder. Those of a plain name are the same with and without UTF-8."""
        if not _PLAIN.fullmatch(name.text) or name.text.lower().startswith(WIRE_PREFIX):
            await lease.connection.settle(seconds=self._seconds)
        try:
            return to_wire(name, utf8=lease.connection.utf8)
        except ValueError:
            raise FolderNotFound from None  # no server can have a folder of that name

    async def _new_wire(self, lease: Lease, name: FolderName, argument: str) -> bytes:
        """The octets for a folder that does not exist yet; its name has to be one that will be shown unchanged."""
        if name == INBOX:
            raise FolderExists
        await lease.connection.settle(seconds=self._seconds)
        await self._refuse_hidden(lease, name)
        delimiters = await self._known_delimiters(lease)
        if _is_misspelt_inbox(name.text, delimiters):
            raise InvalidArgument(f"{argument} begins with INBOX in another spelling; write it in capitals.")
        if len(delimiters) == 1 and "" in name.text.split(delimiters):
            # Some servers drop an empty level without a word, so the folder would have another name than this.
            raise InvalidArgument(f"{argument} has a level without a name before, between or after delimiters.")
        if name.text.lower().startswith(WIRE_PREFIX):
            raise InvalidArgument(f"{argument} begins with a prefix that is kept for names that cannot be shown.")
        if (
            lease.connection.utf8
            and max(name.text) > "\uffff"
            and not lease.connection.capabilities.offers("LIST-EXTENDED")
        ):
            # Seen with Courier: it takes such a name in UTF-8, and from then on LIST ends every session without UTF-8.
            raise InvalidArgument(
                f"{argument} holds a character that this mail server does not bear in a folder's name."
            )
        try:
            return to_wire(name, utf8=lease.connection.utf8)
        except ValueError:
            raise InvalidArgument(f"{argument} holds characters that a folder's name cannot show.") from None

    async def _refuse_to_uncover(self, lease: Lease, old: FolderName, new: FolderName) -> None:
        """A rename takes along what lies below: hidden folders into the open, others to where they are hidden."""
        if not self._hidden:
            return
        delimiters = await self._known_delimiters(lease)
        for argument, name in (("old", old), ("new", new)):
            if self._hidden.has_below(name, delimiters):
                raise InvalidArgument(
                    f"{argument} is a place that this deployment leaves as it is.",
                    next_step="Leave it; only the operator can rename it.",
                )

    def _is_hidden(self, name: FolderName) -> bool:
        """As `_refuse_hidden`, once the delimiter is known."""
        return self._hidden.hides(name, ANY_DELIMITER if self._delimiters is None else self._delimiters)

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


def _is_misspelt_inbox(name: str, delimiters: str) -> bool:
    """Whether the first level is INBOX in another case: servers then show the folder under another name than this."""
    first = name[:5]
    return first != "INBOX" and first.upper() == "INBOX" and name[5:6] != "" and name[5:6] in delimiters
