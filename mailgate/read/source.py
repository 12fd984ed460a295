"""Fetching one message's source: what reading, attachments and later replies start from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from mailgate.imap.values import MessageRef, ModSeq, Uid
from mailgate.limits import FIRST_BYTES, HEADER_BYTES_MAX, SOURCE_BYTES_MAX
from mailgate.mime.model import RawMessage, ReadWarning
from mailgate.read.flags import shown_flags
from mailgate.read.large import known_parts, skeleton_of, with_text
from mailgate.read.places import KnownPlaces, places_in
from mailgate.read.ports import Mailbox, ReadableFolder

if TYPE_CHECKING:
    from mailgate.imap.outline import PartOutline
    from mailgate.imap.rows import HeadRow, SourceRow


@dataclass(frozen=True, slots=True)
class FetchedMessage:
    """A message's server facts and its first octets. `size` as the server says, which some get wrong."""

    reference: MessageRef
    flags: tuple[str, ...]
    internal_date: datetime | None
    size: int | None
    mod_seq: ModSeq | None
    raw: RawMessage
    warnings: tuple[ReadWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchedHead:
    """A message's server facts, its header, and its parts in the server's words.

    `message` has the facts and no octets. `truncated`: there is more of the header. `outline`: None where the server's
    account makes no sense.
    """

    message: FetchedMessage
    header: bytes
    truncated: bool
    outline: PartOutline | None


async def fetch_message(mailbox: Mailbox, reference: MessageRef) -> FetchedMessage:
    """The message that `reference` names, without touching a flag.

    `StaleReference`, `MessageNotFound`, and whatever the mailbox raises. `raw` is cut at `SOURCE_BYTES_MAX` here too,
    because some servers answer a partial fetch with the whole message.
    """
    name = await mailbox.resolve(reference.folder.text)
    async with mailbox.examine(name, uid_validity=reference.uid_validity) as folder:
        return fetched_message(folder, await folder.fetch_source(reference.uid, SOURCE_BYTES_MAX))


async def fetch_readable(mailbox: Mailbox, reference: MessageRef) -> FetchedMessage:
    """As `fetch_message`, of a large message only what reading needs: what it begins with, its text, its structure."""
    name = await mailbox.resolve(reference.folder.text)
    async with mailbox.examine(name, uid_validity=reference.uid_validity) as folder:
        return await readable_message(folder, reference.uid, places_in(mailbox))


async def readable_message(folder: ReadableFolder, uid: Uid, places: KnownPlaces) -> FetchedMessage:
    """One message of an opened folder, as `fetch_readable`; where its attachments lie is kept."""
    row = await folder.fetch_beginning(uid, FIRST_BYTES)
    if row is not None and row.truncated:
        skeleton = await skeleton_of(row)
        whole = None if skeleton is None else await with_text(folder, uid, skeleton)
        if skeleton is not None and whole is not None:
            places.keep(MessageRef(folder.name, folder.uid_validity, uid), known_parts(whole))
            return _message(folder, row, RawMessage(whole.source, whole.cut, whole))
        row = None
    return fetched_message(folder, row or await folder.fetch_source(uid, SOURCE_BYTES_MAX))


async def fetch_head(mailbox: Mailbox, reference: MessageRef) -> FetchedHead:
    """As `fetch_message`, without any of the text."""
    name = await mailbox.resolve(reference.folder.text)
    async with mailbox.examine(name, uid_validity=reference.uid_validity) as folder:
        return fetched_head(folder, await folder.fetch_head(reference.uid, HEADER_BYTES_MAX))


def fetched_message(folder: ReadableFolder, row: SourceRow) -> FetchedMessage:
    """A row of this folder as a message."""
    truncated = row.truncated or len(row.source) > SOURCE_BYTES_MAX
    return _message(folder, row, RawMessage(row.source[:SOURCE_BYTES_MAX], truncated))


def fetched_head(folder: ReadableFolder, row: HeadRow) -> FetchedHead:
    """A row of this folder as a message without its text."""
    truncated = row.truncated or len(row.header) > HEADER_BYTES_MAX
    return FetchedHead(_message(folder, row, RawMessage(b"")), row.header[:HEADER_BYTES_MAX], truncated, row.outline)


def _message(folder: ReadableFolder, row: SourceRow | HeadRow, raw: RawMessage) -> FetchedMessage:
    flags = shown_flags(row.flags)
    return FetchedMessage(
        reference=MessageRef(folder.name, folder.uid_validity, row.uid),
        flags=flags.flags,
        internal_date=row.internal_date,
        size=row.size,
        mod_seq=row.mod_seq,
        raw=raw,
        warnings=flags.warnings,
    )
