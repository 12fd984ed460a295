"""FETCH of several messages at once: what came whole is handed on, and what did not is for the caller to ask alone.

So one message that the server or the wire spoils costs the others nothing, and no message is ever called missing here:
that is decided where it is asked for by itself (RFC 9051, 6.4.5).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from mailgate.imap import commands
from mailgate.imap.exchange import CommandResult, Request
from mailgate.imap.fetch_data import FetchData
from mailgate.imap.fetching import flags_of, rows_by_uid, unreadable_uids
from mailgate.imap.opening import MakeRequest
from mailgate.imap.outline import outline_of
from mailgate.imap.rows import HeadRow, PreviewRow, SourceRow
from mailgate.imap.values import Uid
from mailgate.limits import PREVIEW_HEADER_BYTES, PREVIEW_SOURCE_BYTES


class BulkFetch:
    """Commands about several messages of one folder. `send`: asks in that folder, and opens it where that is due."""

    def __init__(self, send: Callable[[MakeRequest], Awaitable[CommandResult]]) -> None:
        self._send = send

    async def sources(self, uids: Sequence[Uid], each: int) -> tuple[SourceRow, ...]:
        """The messages that the server calls smaller than `each` octets and that came whole, in the order asked.

        Two commands: sizes first, so that a server which ignores the bound of a partial FETCH is not asked for more
        than it can send. Never more than `each` octets of one message are kept.
        """
        sizes = await self._ask(uids, commands.size_items())
        small = [uid for uid in uids if uid in sizes and (sizes[uid].size or each) < each]
        if not small:
            return ()
        rows = await self._ask(small, commands.source_items(each, mod_seq=True), keep_literal=each)
        return tuple(row for uid in small if uid in rows and (row := _whole(uid, rows[uid], each)) is not None)

    async def heads(self, uids: Sequence[Uid], limit: int) -> tuple[HeadRow, ...]:
        """The header of each message, at most `limit` octets of it, and the structure where it can be read."""
        items = commands.head_items(limit, mod_seq=True, body_structure=True)
        rows = await self._ask(uids, items, keep_literal=limit)
        return tuple(row for uid in uids if uid in rows and (row := head_row(uid, rows[uid], limit)) is not None)

    async def previews(self, uids: Sequence[Uid]) -> tuple[PreviewRow, ...]:
        """What a preview is made of, from one command; a message about which nothing usable was said is left out."""
        items = commands.preview_items()
        rows = await self._ask(uids, items, keep_literal=max(PREVIEW_SOURCE_BYTES, PREVIEW_HEADER_BYTES))
        found = (_preview(uid, rows[uid]) for uid in uids if uid in rows)
        return tuple(row for row in found if row is not None)

    async def _ask(
        self, uids: Sequence[Uid], items: Sequence[str], *, keep_literal: int | None = None
    ) -> dict[int, FetchData]:
        """The rows about these UIDs that can be relied on; none of them matters if the server refused.

        MODSEQ among the items is left out where the folder keeps none.
        """
        if not uids:
            return {}

        def request(mod_seq: bool) -> Request:
            asked = [item for item in items if item != "MODSEQ" or mod_seq]
            return Request(commands.uid_fetch(uids, asked), keep_literal)

        result = await self._send(request)
        bad = unreadable_uids(result, uids)
        rows = rows_by_uid(result)
        return {uid: rows[uid] for uid in uids if uid in rows and uid not in bad}


def _whole(uid: Uid, row: FetchData, each: int) -> SourceRow | None:
    source = row.source
    if not source or source.truncated or len(source) >= each:
        return None
    return SourceRow(uid, flags_of(row), row.internal_date, row.size, row.mod_seq, bytes(source), truncated=False)


def head_row(uid: Uid, row: FetchData, limit: int) -> HeadRow | None:
    """The row, or None where it has no header."""
    header = row.header
    if header is None:
        return None
    return HeadRow(
        uid=uid,
        flags=flags_of(row),
        internal_date=row.internal_date,
        size=row.size,
        mod_seq=row.mod_seq,
        header=bytes(header[:limit]),
        truncated=header.truncated or len(header) >= limit,
        outline=None if row.body_structure is None else outline_of(row.body_structure),
    )


def _preview(uid: Uid, row: FetchData) -> PreviewRow | None:
    text = row.sections.get("BODY[TEXT]")
    if row.header is None or text is None:
        return None
    cut = text.truncated or len(text) >= PREVIEW_SOURCE_BYTES
    return PreviewRow(uid, bytes(row.header), bytes(text[:PREVIEW_SOURCE_BYTES]), cut)
