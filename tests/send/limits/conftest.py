"""A server of the suite's own for what is only prepared, and the three stores for what is sent."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import missing_peer
from tests.contract.deployment import environ
from tests.peers.authority import authority
from tests.peers.redis_server import RedisServer, redis_binary
from tests.peers.smtp_sink import PASSWORD, USERNAME
from tests.send.real.serving import Served, served


@dataclass(frozen=True)
class Preparing:
    """A server, and how many messages it has stored."""

    server: Served
    database: Path

    def stored(self) -> int:
        connection = sqlite3.connect(self.database)
        try:
            (count,) = connection.execute("SELECT COUNT(*) FROM send").fetchone()
        finally:
            connection.close()
        return int(count)


def sending(smtp_port: int, **more: str) -> dict[str, str]:
    """Nothing here asks the IMAP server for anything, so there is none."""
    return environ(
        1,
        MAIL_ENABLE_SEND="1",
        MAIL_FROM="The Owner <owner@example.org>",
        MAIL_SMTP_HOST="127.0.0.1",
        MAIL_SMTP_PORT=str(smtp_port),
        MAIL_SMTP_USERNAME=USERNAME,
        MAIL_SMTP_PASSWORD=PASSWORD,
        MAIL_TLS_CA_FILE=str(authority().ca_file),
        **more,
    )


@pytest.fixture(scope="module")
def preparing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Preparing]:
    """With default limits."""
    database = tmp_path_factory.mktemp("store") / "send.sqlite3"
    with served(sending(1, MAIL_STORE=f"sqlite:{database}")) as server:
        yield Preparing(server, database)


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """For this suite alone."""
    if redis_binary() is None:
        missing_peer("redis-server")
    server = RedisServer(authority().certificate())
    try:
        yield server
    finally:
        server.stop()
