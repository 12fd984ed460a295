"""The read tools: arguments to a use case, and nothing else. Each loads its use case when it is first called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mailgate.server.backend import Call, Cut
from mailgate.server.failures import error_shown

if TYPE_CHECKING:
    from mailgate.read.attachment import ReadAttachment
    from mailgate.read.batch import FailedRead, ReadBatch
    from mailgate.read.folders import FolderListing
    from mailgate.read.message import ReadMessage
    from mailgate.read.search import SearchPage
    from mailgate.server.arguments import (
        AttachmentArguments,
        ListFoldersArguments,
        NoArguments,
        ReadArguments,
        SearchArguments,
    )
    from mailgate.server.capability_result import CapabilityFacts


async def mail_capabilities(call: Call, arguments: NoArguments) -> CapabilityFacts:
    """What this deployment, this server and this caller can do."""
    from mailgate.server.capability_tool import mail_capabilities

    return await mail_capabilities(call, arguments)


async def mail_list_folders(call: Call, arguments: ListFoldersArguments) -> FolderListing:
    """All folders, with counts where asked for."""
    from mailgate.read.folders import list_folders

    return await list_folders(call.connected.mailbox, include_counts=arguments.include_counts)


async def mail_search(call: Call, arguments: SearchArguments) -> SearchPage:
    """One page of a search."""
    from mailgate.read.cursor import SearchOrder
    from mailgate.read.request import SearchRequest, search_criteria
    from mailgate.read.search import search_messages

    request = SearchRequest(
        folder=arguments.folder,
        criteria=search_criteria(
            query=arguments.query,
            from_=arguments.from_,
            to=arguments.to,
            cc=arguments.cc,
            subject=arguments.subject,
            since=arguments.since,
            before=arguments.before,
            unread=arguments.unread,
            flagged=arguments.flagged,
        ),
        order=SearchOrder(arguments.order),
        limit=arguments.limit,
        cursor=arguments.cursor,
        previews=arguments.previews,
    )
    return await search_messages(
        call.connected.mailbox,
        request,
        cursors=call.connected.cursors,
        scan_uids=call.settings.search_scan_uids,
        budget_seconds=call.settings.search_budget_seconds,
    )


async def mail_read(call: Call, arguments: ReadArguments) -> ReadMessage | ReadBatch:
    """One page of one message, or the beginnings of several."""
    from mailgate.read.batch import ReadBatch, read_messages
    from mailgate.read.message import Reading, read_message

    reading = Reading(
        fold=arguments.quoted == "fold",
        headers_only=arguments.headers_only,
        trusted_authserv_id=call.settings.trusted_authserv_id,
    )
    mailbox = call.connected.mailbox
    if arguments.references is None:
        return await read_message(
            mailbox,
            arguments.named.to_reference(),
            max_chars=arguments.max_chars,
            offset=arguments.offset,
            reading=reading,
        )
    batch = await read_messages(
        mailbox,
        arguments.several(),
        max_chars=arguments.max_chars,
        reading=reading,
        seconds=call.settings.upstream_timeout_seconds,
    )
    return ReadBatch(tuple(_shown(entry) for entry in batch.entries))


def _shown(entry: ReadMessage | FailedRead) -> ReadMessage | FailedRead:
    """A fault of ours as the caller may see it; its incident is logged once, here."""
    from mailgate.read.batch import FailedRead

    return replace(entry, error=error_shown(entry.error)) if isinstance(entry, FailedRead) else entry


async def mail_get_attachment(call: Call, arguments: AttachmentArguments) -> ReadAttachment:
    """One attachment's octets, or its text."""
    from mailgate.read.attachment import get_attachment

    return await get_attachment(
        call.connected.mailbox,
        arguments.reference.to_reference(),
        arguments.index,
        as_text=arguments.as_ == "text",
    )


def _weight(value: ReadMessage | ReadBatch) -> int:
    from mailgate.read.batch import ReadBatch

    return value.weight if isinstance(value, ReadBatch) else len(value.content.text)


def _within(value: ReadMessage | ReadBatch, amount: int) -> ReadMessage | ReadBatch:
    from mailgate.read.batch import ReadBatch

    return value.within(amount) if isinstance(value, ReadBatch) else value.shortened(amount)


LESS_TEXT: Final = Cut(length=_weight, to=_within)
"""A shorter page of the text: the caller goes on from next_offset. Of several messages the longest are cut first."""

LESS_OF_AN_ATTACHMENT: Final = Cut(
    length=lambda attachment: len(attachment.text.text) if attachment.text else 0,
    to=lambda attachment, chars: attachment.shortened(chars),
)
"""The beginning of an attachment's text; octets are given whole or not at all."""

FEWER_FOLDERS: Final = Cut(
    length=lambda listing: len(listing.folders),
    to=lambda listing, count: replace(listing, folders=listing.folders[:count], truncated=True),
)
"""Fewer folders, said to be fewer."""
