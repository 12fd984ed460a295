"""A store in memory and an SMTP server that is none, both as badly behaved as a test wants them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from mailgate.errors import DigestMismatch, PreparedNotFound, SendLimitReached, StoreUnavailable
from mailgate.send.desk import SendDesk
from mailgate.send.ledger import SendLedger
from mailgate.send.recipients import AllowedRecipients
from mailgate.send.record import Deployment, Digest, Envelope, Nonce, Owner, PreparedId, SendStatus, SentCopy
from mailgate.send.sealing import KeyRing
from mailgate.send.store import StoredClaim, StoredMessage, StoredOutcome, StoredRecord
from mailgate.send.submission import Accepted, Begin, NotSent, SmtpReply, Submission, SubmissionStage
from mailgate.settings_values import Sender

NOW = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)
OWNER = Owner("issuer", "subject")
SENDER = Sender("The Owner", "owner@example.org")
DEPLOYMENT = Deployment("owner@imap.example", "https://mail.example.org/mcp")


@dataclass
class _Record:
    message: StoredMessage
    expires: datetime
    content: bytes
    status: SendStatus = SendStatus.PREPARED
    nonce: Nonce | None = None
    at: datetime = NOW
    stale: datetime = NOW
    reason: str | None = None
    refused: bytes = b""
    sent_copy: SentCopy = SentCopy.NONE


class MemoryStore:
    """The store's promises, one process, no disk. `before` and `after` run around each step: raising loses it."""

    def __init__(self) -> None:
        self.now = NOW
        self.records: dict[str, _Record] = {}
        self.claims = 0
        self.calls: list[str] = []
        self.before: Callable[[str], None] = lambda step: None
        self.after: Callable[[str], None] = lambda step: None
        self.closed = False

    @property
    def only(self) -> _Record:
        (record,) = self.records.values()
        return record

    async def prepare(self, message: StoredMessage, *, expires_seconds: float) -> datetime:
        self._called("prepare")
        expires = self.now + timedelta(seconds=expires_seconds)
        assert message.prepared_id.value not in self.records
        self.records[message.prepared_id.value] = _Record(message, expires, message.content)
        self.after("prepare")
        return expires

    async def look(self, prepared_id: PreparedId, owner_tag: str) -> bytes | None:
        self._called("look")
        try:
            record = self._found(prepared_id, owner_tag)
        except PreparedNotFound:
            return None
        return record.content if record.status is SendStatus.PREPARED else None

    async def claim(
        self,
        prepared_id: PreparedId,
        owner_tag: str,
        digest: Digest,
        nonce: Nonce,
        *,
        limit_per_hour: int | None,
        deadline_seconds: float,
    ) -> StoredClaim | StoredRecord:
        self._called("claim")
        record = self._found(prepared_id, owner_tag)
        if record.message.digest != digest:
            raise DigestMismatch
        if record.status is SendStatus.PREPARED:
            if limit_per_hour is not None and self.claims >= limit_per_hour:
                raise SendLimitReached
            self.claims += 1
            record.status, record.nonce = SendStatus.CLAIMED, nonce
            record.stale = self.now + timedelta(seconds=deadline_seconds)
            self.after("claim")
            return StoredClaim(record.content)
        if record.status is SendStatus.CLAIMED and self.now > record.stale:
            record.status, record.content = SendStatus.NOT_SENT, b""
        self.after("claim")
        return self._told(record)

    async def begin(self, prepared_id: PreparedId, nonce: Nonce) -> bool:
        self._called("begin")
        record = self.records.get(prepared_id.value)
        granted = record is not None and record.nonce == nonce and record.status is SendStatus.CLAIMED
        if record and granted:
            record.status, record.content = SendStatus.SUBMITTING, b""
        self.after("begin")
        return granted

    async def settle(self, prepared_id: PreparedId, nonce: Nonce, outcome: StoredOutcome) -> StoredRecord | None:
        self._called("settle")
        record = self.records.get(prepared_id.value)
        if record is not None and record.nonce == nonce and not record.status.finished:
            record.status, record.reason, record.refused = outcome.status, outcome.reason, outcome.refused
            record.content = b""
        self.after("settle")
        return self._told(record) if record else None

    async def note_copy(self, prepared_id: PreparedId, nonce: Nonce, sent_copy: SentCopy) -> bool:
        self._called("note_copy")
        self.records[prepared_id.value].sent_copy = sent_copy
        return True

    async def check(self) -> None:
        self._called("check")

    async def aclose(self) -> None:
        self.closed = True

    def _found(self, prepared_id: PreparedId, owner_tag: str) -> _Record:
        record = self.records.get(prepared_id.value)
        expired = record is not None and record.status is SendStatus.PREPARED and self.now >= record.expires
        if record is None or expired or record.message.owner_tag != owner_tag:
            raise PreparedNotFound
        return record

    def _told(self, record: _Record) -> StoredRecord:
        status = record.status
        if status is SendStatus.SUBMITTING and self.now > record.stale:
            status = SendStatus.UNKNOWN
        return StoredRecord(status, record.at, record.reason, record.message.kept, record.refused, record.sent_copy)

    def _called(self, step: str) -> None:
        self.calls.append(step)
        self.before(step)


Step = Callable[[], Awaitable[Any]]


@dataclass
class FakeSubmitter:
    """Takes a message as an SMTP server would, and notes each final dot.

    `early`: the outcome before DATA, where there is one; `late`: the one after it. `at_connect` and `at_dot` run at
    these moments.
    """

    early: Submission | Exception | None = None
    late: Submission | Exception = field(default_factory=lambda: Accepted(SmtpReply(250)))
    at_connect: Step | None = None
    at_dot: Step | None = None
    attempts: int = 0
    dots: list[tuple[tuple[str, ...], bytes]] = field(default_factory=list)
    envelopes: list[Envelope] = field(default_factory=list)
    refused_leave: int = 0
    closed: bool = False

    async def submit(self, envelope: Envelope, message: bytes, *, begin: Begin, deadline: float) -> Submission:
        self.attempts += 1
        self.envelopes.append(envelope)
        if self.at_connect:
            await self.at_connect()
        if self.early is not None:
            return _or_raise(self.early)
        if not await begin():
            self.refused_leave += 1
            return NotSent(SubmissionStage.BEGIN, "store_unavailable")
        self.dots.append((envelope.recipients, message))
        if self.at_dot:
            await self.at_dot()
        return _or_raise(self.late)

    async def aclose(self) -> None:
        self.closed = True


def _or_raise(outcome: Submission | Exception) -> Submission:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


@dataclass
class Flow:
    """A desk and what stands behind it."""

    store: MemoryStore
    submitter: FakeSubmitter
    desk: SendDesk
    faults: list[Exception]


def flow(
    submitter: FakeSubmitter | None = None,
    *,
    allowed: tuple[str, ...] = (),
    store: MemoryStore | None = None,
    limit: int | None = None,
    deadline_seconds: float = 30.0,
    upstream_seconds: float = 30.0,
) -> Flow:
    store, submitter, faults = store or MemoryStore(), submitter or FakeSubmitter(), []
    ledger = SendLedger(
        store,
        KeyRing([b"k" * 32], DEPLOYMENT),
        DEPLOYMENT,
        limit_per_hour=limit,
        deadline_seconds=deadline_seconds,
    )
    desk = SendDesk(
        ledger,
        submitter,
        SENDER,
        AllowedRecipients(allowed),
        deadline_seconds=deadline_seconds,
        upstream_seconds=upstream_seconds,
        on_fault=faults.append,
        clock=lambda: NOW,
    )
    return Flow(store, submitter, desk, faults)


def failing(*steps: str, times: int = 1000) -> Callable[[str], None]:
    """A `before` or `after` that fails at some steps, so often."""
    left = times

    def hook(at: str) -> None:
        nonlocal left
        if at in steps and left > 0:
            left -= 1
            raise StoreUnavailable

    return hook


def held() -> tuple[asyncio.Event, asyncio.Event, Step]:
    """A step that says when it was reached and waits until it may go on."""
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def step() -> None:
        reached.set()
        await go_on.wait()

    return reached, go_on, step
