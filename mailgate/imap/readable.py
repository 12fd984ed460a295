"""A folder opened with EXAMINE, lent for the time of one call. It has no method that could change anything."""

from __future__ import annotations

from collections.abc import Sequence

from mailgate.errors import MessageNotFound, UpstreamProtocolError
from mailgate.imap import commands
from mailgate.imap.bulk import BulkFetch, head_row
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.commands import Command
from mailgate.imap.connection import ImapConnection
from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.exchange import CommandResult
from mailgate.imap.fetching import fetch_summaries, flags_of, rows_by_uid, unreadable_uids
from mailgate.imap.opening import OpenedFolder
from mailgate.imap.refusals import code_of, refusal, search_refusal
from mailgate.imap.responses import ESearchData, FetchData, Malformed, SearchData, StatusData
from mailgate.imap.rows import HeadRow, PreviewRow, SourceRow, SummaryPage
from mailgate.imap.values import FolderName, ModSeq, ScanWindow, Uid, UidValidity

# RFC 5530, 3 and RFC 9051, 7.1: the message is gone.
GONE_CODES = frozenset({"NONEXISTENT", "EXPUNGEISSUED"})


class ReadableFolder:
    """Reads from the folder that EXAMINE has opened on one connection.

    `uid_next` is None where the server does not say it when opening; `messages` and `highest_modseq` are as of the
    opening. Every method raises `UpstreamTimeout`, `UpstreamUnavailable` or `UpstreamProtocolError` when the server
    does not do its part, and the connection is then gone.
    """

    def __init__(
        self, name: FolderName, wire: bytes, opened: OpenedFolder, connection: ImapConnection, *, seconds: float
    ) -> None:
        self.name = name
        self._wire = wire
        self._opened = opened
        self._lent: ImapConnection | None = connection
        self._seconds = seconds
        self.capabilities: CapabilitySet = connection.capabilities
        """What the server offers after login."""

    @property
    def uid_validity(self) -> UidValidity:
        """The UIDVALIDITY of this very session."""
        return self._opened.uid_validity

    @property
    def uid_next(self) -> int | None:
        """The predicted next UID."""
        return self._opened.uid_next

    @property
    def messages(self) -> int:
        """How many messages the folder holds."""
        return self._opened.messages

    @property
    def highest_modseq(self) -> ModSeq | None:
        """The folder's highest mod-sequence, with CONDSTORE."""
        return self._opened.highest_modseq

    async def last_uid(self) -> int:
        """The highest UID that may be in use, 0 for an empty folder.

        RFC 9051, 2.3.1.1: UIDNEXT is larger than every UID in use. One server names it only in STATUS.
        """
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
        command = commands.uid_search(criteria, window, utf8=self._connection.utf8)
        result = await self._connection.run(command, seconds=self._seconds)
        if not result.ok:
            raise search_refusal(result.tagged)
        return found_uids(result, window)

    async def fetch_summaries(self, uids: Sequence[Uid]) -> SummaryPage:
        """A row for each UID that still names a message, in the order asked."""
        return await fetch_summaries(self._connection, uids, mod_seq=self._has_mod_seq, seconds=self._seconds)

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
        items = commands.head_items(limit, mod_seq=self._has_mod_seq, body_structure=False)
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
        items = commands.source_items(limit, mod_seq=self._has_mod_seq)
        return _source_row(uid, await self._fetch_row(uid, items, keep_literal=limit), limit)

    def give_back(self) -> None:
        """End the lending: from here on the connection may be another call's, and no method works any more."""
        self._lent = None

    @property
    def _connection(self) -> ImapConnection:
        if self._lent is None:
            raise RuntimeError("the folder was given back")
        return self._lent

    @property
    def _bulk(self) -> BulkFetch:
        return BulkFetch(self._connection, mod_seq=self._has_mod_seq, seconds=self._seconds)

    @property
    def _has_mod_seq(self) -> bool:
        # Without the capability the item is a syntax error to some servers, whatever the folder says of itself.
        return self.capabilities.features()["condstore"] and not self._opened.mod_seqs_refused

    async def _run(self, command: Command) -> CommandResult:
        result = await self._connection.run(command, seconds=self._seconds)
        if not result.ok:
            raise refusal(result.tagged)
        return result

    async def _fetch_row(self, uid: Uid, items: Sequence[str], *, keep_literal: int | None = None) -> FetchData:
        """What FETCH says about one message; `MessageNotFound` when the server says that there is none."""
        command = commands.uid_fetch((uid,), items)
        result = await self._connection.run(command, seconds=self._seconds, keep_literal=keep_literal)
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
