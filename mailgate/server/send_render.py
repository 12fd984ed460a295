"""The text half of what the sending tools answer.

A review is for the owner's eyes: facts first, then subject, file names and text, which end it.
"""

from __future__ import annotations

from typing import Final

from mailgate.server.send_results import OutgoingAttachment, PreparedResult, SendResult

_MEANING: Final = {
    "accepted": "the mail server took responsibility for the message; that it arrived is another matter",
    "rejected": "the mail server refused the message; nobody got it, and nobody will by this id",
    "not_sent": "the message was not sent, and will not be by this id",
    "sending": "an attempt may be under way",
    "unknown": "the message may or may not have been sent",
}


def prepared(result: PreparedResult) -> str:
    """Everything the owner approves with the digest."""
    lines = [
        f"Prepared and not sent: {result.prepared_id}, {result.size} octets, expires {result.expires_at}.",
        f"digest {result.digest}",
        *result.warnings,
        "Show the owner all that follows. Send it with mail_send_confirmed only when the owner approves exactly this.",
        f"From: {result.from_}",
        *(f"{name}: {', '.join(value)}" for name, value in _roles(result).items() if value),
        f"Message-ID: {result.message_id}",
        f"Subject: {result.subject}",
        *map(_attachment, result.attachments),
        "",
        result.text,
    ]
    return "\n".join(lines)


def _roles(result: PreparedResult) -> dict[str, list[str]]:
    return {"To": result.to, "Cc": result.cc, "Bcc": result.bcc}


def _attachment(attachment: OutgoingAttachment) -> str:
    return (
        f"Attachment: {attachment.filename}, {attachment.content_type}, {attachment.size} octets, "
        f"sha256 {attachment.sha256}"
    )


def sent(result: SendResult) -> str:
    """The status and what it means."""
    reason = f" ({result.reason})" if result.reason else ""
    lines = [
        f"{result.status}{reason}: {_MEANING[result.status]}. Recorded {result.at}.",
        f"Message-ID: {result.message_id or 'not known'}; copy in Sent: {result.sent_copy}",
        *(f"Refused recipient: {refused.address} (reply {refused.code})" for refused in result.refused),
        *result.warnings,
    ]
    return "\n".join(lines)
