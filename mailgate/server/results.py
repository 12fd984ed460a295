"""What the tools answer: facts of ours beside one `untrusted` object with all that other people wrote.

Each model is the published output schema and, with `of`, the only way from a use case's value to a result.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from mailgate.server.shapes import Result, Shape, decimal, moment, sentences

if TYPE_CHECKING:
    from mailgate.imap.values import MessageRef
    from mailgate.mime.model import AttachmentInfo, MessageHeaders
    from mailgate.read.attachment import ReadAttachment
    from mailgate.read.folders import FolderListing, ListedFolder
    from mailgate.read.message import MessageContent, ReadMessage
    from mailgate.read.search import SearchPage
    from mailgate.read.summary import MessageSummary, SummaryText

_NULL_OR_TEXT: dict[str, Any] = {"type": ["string", "null"]}


class Reference(Shape):
    """What names one message, in every tool."""

    folder: str = Field(description="folder name")
    uid_validity: int = Field(description="UIDVALIDITY")
    uid: int = Field(description="UID")

    @classmethod
    def of(cls, reference: MessageRef) -> Self:
        """The reference as the object that tools take."""
        return cls(folder=reference.folder.text, uid_validity=int(reference.uid_validity), uid=int(reference.uid))


# --- mail_search -----------------------------------------------------------------------------------------------


class RowText(Shape):
    """A row's text from the message."""

    subject: str | None = Field(None, description="decoded")
    from_: list[str] = Field([], validation_alias="from", description="senders")
    to: list[str] = Field([], description="recipients")
    date: str | None = Field(None, description="Date field, ISO 8601", json_schema_extra=_NULL_OR_TEXT)
    date_raw: str | None = Field(None, description="unreadable Date field")
    message_id: str | None = Field(None, description="with brackets")
    sanitized: bool | None = Field(None, description="unsafe characters removed")

    def kept(self) -> frozenset[str]:
        """A null date stands beside the field that could not be read."""
        return frozenset({"date"}) if self.date_raw else frozenset()

    @classmethod
    def of(cls, text: SummaryText) -> Self:
        """The part of a row that the sender wrote."""
        return cls(
            subject=text.subject,
            from_=list(text.from_),
            to=list(text.to),
            date=text.date,
            date_raw=text.date_raw,
            message_id=text.message_id,
            sanitized=text.sanitized or None,
        )


class Row(Shape):
    """One message of a page."""

    reference: Reference = Field(description="names the message in other tools")
    size: int | None = Field(None, description="octets")
    flags: list[str] = Field([], description="IMAP flags")
    internal_date: str | None = Field(None, description="arrival, ISO 8601")
    modseq: str | None = Field(None, description="for unchanged_since")
    has_attachments: bool | None = Field(description="null: not known")
    warnings: list[str] = Field([], description="code: sentence")
    untrusted: RowText = Field(description="from the message")

    @classmethod
    def of(cls, message: MessageSummary) -> Self:
        """A row; nothing under `untrusted` where the message could not be read."""
        return cls(
            reference=Reference.of(message.reference),
            size=message.size,
            flags=list(message.flags),
            internal_date=moment(message.internal_date),
            modseq=decimal(message.mod_seq),
            has_attachments=message.has_attachments,
            warnings=sentences(message.warnings),
            untrusted=RowText.model_validate({}) if message.text is None else RowText.of(message.text),
        )


class SearchResult(Result["SearchPage"]):
    """mail_search."""

    folder: str = Field(description="searched folder")
    uid_validity: int = Field(description="UIDVALIDITY")
    messages: list[Row] = Field(
        description="reference, size, flags, internal_date, has_attachments, untrusted{subject, from, to, date ...}"
    )
    scanned_uids: int = Field(description="UIDs covered by this call")
    complete: bool = Field(description="false: call again with next_cursor")
    next_cursor: str | None = Field(None, description="opaque")
    warnings: list[str] = Field(description="code: sentence")

    @classmethod
    def of(cls, page: SearchPage) -> Self:
        """One page."""
        return cls(
            folder=page.folder.text,
            uid_validity=int(page.uid_validity),
            messages=[Row.of(message) for message in page.messages],
            scanned_uids=page.scanned_uids,
            complete=page.complete,
            next_cursor=page.next_cursor,
            warnings=sentences(page.warnings),
        )


# --- mail_read -------------------------------------------------------------------------------------------------


class Headers(Shape):
    """The header fields of one message, decoded and cleaned."""

    from_: list[str] = Field([], validation_alias="from")
    sender: str | None = None
    to: list[str] = Field([])
    cc: list[str] = Field([])
    bcc: list[str] = Field([])
    reply_to: list[str] = Field([])
    subject: str | None = None
    date: str | None = Field(None, json_schema_extra=_NULL_OR_TEXT)
    date_raw: str | None = None
    message_id: str | None = None
    in_reply_to: list[str] = Field([])
    references: list[str] = Field([])
    list_id: str | None = None
    list_unsubscribe: str | None = None

    def kept(self) -> frozenset[str]:
        """A null date stands beside the field that could not be read."""
        return frozenset({"date"}) if self.date_raw else frozenset()

    @classmethod
    def of(cls, headers: MessageHeaders) -> Self:
        """All fields that a reader needs."""
        return cls(
            from_=list(headers.from_),
            sender=headers.sender,
            to=list(headers.to),
            cc=list(headers.cc),
            bcc=list(headers.bcc),
            reply_to=list(headers.reply_to),
            subject=headers.subject,
            date=headers.date,
            date_raw=headers.date_raw,
            message_id=headers.message_id,
            in_reply_to=list(headers.in_reply_to),
            references=list(headers.references),
            list_id=headers.list_id,
            list_unsubscribe=headers.list_unsubscribe,
        )


class AttachmentEntry(Shape):
    """One attachment as the message describes it."""

    index: int
    filename: str | None
    filename_changed: bool
    content_type: str
    size: int | None
    disposition: str | None = None
    content_id: str | None = None

    @classmethod
    def of(cls, info: AttachmentInfo) -> Self:
        """`size` is null where the part does not lie whole within what was examined."""
        return cls(
            index=info.index,
            filename=info.filename,
            filename_changed=info.filename_changed,
            content_type=info.content_type,
            size=info.size,
            disposition=info.disposition,
            content_id=info.content_id,
        )


class MessageBody(Shape):
    """Everything that came from the message itself."""

    headers: Headers
    text: str
    attachments: list[AttachmentEntry]
    sanitized: bool | None = None

    @classmethod
    def of(cls, content: MessageContent) -> Self:
        """This page's text and the whole lists."""
        return cls(
            headers=Headers.of(content.headers),
            text=content.text,
            attachments=[AttachmentEntry.of(info) for info in content.attachments],
            sanitized=content.sanitized or None,
        )


class ReadResult(Result["ReadMessage"]):
    """mail_read."""

    reference: Reference = Field(description="this message")
    size: int | None = Field(None, description="octets")
    flags: list[str] = Field(description="IMAP flags")
    modseq: str | None = Field(None, description="for unchanged_since")
    internal_date: str | None = Field(None, description="arrival, ISO 8601")
    text_format: str = Field(description="plain or markdown")
    text_source: str = Field(description="plain or html")
    text_chars: int = Field(description="length of the whole text")
    truncated_by: str = Field(description="what cut the text, or none")
    next_offset: int | None = Field(None, description="where the text goes on")
    warnings: list[str] = Field(description="code: sentence")
    untrusted: MessageBody = Field(description="from the message: headers, text, attachments[]")

    @classmethod
    def of(cls, message: ReadMessage) -> Self:
        """One page of one message."""
        return cls(
            reference=Reference.of(message.reference),
            size=message.size,
            flags=list(message.flags),
            modseq=decimal(message.mod_seq),
            internal_date=moment(message.internal_date),
            text_format=message.text_format.value,
            text_source=message.text_source.value,
            text_chars=message.text_chars,
            truncated_by=message.truncated_by.value,
            next_offset=message.next_offset,
            warnings=sentences(message.warnings),
            untrusted=MessageBody.of(message.content),
        )


# --- mail_get_attachment ---------------------------------------------------------------------------------------


class AttachmentContent(Shape):
    """What the message says of the attachment, and its octets."""

    filename: str | None
    filename_changed: bool
    content_type: str
    disposition: str | None = None
    content_id: str | None = None
    data_base64: str
    sanitized: bool | None = None


class AttachmentResult(Result["ReadAttachment"]):
    """mail_get_attachment."""

    reference: Reference = Field(description="its message")
    index: int = Field(description="as asked")
    size: int = Field(description="decoded octets")
    sha256: str = Field(description="of the decoded octets, hex")
    warnings: list[str] = Field(description="code: sentence")
    untrusted: AttachmentContent = Field(description="filename, content_type, data_base64 ...")

    @classmethod
    def of(cls, attachment: ReadAttachment) -> Self:
        """The octets once, in base64."""
        info = attachment.described
        return cls(
            reference=Reference.of(attachment.reference),
            index=attachment.index,
            size=attachment.size,
            sha256=attachment.sha256,
            warnings=sentences(attachment.warnings),
            untrusted=AttachmentContent(
                filename=info.filename,
                filename_changed=info.filename_changed,
                content_type=info.content_type,
                disposition=info.disposition,
                content_id=info.content_id,
                data_base64=b64encode(attachment.data).decode("ascii"),
                sanitized=info.sanitized or None,
            ),
        )


# --- mail_list_folders -----------------------------------------------------------------------------------------


class FolderEntry(Shape):
    """One folder."""

    name: str = Field(description="the name to pass")
    delimiter: str | None = Field(None, description="between levels")
    attributes: list[str] = Field([], description="IMAP attributes")
    role: str | None = Field(None, description="sent, trash ...")
    selectable: bool = Field(description="holds messages")
    has_children: bool | None = Field(None, description="if known")
    messages: int | None = Field(None, description="count")
    unseen: int | None = Field(None, description="unread count")
    uid_next: int | None = Field(None, description="UIDNEXT")
    uid_validity: int | None = Field(None, description="UIDVALIDITY")
    warnings: list[str] = Field([], description="code: sentence")

    @classmethod
    def of(cls, folder: ListedFolder) -> Self:
        """A row, with counts where there are some."""
        counts = folder.counts
        return cls(
            name=folder.name.text,
            delimiter=folder.delimiter,
            attributes=list(folder.attributes),
            role=None if folder.role is None else folder.role.value,
            selectable=folder.selectable,
            has_children=folder.has_children,
            messages=counts.messages if counts else None,
            unseen=counts.unseen if counts else None,
            uid_next=counts.uid_next if counts else None,
            uid_validity=counts.uid_validity if counts else None,
            warnings=sentences(folder.warnings),
        )


class FoldersResult(Result["FolderListing"]):
    """mail_list_folders."""

    folders: list[FolderEntry] = Field(description="name, role, selectable, attributes, counts ...")
    truncated: bool = Field(description="true: there are more")

    @classmethod
    def of(cls, listing: FolderListing) -> Self:
        """All folders that may be shown."""
        return cls(folders=[FolderEntry.of(folder) for folder in listing.folders], truncated=listing.truncated)
