"""The read tools: arguments to a use case, and nothing else. Each loads its use case when it is first called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mailgate.server.backend import Call, Cut

if TYPE_CHECKING:
    from mailgate.read.attachment import ReadAttachment
    from mailgate.read.folders import FolderListing
    from mailgate.read.message import ReadMessage
    from mailgate.read.search import SearchPage
    from mailgate.server.arguments import AttachmentArguments, ListFoldersArguments, ReadArguments, SearchArguments


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
    )
    return await search_messages(
        call.connected.mailbox,
        request,
        cursors=call.connected.cursors,
        scan_uids=call.settings.search_scan_uids,
        budget_seconds=call.settings.search_budget_seconds,
    )


async def mail_read(call: Call, arguments: ReadArguments) -> ReadMessage:
    """One page of one message."""
    from mailgate.read.message import read_message

    return await read_message(
        call.connected.mailbox,
        arguments.named.to_reference(),
        max_chars=arguments.max_chars,
        offset=arguments.offset,
    )


async def mail_get_attachment(call: Call, arguments: AttachmentArguments) -> ReadAttachment:
    """One attachment's octets."""
    from mailgate.read.attachment import get_attachment

    return await get_attachment(call.connected.mailbox, arguments.reference.to_reference(), arguments.index)


LESS_TEXT: Final = Cut(
    length=lambda message: len(message.content.text),
    to=lambda message, chars: message.shortened(chars),
)
"""A shorter page of the text: the caller goes on from next_offset."""

FEWER_FOLDERS: Final = Cut(
    length=lambda listing: len(listing.folders),
    to=lambda listing, count: replace(listing, folders=listing.folders[:count], truncated=True),
)
"""Fewer folders, said to be fewer."""
