"""What the suite for stores needs beside the store: a second process' view, the passing of time, a look inside."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import redis

from mailgate.send.record import Digest, Nonce, PreparedId, SendStatus
from mailgate.send.store import SendStore, StoredClaim, StoredMessage, StoredOutcome, StoredRecord

OWNER = "a" * 64
CONTENT = bytes(range(256))
KEPT = b"\x00kept\xff"
LIFETIME = 900.0
DEADLINE = 120.0


@dataclass(frozen=True)
class Inside:
    """What the store holds about one message."""

    status: str
    content: bytes


class Backdoor(Protocol):
    """The store's data, reached past the store."""

    def age(self, seconds: float) -> None:
        """Let that much time pass for everything that is stored."""
        ...

    def forget(self, prepared_id: PreparedId) -> None:
        """Evict one record."""
        ...

    def inside(self, prepared_id: PreparedId) -> Inside | None:
        """One record as it is stored; `content` is empty once it is wiped."""
        ...

    def ids(self) -> list[str]:
        """The ids of the records that are there."""
        ...

    def lifetime(self, prepared_id: PreparedId) -> float:
        """For how many seconds the record will still be there."""
        ...


@dataclass(frozen=True)
class Subject:
    """A store under test; `another(tag)` opens the same place again, for the same or another deployment."""

    store: SendStore
    another: Callable[..., SendStore]
    backdoor: Backdoor

    async def prepared(self, *, store: SendStore | None = None) -> StoredMessage:
        """A message that is prepared."""
        message = a_message()
        await (store or self.store).prepare(message, expires_seconds=LIFETIME)
        return message

    async def claimed(self, nonce: Nonce) -> StoredMessage:
        """A message that this nonce has claimed."""
        message = await self.prepared()
        assert isinstance(await self.claim(message, nonce), StoredClaim)
        return message

    async def begun(self, nonce: Nonce) -> StoredMessage:
        """A message that is being submitted."""
        message = await self.claimed(nonce)
        assert await self.store.begin(message.prepared_id, nonce)
        return message

    async def finished(self, nonce: Nonce, status: SendStatus = SendStatus.ACCEPTED) -> StoredMessage:
        """A message with an outcome."""
        message = await self.begun(nonce)
        assert await self.store.settle(message.prepared_id, nonce, StoredOutcome(status))
        return message

    async def claim(
        self,
        message: StoredMessage,
        nonce: Nonce | None = None,
        *,
        store: SendStore | None = None,
        owner: str = OWNER,
        digest: Digest | None = None,
        limit: int | None = None,
    ) -> StoredClaim | StoredRecord:
        """Claim it, as its owner and with its digest unless told otherwise."""
        return await (store or self.store).claim(
            message.prepared_id,
            owner,
            digest or message.digest,
            nonce or Nonce.new(),
            limit_per_hour=limit,
            deadline_seconds=DEADLINE,
        )

    async def recorded(self, message: StoredMessage) -> StoredRecord:
        """What a repeat is told."""
        answer = await self.claim(message)
        assert isinstance(answer, StoredRecord)
        return answer


class Step(StrEnum):
    """The steps after preparing, with what must have come before and what a repeat is told once it took effect."""

    CLAIM = "claim"
    BEGIN = "begin"
    SETTLE = "settle"

    async def lead_up(self, subject: Subject, nonce: Nonce) -> StoredMessage:
        """A message for which this step is next."""
        if self is Step.CLAIM:
            return await subject.prepared()
        return await (subject.claimed(nonce) if self is Step.BEGIN else subject.begun(nonce))

    async def take(self, subject: Subject, message: StoredMessage, nonce: Nonce) -> object:
        """This one step."""
        if self is Step.CLAIM:
            return await subject.claim(message, nonce)
        if self is Step.BEGIN:
            return await subject.store.begin(message.prepared_id, nonce)
        return await subject.store.settle(message.prepared_id, nonce, StoredOutcome(SendStatus.ACCEPTED))

    @property
    def taken(self) -> SendStatus:
        """The status once it took effect."""
        return {
            Step.CLAIM: SendStatus.CLAIMED,
            Step.BEGIN: SendStatus.SUBMITTING,
            Step.SETTLE: SendStatus.ACCEPTED,
        }[self]


def a_message(content: bytes = CONTENT) -> StoredMessage:
    """One with a new id."""
    return StoredMessage(PreparedId.new(), OWNER, Digest(hashlib.sha256(content).hexdigest()), content, KEPT)


class SqliteBackdoor:
    """Into the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def age(self, seconds: float) -> None:
        with self._open() as connection:
            by = {"by": round(seconds * 1000)}
            connection.execute("UPDATE send SET at = at - :by, ends = ends - :by, stale = stale - :by", by)
            connection.execute("UPDATE claim SET at = at - :by", by)
        connection.close()

    def forget(self, prepared_id: PreparedId) -> None:
        with self._open() as connection:
            connection.execute("DELETE FROM send WHERE id = ?", (prepared_id.value,))
        connection.close()

    def inside(self, prepared_id: PreparedId) -> Inside | None:
        connection = self._open()
        row = connection.execute("SELECT status, content FROM send WHERE id = ?", (prepared_id.value,)).fetchone()
        connection.close()
        return None if row is None else Inside(row[0], row[1] or b"")

    def ids(self) -> list[str]:
        connection = self._open()
        rows = connection.execute("SELECT id FROM send").fetchall()
        connection.close()
        return [name for (name,) in rows]

    def lifetime(self, prepared_id: PreparedId) -> float:
        connection = self._open()
        now = "(julianday('now') - 2440587.5) * 86400000"
        query = f"SELECT (ends - {now}) / 1000.0 FROM send WHERE id = ?"
        ((seconds,),) = connection.execute(query, (prepared_id.value,)).fetchall()
        connection.close()
        return float(seconds)

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path)


class RedisBackdoor:
    """Into the server, for one deployment."""

    def __init__(self, port: int, tag: str, password: str = "") -> None:
        self._port = port
        self._password = password or None
        self._prefix = f"mailgate:{{{tag}}}:"

    def age(self, seconds: float) -> None:
        by = round(seconds * 1000)
        with redis.Redis(port=self._port, password=self._password) as client:
            for key in client.keys(self._prefix + "send:*"):
                for name in ("expires", "stale", "at"):
                    if client.hexists(key, name):
                        client.hincrby(key, name, -by)
            for key in (*client.keys(self._prefix + "send:*"), *client.keys(self._prefix + "content:*")):
                # A time to live in the past removes the key at once (Redis, PEXPIRE).
                client.pexpire(key, client.pttl(key) - by)
            for member in client.zrange(self._prefix + "claims", 0, -1):
                client.zincrby(self._prefix + "claims", -by, member)

    def forget(self, prepared_id: PreparedId) -> None:
        with redis.Redis(port=self._port, password=self._password) as client:
            client.delete(f"{self._prefix}send:{prepared_id}", f"{self._prefix}content:{prepared_id}")

    def inside(self, prepared_id: PreparedId) -> Inside | None:
        with redis.Redis(port=self._port, password=self._password) as client:
            row = client.hgetall(f"{self._prefix}send:{prepared_id}")
            content = client.get(f"{self._prefix}content:{prepared_id}")
        return Inside(row[b"status"].decode(), content or b"") if row else None

    def ids(self) -> list[str]:
        with redis.Redis(port=self._port, password=self._password) as client:
            return [key.decode().rpartition(":")[2] for key in client.keys(self._prefix + "send:*")]

    def lifetime(self, prepared_id: PreparedId) -> float:
        with redis.Redis(port=self._port, password=self._password) as client:
            return float(client.pttl(f"{self._prefix}send:{prepared_id}")) / 1000
