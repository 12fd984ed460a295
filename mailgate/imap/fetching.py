"""FETCH answers as rows, and how one bad message is kept from spoiling a page (RFC 9051, 6.4.5 and 7.5.2)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from mailgate.imap import commands
from mailgate.imap.connection import ImapConnection
from mailgate.imap.exchange import CommandResult, Request
from mailgate.imap.refusals import is_temporary, refusal
from mailgate.imap.responses import FetchData, Malformed
from mailgate.imap.rows import SummaryPage, SummaryRow
from mailgate.imap.structure import has_attachments
from mailgate.imap.values import ScanWindow, SystemFlag, Uid
from mailgate.limits import SUMMARY_HEADER_BYTES

# RFC 9051, 7: news about other messages may come at any time. A row counts only if it names the UID that was asked
# for; one without a UID, or about another, is news.


def rows_by_uid(result: CommandResult) -> dict[int, FetchData]:
    """What was said about each UID; several rows about one are put together, the later word counts."""
    rows: dict[int, FetchData] = {}
    for row in result.of(FetchData):
        if row.uid is not None:
            rows[row.uid] = _merged(rows[row.uid], row) if row.uid in rows else row
    return rows


def _merged(old: FetchData, new: FetchData) -> FetchData:
    said = {field.name: getattr(new, field.name) for field in dataclasses.fields(new)}
    said["sections"] = MappingProxyType({**old.sections, **new.sections})
    return dataclasses.replace(old, **{name: value for name, value in said.items() if value is not None})


def flags_of(row: FetchData) -> tuple[str, ...]:
    """The flags of a message. `\\Recent` is a fact about sessions, and gone from the protocol (RFC 9051, 2.3.2)."""
    return tuple(flag for flag in row.flags or () if flag != SystemFlag.RECENT)


def unreadable_uids(result: CommandResult, uids: Collection[Uid]) -> set[Uid]:
    """Which of the UIDs had a row that cannot be read. A bad row that names none may be about any that is missing."""
    bad = [row for row in result.of(Malformed) if row.kind in ("FETCH", "LINE")]
    if any(row.uid is None for row in bad):
        return set(uids) - rows_by_uid(result).keys()
    return set(uids) & {row.uid for row in bad}


class _SummaryFetch:
    """One page in the making: `rows` so far, `unreadable` what exists but cannot be read."""

    def __init__(self, connection: ImapConnection, *, mod_seq: bool, seconds: float) -> None:
        self._connection = connection
        self._mod_seq = mod_seq
        self._seconds = seconds
        self.rows: dict[int, FetchData] = {}
        self.unreadable: set[Uid] = set()

    async def ask(self, uids: Sequence[Uid], *, body_structure: bool) -> tuple[bool, list[Uid]]:
        """FETCH; whether the server did it, and the UIDs about which nothing usable was said."""
        command = commands.uid_fetch(uids, commands.summary_items(mod_seq=self._mod_seq, body_structure=body_structure))
        result = await self._connection.run(command, seconds=self._seconds, keep_literal=SUMMARY_HEADER_BYTES)
        if is_temporary(result.tagged):
            raise refusal(result.tagged)
        rows = rows_by_uid(result)
        bad = unreadable_uids(result, uids)
        if not result.ok:
            # A refused FETCH may have given good rows before; what it left out says nothing about what exists.
            bad |= {uid for uid in uids if uid not in rows or rows[uid].header is None}
        self.rows.update((uid, rows[uid]) for uid in uids if uid in rows and uid not in bad)
        return result.ok, [uid for uid in uids if uid in bad]


async def fetch_summaries(
    connection: ImapConnection, uids: Sequence[Uid], *, mod_seq: bool, seconds: float
) -> SummaryPage:
    """A row for each UID that names a message, in the order asked.

    First all at once; what that leaves unreadable again without BODYSTRUCTURE, which many servers get wrong; and
    after another refusal UID by UID. What is then still unreadable is a row without a header, never left out.
    """
    if not uids:
        return SummaryPage()
    fetch = _SummaryFetch(connection, mod_seq=mod_seq, seconds=seconds)
    _, left = await fetch.ask(uids, body_structure=True)
    if left:
        done, left = await fetch.ask(left, body_structure=False)
        if left and not (done and len(left) == 1):
            left = await _one_by_one(fetch, left)
    return SummaryPage(tuple(_summaries(uids, fetch.rows, left)))


def summary_request(window: ScanWindow, *, mod_seq: bool) -> Request:
    """FETCH of whatever the window holds; RFC 9051, 6.4.9: a UID without a message is "ignored without any error"."""
    command = commands.uid_fetch_window(window, commands.summary_items(mod_seq=mod_seq, body_structure=True))
    return Request(command, keep_literal=SUMMARY_HEADER_BYTES)


def complete_rows(result: CommandResult, window: ScanWindow) -> Mapping[Uid, SummaryRow] | None:
    """The rows of the window by UID; None unless each of them can be read and is whole."""
    if not result.ok or any(row.kind in ("FETCH", "LINE") for row in result.of(Malformed)):
        return None
    rows = {Uid(uid): row for uid, row in rows_by_uid(result).items() if uid in window}
    if any(row.header is None for row in rows.values()):
        return None
    return {uid: _summary(uid, row) for uid, row in rows.items()}


async def _one_by_one(fetch: _SummaryFetch, uids: Iterable[Uid]) -> list[Uid]:
    left: list[Uid] = []
    for uid in uids:
        left += (await fetch.ask((uid,), body_structure=False))[1]
    return left


def _summaries(uids: Iterable[Uid], rows: dict[int, FetchData], unreadable: Collection[Uid]) -> Iterable[SummaryRow]:
    for uid in uids:
        if uid in rows:
            yield _summary(uid, rows[uid])
        elif uid in unreadable:
            yield SummaryRow(uid)


def _summary(uid: Uid, row: FetchData) -> SummaryRow:
    structure = row.body_structure
    return SummaryRow(
        uid=uid,
        flags=flags_of(row),
        internal_date=row.internal_date,
        size=row.size,
        mod_seq=row.mod_seq,
        header=None if row.header is None else bytes(row.header[:SUMMARY_HEADER_BYTES]),
        has_attachments=None if structure is None else has_attachments(structure),
    )
