"""What the tests of composing share: a fixed sender, date and id, and the other ways to read a message."""

from __future__ import annotations

import email
import email.policy
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from typing import cast

from mailgate.mime.compose import ComposedMessage, compose, make_message_id
from mailgate.mime.composition import AttachmentUpload, Composition
from mailgate.mime.model import ParsedMessage
from tests.mime.messages import read

DATE = datetime(2024, 2, 29, 23, 59, 58, tzinfo=UTC)
OWNER = "owner@example.org"
MESSAGE_ID = make_message_id(OWNER, "0123456789abcdef")


@dataclass(frozen=True)
class From:
    name: str = "The Owner"
    address: str = OWNER


def composed(
    composition: Composition, *, sender: From | None = None, keep_bcc: bool = True, date: datetime = DATE
) -> ComposedMessage:
    return compose(composition, sender=sender or From(), message_id=MESSAGE_ID, date=date, keep_bcc=keep_bcc)


def upload(name: str = "a.pdf", kind: str = "application/pdf", data: bytes = b"data") -> AttachmentUpload:
    return AttachmentUpload(name, kind, data)


def field(message: ComposedMessage, name: str) -> str:
    """The field as it stands, folds included, without its name."""
    header = message.data.partition(b"\r\n\r\n")[0].decode("ascii")
    lines = iter(("\r\n" + header).replace("\r\n ", "\0").split("\r\n"))
    found = [line for line in lines if line.startswith(f"{name}: ")]
    assert len(found) == 1
    return found[0].removeprefix(f"{name}: ").replace("\0", "\r\n ")


def read_back(message: ComposedMessage) -> ParsedMessage:
    return read(message.data)


def second_opinion(message: ComposedMessage) -> EmailMessage:
    return cast(EmailMessage, email.message_from_bytes(message.data, policy=email.policy.default))
