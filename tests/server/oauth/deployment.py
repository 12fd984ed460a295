"""A deployment in JWT mode, and upstream servers that only listen: nothing refused may ever reach one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from mailgate.app import build_app, build_service
from mailgate.keys.jwks import IssuerKey, parse_keys
from mailgate.policy import Principal
from mailgate.server.auth import Rejection
from mailgate.server.http import HttpSurface
from mailgate.server.jwt_claims import TokenRules
from mailgate.server.jwt_tokens import JwtVerifier
from mailgate.settings import Settings, load_settings
from tests.peers.issuer import Issuer
from tests.peers.signing import AUDIENCE, ISSUER, SUBJECT, SigningKey, rsa_key
from tests.server.fakes import TOKENS

HOST = "mail.example.com"
OPEN = {"MAIL_ENABLE_WRITES": "1", "MAIL_ENABLE_DELETE": "1", "MAIL_ENABLE_SEND": "1"}
STORE_KEY = "bm90IGEgc2VjcmV0OiBvbmx5IGZvciB0aGUgdGVzdHM="


def environment(issuer: str, **changes: str) -> dict[str, str]:
    """JWT mode without a mailbox; an empty value takes a variable away."""
    merged = {
        "HOME": "/nonexistent",
        "MAIL_OAUTH_ISSUER": issuer,
        "MAIL_PUBLIC_URL": AUDIENCE,
        "MAIL_OWNER_SUBJECTS": f"somebody,{SUBJECT}",
        **changes,
    }
    return {name: value for name, value in merged.items() if value}


def settings(issuer: str, **changes: str) -> Settings:
    return load_settings(environment(issuer, **changes), http=True)


def application(issuer: str, **changes: str) -> HttpSurface:
    """JWT mode without a mailbox."""
    return build_app(settings(issuer, **changes))


# --- a verifier whose keys need no network -------------------------------------------------------------------------


@dataclass
class HeldKeys:
    """Keys that are simply there; `asked` says for what."""

    keys: tuple[IssuerKey, ...]
    asked: list[tuple[str | None, str]] = field(default_factory=list)

    async def find(self, kid: str | None, algorithm: str) -> tuple[IssuerKey, ...]:
        self.asked.append((kid, algorithm))
        fitting = [key for key in self.keys if algorithm in key.algorithms]
        return tuple(key for key in fitting if kid is None or key.kid == kid)


def held(*jwks: dict[str, Any]) -> HeldKeys:
    import json

    return HeldKeys(parse_keys(json.dumps({"keys": list(jwks)}).encode()))


async def judged(token: str, *keys: SigningKey, now: float | None = None, **rules: Any) -> Principal | Rejection:
    """What the verifier says of a token, with these keys (an RSA key when there are none) published."""
    source = held(*(key.jwk() for key in keys or (rsa_key(),)))
    given = {"issuer": ISSUER, "audience": AUDIENCE, "subjects": frozenset({SUBJECT}), **rules}
    clock = {} if now is None else {"clock": lambda: now}
    return await JwtVerifier(TokenRules(**given), source, **clock).verify(token)


# --- servers that listen -------------------------------------------------------------------------------------------


@dataclass
class Listener:
    """Counts connections and keeps what it is sent; it never says a word."""

    port: int = 0
    connections: int = 0
    received: bytearray = field(default_factory=bytearray)


@asynccontextmanager
async def listening() -> AsyncIterator[Listener]:
    listener, tasks = Listener(), set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.connections += 1
        tasks.add(asyncio.current_task())
        try:
            while octets := await reader.read(4096):
                listener.received += octets
        finally:
            writer.close()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


@dataclass
class Watched:
    """A deployment with all gates open, whose mailbox, submission server and store are listeners."""

    app: HttpSurface
    issuer: Issuer
    upstream: dict[str, Listener]

    @contextmanager
    def untouched(self) -> Iterator[None]:
        """Nothing in the block reaches an upstream server."""
        before = {name: listener.connections for name, listener in self.upstream.items()}
        yield
        assert {name: listener.connections for name, listener in self.upstream.items()} == before


@asynccontextmanager
async def watched(**changes: str) -> AsyncIterator[Watched]:
    """The deployment, with an issuer of its own."""
    async with Issuer() as issuer, listening() as imap, listening() as smtp, listening() as store:
        variables = {
            "MAIL_IMAP_HOST": "127.0.0.1",
            "MAIL_IMAP_PORT": str(imap.port),
            "MAIL_IMAP_SECURITY": "plaintext",
            "MAIL_USERNAME": "owner@example.com",
            "MAIL_PASSWORD": "canary-password-9f8e7d",
            "MAIL_SMTP_HOST": "127.0.0.1",
            "MAIL_SMTP_PORT": str(smtp.port),
            "MAIL_SMTP_SECURITY": "plaintext",
            "MAIL_FROM": "owner@example.com",
            "MAIL_STORE": f"redis://127.0.0.1:{store.port}/0",
            "MAIL_STORE_KEY": STORE_KEY,
            "MAIL_TOKENS": TOKENS,
            "MAIL_UPSTREAM_TIMEOUT_SECONDS": "0.2",
            **OPEN,
            **changes,
        }
        service = build_service(settings(issuer.url, **variables))
        try:
            yield Watched(
                build_app(service.settings, service=service), issuer, {"imap": imap, "smtp": smtp, "store": store}
            )
        finally:
            await service.aclose()
