"""Opening a folder: EXAMINE and SELECT, what may leave in the same flight, and why they were refused.

RFC 9051, 6.3.2, 6.3.3 and 5.5. A reading command sent right behind EXAMINE depends on it. The server carries them out
in order; when it refuses the first it has no folder open and refuses the second. Should it have left an earlier folder
open all the same, then something has been read there that nobody is shown: only reading is ever sent on trust.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from mailgate.errors import (
    FolderNotFound,
    FolderNotSelectable,
    MailgateError,
    StaleReference,
    UpstreamProtocolError,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mailgate.imap import commands
from mailgate.imap.ahead import FolderMemory
from mailgate.imap.commands import Command, CommandKind
from mailgate.imap.connection import ImapConnection
from mailgate.imap.exchange import CommandResult, Request
from mailgate.imap.pool import Lease
from mailgate.imap.refusals import code_of, is_temporary, refusal
from mailgate.imap.responses import Exists, FetchData, ListData, ResponseCode, Status, Tagged
from mailgate.imap.values import ModSeq, PermanentFlags, UidValidity
from mailgate.limits import KEPT_OPEN_MESSAGES

# RFC 5530, 3: the server knows the folder and does not let us in; looking for it would tell nothing new.
DENIED_CODES: Final = frozenset({"NOPERM", "AUTHORIZATIONFAILED", "PRIVACYREQUIRED"})


@dataclass(frozen=True, slots=True)
class OpenedFolder:
    """The state of a folder at the moment it was opened.

    `uid_next`: None where the server does not say. `highest_modseq`: None without CONDSTORE, and for a folder that
    has no mod-sequences. `mod_seqs_refused`: the server said NOMODSEQ, so that asking for MODSEQ is answered BAD (RFC
    7162, 3.1.2.2). `read_only`: always after EXAMINE, and after SELECT when the server says so.
    """

    uid_validity: UidValidity
    messages: int
    uid_next: int | None = None
    highest_modseq: ModSeq | None = None
    permanent_flags: PermanentFlags = field(default_factory=PermanentFlags)
    read_only: bool = False
    mod_seqs_refused: bool = False


def opened_folder(result: CommandResult, *, condstore: bool) -> OpenedFolder:
    """Read a successful answer; `UpstreamProtocolError` when it lacks what every reference rests on."""
    codes = {code.name: code for code in result.codes}
    validity = codes["UIDVALIDITY"].number if "UIDVALIDITY" in codes else None
    exists = result.of(Exists)
    if validity is None:
        raise UpstreamProtocolError("The mail server gives no UIDVALIDITY for the folder.")
    if not exists:
        raise UpstreamProtocolError("The mail server does not say how many messages the folder holds.")
    # RFC 7162, 3.1.2: some servers send HIGHESTMODSEQ without offering CONDSTORE and then refuse the FETCH item.
    mod_seq = codes["HIGHESTMODSEQ"].mod_seq if condstore and "HIGHESTMODSEQ" in codes else None
    return OpenedFolder(
        UidValidity(validity),
        exists[-1].count,
        codes["UIDNEXT"].number if "UIDNEXT" in codes else None,
        mod_seq,
        _permanent_flags(codes.get("PERMANENTFLAGS")),
        "READ-ONLY" in codes,
        "NOMODSEQ" in codes,
    )


def _permanent_flags(code: ResponseCode | None) -> PermanentFlags:
    if code is None:
        return PermanentFlags.anything()
    return PermanentFlags.of(code.flags or ())


class OpeningCommand(Protocol):
    """EXAMINE or SELECT."""

    def __call__(self, wire: bytes, *, condstore: bool) -> Command:
        """The command for the folder with these octets."""


MakeRequest = Callable[[bool], Request]
"""A reading command, made for a folder that does or does not keep mod-sequences."""


@dataclass(slots=True)
class Experience:
    """What this process has learnt about the server by asking it. `flights`: it bears commands sent together."""

    flights: bool = True
    folders: FolderMemory = field(default_factory=FolderMemory)


@dataclass(slots=True)
class FolderOpening:
    """A folder about to be opened on a lent connection. `expected`: the UIDVALIDITY it must have, if one is known."""

    lease: Lease
    wire: bytes
    command: OpeningCommand
    expected: UidValidity | None
    experience: Experience
    seconds: float

    async def open(self) -> OpenedFolder:
        """Open it. Raises why it cannot be opened, and `StaleReference`."""
        (result,) = await self.lease.first_of(self._request(), seconds=self.seconds)
        return await self._judged(result)

    async def open_and(self, make: MakeRequest) -> tuple[OpenedFolder, CommandResult]:
        """Open it and ask, in one flight. As `open`; the answer is passed on only after the opening has been judged."""
        if not self.experience.flights:
            opened = await self.open()
            return opened, await self._alone(make, opened)
        still_open = await self._still_open(make)
        if still_open is not None:
            return still_open
        result, answer = await self._flight(make(self.mod_seqs(None)))
        opened = await self._judged(result)
        if answer is None:
            answer = await self._alone(make, opened)
        elif answer.tagged.status is Status.BAD:
            # Perhaps only because of how it was sent, or because it asked for MODSEQ after NOMODSEQ.
            answer = await self._alone(make, opened)
            self.experience.flights = not answer.ok or opened.mod_seqs_refused
        return opened, answer

    async def _still_open(self, make: MakeRequest) -> tuple[OpenedFolder, CommandResult] | None:
        """The answer from a large folder that is open here from the call before, if nothing has happened in it since.

        NOOP leaves behind the question, so that the server tells of all that came before it (RFC 9051, 7): any news
        at all, and the folder is opened anew.
        """
        connection = self.lease.connection
        opened = connection.kept
        if opened is None or connection.examined != self.wire or self.command is not commands.examine:
            return None
        if opened.messages < KEPT_OPEN_MESSAGES or connection.moved or self.lease.doubted is not None:
            return None
        if self.expected not in (None, opened.uid_validity):
            return None
        request = make(self.mod_seqs(opened))
        try:
            answer, news = await self.lease.first_of(request, Request(commands.noop()), seconds=self.seconds)
        except UpstreamUnavailable:
            # A folder that was rebuilt or removed under the session is reason enough to end it (seen with Dovecot).
            await self.lease.renew(seconds=self.seconds)
            return None
        if self.lease.connection is not connection or connection.moved or not (answer.ok and news.ok):
            return None
        return None if _tells_of_change(request, answer, news) else (opened, answer)

    def mod_seqs(self, opened: OpenedFolder | None) -> bool:
        """Whether MODSEQ may be asked for; without the capability it is a syntax error to some servers."""
        if opened is not None:
            return self._condstore and not opened.mod_seqs_refused
        return self._condstore and not self.experience.folders.mod_seqs_refused(self.wire)

    @property
    def _condstore(self) -> bool:
        return self.lease.connection.capabilities.features()["condstore"]

    def _request(self) -> Request:
        return Request(self.command(self.wire, condstore=self._condstore))

    async def _flight(self, request: Request) -> tuple[CommandResult, CommandResult | None]:
        lease = self.lease
        try:
            result, answer = await lease.first_of(self._request(), request, seconds=self.seconds)
        except UpstreamTimeout:
            # Seen with proxies: what arrives while they wait for the server is thrown away.
            self.experience.flights = not lease.connection.answered
            raise
        except UpstreamProtocolError:
            if not lease.connection.disordered:
                raise
        else:
            return result, answer
        self.experience.flights = False
        await lease.renew(seconds=self.seconds)
        return await lease.connection.run(self._request().command, seconds=self.seconds), None

    async def _judged(self, result: CommandResult) -> OpenedFolder:
        connection = self.lease.connection
        connection.examined = self.wire if result.ok and self.command is commands.examine else None
        connection.kept = None
        if not result.ok:
            raise await why_not_opened(connection, self.wire, result.tagged, seconds=self.seconds)
        opened = opened_folder(result, condstore=self._condstore)
        self.experience.folders.opened(self.wire, opened)
        connection.kept = opened
        if self.expected is not None and self.expected != opened.uid_validity:
            raise StaleReference
        return opened

    async def _alone(self, make: MakeRequest, opened: OpenedFolder) -> CommandResult:
        request = make(self.mod_seqs(opened))
        (answer,) = await self.lease.connection.run_all(request, seconds=self.seconds)
        return answer


def _tells_of_change(request: Request, answer: CommandResult, news: CommandResult) -> bool:
    """Whether a row about a message is news and not what was asked: flags that another client changed."""
    rows = answer.of(FetchData)
    asked = request.command.kind is CommandKind.UID_FETCH
    numbers = [row.sequence for row in rows]
    odd = any(row.uid is None for row in rows) or len(set(numbers)) != len(numbers)
    return bool(news.of(FetchData)) or odd or (bool(rows) and not asked)


async def why_not_opened(connection: ImapConnection, wire: bytes, tagged: Tagged, *, seconds: float) -> MailgateError:
    """The error for a refused EXAMINE: missing, only a branch, or there and refused.

    A code alone does not tell: a server says NONEXISTENT of a \\Noselect folder, too. So the folder is looked up.
    """
    if tagged.status is not Status.NO or is_temporary(tagged) or code_of(tagged) in DENIED_CODES:
        return refusal(tagged)
    looked = await connection.run(commands.list_one(wire), seconds=seconds)
    if not looked.ok:
        return FolderNotFound() if code_of(tagged) == "NONEXISTENT" else refusal(tagged)
    words = [word.lower() for row in looked.of(ListData) if row.wire == wire for word in ("", *row.attributes)]
    if not words or "\\nonexistent" in words:
        return FolderNotFound()
    if "\\noselect" in words:
        return FolderNotSelectable()
    return FolderNotFound() if code_of(tagged) == "NONEXISTENT" else refusal(tagged)
