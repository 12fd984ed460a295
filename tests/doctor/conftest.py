"""The servers that examinations are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.conftest import missing_peer
from tests.peers.authority import authority
from tests.peers.redis_server import RedisServer, redis_binary

StartRedis = Callable[..., RedisServer]


@pytest.fixture
def start_redis() -> Iterator[StartRedis]:
    """Starts a redis-server with further arguments; each ends with the test."""
    if redis_binary() is None:
        missing_peer("redis-server")
    started: list[RedisServer] = []

    def start(*arguments: str, password: str = "") -> RedisServer:
        server = RedisServer(authority().certificate(), password=password, arguments=arguments)
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()
