"""One message by pieces: its beginning together with its structure, and single parts (RFC 9051, 6.4.5).

Nothing here fails because a server cannot do this: what does not come as it was asked for is not there, and the caller
asks for the message in the plain way instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mailgate.errors import MessageNotFound
from mailgate.imap import commands
from mailgate.imap.exchange import CommandResult, Request
from mailgate.imap.fetch_data import FetchData
from mailgate.imap.fetching import flags_of, rows_by_uid, unreadable_uids
from mailgate.imap.outline import outline_of
from mailgate.imap.rows import SourceRow
from mailgate.imap.values import Uid


@dataclass(frozen=True, slots=True)
class Span:
    """At most `limit` octets from `offset` of a section, such as `2.1` or `2.1.MIME`."""

    section: str
    limit: int
    offset: int = 0


def beginning_request(uid: Uid, limit: int, *, mod_seq: bool) -> Request:
    """FETCH of the first `limit` octets, and of the structure."""
    return Request(commands.uid_fetch((uid,), commands.beginning_items(limit, mod_seq=mod_seq)), limit)


def beginning_in(result: CommandResult, uid: Uid, limit: int) -> SourceRow | None:
    """The row, with an outline where the structure makes sense; None where the server could not give it like this.

    Raises `MessageNotFound` when the server had nothing against the question and knows no such message.
    """
    row = _row(result, uid)
    if row is None:
        if result.ok and not unreadable_uids(result, (uid,)):
            raise MessageNotFound
        return None
    source = row.source
    if source is None or (not source and row.size):
        return None
    truncated = source.truncated or len(source) >= limit
    return SourceRow(
        uid,
        flags_of(row),
        row.internal_date,
        row.size,
        row.mod_seq,
        bytes(source[:limit]),
        truncated,
        outline_of(row.body_structure) if truncated else None,
    )


def sections_request(uid: Uid, spans: Sequence[Span]) -> Request:
    """FETCH of several sections of one message."""
    items = [(span.section, span.offset, span.limit) for span in spans]
    command = commands.uid_fetch((uid,), commands.section_items(items))
    return Request(command, keep_literal=max(span.limit for span in spans))


def sections_in(result: CommandResult, uid: Uid, spans: Sequence[Span]) -> Mapping[str, bytes] | None:
    """The octets by section, or None unless each of them came and none is longer than was asked for.

    RFC 9051, 7.5.2: NIL is "no such data", and an answer about another number was not asked for.
    """
    row = _row(result, uid)
    if row is None:
        return None
    found: dict[str, bytes] = {}
    for span in spans:
        octets = row.sections.get(f"BODY[{span.section}]")
        if octets is None or octets.truncated or len(octets) > span.limit:
            return None
        found[span.section] = octets
    return found


def _row(result: CommandResult, uid: Uid) -> FetchData | None:
    """What an answer says about the message, if it can be relied on."""
    if not result.ok or unreadable_uids(result, (uid,)):
        return None
    return rows_by_uid(result).get(uid)
