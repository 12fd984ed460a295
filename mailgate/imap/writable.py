"""A folder opened with SELECT, lent for the time of one call: what `ReadableFolder` can, and changes to one message.

Each changing method sends one command once. It returns when the server said OK, raises a refusal when it said NO or
BAD, and `OutcomeUnknown` when the connection ended after the command had left. Nothing here is ever repeated or
replaced by another command.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mailgate.errors import (
    CapabilityMissing,
    FlagNotPermitted,
    FolderNotFound,
    OutcomeUnknown,
    UpstreamProtocolError,
    UpstreamRefused,
)
from mailgate.imap import commands, write_commands
from mailgate.imap.changes import change_refusal, why_not_placed
from mailgate.imap.commands import Command
from mailgate.imap.exchange import CommandResult
from mailgate.imap.fetching import flags_of, rows_by_uid
from mailgate.imap.mutf7 import to_wire
from mailgate.imap.opening import FolderOpening
from mailgate.imap.readable import ReadableFolder
from mailgate.imap.responses import CopyUid
from mailgate.imap.values import FlagDelta, FolderName, ModSeq, PermanentFlags, SystemFlag, Uid


@dataclass(frozen=True, slots=True)
class MessageState:
    """What can change about a message. `mod_seq` is None where the folder keeps no mod-sequences."""

    uid: Uid
    flags: tuple[str, ...]
    mod_seq: ModSeq | None = None


@dataclass(frozen=True, slots=True)
class StoreOutcome:
    """How a STORE ended that was not simply refused.

    `modified`: the server said MODIFIED, in its OK or its NO: the condition did not hold, so nothing was changed,
    unless `fetch_state` shows otherwise. `state`: the message as the server reported it at once; None when it said
    nothing readable about it, which means neither success nor failure: `fetch_state` tells.
    """

    modified: bool = False
    state: MessageState | None = None


class WritableFolder(ReadableFolder):
    """Changes one message at a time in the folder that SELECT has opened on one connection."""

    def __init__(
        self,
        name: FolderName,
        opening: FolderOpening,
        *,
        seconds: float,
        is_hidden: Callable[[FolderName], bool] = lambda name: False,
    ) -> None:
        super().__init__(name, opening, seconds=seconds)
        self._is_hidden = is_hidden

    @property
    def read_only(self) -> bool:
        """Whether the server opened the folder READ-ONLY although it was asked to open it for writing."""
        return self._state.read_only

    @property
    def permanent_flags(self) -> PermanentFlags:
        """Which flags survive the session; none in a folder that is read-only."""
        return PermanentFlags() if self.read_only else self._state.permanent_flags

    @property
    def keeps_mod_seqs(self) -> bool:
        """Whether a change can be made on a condition: CONDSTORE is offered, and this folder takes part in it."""
        return self._has_mod_seq and self.highest_modseq is not None

    async def fetch_state(self, uid: Uid) -> MessageState:
        """The message's flags and mod-sequence now. Raises `MessageNotFound`."""
        known = self._opened is not None
        row = await self._fetch_row(
            uid, ("UID", "FLAGS", "MODSEQ") if not known or self.keeps_mod_seqs else ("UID", "FLAGS")
        )
        if row.flags is None:
            raise UpstreamProtocolError("The mail server gave the message without its flags.")
        return MessageState(uid, flags_of(row), row.mod_seq if self.keeps_mod_seqs else None)

    async def store(self, uid: Uid, delta: FlagDelta, unchanged_since: ModSeq | None = None) -> StoreOutcome:
        """Add or remove flags, with `unchanged_since` only if the message did not change after that.

        Raises `FlagNotPermitted` and `CapabilityMissing` (a condition where `keeps_mod_seqs` is false) before
        anything is stored.
        """
        await self.open()
        if self.permanent_flags.not_kept(delta.flags):
            raise FlagNotPermitted
        if unchanged_since is not None and not self.keeps_mod_seqs:
            raise CapabilityMissing
        return await self._store(uid, write_commands.uid_store(uid, delta, unchanged_since))

    async def copy(self, uid: Uid, destination: FolderName) -> CopyUid | None:
        """Copy the message; what the server says about the copy, for `placement_of_copy`.

        Raises `FolderNotFound` (never creates the folder), `FolderNotSelectable`, `MessageNotFound`.
        """
        await self.open()
        wire = self._destination(destination)
        return await self._place(write_commands.uid_copy(uid, wire), wire)

    async def move(self, uid: Uid, destination: FolderName) -> CopyUid | None:
        """Move the message with MOVE. As `copy`; also `CapabilityMissing`, and `UpstreamRefused` when read-only."""
        await self.open()
        self._require("move")
        wire = self._destination(destination)
        return await self._place(write_commands.uid_move(uid, wire), wire)

    async def mark_deleted(self, uid: Uid) -> StoreOutcome:
        """Set \\Deleted, the first half of removing a message for good.

        Raises `CapabilityMissing` without UIDPLUS: a mark that only a plain EXPUNGE can act on is not set.
        """
        await self.open()
        self._require("uidplus")
        if self.permanent_flags.not_kept((SystemFlag.DELETED,)):
            raise FlagNotPermitted
        return await self._store(uid, write_commands.uid_mark_deleted(uid))

    async def expunge(self, uid: Uid) -> None:
        """UID EXPUNGE of this one message, which has to be marked. Whether it is gone shows `fetch_state`."""
        await self.open()
        self._require("uidplus")
        result = await self._connection.run(write_commands.uid_expunge(uid), seconds=self._seconds)
        if not result.ok:
            raise change_refusal(result.tagged)

    def leave(self) -> None:
        """End the lending, with UNSELECT where the server has it: no later command then closes this folder.

        The call's outcome stands already, so its answer is left to whoever uses the connection next.
        """
        lease, self._lease = self._lease, None
        connection = lease.connection if lease is not None and self._begun else None
        if connection is None or connection.closed or connection.busy or not self.capabilities.features()["unselect"]:
            return
        connection.post(commands.unselect())

    async def _store(self, uid: Uid, command: Command) -> StoreOutcome:
        result = await self._connection.run(command, seconds=self._seconds)
        # RFC 7162, 3.1.3 has MODIFIED in OK, and in NO when messages are gone, too. The command named one message, so
        # MODIFIED is about it, even where a server lists sequence numbers.
        modified = any(code.name == "MODIFIED" for code in result.codes)
        if not result.ok and not modified:
            raise change_refusal(result.tagged)
        row = rows_by_uid(result).get(uid)
        known = row is not None and row.flags is not None
        return StoreOutcome(modified, MessageState(uid, flags_of(row), row.mod_seq) if row and known else None)

    async def _place(self, command: Command, wire: bytes) -> CopyUid | None:
        result = await self._connection.run(command, seconds=self._seconds)
        if result.ok:
            return copy_uid_of(result)
        if any(code.copy_uid for code in result.codes):
            # RFC 9051, 6.4.7: a failed COPY leaves nothing behind; this server has named what it left.
            raise OutcomeUnknown("The mail server refused the request and also named its result.")
        raise await why_not_placed(self._connection, wire, result.tagged, seconds=self._seconds)

    def _require(self, feature: str) -> None:
        """Before anything that takes a message out of this folder."""
        if not self.capabilities.features()[feature]:
            raise CapabilityMissing
        if self.read_only:
            raise UpstreamRefused("The mail server lets the folder be read and not be changed.")

    def _destination(self, name: FolderName) -> bytes:
        if self._is_hidden(name):
            raise FolderNotFound
        try:
            return to_wire(name, utf8=self._connection.utf8)
        except ValueError:
            raise FolderNotFound from None  # no server can have a folder of that name


def copy_uid_of(result: CommandResult) -> CopyUid | None:
    """COPYUID, from an untagged OK (RFC 6851, 4.3) or the tagged one; None where two of them contradict each other."""
    said = {code.copy_uid for code in result.codes if code.copy_uid is not None}
    return said.pop() if len(said) == 1 else None
