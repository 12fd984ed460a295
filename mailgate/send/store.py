"""What every store for prepared messages promises: a record per message, and atomic steps between its states.

    absent --prepare--> prepared --claim(n)--> claimed(n) --begin(n)--> submitting(n) --settle(n)--> finished
                                                   +--settle(n), or abandoned once stale--> finished

One record holds state, owner and nonce, and decides alone: without it there is nothing that could be claimed. Every
step is one atomic step that compares state and nonce, so a step that arrives twice, late or not at all changes nothing
it should not. All times are the store's own clock; a process whose clock is wrong does no harm.

The content is wiped by `begin`, by the outcome, and where its attempt died before, once the deadline is over: by the
store itself where it can (Redis), else by whatever step comes next (SQLite). The record is kept without it.

Nobody but `ledger.SendLedger` calls a store: what is stored is sealed there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from mailgate.errors import MailgateError, StoreUnavailable
from mailgate.faults import Fault
from mailgate.imap.reaching import fault_of
from mailgate.limits import STORE_SECONDS
from mailgate.send.record import Digest, Nonce, PreparedId, SendStatus, SentCopy


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """What `prepare` writes: `content` (wiped when no longer needed) and `kept` (kept with the status) are sealed."""

    prepared_id: PreparedId
    owner_tag: str
    digest: Digest
    content: bytes = field(repr=False)
    kept: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class StoredOutcome:
    """What `settle` writes: `refused` is sealed, or empty."""

    status: SendStatus
    reason: str | None = None
    refused: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        if not self.status.finished:
            raise ValueError("only a finished status is settled")


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """What a store tells about a record that is no longer prepared. A stale `submitting` reads as `unknown`."""

    status: SendStatus
    at: datetime
    reason: str | None = None
    kept: bytes = field(default=b"", repr=False)
    refused: bytes = field(default=b"", repr=False)
    sent_copy: SentCopy = SentCopy.NONE


@dataclass(frozen=True, slots=True)
class StoredClaim:
    """The claim is this attempt's: the sealed content."""

    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What a store's server tells about itself; None where it does not say.

    `at`: its time. `evicts`: it may remove records before their time. `limited`: its memory has an end, so that
    eviction can happen at all. `kept`: records outlive a restart.
    """

    at: datetime
    evicts: bool | None = None
    limited: bool | None = None
    kept: bool | None = None


class SendStore(Protocol):
    """A store. Every call takes at most `STORE_SECONDS`; whatever goes wrong is `StoreUnavailable`."""

    async def prepare(self, message: StoredMessage, *, expires_seconds: float) -> datetime:
        """Write a new record, never over another one. Returns when it expires.

        Any doubt whether it was written: `StoreUnavailable`, and the id is never used again.
        """
        ...

    async def look(self, prepared_id: PreparedId, owner_tag: str) -> bytes | None:
        """The sealed content while it is prepared and this owner's, else None. It permits nothing."""
        ...

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
        """Take the message for this attempt, or learn what is recorded.

        `PreparedNotFound` for unknown, another owner's, expired and forgotten; `DigestMismatch` and
        `SendLimitReached` consume nothing. `StoreUnavailable` leaves open whether the claim took effect: the caller
        sends nothing. A claim older than its deadline is abandoned to `not_sent` here, for good.
        """
        ...

    async def begin(self, prepared_id: PreparedId, nonce: Nonce) -> bool:
        """The fence before DATA: true only when the record is this attempt's and says `submitting` now.

        From here on the store holds no content.
        """
        ...

    async def settle(self, prepared_id: PreparedId, nonce: Nonce, outcome: StoredOutcome) -> StoredRecord | None:
        """Record the outcome and return what is recorded, which is another one if that came first; None: no record."""
        ...

    async def note_copy(self, prepared_id: PreparedId, nonce: Nonce, sent_copy: SentCopy) -> bool:
        """Add to this attempt's finished record what became of the Sent copy."""
        ...

    async def check(self) -> None:
        """Is the store there and usable? Returns or raises `StoreUnavailable`; changes no record."""
        ...

    async def aclose(self) -> None:
        """Let go of connections and threads."""
        ...


@asynccontextmanager
async def store_call(seconds: float = STORE_SECONDS) -> AsyncIterator[None]:
    """Bound one call to a store; whatever it raises beside our own errors becomes `StoreUnavailable`.

    The cause is dropped but for its kind: an address, a password in a URL or a script's text must not reach a log.
    """
    try:
        async with asyncio.timeout(seconds):
            yield
    except MailgateError:
        raise
    except Exception as error:
        silence = Fault.PORT_SILENT if isinstance(error, TimeoutError) else Fault.SESSION_FAILED
        raise StoreUnavailable().because(fault_of(error) or silence) from None
