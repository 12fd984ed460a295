"""What only SQLite can get wrong: files, permissions, other processes, power cuts."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mailgate.errors import StoreUnavailable
from mailgate.send.record import Nonce, SendStatus
from mailgate.send.sqlite_store import SqliteStore
from mailgate.send.store import StoredClaim
from tests.send.stores.harness import LIFETIME, SqliteBackdoor, Subject, a_message

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "made" / "store.sqlite3"


@pytest.fixture
async def local(path: Path, tag: str) -> AsyncIterator[Subject]:
    store = SqliteStore(path, tag)
    yield Subject(store, lambda: SqliteStore(path, tag), SqliteBackdoor(path))
    await store.aclose()


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_nobody_else_can_read_the_files(local: Subject, path: Path) -> None:
    await local.prepared()
    files = sorted(path.parent.iterdir())
    assert {file.name for file in files} >= {"store.sqlite3", "store.sqlite3-wal"}
    assert {_mode(file) for file in files} == {0o600}
    assert _mode(path.parent) == 0o700


async def test_of_claims_in_four_processes_one_wins_and_survives_their_sudden_death(
    local: Subject, path: Path, tag: str
) -> None:
    message = await local.prepared()
    command = (sys.executable, "-m", "tests.send.stores.claimant", str(path), tag)
    children = [
        await asyncio.create_subprocess_exec(
            *command,
            message.prepared_id.value,
            message.digest.value,
            "25",
            cwd=ROOT,
            stdout=asyncio.subprocess.PIPE,
        )
        for _ in range(4)
    ]
    outputs = [(await child.communicate())[0] for child in children]
    assert sorted(int(output) for output in outputs) == [0, 0, 0, 1]
    assert (await local.recorded(message)).status is SendStatus.CLAIMED


async def test_a_database_that_stays_locked_is_unavailable_in_time(path: Path, tag: str) -> None:
    store = SqliteStore(path, tag, seconds=0.2)
    message = a_message()
    await store.prepare(message, expires_seconds=LIFETIME)
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    subject = Subject(store, lambda: store, SqliteBackdoor(path))
    with pytest.raises(StoreUnavailable):
        await subject.claim(message)
    blocker.execute("ROLLBACK")
    blocker.close()
    assert isinstance(await subject.claim(message), StoredClaim)
    await store.aclose()


@pytest.mark.parametrize("found", ["directory", "text"])
async def test_a_path_that_is_no_database_is_unavailable(tmp_path: Path, tag: str, found: str) -> None:
    path = tmp_path / "store.sqlite3"
    if found == "directory":
        path.mkdir()
    else:
        path.write_text("no database, just text that is long enough to be looked at as a header" * 20)
    store = SqliteStore(path, tag)
    with pytest.raises(StoreUnavailable):
        await store.check()
    with pytest.raises(StoreUnavailable):
        await store.prepare(a_message(), expires_seconds=LIFETIME)
    await store.aclose()


async def test_wiped_content_is_gone_from_the_file(path: Path, tag: str) -> None:
    marker = b"sealed content of the message " * 400
    store = SqliteStore(path, tag)
    message = a_message(marker)
    await store.prepare(message, expires_seconds=LIFETIME)
    nonce = Nonce.new()
    await Subject(store, lambda: store, SqliteBackdoor(path)).claim(message, nonce)
    assert await store.begin(message.prepared_id, nonce)
    await store.aclose()
    assert marker[:60] not in b"".join(file.read_bytes() for file in path.parent.iterdir())


async def test_an_abandoned_claim_is_wiped_by_whatever_happens_next(local: Subject) -> None:
    message = await local.claimed(Nonce.new())
    local.backdoor.age(10_000)
    await local.prepared()
    inside = local.backdoor.inside(message.prepared_id)
    assert inside is not None
    assert (inside.status, inside.content) == ("not_sent", b"")


async def test_two_deployments_can_share_a_file(local: Subject, path: Path) -> None:
    other = SqliteStore(path, "f" * 32)
    message = a_message()
    await local.store.prepare(message, expires_seconds=LIFETIME)
    await other.prepare(message, expires_seconds=LIFETIME)
    assert isinstance(await local.claim(message), StoredClaim)
    assert isinstance(await local.claim(message, store=other), StoredClaim)
    await other.aclose()


async def test_what_a_full_transaction_could_not_finish_is_not_there(local: Subject, tag: str, path: Path) -> None:
    """A fault inside a step takes the whole step back."""
    message = await local.prepared()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TRIGGER no BEFORE UPDATE ON send BEGIN SELECT RAISE(ABORT, 'no'); END")
    connection.close()
    with pytest.raises(StoreUnavailable):
        await local.claim(message, limit=1)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TRIGGER no")
    connection.close()
    assert isinstance(await local.claim(message, limit=1), StoredClaim)


async def test_processes_that_open_a_new_file_at_once_all_get_in(tmp_path: Path, tag: str) -> None:
    for turn in range(5):
        stores = [SqliteStore(tmp_path / str(turn) / "store.sqlite3", tag) for _ in range(6)]
        await asyncio.gather(*(store.check() for store in stores))
        for store in stores:
            await store.aclose()
            await store.aclose()
