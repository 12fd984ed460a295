"""A checked composition made into the octets of a message, the same octets for the same input.

They are written here, not by the standard library's email package, whose output depends on its version. Canonical
from the start: CRLF, 7-bit, short lines, one of each field (RFC 5322, 3.6); nothing is normalised later. Before they
are handed out they are read back and compared with what was asked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from mailgate.errors import LimitExceeded
from mailgate.limits import COMPOSED_BYTES_MAX, MIB
from mailgate.mime.composition import AttachmentUpload, Composition, is_message_id
from mailgate.mime.encoding import BOUNDARY_MARK, canonical_text, encode_text, to_base64
from mailgate.mime.folding import (
    address_with_name,
    disposition,
    fold,
    named_type,
    separated,
    serialize_date,
    unstructured,
)
from mailgate.mime.model import ReadWarning
from mailgate.mime.verify import Identity, verify

_ID_TOKEN: Final = re.compile(r"[A-Za-z0-9]{16,64}")


class SenderLike(Protocol):
    """Whom the message is from: an ASCII addr-spec, and a display name or an empty string."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def address(self) -> str: ...  # noqa: D102


class ComposeWarning(StrEnum):
    """What may not be meant as it was asked."""

    RECIPIENT_REPEATED = "recipient_repeated"
    SUBJECT_EMPTY = "subject_empty"
    TEXT_EMPTY = "text_empty"

    def warning(self) -> ReadWarning:
        """The warning with its sentence."""
        return ReadWarning(self.value, COMPOSE_SENTENCES[self])


COMPOSE_SENTENCES: Final = {
    ComposeWarning.RECIPIENT_REPEATED: "A recipient is named more than once; the first role counts.",
    ComposeWarning.SUBJECT_EMPTY: "The message has no subject.",
    ComposeWarning.TEXT_EMPTY: "The message has no text.",
}


@dataclass(frozen=True, slots=True)
class ComposedMessage:
    """The finished message: `size` in octets, `message_id` with its brackets."""

    data: bytes = field(repr=False)
    message_id: str
    size: int
    warnings: tuple[ReadWarning, ...] = ()


def make_message_id(address: str, token: str) -> str:
    """A Message-ID at the domain of `address` (RFC 5322, 3.6.4); `token`: 16 to 64 random letters and digits.

    The domain is the sender's, never this machine's name. Raises `ValueError`.
    """
    message_id = f"<{token}@{address.partition('@')[2]}>"
    if not _ID_TOKEN.fullmatch(token) or not is_message_id(message_id):
        raise ValueError("a message id needs 16 to 64 letters and digits and an address with a domain")
    return message_id


def compose(
    composition: Composition,
    *,
    sender: SenderLike,
    message_id: str,
    date: datetime,
    keep_bcc: bool,
    warn_empty: bool = False,
) -> ComposedMessage:
    """The message, at most `limits.COMPOSED_BYTES_MAX` octets, or `LimitExceeded`.

    `date` has an offset of whole minutes. `keep_bcc`: a draft keeps its Bcc field, what is sent never has one.
    `warn_empty`: say so where subject or text is empty. Raises `RuntimeError` when the octets do not read back as what
    was asked, and `ValueError` for a date or id that only a fault of ours could have made.
    """
    if not is_message_id(message_id):
        raise ValueError("the message id is not of the form <left@right>")
    identity = Identity(sender.name, sender.address, message_id, serialize_date(date))
    data = _serialize(composition, identity, keep_bcc)
    if len(data) > COMPOSED_BYTES_MAX:
        raise LimitExceeded(
            f"The complete message is larger than {COMPOSED_BYTES_MAX // MIB} MiB: "
            "`message.text` and `message.attachments` are too large together."
        )
    verify(data, composition, identity, keep_bcc=keep_bcc)
    return ComposedMessage(data, message_id, len(data), tuple(_warnings(composition, warn_empty)))


def _warnings(composition: Composition, warn_empty: bool) -> Iterator[ReadWarning]:
    if composition.repeated:
        yield ComposeWarning.RECIPIENT_REPEATED.warning()
    if warn_empty and not composition.subject.strip():
        yield ComposeWarning.SUBJECT_EMPTY.warning()
    if warn_empty and not composition.text.strip():
        yield ComposeWarning.TEXT_EMPTY.warning()


def _serialize(composition: Composition, identity: Identity, keep_bcc: bool) -> bytes:
    header = list(_header(composition, identity, keep_bcc))
    text_header, text_body = _text_part(composition.text)
    if not composition.attachments:
        return _entity([*header, *text_header], text_body)
    boundary = BOUNDARY_MARK + hashlib.sha256(identity.message_id.encode("ascii")).hexdigest()[:32]
    content_type = fold("Content-Type", ["multipart/mixed;", f'boundary="{boundary}"'])
    parts = [_entity(text_header, text_body), *map(_attachment_part, composition.attachments)]
    # The line end before a delimiter belongs to the delimiter (RFC 2046, 5.1.1).
    delimited = [f"--{boundary}\r\n".encode("ascii") + part + b"\r\n" for part in parts]
    return _entity([*header, content_type], b"".join([*delimited, f"--{boundary}--\r\n".encode("ascii")]))


def _header(composition: Composition, identity: Identity, keep_bcc: bool) -> Iterator[str]:
    """The fields in their order; one that would be empty is left out, as all of these may be (RFC 5322, 3.6)."""
    yield address_with_name("From", identity.name, identity.address)
    if composition.to:
        yield separated("To", composition.to)
    if composition.cc:
        yield separated("Cc", composition.cc)
    if composition.bcc and keep_bcc:
        yield separated("Bcc", composition.bcc)
    if composition.subject:
        yield unstructured("Subject", composition.subject)
    yield fold("Date", [identity.date])
    yield fold("Message-ID", [identity.message_id])
    if composition.in_reply_to:
        yield fold("In-Reply-To", [composition.in_reply_to])
    if composition.references:
        yield fold("References", composition.references)
    yield fold("MIME-Version", ["1.0"])


def _text_part(text: str) -> tuple[list[str], bytes]:
    # Never format=flowed: a reader would join lines that the author ended (RFC 3676, 4.2).
    body = encode_text(canonical_text(text))
    header = [fold("Content-Type", ["text/plain;", "charset=utf-8"])]
    return [*header, fold("Content-Transfer-Encoding", [body.encoding])], body.data


def _attachment_part(attachment: AttachmentUpload) -> bytes:
    header = [
        named_type(attachment.content_type, attachment.filename),
        disposition(attachment.filename),
        fold("Content-Transfer-Encoding", ["base64"]),
    ]
    return _entity(header, to_base64(attachment.data).removesuffix(b"\r\n"))


def _entity(header: list[str], body: bytes) -> bytes:
    return "".join(f"{line}\r\n" for line in header).encode("ascii") + b"\r\n" + body
