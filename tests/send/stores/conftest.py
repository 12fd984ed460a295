"""The stores under test: SQLite, Redis and the REST stand-in, each with data of its own for every test."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from mailgate.send.redis_store import RedisStore
from mailgate.send.sqlite_store import SqliteStore
from mailgate.send.store import SendStore
from mailgate.send.upstash_store import UpstashStore
from tests.conftest import missing_peer
from tests.peers.authority import authority
from tests.peers.redis_rest import TOKEN, RedisRest
from tests.peers.redis_server import RedisServer, redis_binary
from tests.send.stores.harness import Backdoor, RedisBackdoor, SqliteBackdoor, Subject


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    if redis_binary() is None:
        missing_peer("redis-server")
    server = RedisServer(authority().certificate())
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
async def rest(redis_server: RedisServer) -> AsyncIterator[RedisRest]:
    async with RedisRest(redis_server.port) as standing_in:
        yield standing_in


@pytest.fixture
def tag() -> str:
    """A deployment no other test has."""
    return secrets.token_hex(16)


@pytest.fixture(params=["sqlite", "redis", "upstash"])
async def subject(request: pytest.FixtureRequest, tag: str, tmp_path: Path) -> AsyncIterator[Subject]:
    async with AsyncExitStack() as stack:
        make, backdoor = await _place(request, stack, tag, tmp_path)

        def another(of: str = tag) -> SendStore:
            store = make(of)
            stack.push_async_callback(store.aclose)
            return store

        yield Subject(another(), another, backdoor)


async def _place(
    request: pytest.FixtureRequest, stack: AsyncExitStack, tag: str, folder: Path
) -> tuple[Callable[[str], SendStore], Backdoor]:
    if request.param == "sqlite":
        path = folder / "kept" / "store.sqlite3"
        return (lambda of: SqliteStore(path, of)), SqliteBackdoor(path)
    server: RedisServer = request.getfixturevalue("redis_server")
    if request.param == "redis":
        return (lambda of: RedisStore(server.url, of)), RedisBackdoor(server.port, tag)
    rest = await stack.enter_async_context(RedisRest(server.port))
    return (lambda of: UpstashStore(rest.url, TOKEN, of)), RedisBackdoor(server.port, tag)
