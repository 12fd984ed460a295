"""A folder opened with EXAMINE, lent for the time of one call. It has no method that could change anything.

Where it is known under which UIDVALIDITY the caller's UIDs hold, EXAMINE leaves together with the first command that
reads, and that command's answer counts only if UIDVALIDITY is still the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from mailgate.errors import MessageNotFound, UpstreamProtocolError
from mailgate.imap import commands
from mailgate.imap.ahead import Aim, AtHand, FirstLook, credited
from mailgate.imap.bulk import BulkFetch, head_row
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.commands import Command
from mailgate.imap.connection import ImapConnection
from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.exchange import CommandResult, Request
from mailgate.imap.fetching import (
    complete_rows,
    fetch_summaries,
    flags_of,
    rows_by_uid,
    summary_request,
    unreadable_uids,
)
from mailgate.imap.opening import FolderOpening, MakeRequest, OpenedFolder
from mailgate.imap.pool import Lease
from mailgate.imap.refusals import code_of, refusal, search_refusal
from mailgate.imap.responses import ESearchData, FetchData, Malformed, SearchData, StatusData
from mailgate.imap.rows import HeadRow, PreviewRow, SourceRow, SummaryPage
from mailgate.imap.sections import Span, beginning_in, beginning_request, sections_in, sections_request
from mailgate.imap.values import FolderName, ModSeq, ScanWindow, Uid, UidValidity

# RFC 5530, 3 and RFC 9051, 7.1: the message is gone.
GONE_CODES = frozenset({"NONEXISTENT", "EXPUNGEISSUED"})


class ReadableFolder:
    """Reads from the folder that EXAMINE opens on one connection.

    `uid_next` is None where the server does not say it when opening; `messages` and `highest_modseq` are as of the
    opening, and there is none before `open` or the first command. Every method raises `UpstreamTimeout`,
    `UpstreamUnavailable` or `UpstreamProtocolError` when the server does not do its part, and the connection is then
    gone; the first one also raises why the folder cannot be opened, and `StaleReference`.
    """

    def __init__(self, name: FolderName, opening: FolderOpening, *, seconds: float) -> None:
        self.name = name
        self.at_hand: ScanWindow | None = None
        """UIDs about which the search that the folder was opened with has been answered already."""
        self._opening = opening
        self._wire = opening.wire
        self._opened: OpenedFolder | None = None
        self._at_hand: AtHand | None = None
        self._begun = False
        self._lease: Lease | None = opening.lease
        self._seconds = seconds
        self.capabilities: CapabilitySet = opening.lease.connection.capabilities
        """What the server offers after login."""

    async def open(self) -> None:
        """Open the folder now, if that has not happened yet."""
        if not self._begun:
            self._begin()
            self._opened = await self._opening.open()

    async def look(self, look: FirstLook) -> None:
        """Open the folder and begin a search of it, both in one flight where this process can guess what to ask."""
        memory = self._opening.experience.folders
        aim = memory.aim(self._wire, look)
        if not look.criteria.is_ascii:
            await self._connection_to_open.settle(seconds=self._seconds)
        if aim is None:
            await self.open()
        else:
            await self._look_at(look, aim)
        if self._at_hand is None and look.wants_rows:
            # Now it is known where the folder ends; a second guess may still be about too few messages.
            aim = memory.aim(self._wire, look)
            if aim is not None and aim.rows and self.messages:
                await self._look_at(look, aim)
        self.at_hand = self._at_hand.window if self._at_hand is not None else None

    async def _look_at(self, look: FirstLook, aim: Aim) -> None:
        """Ask, and keep what of the answer counts: nothing of one that is in any way incomplete."""
        if aim.rows:
            answer = await self._ask(lambda mod_seq: summary_request(aim.window, mod_seq=mod_seq))
        else:
            answer = await self._ask(lambda _: self._search_request(look.criteria, aim.window))
        assert self._opened is not None
        window = credited(aim, look, self._opened)
        if window is None or not answer.ok:
            return
        if aim.rows:
            rows = complete_rows(answer, window)
            self._at_hand = None if rows is None else AtHand(look.criteria, window, tuple(sorted(rows)), rows)
        else:
            with suppress(UpstreamProtocolError):
                self._at_hand = AtHand(look.criteria, window, found_uids(answer, window))
        if self._at_hand is not None and look.wants_rows and look.position is None:
            self._opening.experience.folders.saw_newest(self._wire, self._at_hand.uids, look.limit)

    @property
    def uid_validity(self) -> UidValidity:
        """The UIDVALIDITY of this very session; before it is opened, the only one under which it will be."""
        if self._opened is None and self._opening.expected is not None:
            return self._opening.expected
        return self._state.uid_validity

    @property
    def uid_next(self) -> int | None:
        """The predicted next UID."""
        return self._state.uid_next

    @property
    def messages(self) -> int:
        """How many messages the folder holds."""
        return self._state.messages

    @property
    def highest_modseq(self) -> ModSeq | None:
        """The folder's highest mod-sequence, with CONDSTORE."""
        return self._state.highest_modseq

    async def last_uid(self) -> int:
        """The highest UID that may be in use, 0 for an empty folder.

        RFC 9051, 2.3.1.1: UIDNEXT is larger than every UID in use. One server names it only in STATUS.
        """
        await self.open()
        if self.messages == 0:
            return 0
        uid_next = self.uid_next
        if uid_next is None:
            result = await self._run(commands.status(self._wire, ("UIDNEXT",)))
            rows = [row for row in result.of(StatusData) if row.wire == self._wire and "UIDNEXT" in row.items]
            if not rows:
                raise UpstreamProtocolError("The mail server gives no UIDNEXT for the folder.")
            uid_next = rows[-1].items["UIDNEXT"]
        return max(uid_next - 1, 0)

    async def uid_search(self, criteria: SearchCriteria, window: ScanWindow) -> tuple[Uid, ...]:
        """The UIDs within the window that match, ascending, each once.

        Raises `SearchNotSupported` when the server cannot search that charset, key or term, `UpstreamRefused` for
        another refusal. Nothing found is an empty tuple and never the answer to a search that failed.
        """
        ready = self._at_hand
        if ready is not None and (ready.criteria, ready.window) == (criteria, window):
            return ready.uids
        if not self._begun and not criteria.is_ascii:
            await self._connection_to_open.settle(seconds=self._seconds)
        result = await self._ask(lambda _: self._search_request(criteria, window))
        if not result.ok:
            raise search_refusal(result.tagged)
        return found_uids(result, window)

    async def fetch_summaries(self, uids: Sequence[Uid]) -> SummaryPage:
        """A row for each UID that still names a message, in the order asked."""
        await self.open()
        ready = self._at_hand.rows if self._at_hand is not None else {}
        rest = [uid for uid in uids if uid not in ready]
        page = await fetch_summaries(self._connection, rest, mod_seq=self._has_mod_seq, seconds=self._seconds)
        if len(rest) == len(uids):
            return page
        rows = {**{row.uid: row for row in page}, **ready}
        return SummaryPage(tuple(rows[uid] for uid in uids if uid in rows))

    async def fetch_sources(self, uids: Sequence[Uid], each: int) -> tuple[SourceRow, ...]:
        """Those messages that are smaller than `each` octets and came whole; the others are to be asked alone."""
        return await self._bulk.sources(uids, each)

    async def fetch_heads(self, uids: Sequence[Uid], limit: int) -> tuple[HeadRow, ...]:
        """Header and structure of each message that came readable; the others are to be asked alone."""
        return await self._bulk.heads(uids, limit)

    async def fetch_head(self, uid: Uid, limit: int) -> HeadRow:
        """Header and structure of one message. Raises as `fetch_source`; a bad structure is left out."""
        rows = await self._bulk.heads((uid,), limit)
        if rows:
            return rows[0]
        items = commands.head_items(limit, mod_seq=True, body_structure=False)
        row = head_row(uid, await self._fetch_row(uid, items, keep_literal=limit), limit)
        if row is None:
            raise UpstreamProtocolError("The mail server gave the message without its header.")
        return row

    async def fetch_previews(self, uids: Sequence[Uid]) -> tuple[PreviewRow, ...]:
        """What previews are made of, from one command; a message about which nothing usable was said is left out."""
        return await self._bulk.previews(uids)

    async def fetch_source(self, uid: Uid, limit: int) -> SourceRow:
        """The first `limit` octets of a message.

        Raises `MessageNotFound`; `UpstreamProtocolError` when the server claims success without giving the text,
        which never becomes an empty message.
        """
        items = commands.source_items(limit, mod_seq=True)
        return _source_row(uid, await self._fetch_row(uid, items, keep_literal=limit), limit)

    async def fetch_beginning(self, uid: Uid, limit: int) -> SourceRow | None:
        """The first `limit` octets of a message with its outline, or None where the server cannot say both at once.

        Raises `MessageNotFound`.
        """
        result = await self._ask(lambda mod_seq: beginning_request(uid, limit, mod_seq=mod_seq))
        return beginning_in(result, uid, limit)

    async def fetch_sections(self, uid: Uid, spans: Sequence[Span]) -> Mapping[str, bytes] | None:
        """These pieces of one message by section, or None unless each came as it was asked for."""
        result = await self._ask(lambda _: sections_request(uid, spans))
        return sections_in(result, uid, spans)

    def give_back(self) -> None:
        """End the lending: from here on the connection may be another call's, and no method works any more."""
        self._lease = None

    @property
    def _state(self) -> OpenedFolder:
        if self._opened is None:
            raise RuntimeError("the folder has not been opened")
        return self._opened

    @property
    def _connection_to_open(self) -> ImapConnection:
        if self._lease is None:
            raise RuntimeError("the folder was given back")
        return self._lease.connection

    @property
    def _connection(self) -> ImapConnection:
        """The connection, for commands that must find the folder open."""
        connection = self._connection_to_open
        if self._opened is None:
            raise RuntimeError("the folder has not been opened")
        return connection

    @property
    def _bulk(self) -> BulkFetch:
        return BulkFetch(self._ask)

    @property
    def _has_mod_seq(self) -> bool:
        return self._opening.mod_seqs(self._opened)

    def _begin(self) -> None:
        """The folder is opened once: where that failed, nothing is read."""
        assert self._connection_to_open
        if self._begun:
            raise RuntimeError("the folder could not be opened")
        self._begun = True

    async def _ask(self, make: MakeRequest) -> CommandResult:
        """Send a reading command, together with the opening where that has not happened yet."""
        if self._opened is None:
            self._begin()
            self._opened, answer = await self._opening.open_and(make)
            return answer
        (answer,) = await self._connection.run_all(make(self._has_mod_seq), seconds=self._seconds)
        return answer

    def _search_request(self, criteria: SearchCriteria, window: ScanWindow) -> Request:
        return Request(commands.uid_search(criteria, window, utf8=self._connection_to_open.utf8))

    async def _run(self, command: Command) -> CommandResult:
        result = await self._ask(lambda _: Request(command))
        if not result.ok:
            raise refusal(result.tagged)
        return result

    async def _fetch_row(self, uid: Uid, items: Sequence[str], *, keep_literal: int | None = None) -> FetchData:
        """What FETCH says about one message; `MessageNotFound` when the server says that there is none.

        MODSEQ among the items is left out where the folder keeps none.
        """

        def request(mod_seq: bool) -> Request:
            asked = [item for item in items if item != "MODSEQ" or mod_seq]
            return Request(commands.uid_fetch((uid,), asked), keep_literal)

        result = await self._ask(request)
        row = rows_by_uid(result).get(uid)
        if not result.ok:
            raise MessageNotFound if await self._is_gone(uid, result) else refusal(result.tagged)
        if row is None:
            if unreadable_uids(result, (uid,)):
                raise UpstreamProtocolError("The mail server's answer about the message cannot be read.")
            raise MessageNotFound
        return row

    async def _is_gone(self, uid: Uid, refused: CommandResult) -> bool:
        """Whether a refused FETCH is about a message that is no longer there: some servers answer NO to that."""
        if code_of(refused.tagged) in GONE_CODES:
            return True
        result = await self._connection.run(
            commands.uid_search(SearchCriteria(), ScanWindow(uid, uid)), seconds=self._seconds
        )
        return result.ok and not found_uids(result, ScanWindow(uid, uid))


def found_uids(result: CommandResult, window: ScanWindow) -> tuple[Uid, ...]:
    """What a successful UID SEARCH found within the window. No untagged answer at all means nothing."""
    if any(row.kind in ("SEARCH", "ESEARCH", "LINE") for row in result.of(Malformed)):
        raise UpstreamProtocolError("The mail server's search answer cannot be read.")
    found = {number for row in result.of(SearchData) for number in row.numbers if number in window}
    for row in result.of(ESearchData):
        # RFC 4731, 3.1: the correlator says whose answer it is. It was not asked for, but one server sends it.
        if row.tag in (None, result.tagged.tag):
            found.update(_extended(row, window))
    return tuple(Uid(number) for number in sorted(found))


def _extended(row: ESearchData, window: ScanWindow) -> set[int]:
    if row.all is None:
        if row.count or row.minimum or row.maximum:
            raise UpstreamProtocolError("The mail server counts what it found and does not name it.")
        return set()
    if not row.uid and row.all.ranges:
        raise UpstreamProtocolError("The mail server names what it found by position and not by UID.")
    return {
        number for low, high in row.all.ranges for number in range(max(low, window.low), min(high, window.high) + 1)
    }


def _source_row(uid: Uid, row: FetchData, limit: int) -> SourceRow:
    source = row.source
    if source is None or (not source and row.size):
        raise UpstreamProtocolError("The mail server gave the message without its text.")
    # RFC822.SIZE is no measure: one provider names three times the octets that it sends.
    truncated = source.truncated or len(source) >= limit
    return SourceRow(uid, flags_of(row), row.internal_date, row.size, row.mod_seq, bytes(source[:limit]), truncated)
