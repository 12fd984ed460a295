"""A store's data, reached past the store: what is there, what time has done to it, and what a stranger does to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Protocol

import redis

from mailgate.send.record import PreparedId
from tests.send.stores.harness import Inside, RedisBackdoor, SqliteBackdoor

Snapshot = Any


class Records(Protocol):
    """One deployment's records. Ids are as a caller knows them."""

    def age(self, seconds: float) -> None:
        """Let that much time pass for everything that is stored."""
        ...

    def forget(self, prepared_id: PreparedId) -> None:
        """Evict one record."""
        ...

    def inside(self, prepared_id: PreparedId) -> Inside | None:
        """One record as it is stored."""
        ...

    def statuses(self) -> list[str]:
        """The status of every record there is."""
        ...

    def snapshot(self, prepared_id: PreparedId) -> Snapshot:
        """A backup of one record."""
        ...

    def restore(self, prepared_id: PreparedId, snapshot: Snapshot) -> None:
        """Put a backup in place of the record; it may be another's."""
        ...

    def change(self, prepared_id: PreparedId, name: str, value: str) -> None:
        """Overwrite a field."""
        ...

    def flip(self, prepared_id: PreparedId) -> None:
        """Change one octet of the stored content."""
        ...


class SqliteRecords(SqliteBackdoor):
    """In the file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.path = path

    def inside(self, prepared_id: PreparedId) -> Inside | None:
        # Looking must not make a file that was removed.
        return super().inside(prepared_id) if self.path.exists() else None

    def statuses(self) -> list[str]:
        if not self.path.exists():
            return []
        with self._open_whole() as connection:
            return [status for (status,) in connection.execute("SELECT status FROM send ORDER BY status")]

    def snapshot(self, prepared_id: PreparedId) -> Snapshot:
        with self._open_whole() as connection:
            found = connection.execute("SELECT * FROM send WHERE id = ?", (prepared_id.value,))
            return [column[0] for column in found.description], found.fetchone()

    def restore(self, prepared_id: PreparedId, snapshot: Snapshot) -> None:
        columns, values = snapshot
        row = dict(zip(columns, values, strict=True)) | {"id": prepared_id.value}
        marks = ", ".join("?" * len(row))
        with self._open_whole() as connection:
            connection.execute(f"INSERT OR REPLACE INTO send ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))

    def change(self, prepared_id: PreparedId, name: str, value: str) -> None:
        with self._open_whole() as connection:
            connection.execute(f"UPDATE send SET {name} = ? WHERE id = ?", (value, prepared_id.value))

    def flip(self, prepared_id: PreparedId) -> None:
        columns, values = self.snapshot(prepared_id)
        content = bytearray(values[columns.index("content")])
        content[len(content) // 2] ^= 1
        with self._open_whole() as connection:
            connection.execute("UPDATE send SET content = ? WHERE id = ?", (bytes(content), prepared_id.value))

    def vanish(self) -> None:
        """Remove the file and what SQLite keeps beside it."""
        for path in self.path.parent.glob(self.path.name + "*"):
            path.unlink()

    @contextmanager
    def _open_whole(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            yield connection

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Another process in the middle of a transaction of its own."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            finally:
                connection.execute("ROLLBACK")


class RedisRecords(RedisBackdoor):
    """In the server. A record is every key of the deployment that ends with the id."""

    def __init__(self, port: int, tag: str) -> None:
        super().__init__(port, tag)
        self._tag = tag

    def moved_to(self, port: int) -> None:
        """The server has another port now."""
        super().__init__(port, self._tag)

    def statuses(self) -> list[str]:
        with redis.Redis(port=self._port) as client:
            return sorted(client.hget(key, "status").decode() for key in client.keys(self._prefix + "send:*"))

    def snapshot(self, prepared_id: PreparedId) -> Snapshot:
        with redis.Redis(port=self._port) as client:
            keys = client.keys(f"{self._prefix}*:{prepared_id}")
            return {key.decode().removesuffix(prepared_id.value): (client.dump(key), client.pttl(key)) for key in keys}

    def restore(self, prepared_id: PreparedId, snapshot: Snapshot) -> None:
        with redis.Redis(port=self._port) as client:
            for start, (data, left) in snapshot.items():
                client.restore(start + prepared_id.value, max(0, left), data, replace=True)

    def change(self, prepared_id: PreparedId, name: str, value: str) -> None:
        with redis.Redis(port=self._port) as client:
            client.hset(f"{self._prefix}send:{prepared_id}", name, value)

    def flip(self, prepared_id: PreparedId) -> None:
        # Base64; a letter in the middle becomes another.
        with redis.Redis(port=self._port) as client:
            key = f"{self._prefix}content:{prepared_id}"
            middle = client.strlen(key) // 2
            was = client.getrange(key, middle, middle)
            client.setrange(key, middle, b"B" if was == b"A" else b"A")
