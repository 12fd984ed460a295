"""The steps of a send record in SQL. Each runs inside a transaction of its caller that no other writer can enter.

Times are milliseconds since 1970 by SQLite's clock. The steps are those of `lua.py`, and one suite holds both to the
same behaviour.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mailgate.errors import DigestMismatch, PreparedNotFound, SendLimitReached
from mailgate.limits import RECORD_SECONDS, SEND_WINDOW_SECONDS
from mailgate.send.record import Digest, Nonce, PreparedId, SendStatus, SentCopy
from mailgate.send.store import StoredClaim, StoredMessage, StoredOutcome, StoredRecord

SCHEMA = """
CREATE TABLE IF NOT EXISTS send (
    deployment TEXT NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL, owner TEXT NOT NULL, digest TEXT NOT NULL,
    content BLOB, kept BLOB NOT NULL, nonce TEXT, stale INTEGER NOT NULL DEFAULT 0, at INTEGER NOT NULL,
    ends INTEGER NOT NULL, reason TEXT, refused BLOB NOT NULL DEFAULT x'', sent_copy TEXT NOT NULL DEFAULT 'none',
    PRIMARY KEY (deployment, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS send_ends ON send (ends);
CREATE TABLE IF NOT EXISTS claim (deployment TEXT NOT NULL, at INTEGER NOT NULL);
"""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_JULIAN_NOW = "SELECT CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)"
_LIVE = (SendStatus.CLAIMED, SendStatus.SUBMITTING)

Refusal = type[PreparedNotFound] | type[DigestMismatch] | type[SendLimitReached]


@dataclass(frozen=True, slots=True)
class _Row:
    status: SendStatus
    owner: str
    digest: str
    content: bytes
    kept: bytes
    nonce: str | None
    stale: int
    at: int
    reason: str | None
    refused: bytes
    sent_copy: str


_SELECT = (
    "SELECT status, owner, digest, content, kept, nonce, stale, at, reason, refused, sent_copy"
    " FROM send WHERE deployment = ? AND id = ?"
)
_CLAIM = "UPDATE send SET status = 'claimed', nonce = ?, stale = ?, at = ?, ends = ? WHERE deployment = ? AND id = ?"
_BEGIN = "UPDATE send SET status = 'submitting', content = NULL, at = ?, ends = ? WHERE deployment = ? AND id = ?"
_SETTLE = (
    "UPDATE send SET status = ?, content = NULL, reason = ?, refused = ?, at = ?, ends = ?"
    " WHERE deployment = ? AND id = ?"
)


class Steps:
    """The steps over one connection, within the open transaction."""

    def __init__(self, connection: sqlite3.Connection, deployment: str) -> None:
        self._sql = connection.execute
        self._deployment = deployment
        (self._now,) = self._sql(_JULIAN_NOW).fetchone()

    def sweep(self) -> None:
        """Forget what has ended, and wipe what an abandoned claim left behind."""
        self._sql("DELETE FROM send WHERE ends <= ?", (self._now,))
        self._sql("DELETE FROM claim WHERE at <= ?", (self._now - _ms(SEND_WINDOW_SECONDS),))
        self._sql(
            "UPDATE send SET status = 'not_sent', content = NULL, at = ?, ends = ?"
            " WHERE status = 'claimed' AND stale < ?",
            (self._now, self._now + _ms(RECORD_SECONDS), self._now),
        )

    def prepare(self, message: StoredMessage, expires_seconds: float) -> datetime:
        """A new row. One that is there already raises `sqlite3.IntegrityError`."""
        self.sweep()
        ends = self._now + _ms(expires_seconds)
        key = (self._deployment, message.prepared_id.value)
        sealed = (message.owner_tag, message.digest.value, message.content, message.kept)
        self._sql(
            "INSERT INTO send (deployment, id, status, owner, digest, content, kept, at, ends)"
            " VALUES (?, ?, 'prepared', ?, ?, ?, ?, ?, ?)",
            (*key, *sealed, self._now, ends),
        )
        return _time(ends)

    def look(self, prepared_id: PreparedId, owner_tag: str) -> bytes | None:
        """The content of this owner's row while it is prepared."""
        self.sweep()
        row = self._row(prepared_id)
        if row is None or row.owner != owner_tag or row.status is not SendStatus.PREPARED:
            return None
        return row.content

    def claim(
        self,
        prepared_id: PreparedId,
        owner_tag: str,
        digest: Digest,
        nonce: Nonce,
        limit_per_hour: int | None,
        deadline_seconds: float,
    ) -> StoredClaim | StoredRecord | Refusal:
        """The content, the record, or the class of the refusal: a refusal must not undo what the sweep did."""
        self.sweep()
        row = self._row(prepared_id)
        if row is None or row.owner != owner_tag:
            return PreparedNotFound
        if row.digest != digest.value:
            return DigestMismatch
        if row.status is SendStatus.CLAIMED and row.nonce == nonce.value:
            return StoredClaim(row.content)
        if row.status is not SendStatus.PREPARED:
            return self._record(row)
        if limit_per_hour is not None and self._claims() >= limit_per_hour:
            return SendLimitReached
        self._sql("INSERT INTO claim (deployment, at) VALUES (?, ?)", (self._deployment, self._now))
        stale = self._now + _ms(deadline_seconds)
        self._change(_CLAIM, prepared_id, nonce.value, stale)
        return StoredClaim(row.content)

    def begin(self, prepared_id: PreparedId, nonce: Nonce) -> bool:
        """From this attempt's `claimed` to `submitting`; the content goes."""
        self.sweep()
        row = self._row(prepared_id)
        if row is None or row.nonce != nonce.value or row.status not in _LIVE or row.stale < self._now:
            return False
        if row.status is SendStatus.CLAIMED:
            self._change(_BEGIN, prepared_id)
        return True

    def settle(self, prepared_id: PreparedId, nonce: Nonce, outcome: StoredOutcome) -> StoredRecord | None:
        """From this attempt's `claimed` or `submitting` to the outcome; anything else is told as it is.

        An attempt that took all of its time comes here a moment after it: what it has to tell is more than the sweep
        would say in its place.
        """
        row = self._row(prepared_id)
        if row is not None and row.nonce == nonce.value and row.status in _LIVE:
            self._change(_SETTLE, prepared_id, outcome.status.value, outcome.reason, outcome.refused)
        self.sweep()
        row = self._row(prepared_id)
        return None if row is None or row.status is SendStatus.PREPARED else self._record(row)

    def note_copy(self, prepared_id: PreparedId, nonce: Nonce, sent_copy: SentCopy) -> bool:
        """On this attempt's finished row only."""
        row = self._row(prepared_id)
        if row is None or row.nonce != nonce.value or not row.status.finished:
            return False
        key = (self._deployment, prepared_id.value)
        self._sql("UPDATE send SET sent_copy = ? WHERE deployment = ? AND id = ?", (sent_copy.value, *key))
        return True

    def _row(self, prepared_id: PreparedId) -> _Row | None:
        found = self._sql(_SELECT, (self._deployment, prepared_id.value)).fetchone()
        if found is None:
            return None
        status, owner, digest, content, *rest = found
        return _Row(SendStatus(status), owner, digest, content or b"", *rest)

    def _record(self, row: _Row) -> StoredRecord:
        status = row.status
        if status is SendStatus.SUBMITTING and row.stale < self._now:
            status = SendStatus.UNKNOWN
        return StoredRecord(status, _time(row.at), row.reason, row.kept, row.refused, SentCopy(row.sent_copy))

    def _change(self, statement: str, prepared_id: PreparedId, *values: object) -> None:
        """Every change renews `at` and `ends`."""
        key = (self._deployment, prepared_id.value)
        self._sql(statement, (*values, self._now, self._now + _ms(RECORD_SECONDS), *key))

    def _claims(self) -> int:
        (count,) = self._sql("SELECT COUNT(*) FROM claim WHERE deployment = ?", (self._deployment,)).fetchone()
        return int(count)


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _time(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)
