"""Scenes on each store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.conftest import missing_peer
from tests.peers.authority import authority
from tests.peers.redis_server import RedisServer, redis_binary
from tests.send.faults.scene import KINDS, Scene, place
from tests.send.faults.smtp import CountingSmtp


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
async def smtp() -> AsyncIterator[CountingSmtp]:
    async with CountingSmtp() as server:
        yield server


@pytest.fixture(params=KINDS)
async def scene(request: pytest.FixtureRequest, smtp: CountingSmtp, tmp_path: Path) -> AsyncIterator[Scene]:
    async with place(request.param, tmp_path, lambda: request.getfixturevalue("redis_server")) as where:
        yield Scene(where, smtp)


@pytest.fixture(params=KINDS[1:])
async def remote(request: pytest.FixtureRequest, smtp: CountingSmtp, tmp_path: Path) -> AsyncIterator[Scene]:
    async with place(request.param, tmp_path, lambda: request.getfixturevalue("redis_server")) as where:
        yield Scene(where, smtp)


@pytest.fixture
async def local(smtp: CountingSmtp, tmp_path: Path) -> AsyncIterator[Scene]:
    async with place("sqlite", tmp_path, lambda: pytest.fail("no server is needed")) as where:
        yield Scene(where, smtp)
