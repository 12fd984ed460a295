"""A record as whoever can reach the store finds it: read and written field by field, copied, moved."""

from __future__ import annotations

import base64
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import redis

from tests.send.faults.scene import RedisPlace, Scene, SqlitePlace, UpstashPlace

BINARY = ("content", "kept", "refused")


class Raw(Protocol):
    """The records of one store. Values are octets in binary fields and text in the others."""

    def get(self, tag: str, name: str, field: str) -> bytes:
        """One field of the record `name` of the deployment `tag`."""
        ...

    def put(self, tag: str, name: str, field: str, value: bytes) -> None:
        """Write it."""
        ...

    def copy(self, tag: str, name: str, to_tag: str, to_name: str) -> None:
        """The whole record once more."""
        ...

    def remove(self, tag: str, name: str) -> None:
        """Delete it."""
        ...

    def dump(self) -> bytes:
        """Every octet of the store that could be read by somebody else."""
        ...

    def clear(self) -> None:
        """Forget everything."""
        ...


class RawSqlite:
    """One file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def get(self, tag: str, name: str, field: str) -> bytes:
        ((value,),) = self._run(f"SELECT {field} FROM send WHERE deployment = ? AND id = ?", tag, name)
        return value if isinstance(value, bytes) else str(value or "").encode()

    def put(self, tag: str, name: str, field: str, value: bytes) -> None:
        given = value if field in BINARY else value.decode()
        self._run(f"UPDATE send SET {field} = ? WHERE deployment = ? AND id = ?", given, tag, name)

    def copy(self, tag: str, name: str, to_tag: str, to_name: str) -> None:
        names = [row[1] for row in self._run("PRAGMA table_info(send)")]
        rest = ", ".join(name for name in names if name not in ("deployment", "id"))
        self._run(
            f"INSERT OR REPLACE INTO send (deployment, id, {rest})"
            f" SELECT ?, ?, {rest} FROM send WHERE deployment = ? AND id = ?",
            *(to_tag, to_name, tag, name),
        )

    def remove(self, tag: str, name: str) -> None:
        self._run("DELETE FROM send WHERE deployment = ? AND id = ?", tag, name)

    def dump(self) -> bytes:
        files = sorted(self.path.parent.glob(self.path.name + "*"))
        return b"".join(file.read_bytes() for file in files if file.suffix != ".key")

    def clear(self) -> None:
        """Each test has a file of its own."""

    def _run(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            rows = connection.execute(statement, values).fetchall()
        connection.close()
        return rows


class RawRedis:
    """One server."""

    def __init__(self, port: int, password: str = "") -> None:
        self._options: dict[str, Any] = {"port": port, "password": password or None}

    def get(self, tag: str, name: str, field: str) -> bytes:
        record, content = _keys(tag, name)
        with redis.Redis(**self._options) as client:
            value = client.get(content) if field == "content" else client.hget(record, field)
        return base64.b64decode(value or b"") if field in BINARY else value or b""

    def put(self, tag: str, name: str, field: str, value: bytes) -> None:
        record, content = _keys(tag, name)
        given = base64.b64encode(value) if field in BINARY else value
        with redis.Redis(**self._options) as client:
            if field == "content":
                client.set(content, given, keepttl=True)
            else:
                client.hset(record, field, given)

    def copy(self, tag: str, name: str, to_tag: str, to_name: str) -> None:
        with redis.Redis(**self._options) as client:
            for key, to in zip(_keys(tag, name), _keys(to_tag, to_name), strict=True):
                client.copy(key, to, replace=True)

    def remove(self, tag: str, name: str) -> None:
        with redis.Redis(**self._options) as client:
            client.delete(*_keys(tag, name))

    def dump(self) -> bytes:
        with redis.Redis(**self._options) as client:
            return b"\n".join(key + b" " + _whole(client, key) for key in client.keys("*"))

    def clear(self) -> None:
        with redis.Redis(**self._options) as client:
            client.flushall()


def _keys(tag: str, name: str) -> tuple[str, str]:
    return f"mailgate:{{{tag}}}:send:{name}", f"mailgate:{{{tag}}}:content:{name}"


def _whole(client: redis.Redis, key: bytes) -> bytes:
    """A key's value; what looks like base64 also decoded, for a sealed value has to be unreadable below that too."""
    kind = client.type(key)
    if kind == b"hash":
        values = [part for pair in client.hgetall(key).items() for part in pair]
    elif kind == b"zset":
        values = client.zrange(key, 0, -1)
    else:
        values = [client.get(key) or b""]
    return b" ".join((*values, *(decoded for value in values if (decoded := _decoded(value)))))


def _decoded(value: bytes) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        return b""


def raw_of(scene: Scene) -> Raw:
    """The store of a scene."""
    where = scene.place
    if isinstance(where, SqlitePlace):
        return RawSqlite(where.path)
    assert isinstance(where, RedisPlace | UpstashPlace)
    return RawRedis(where.server.port, where.server.password)
