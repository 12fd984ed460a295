"""The send store in one SQLite file, for one machine and any number of processes on it.

Every step is one `BEGIN IMMEDIATE` transaction, which only one process at a time can hold, and it is on the disk
before it is acknowledged (`synchronous=FULL`): an acknowledged claim survives a power cut. All of it runs in a thread
of its own, off the event loop. The file must lie on a local file system (SQLite, "Write-Ahead Logging").
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from mailgate.limits import STORE_SECONDS
from mailgate.send.record import Digest, Nonce, PreparedId, SentCopy
from mailgate.send.sqlite_steps import SCHEMA, Steps
from mailgate.send.store import StoredClaim, StoredMessage, StoredOutcome, StoredRecord, store_call

_Result = TypeVar("_Result")
_BUSY_SHARE = 0.8
"""Part of a step's time spent waiting for another process; the rest is for the work itself."""
_MODE_SECONDS = 0.01


class SqliteStore:
    """`path` is made when it is missing, readable by this account alone, its directory too."""

    def __init__(self, path: Path, deployment_tag: str, *, seconds: float = STORE_SECONDS) -> None:
        self._path = path
        self._deployment_tag = deployment_tag
        self._seconds = seconds
        # SQLite takes one writer at a time anyhow; one thread keeps this process from competing with itself.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="send-store")
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None

    async def prepare(self, message: StoredMessage, *, expires_seconds: float) -> datetime:
        """See `SendStore.prepare`."""
        return await self._step(lambda steps: steps.prepare(message, expires_seconds))

    async def look(self, prepared_id: PreparedId, owner_tag: str) -> bytes | None:
        """See `SendStore.look`."""
        return await self._step(lambda steps: steps.look(prepared_id, owner_tag))

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
        """See `SendStore.claim`."""
        answer = await self._step(
            lambda steps: steps.claim(prepared_id, owner_tag, digest, nonce, limit_per_hour, deadline_seconds)
        )
        if isinstance(answer, type):
            raise answer
        return answer

    async def begin(self, prepared_id: PreparedId, nonce: Nonce) -> bool:
        """See `SendStore.begin`."""
        return await self._step(lambda steps: steps.begin(prepared_id, nonce))

    async def settle(self, prepared_id: PreparedId, nonce: Nonce, outcome: StoredOutcome) -> StoredRecord | None:
        """See `SendStore.settle`."""
        return await self._step(lambda steps: steps.settle(prepared_id, nonce, outcome))

    async def note_copy(self, prepared_id: PreparedId, nonce: Nonce, sent_copy: SentCopy) -> bool:
        """See `SendStore.note_copy`."""
        return await self._step(lambda steps: steps.note_copy(prepared_id, nonce, sent_copy))

    async def check(self) -> None:
        """See `SendStore.check`. A file that cannot be written to is found here."""
        await self._step(lambda steps: steps.sweep())

    async def aclose(self) -> None:
        """Close the file and end the thread. Harmless a second time."""
        with suppress(RuntimeError):  # a thread that has ended takes no more work
            await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown(wait=False)

    async def _step(self, step: Callable[[Steps], _Result]) -> _Result:
        """One transaction. When the time is over the thread may still finish it: nobody counts on it then."""
        async with store_call(self._seconds):
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._transaction, step)

    def _transaction(self, step: Callable[[Steps], _Result]) -> _Result:
        try:
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            result = step(Steps(connection, self._deployment_tag))
            connection.execute("COMMIT")
        except BaseException:
            # A connection in doubt is not used again; closing it rolls back.
            self._close()
            raise
        return result

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and self._identity() != self._file:
            # Somebody took the file away or put another in its place: what is written to the old one, nobody else sees.
            self._close()
        if self._connection is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The files SQLite puts beside it take over its permissions.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            connection = sqlite3.connect(self._path, timeout=self._seconds * _BUSY_SHARE, isolation_level=None)
            self._connection, self._file = connection, self._identity()
            self._use_wal(connection)
            for pragma in ("synchronous=FULL", "secure_delete=ON"):
                connection.execute(f"PRAGMA {pragma}")
            connection.executescript(SCHEMA)
        return self._connection

    def _use_wal(self, connection: sqlite3.Connection) -> None:
        """SQLite does not wait where two want to change a new file's mode at once, it says busy to one of them."""
        until = time.monotonic() + self._seconds * _BUSY_SHARE
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                return
            except sqlite3.OperationalError:
                if time.monotonic() >= until:
                    raise
                time.sleep(_MODE_SECONDS)

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
