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
    from mailgate.read.attachment import ReadAttachment
    from mailgate.read.folders import FolderListing, ListedFolder
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
    preview: str | None = Field(None, description="extract of the text")
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
            preview=text.preview,
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


# --- mail_get_attachment ---------------------------------------------------------------------------------------


class AttachmentContent(Shape):
    """What the message says of the attachment, and its octets or its text."""

    filename: str | None
    filename_changed: bool
    content_type: str
    disposition: str | None = None
    content_id: str | None = None
    data_base64: str | None = None
    text: str | None = None
    sanitized: bool | None = None

    def kept(self) -> frozenset[str]:
        """An empty attachment has octets, or a text, all the same."""
        return frozenset({"data_base64"} if self.text is None else {"text"})


class AttachmentResult(Result["ReadAttachment"]):
    """mail_get_attachment."""

    reference: Reference = Field(description="its message")
    index: int = Field(description="as asked")
    size: int = Field(description="decoded octets")
    sha256: str = Field(description="of the decoded octets, hex")
    text_format: str | None = Field(None, description="plain or markdown")
    text_chars: int | None = Field(None, description="of the whole text")
    truncated: bool | None = Field(None, description="text is cut")
    warnings: list[str] = Field(description="code: sentence")
    untrusted: AttachmentContent = Field(description="filename, content_type, data_base64 or text ...")

    @classmethod
    def of(cls, attachment: ReadAttachment) -> Self:
        """The octets once, in base64, or the text in their place."""
        info, text = attachment.described, attachment.text
        return cls(
            reference=Reference.of(attachment.reference),
            index=attachment.index,
            size=attachment.size,
            sha256=attachment.sha256,
            text_format=text.format.value if text else None,
            text_chars=text.chars if text else None,
            truncated=text.truncated if text else None,
            warnings=sentences(attachment.warnings),
            untrusted=AttachmentContent(
                filename=info.filename,
                filename_changed=info.filename_changed,
                content_type=info.content_type,
                disposition=info.disposition,
                content_id=info.content_id,
                data_base64=None if text else b64encode(attachment.data).decode("ascii"),
                text=text.text if text else None,
                sanitized=info.sanitized or (text is not None and text.sanitized) or None,
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
