"""A deployment that sends, on one of the three stores: its services come and go, the store and the SMTP server stay."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from mailgate.app import build_service
from mailgate.policy import Principal
from mailgate.send.record import Deployment as Binding
from mailgate.send.redis_store import RedisStore
from mailgate.send.sqlite_store import SqliteStore
from mailgate.send.store import SendStore
from mailgate.send.upstash_store import UpstashStore
from mailgate.settings import load_settings
from tests.contract.deployment import FAILURE, OWNER, Deployment, Result, environ
from tests.peers.redis_proxy import RedisProxy, RespFault
from tests.peers.redis_rest import TOKEN, RedisRest, RestFault
from tests.peers.redis_server import RedisServer
from tests.send.faults.smtp import CountingSmtp
from tests.send.stores.harness import Backdoor, RedisBackdoor, SqliteBackdoor

KINDS = ("sqlite", "redis", "upstash")
SECONDS = 5.0
NO_PORT = 9
"""Nobody listens there; what is tried here needs no IMAP server."""
LETTER: Result = {
    "to": ["ann@example.com"],
    "cc": ["cid@example.net"],
    "bcc": ["bob@example.org"],
    "subject": "Plans",
    "text": "Hello.\n.\nBye",
}


class Place(Protocol):
    """Where one deployment keeps its records."""

    kind: str
    variables: dict[str, str]

    def store(self, tag: str, seconds: float) -> SendStore:
        """The store as the service has it, with another bound."""
        ...

    def backdoor(self, tag: str) -> Backdoor:
        """Past the store."""
        ...


@dataclass(frozen=True)
class SqlitePlace:
    """One file."""

    path: Path
    kind: str = "sqlite"

    @property
    def variables(self) -> dict[str, str]:
        return {"MAIL_STORE": f"sqlite:{self.path}"}

    def store(self, tag: str, seconds: float) -> SendStore:
        return SqliteStore(self.path, tag, seconds=seconds)

    def backdoor(self, tag: str) -> Backdoor:
        return SqliteBackdoor(self.path)


@dataclass(frozen=True)
class RedisPlace:
    """A redis-server behind a proxy with faults."""

    server: RedisServer
    proxy: RedisProxy
    password: str = ""
    kind: str = "redis"

    @property
    def url(self) -> str:
        return self.proxy.url.replace("//", f"//:{self.password}@") if self.password else self.proxy.url

    @property
    def variables(self) -> dict[str, str]:
        return {"MAIL_STORE": self.url}

    def store(self, tag: str, seconds: float) -> SendStore:
        return RedisStore(self.url, tag, seconds=seconds)

    def backdoor(self, tag: str) -> Backdoor:
        return RedisBackdoor(self.server.port, tag, self.server.password)


@dataclass(frozen=True)
class UpstashPlace:
    """The REST interface, which has faults of its own."""

    server: RedisServer
    proxy: RedisRest
    password: str = TOKEN
    kind: str = "upstash"

    @property
    def variables(self) -> dict[str, str]:
        return {
            "MAIL_STORE": "upstash",
            "UPSTASH_REDIS_REST_URL": self.proxy.url,
            "UPSTASH_REDIS_REST_TOKEN": self.password,
        }

    def store(self, tag: str, seconds: float) -> SendStore:
        return UpstashStore(self.proxy.url, self.password, tag, seconds=seconds)

    def backdoor(self, tag: str) -> Backdoor:
        return RedisBackdoor(self.server.port, tag, self.server.password)


@asynccontextmanager
async def place(
    kind: str, folder: Path, server: Callable[[], RedisServer], *, password: str = ""
) -> AsyncIterator[Place]:
    """An empty place; `server` is asked for a redis-server, with this password, only where one is needed."""
    if kind == "sqlite":
        yield SqlitePlace(folder / "store" / "send.sqlite3")
    elif kind == "redis":
        running = server()
        async with RedisProxy(running.port, password=password) as proxy:
            yield RedisPlace(running, proxy, password)
    else:
        running = server()
        token = password or TOKEN
        async with RedisRest(running.port, token=token, password=password) as rest:
            yield UpstashPlace(running, rest, token)


@dataclass
class Scene:
    """One deployment, with a login that no other test has."""

    place: Place
    smtp: CountingSmtp
    extra: dict[str, str] = field(default_factory=dict)
    login: str = field(default_factory=lambda: f"owner-{secrets.token_hex(6)}@example.org")

    @property
    def tag(self) -> str:
        """What stands for the deployment in the store."""
        return Binding(self.login).tag

    @property
    def backdoor(self) -> Backdoor:
        """Past the store."""
        return self.place.backdoor(self.tag)

    def variables(self, **more: str) -> dict[str, str]:
        """The environment of one of its processes."""
        return environ(
            NO_PORT,
            **{
                "MAIL_ENABLE_SEND": "1",
                "MAIL_ENABLE_WRITES": "1",
                "MAIL_FROM": "The Owner <owner@example.org>",
                "MAIL_USERNAME": self.login,
                "MAIL_SMTP_HOST": "127.0.0.1",
                "MAIL_SMTP_PORT": str(self.smtp.port),
                "MAIL_SMTP_SECURITY": "plaintext",
                **self.place.variables,
                **self.extra,
                **more,
            },
        )

    @asynccontextmanager
    async def service(self, *, seconds: float = SECONDS, **more: str) -> AsyncIterator[Sending]:
        """A service of its own: nothing is remembered from any other."""
        settings = load_settings(self.variables(**more))
        assert settings.username is not None
        tag = Binding(settings.username, settings.public_url or "").tag
        service = build_service(settings, store=self.place.store(tag, seconds))
        try:
            yield Sending(service)
        finally:
            await service.aclose()

    async def confirmed_elsewhere(self, review: Result, **more: str) -> str:
        """What a confirmation by a fresh service comes to."""
        async with self.service(**more) as fresh:
            return await fresh.outcome(review)


class Sending(Deployment):
    """A service, and the two calls."""

    async def prepare(self, caller: Principal = OWNER, **changes: Any) -> Result:
        """A review."""
        return await self.ok("mail_prepare_send", {"message": {**LETTER, **changes}}, caller)

    async def outcome(self, review: Result, *, append_sent: bool = False, caller: Principal = OWNER) -> str:
        """A confirmation in one line: an error code, or status, reason and warnings as `status:reason+warning`."""
        answer = await self.call("mail_send_confirmed", confirmation(review, append_sent), caller)
        return told(answer.text, answer.structured)


def confirmation(review: Result, append_sent: bool = False) -> Result:
    """The arguments that confirm a review."""
    return {
        "prepared_id": review["prepared_id"],
        "confirmed_digest": review["digest"],
        "append_sent": append_sent,
    }


ADVICE = ("look_first", "send_under_way")


def told(text: str, structured: Result | None) -> str:
    """An answer in one line. Advice that goes with a status as such is held against it and left out."""
    if structured is None:
        found = FAILURE.fullmatch(text)
        assert found, text
        assert "not sent" not in text, "an error must not say what it cannot know"
        return found[1]
    warnings = [warning.partition(":")[0] for warning in structured.get("warnings", [])]
    advice = {"unknown": ["look_first"], "sending": ["send_under_way"]}.get(structured["status"], [])
    assert [code for code in warnings if code in ADVICE] == advice
    reason = f":{structured['reason']}" if structured.get("reason") else ""
    return structured["status"] + reason + "".join(f"+{code}" for code in warnings if code not in ADVICE)


def faults_of(where: Place) -> RedisProxy | RedisRest:
    """Who makes the faults of a remote store."""
    assert isinstance(where, RedisPlace | UpstashPlace)
    return where.proxy


def arrange(where: Place, *faults: tuple[RestFault, RespFault] | None) -> None:
    """What happens to the next steps, in the terms of this store."""
    if isinstance(where, UpstashPlace):
        where.proxy.then(*(fault and fault[0] for fault in faults))
    else:
        assert isinstance(where, RedisPlace)
        where.proxy.then(*(fault and fault[1] for fault in faults))
