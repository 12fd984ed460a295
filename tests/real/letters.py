"""Messages for the suites, built by the standard library's composer, which shares nothing with the product."""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTP

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
PDF = b"%PDF-1.7\n" + bytes(range(256)) * 4


def letter(
    subject: str = "Hello",
    text: str = "A few words.\n",
    *,
    sender: str = "Ann Other <ann@example.org>",
    to: str = "owner@example.org",
    cc: str | None = None,
    message_id: str = "<1@example.org>",
) -> EmailMessage:
    """A plain message, to be added to."""
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"], message["Subject"] = sender, to, subject
    if cc:
        message["Cc"] = cc
    message["Date"] = "Sat, 03 Feb 2024 04:05:06 +0100"
    message["Message-ID"] = message_id
    message.set_content(text)
    return message


def with_attachments() -> EmailMessage:
    """Two attachments, one of them with a name beyond ASCII."""
    message = letter("Two attachments")
    message.add_attachment(PDF, maintype="application", subtype="pdf", filename="report.pdf")
    message.add_attachment(PNG, maintype="image", subtype="png", filename="Überblick 概要.png")
    return message


def with_inline_picture() -> EmailMessage:
    """HTML that shows a picture by its Content-ID, and no attachment."""
    message = letter("A picture in the text", "See the picture.\n")
    message.add_alternative(
        '<p>See the <b>picture</b>: <img src="cid:pic@example.org" alt="chart"></p>', subtype="html"
    )
    html = message.get_payload()[1]
    html.add_related(PNG, maintype="image", subtype="png", cid="<pic@example.org>", disposition="inline")
    return message


def large(octets: int) -> bytes:
    """A message of about that size: a short text, then one attachment in base64 that fills the rest."""
    message = letter("Twenty megabytes", "The text comes first.\n")
    message.add_attachment(bytes(octets * 54 // 74), maintype="application", subtype="octet-stream", filename="big.bin")
    return bytes(message)
