"""Where a row keeps its records: one of three stores, with a gate in front and a way around it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from mailgate.app import build_service
from mailgate.settings import load_settings
from tests.peers.authority import authority
from tests.peers.fault_proxy import FaultProxy
from tests.peers.redis_rest import TOKEN, RedisRest
from tests.peers.redis_server import RedisServer
from tests.send.crash.gate import ControlGate, Gate, StoreGate
from tests.send.crash.points import Plan, Rule, Rules
from tests.send.crash.records import RedisRecords, SqliteRecords


class Store(StrEnum):
    """The three stores."""

    SQLITE = "sqlite"
    REDIS = "redis"
    UPSTASH = "upstash"


ALL = frozenset(Store)
REMOTE = frozenset({Store.REDIS, Store.UPSTASH})
SQLITE = frozenset({Store.SQLITE})
UPSTASH = frozenset({Store.UPSTASH})


@dataclass
class OwnRedis:
    """A Redis server of one row, behind a proxy that keeps its address when it is started anew."""

    server: RedisServer
    proxy: FaultProxy

    async def restart(self) -> int:
        """SIGKILL, and a server that knows nothing: its port."""
        self.server.stop()
        self.server = await asyncio.to_thread(RedisServer, authority().certificate())
        self.proxy.upstream = ("127.0.0.1", self.server.port)
        return self.server.port

    def stop(self) -> None:
        """End whichever runs now."""
        self.server.stop()


@dataclass
class Place:
    """`variables` lead a server to the store; `records` looks into it; `gate` holds steps."""

    store: Store
    variables: dict[str, str]
    records: SqliteRecords | RedisRecords
    gate: Gate
    rest: RedisRest | None = None
    own: OwnRedis | None = None

    def rule(self, rules: Iterable[Rule]) -> Plan:
        """What holds for the next server: inside it with SQLite, in front of the store elsewhere."""
        if isinstance(self.gate, StoreGate):
            self.gate.rules = Rules(rules)
            return Plan()
        return Plan(tuple(rules), self.gate.port)

    async def restart_empty(self) -> None:
        """SIGKILL for the Redis server, and a new one that knows nothing; with SQLite the file goes."""
        if isinstance(self.records, SqliteRecords):
            self.records.vanish()
            return
        assert self.own is not None
        self.records.moved_to(await self.own.restart())


def tag_of(variables: dict[str, str]) -> str:
    """The deployment that these settings make, as the store knows it."""
    service = build_service(load_settings({**variables, "MAIL_STORE": "redis://127.0.0.1"}))
    assert service.desk is not None
    return service.desk.ledger._deployment.tag


async def place(
    stack: AsyncExitStack, store: Store, variables: dict[str, str], folder: Path, *, shared: RedisServer | None
) -> Place:
    """A store of its own for the deployment of `variables`; without `shared`, a Redis server of its own too."""
    if store is Store.SQLITE:
        path = folder / secrets.token_hex(8) / "send.sqlite3"
        gate = await stack.enter_async_context(ControlGate())
        return Place(store, {"MAIL_STORE": f"sqlite:{path}"}, SqliteRecords(path), gate)
    own = None if shared else await _own_redis(stack)
    server = own.server if own else shared
    assert server is not None
    records = RedisRecords(server.port, tag_of(variables))
    port = own.proxy.port if own else server.port
    made = await (_redis if store is Store.REDIS else _upstash)(stack, port, records)
    made.own = own
    return made


async def _own_redis(stack: AsyncExitStack) -> OwnRedis:
    server = await asyncio.to_thread(RedisServer, authority().certificate())
    own = OwnRedis(server, await stack.enter_async_context(FaultProxy(server.port)))
    stack.callback(own.stop)
    return own


async def _redis(stack: AsyncExitStack, port: int, records: RedisRecords) -> Place:
    gate = await stack.enter_async_context(StoreGate(port))
    return Place(Store.REDIS, {"MAIL_STORE": f"redis://127.0.0.1:{gate.port}"}, records, gate)


async def _upstash(stack: AsyncExitStack, port: int, records: RedisRecords) -> Place:
    rest = await stack.enter_async_context(RedisRest(port))
    gate = await stack.enter_async_context(StoreGate(int(rest.url.rpartition(":")[2])))
    url = f"http://127.0.0.1:{gate.port}"
    variables = {"MAIL_STORE": "upstash", "UPSTASH_REDIS_REST_URL": url, "UPSTASH_REDIS_REST_TOKEN": TOKEN}
    return Place(Store.UPSTASH, variables, records, gate, rest)
