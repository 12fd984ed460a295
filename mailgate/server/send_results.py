"""What the sending tools answer. It is the owner's own message; a forward quotes other people's text in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field

from mailgate.server.shapes import Result, Shape, moment, sentences

if TYPE_CHECKING:
    from mailgate.mime.review import ReviewedAttachment
    from mailgate.send.confirm import SendReport
    from mailgate.send.prepare import Review
    from mailgate.send.record import RefusedRecipient


class OutgoingAttachment(Shape):
    """One attachment as it will arrive."""

    filename: str
    content_type: str
    size: int
    sha256: str

    @classmethod
    def of(cls, attachment: ReviewedAttachment) -> Self:
        """As read back from the message."""
        return cls(
            filename=attachment.filename,
            content_type=attachment.content_type,
            size=attachment.size,
            sha256=attachment.sha256,
        )


class PreparedResult(Result["Review"]):
    """mail_prepare_send, mail_prepare_reply and mail_prepare_forward."""

    prepared_id: str = Field(description="to confirm")
    digest: str = Field(description="sha256, to confirm")
    from_: str = Field(validation_alias="from", description="sender")
    to: list[str] = Field(description="recipients")
    cc: list[str] = Field(description="recipients")
    bcc: list[str] = Field(description="recipients")
    subject: str = Field(description="as sent")
    text: str = Field(description="as sent")
    attachments: list[OutgoingAttachment] = Field(description="filename, content_type, size, sha256")
    message_id: str = Field(description="with brackets")
    size: int = Field(description="octets")
    expires_at: str = Field(description="ISO 8601")
    warnings: list[str] = Field(description="code: sentence")

    @classmethod
    def of(cls, value: Review) -> Self:
        """All of it, empty lists included: nobody should have to wonder whether something was left out."""
        content = value.content
        return cls(
            prepared_id=value.prepared_id.value,
            digest=value.digest.value,
            from_=content.from_,
            to=list(value.envelope.to),
            cc=list(value.envelope.cc),
            bcc=list(value.envelope.bcc),
            subject=content.subject,
            text=content.text,
            attachments=[OutgoingAttachment.of(each) for each in content.attachments],
            message_id=value.message_id,
            size=value.size,
            expires_at=moment(value.expires_at) or "",
            warnings=sentences(value.warnings),
        )


class Refused(Shape):
    """A recipient that the mail server did not take."""

    address: str
    code: int

    @classmethod
    def of(cls, refused: RefusedRecipient) -> Self:
        """The address as it was prepared, and the code of the SMTP reply."""
        return cls(address=refused.address, code=refused.code)


class SendResult(Result["SendReport"]):
    """mail_send_confirmed."""

    status: str = Field(description="accepted, rejected, not_sent, sending, unknown")
    reason: str | None = Field(None, description="error code")
    message_id: str | None = Field(None, description="to look for")
    refused: list[Refused] = Field(description="address, code")
    sent_copy: str = Field(description="none, saved, already_there, failed")
    warnings: list[str] = Field(description="code: sentence")
    at: str = Field(description="last change, ISO 8601")

    @classmethod
    def of(cls, value: SendReport) -> Self:
        """What is recorded."""
        record = value.record
        return cls(
            status=record.status.public,
            reason=record.reason,
            message_id=record.message_id,
            refused=[Refused.of(each) for each in record.refused],
            sent_copy=record.sent_copy.value,
            warnings=sentences(value.warnings),
            at=moment(record.at) or "",
        )
