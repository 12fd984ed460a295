"""Previews for the rows of a search page: one further command, and never a page less for it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from mailgate.errors import UpstreamError
from mailgate.imap.values import Uid
from mailgate.limits import PARSE_SECONDS, PREVIEW_SECONDS
from mailgate.mime.model import Clean, ReadWarning
from mailgate.mime.preview import preview_of
from mailgate.read.offload import Deadline, OutOfTime, off_loop
from mailgate.read.ports import ReadableFolder
from mailgate.read.summary import MessageSummary

if TYPE_CHECKING:
    from mailgate.imap.rows import PreviewRow

MISSING: Final = ReadWarning(
    "previews_missing", "Previews could not be had for some rows of this page; the rows themselves are complete."
)


@dataclass(frozen=True, slots=True)
class PreviewedRows:
    """The rows in their order, with a preview where there is one; a warning where some could not be had."""

    messages: tuple[MessageSummary, ...]
    warnings: tuple[ReadWarning, ...] = ()


async def with_previews(folder: ReadableFolder, messages: Sequence[MessageSummary]) -> PreviewedRows:
    """The rows with their previews. Whatever goes wrong costs previews and nothing else."""
    wanted = [message.reference.uid for message in messages if message.text is not None]
    if not wanted:
        return PreviewedRows(tuple(messages))
    try:
        async with asyncio.timeout(PREVIEW_SECONDS):
            rows = await folder.fetch_previews(wanted)
        made = await off_loop(lambda expired: _made(rows, expired), seconds=PARSE_SECONDS)
    except (UpstreamError, OutOfTime, TimeoutError):
        return PreviewedRows(tuple(messages), (MISSING,))
    return PreviewedRows(
        tuple(_with(message, made.get(message.reference.uid)) for message in messages),
        (MISSING,) if set(wanted) - made.keys() else (),
    )


def _made(rows: Sequence[PreviewRow], expired: Deadline) -> Mapping[Uid, Clean | None]:
    """What each row gives; a row that is not there could not be read, None is a message without words."""
    made: dict[Uid, Clean | None] = {}
    for row in rows:
        # Whatever one hostile text does to a parser, the page is about the other messages.
        with suppress(Exception):
            if not expired():
                made[row.uid] = _one(row, expired)
    return made


def _one(row: PreviewRow, expired: Deadline) -> Clean | None:
    return preview_of(row.header, row.text, cut=row.cut, deadline=expired)


def _with(message: MessageSummary, preview: Clean | None) -> MessageSummary:
    if preview is None or message.text is None:
        return message
    text = replace(message.text, preview=preview.text, sanitized=message.text.sanitized or preview.changed)
    return replace(message, text=text)
