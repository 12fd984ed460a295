"""The values of the two-call send: what is prepared, who owns it, and what is recorded about it.

    PreparedMessage --digest--> shown to the owner --confirmed--> claimed by one attempt (Nonce) --> SendRecord

Pure: no store, no clock, no network. Bytes are octets, times are UTC from the store's clock.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

_PREPARED_ID = re.compile(r"p_[A-Za-z0-9_-]{24}\Z")
_NONCE = re.compile(r"[0-9a-f]{32}\Z")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_REASON = re.compile(r"[a-z_]{1,40}\Z")


@dataclass(frozen=True, slots=True)
class PreparedId:
    """Names one prepared message: `p_` and 144 random bits in base64url (RFC 4648, 5). Knowing it is not enough."""

    value: str

    def __post_init__(self) -> None:
        if not _PREPARED_ID.match(self.value):
            raise ValueError("not a prepared_id")

    @classmethod
    def new(cls) -> PreparedId:
        """A fresh one; an id is never used for a second write."""
        return cls("p_" + secrets.token_urlsafe(18))

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Nonce:
    """Names one attempt to send: 128 random bits as hex. Never shown, never stored by a caller."""

    value: str = field(repr=False)

    def __post_init__(self) -> None:
        if not _NONCE.match(self.value):
            raise ValueError("not a nonce")

    @classmethod
    def new(cls) -> Nonce:
        """A fresh one, once per attempt."""
        return cls(secrets.token_hex(16))

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Digest:
    """SHA-256 over what the owner approved, 64 lower-case hex digits."""

    value: str

    def __post_init__(self) -> None:
        if not _DIGEST.match(self.value):
            raise ValueError("not a sha256 digest in lower-case hex")

    def matches(self, other: Digest) -> bool:
        """Compared in constant time."""
        return hmac.compare_digest(self.value, other.value)

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Owner:
    """The principal a prepared message belongs to: only the very same one may confirm it."""

    issuer: str
    subject: str


@dataclass(frozen=True, slots=True)
class Deployment:
    """What a prepared message is bound to besides its owner: the mailbox login and the public URL (empty: none)."""

    login: str = field(repr=False)
    public_url: str = ""

    @property
    def tag(self) -> str:
        """32 hex digits that tell deployments apart in a shared store without naming the mailbox."""
        return hashlib.sha256(frame(b"deployment", self.login.encode(), self.public_url.encode())).hexdigest()[:32]

    def owner_tag(self, owner: Owner) -> str:
        """64 hex digits that stand for the owner in the store."""
        parts = (self.login, self.public_url, owner.issuer, owner.subject)
        return hashlib.sha256(frame(b"owner", *(part.encode() for part in parts))).hexdigest()


class SendStatus(StrEnum):
    """Where one prepared message stands."""

    PREPARED = "prepared"
    CLAIMED = "claimed"
    SUBMITTING = "submitting"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    NOT_SENT = "not_sent"
    UNKNOWN = "unknown"

    @property
    def public(self) -> str:
        """The word a caller reads: an attempt that may be alive is `sending`."""
        return "sending" if self in (SendStatus.CLAIMED, SendStatus.SUBMITTING) else self.value

    @property
    def finished(self) -> bool:
        """Has the attempt an outcome?"""
        return self in (SendStatus.ACCEPTED, SendStatus.REJECTED, SendStatus.NOT_SENT, SendStatus.UNKNOWN)


class SentCopy(StrEnum):
    """What became of the copy in the Sent folder."""

    NONE = "none"
    SAVED = "saved"
    ALREADY_THERE = "already_there"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Envelope:
    """RFC 5321's sender and recipients (bare addr-specs), the recipients by role and in order; at least one."""

    sender: str
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.recipients:
            raise ValueError("an envelope needs a recipient")
        if any(not address.isascii() or not address or re.search(r"[\s\x00-\x1f\x7f<>]", address) for address in self):
            raise ValueError("an envelope holds bare ASCII addresses")

    def __iter__(self) -> Iterator[str]:
        return iter((self.sender, *self.recipients))

    @property
    def recipients(self) -> tuple[str, ...]:
        """Everybody RCPT names: To, Cc, Bcc, each in its order."""
        return (*self.to, *self.cc, *self.bcc)


@dataclass(frozen=True, slots=True)
class PreparedMessage:
    """What will be sent, exactly: envelope and bytes. `message_id` is with brackets."""

    prepared_id: PreparedId
    envelope: Envelope = field(repr=False)
    message: bytes = field(repr=False)
    message_id: str = field(repr=False)

    @property
    def digest(self) -> Digest:
        """Computed anew from envelope and bytes each time it is asked for."""
        return digest_of(self.envelope, self.message)

    def verify(self, digest: Digest) -> bool:
        """Is this what the digest was made of? Nothing that was stored about the digest is believed."""
        return self.digest.matches(digest)

    def to_bytes(self) -> bytes:
        """For the store; `of_bytes` is the inverse."""
        return frame(b"prepared1", self.message_id.encode(), *_envelope_parts(self.envelope), self.message)

    @classmethod
    def of_bytes(cls, prepared_id: PreparedId, data: bytes) -> PreparedMessage:
        """Raises `ValueError` for anything `to_bytes` does not make."""
        magic, message_id, sender, to, cc, bcc, message = unframe(data, 7)
        if magic != b"prepared1":
            raise ValueError("not a prepared message")
        roles = (tuple(address.decode("ascii") for address in unframe(role)) for role in (to, cc, bcc))
        return cls(prepared_id, Envelope(sender.decode("ascii"), *roles), message, message_id.decode())


@dataclass(frozen=True, slots=True)
class RefusedRecipient:
    """A recipient the SMTP server refused, with the code of its reply (RFC 5321, 4.2)."""

    address: str
    code: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended; `reason` is an error code, or None where the status says it all."""

    status: SendStatus
    reason: str | None = None
    refused: tuple[RefusedRecipient, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not self.status.finished:
            raise ValueError("an outcome is accepted, rejected, not_sent or unknown")
        if self.reason is not None and not _REASON.match(self.reason):
            raise ValueError("a reason is a code")


@dataclass(frozen=True, slots=True)
class SendRecord:
    """What a repeat is told. `at` is the last change by the store's clock; `message_id` is None when unreadable."""

    status: SendStatus
    at: datetime
    message_id: str | None = field(default=None, repr=False)
    reason: str | None = None
    refused: tuple[RefusedRecipient, ...] = field(default=(), repr=False)
    sent_copy: SentCopy = SentCopy.NONE


def digest_of(envelope: Envelope, message: bytes) -> Digest:
    """The digest of an approval: sender, the recipients by role in order, and the bytes, each with its length."""
    return Digest(hashlib.sha256(frame(b"mailgate send 1", *_envelope_parts(envelope), message)).hexdigest())


def _envelope_parts(envelope: Envelope) -> tuple[bytes, ...]:
    roles = (envelope.to, envelope.cc, envelope.bcc)
    return (envelope.sender.encode("ascii"), *(frame(*(each.encode("ascii") for each in role)) for role in roles))


def frame(*parts: bytes) -> bytes:
    """The parts, each behind its length (8 octets, big-endian): no two different lists give the same octets."""
    return b"".join(len(part).to_bytes(8, "big") + part for part in parts)


def unframe(data: bytes, count: int | None = None) -> list[bytes]:
    """The inverse of `frame`. Raises `ValueError` for a length that does not fit, or another number of parts."""
    parts: list[bytes] = []
    position = 0
    while position < len(data):
        start = position + 8
        position = start + int.from_bytes(data[position:start], "big")
        if start > len(data) or position > len(data):
            raise ValueError("a part is cut short")
        parts.append(data[start:position])
    if count is not None and len(parts) != count:
        raise ValueError("another number of parts")
    return parts
