"""What mail_read answers: one message, or an outcome for each of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from mailgate.errors import MailgateError
from mailgate.server.results import Reference
from mailgate.server.shapes import Result, Shape, decimal, moment, sentences

if TYPE_CHECKING:
    from mailgate.mime.authentication import Authentication
    from mailgate.mime.model import AttachmentInfo, MessageHeaders
    from mailgate.mime.quotes import QuotedBlock
    from mailgate.mime.sender import SenderFacts
    from mailgate.read.batch import FailedRead, ReadBatch
    from mailgate.read.message import ReadMessage

_NULL_OR_TEXT: dict[str, Any] = {"type": ["string", "null"]}


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
    list_unsubscribe_post: str | None = None
    list_post: str | None = None

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
            list_unsubscribe_post=headers.list_unsubscribe_post,
            list_post=headers.list_post,
        )


class AttachmentEntry(Shape):
    """One attachment as the message describes it."""

    index: int
    filename: str | None
    filename_changed: bool
    content_type: str
    size: int | None
    size_estimated: bool | None = None
    disposition: str | None = None
    content_id: str | None = None

    @classmethod
    def of(cls, info: AttachmentInfo) -> Self:
        """`size` is null where it is not known."""
        return cls(
            index=info.index,
            filename=info.filename,
            filename_changed=info.filename_changed,
            content_type=info.content_type,
            size=info.size,
            size_estimated=info.estimated or None,
            disposition=info.disposition,
            content_id=info.content_id,
        )


class QuotedBlockEntry(Shape):
    """A block of quoted history that a line stands for."""

    author: str | None = None
    date: str | None = None
    chars: int

    @classmethod
    def of(cls, block: QuotedBlock) -> Self:
        """As the quoting message says."""
        return cls(author=block.author, date=block.date, chars=block.chars)


class SenderWords(Shape):
    """The address of the author apart from any display name, and the domains that authentication was about: facts
    found in what the sender chose."""

    address: str | None
    authentication: list[str] = Field([])

    @classmethod
    def of(cls, facts: SenderFacts | None) -> Self:
        """Results are shown in the words of RFC 8601, with their domains."""
        if facts is None:
            return cls.model_validate({"address": None})
        found = facts.authentication
        named = [] if found is None else [str(one) for one in found.results if one.domain]
        return cls(address=facts.address, authentication=named)


class MessageBody(Shape):
    """Everything that came from the message itself. Without text where only the header was asked for."""

    sender: SenderWords
    headers: Headers
    text: str | None = None
    quoted_blocks: list[QuotedBlockEntry] = Field([])
    attachments: list[AttachmentEntry] | None = None
    sanitized: bool | None = None

    def kept(self) -> frozenset[str]:
        """An empty text is a text, and an empty list of attachments says that there are none."""
        known = {"text": self.text, "attachments": self.attachments}
        return frozenset(name for name, value in known.items() if value is not None)

    @classmethod
    def of(cls, message: ReadMessage) -> Self:
        """This page's text and the whole lists."""
        content, listed = message.content, message.content.attachments
        return cls(
            sender=SenderWords.of(message.sender),
            headers=Headers.of(content.headers),
            text=None if message.headers_only else content.text,
            quoted_blocks=[QuotedBlockEntry.of(block) for block in content.quoted_blocks],
            attachments=None if listed is None else [AttachmentEntry.of(info) for info in listed],
            sanitized=content.sanitized or None,
        )


class AuthEntry(Shape):
    """One result of the trusted server: what it tried and what came out. For which domain is under `untrusted`."""

    method: str
    result: str


class AuthenticationFacts(Shape):
    """What the operator's trusted server found. No results: it tried nothing that is told of."""

    authserv_id: str
    results: list[AuthEntry]

    @classmethod
    def of(cls, found: Authentication) -> Self:
        """In the server's own words."""
        entries = [AuthEntry(method=one.method.value, result=one.result) for one in found.results]
        return cls(authserv_id=found.authserv_id, results=entries)


class Sender(Shape):
    """What mailgate finds out about the author. The address itself is the author's word: it is under `untrusted`."""

    flags: list[str]
    authentication: AuthenticationFacts | None = None

    @classmethod
    def of(cls, facts: SenderFacts | None) -> Self:
        """Nothing odd is known of a header that could not be read in time."""
        if facts is None:
            return cls(flags=[])
        found = facts.authentication
        return cls(
            flags=[flag.value for flag in facts.flags],
            authentication=None if found is None else AuthenticationFacts.of(found),
        )


class Failed(Shape):
    """Why a message of several could not be read."""

    code: str
    message: str


class MessageFields(Shape):
    """One message, or the failure to read it. A field without a value is left out."""

    reference: Reference | None = Field(None, description="this message")
    size: int | None = Field(None, description="octets")
    flags: list[str] = Field([], description="IMAP flags")
    modseq: str | None = Field(None, description="for unchanged_since")
    internal_date: str | None = Field(None, description="arrival")
    sender: Sender | None = Field(None, description="flags, authentication")
    text_format: str | None = Field(None, description="plain or markdown")
    text_source: str | None = Field(None, description="plain or html")
    text_chars: int | None = Field(None, description="of the whole text")
    truncated_by: str | None = Field(None, description="what cut the text, or none")
    next_offset: int | None = Field(None, description="where the text goes on")
    interleaved: bool | None = Field(None, description="answers among quotes")
    warnings: list[str] = Field([], description="code: sentence")
    untrusted: MessageBody | None = Field(None, description="headers, text, attachments[], quoted_blocks[]")

    def kept(self) -> frozenset[str]:
        """A message that was read has flags and warnings, be they none."""
        return frozenset() if self.untrusted is None else frozenset({"flags", "warnings"})


def _fields(message: ReadMessage) -> dict[str, Any]:
    """One page of one message, as the fields of either model below."""
    with_text = not message.headers_only
    return {
        "reference": Reference.of(message.reference),
        "size": message.size,
        "flags": list(message.flags),
        "modseq": decimal(message.mod_seq),
        "internal_date": moment(message.internal_date),
        "sender": Sender.of(message.sender),
        "text_format": message.text_format.value if with_text else None,
        "text_source": message.text_source.value if with_text else None,
        "text_chars": message.text_chars if with_text else None,
        "truncated_by": message.truncated_by.value if with_text else None,
        "next_offset": message.next_offset,
        "interleaved": message.interleaved or None,
        "warnings": sentences(message.warnings),
        "untrusted": MessageBody.of(message),
    }


class Entry(MessageFields):
    """An outcome in a batch."""

    error: Failed | None = Field(None, description="code, message")

    @classmethod
    def of(cls, entry: ReadMessage | FailedRead) -> Self:
        """The message, or its reference beside the error."""
        from mailgate.read.message import ReadMessage

        if isinstance(entry, ReadMessage):
            return cls(**_fields(entry))
        shown = entry.error if isinstance(entry.error, MailgateError) else MailgateError()
        failed = Failed(code=shown.code, message=shown.sentence)
        return cls.model_validate({"reference": Reference.of(entry.reference), "error": failed})


class ReadResult(MessageFields, Result["ReadMessage | ReadBatch"]):
    """mail_read."""

    messages: list[Entry] | None = Field(None, description="for references: each as here, or reference and error")
    warnings: list[str] = Field(description="code: sentence")

    @classmethod
    def of(cls, value: ReadMessage | ReadBatch) -> Self:
        """One page of one message, or an entry for each."""
        from mailgate.read.message import ReadMessage

        if isinstance(value, ReadMessage):
            return cls(**_fields(value))
        return cls.model_validate({"messages": [Entry.of(entry) for entry in value.entries], "warnings": []})
