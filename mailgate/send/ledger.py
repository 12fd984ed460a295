"""The ledger of sends: what the sending tools speak to. It seals what the store keeps and opens what comes back.

prepare(message, owner) -> expires_at
claim(id, owner, digest, nonce) -> Claimed(message) | AlreadyConsumed(record)
begin(id, nonce) -> bool            the fence right before DATA
settle(id, owner, nonce, outcome) -> SendRecord | None
note_copy(id, nonce, sent_copy)     after the Sent copy
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from mailgate.errors import StoreUnavailable
from mailgate.limits import PREPARED_SECONDS
from mailgate.send.record import (
    Deployment,
    Digest,
    Envelope,
    Nonce,
    Outcome,
    Owner,
    PreparedId,
    PreparedMessage,
    RefusedRecipient,
    SendRecord,
    SendStatus,
    SentCopy,
)
from mailgate.send.sealing import KeyRing, SealBroken
from mailgate.send.store import SendStore, StoredMessage, StoredOutcome, StoredRecord

_CLAIMS_REMEMBERED = 10_000
_CONTENT, _KEPT, _REFUSED = "content", "kept", "refused"


@dataclass(frozen=True, slots=True)
class Claimed:
    """This attempt, and no other, may send the message; its digest has been verified over the stored bytes."""

    message: PreparedMessage


@dataclass(frozen=True, slots=True)
class AlreadyConsumed:
    """Another attempt had it, whatever became of it: SMTP is out of reach."""

    record: SendRecord


class SendLedger:
    """One deployment's sends, in one store, sealed with one key ring."""

    def __init__(
        self,
        store: SendStore,
        keys: KeyRing,
        deployment: Deployment,
        *,
        limit_per_hour: int | None = None,
        deadline_seconds: float,
    ) -> None:
        self._store = store
        self._keys = keys
        self._deployment = deployment
        self._limit_per_hour = limit_per_hour
        self._deadline_seconds = deadline_seconds
        self._claimed: OrderedDict[PreparedId, Nonce] = OrderedDict()

    async def prepare(self, message: PreparedMessage, owner: Owner) -> datetime:
        """Store a message under its new id. Returns when it expires. Raises `StoreUnavailable`."""
        stored = StoredMessage(
            message.prepared_id,
            self._deployment.owner_tag(owner),
            message.digest,
            self._keys.seal(message.to_bytes(), _CONTENT, message.prepared_id, owner),
            self._keys.seal(message.message_id.encode(), _KEPT, message.prepared_id, owner),
        )
        return await self._store.prepare(stored, expires_seconds=PREPARED_SECONDS)

    async def look(self, prepared_id: PreparedId, owner: Owner) -> Envelope | None:
        """Whom a message that is still prepared would go to; consumes nothing and permits nothing."""
        sealed = await self._store.look(prepared_id, self._deployment.owner_tag(owner))
        try:
            return self._message(sealed, prepared_id, owner).envelope if sealed is not None else None
        except (SealBroken, ValueError):
            return None

    async def claim(
        self, prepared_id: PreparedId, owner: Owner, digest: Digest, nonce: Nonce
    ) -> Claimed | AlreadyConsumed:
        """The one step that allows to send.

        Raises `PreparedNotFound`, `DigestMismatch`, `SendLimitReached`, `StoreUnavailable`. A stored message that does
        not open, or is not what the digest was made of, is recorded as `not_sent`.
        """
        answer = await self._store.claim(
            prepared_id,
            self._deployment.owner_tag(owner),
            digest,
            nonce,
            limit_per_hour=self._limit_per_hour,
            deadline_seconds=self._deadline_seconds,
        )
        if isinstance(answer, StoredRecord):
            return AlreadyConsumed(self._record(answer, prepared_id, owner))
        if not self._first_claim(prepared_id, nonce):
            return await self._give_up(prepared_id, owner, nonce, Outcome(SendStatus.UNKNOWN))
        try:
            message = self._message(answer.content, prepared_id, owner)
        except (SealBroken, ValueError):
            return await self._give_up(prepared_id, owner, nonce, _unusable("store_unavailable"))
        if not message.verify(digest):
            return await self._give_up(prepared_id, owner, nonce, _unusable("digest_mismatch"))
        return Claimed(message)

    async def begin(self, prepared_id: PreparedId, nonce: Nonce) -> bool:
        """May DATA be sent now? Only `True` says so; `StoreUnavailable` means no as well."""
        return await self._store.begin(prepared_id, nonce)

    async def settle(self, prepared_id: PreparedId, owner: Owner, nonce: Nonce, outcome: Outcome) -> SendRecord | None:
        """Record the outcome of this attempt and return what is recorded; None when the record has vanished.

        Raises `StoreUnavailable`: the caller then tells its own outcome, with a warning.
        """
        refused = b""
        if outcome.refused:
            listed = json.dumps([[each.address, each.code] for each in outcome.refused])
            refused = self._keys.seal(listed.encode(), _REFUSED, prepared_id, owner)
        stored = StoredOutcome(outcome.status, outcome.reason, refused)
        record = await self._store.settle(prepared_id, nonce, stored)
        return self._record(record, prepared_id, owner) if record else None

    async def note_copy(self, prepared_id: PreparedId, nonce: Nonce, sent_copy: SentCopy) -> bool:
        """Add to the record what became of the Sent copy; False when the record is not this attempt's any more."""
        return await self._store.note_copy(prepared_id, nonce, sent_copy)

    async def check(self) -> None:
        """Returns when the store is usable, else raises `StoreUnavailable`."""
        await self._store.check()

    async def aclose(self) -> None:
        """Let go of the store."""
        await self._store.aclose()

    def _first_claim(self, prepared_id: PreparedId, nonce: Nonce) -> bool:
        """A second guard within this process: a store that was rolled back gives the same message out again."""
        known = self._claimed.setdefault(prepared_id, nonce)
        if len(self._claimed) > _CLAIMS_REMEMBERED:
            self._claimed.popitem(last=False)
        return known == nonce

    async def _give_up(self, prepared_id: PreparedId, owner: Owner, nonce: Nonce, outcome: Outcome) -> AlreadyConsumed:
        record = await self.settle(prepared_id, owner, nonce, outcome)
        if record is None:
            raise StoreUnavailable
        return AlreadyConsumed(record)

    def _message(self, sealed: bytes, prepared_id: PreparedId, owner: Owner) -> PreparedMessage:
        return PreparedMessage.of_bytes(prepared_id, self._keys.open(sealed, _CONTENT, prepared_id, owner))

    def _record(self, stored: StoredRecord, prepared_id: PreparedId, owner: Owner) -> SendRecord:
        """Opened; what does not open is left out, for the status is still worth telling."""
        return SendRecord(
            status=stored.status,
            at=stored.at,
            message_id=self._message_id(stored.kept, prepared_id, owner),
            reason=stored.reason,
            refused=self._refused(stored.refused, prepared_id, owner),
            sent_copy=stored.sent_copy,
        )

    def _message_id(self, sealed: bytes, prepared_id: PreparedId, owner: Owner) -> str | None:
        try:
            return self._keys.open(sealed, _KEPT, prepared_id, owner).decode()
        except SealBroken:
            return None

    def _refused(self, sealed: bytes, prepared_id: PreparedId, owner: Owner) -> tuple[RefusedRecipient, ...]:
        if not sealed:
            return ()
        try:
            listed = json.loads(self._keys.open(sealed, _REFUSED, prepared_id, owner))
        except SealBroken:
            return ()
        return tuple(RefusedRecipient(address, code) for address, code in listed)


def _unusable(reason: str) -> Outcome:
    return Outcome(SendStatus.NOT_SENT, reason)
