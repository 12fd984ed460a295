"""Foreign clients that are given only the URL find the issuer, are let in, and step up when a call needs more."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mailgate.app import build_app
from mailgate.cli_demo import DRAIN_SECONDS, HOST, demo_settings
from mailgate.cli_web import QuietServer, http_config, listen
from tests.clients.conftest import Figure
from tests.clients.installed import HERE, SECONDS, Installed
from tests.peers.issuer import Issuer
from tests.peers.issuer_oauth import AuthorizationServer
from tests.peers.signing import SUBJECT

DOCUMENT = "https://client.example.com/mcp.json"
MESSAGE = {"to": ["someone@example.org"], "subject": "Hello", "text": "Nothing is sent."}


@asynccontextmanager
async def protected(issuer: str) -> AsyncIterator[str]:
    """The demo's mailbox over real HTTP, for the owner whom the issuer knows: its public URL."""
    applications: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await applications[0](scope, receive, send)

    async with demo_settings("unused") as settings:
        # The URL holds the port, so it is known only once something listens.
        config = http_config(app, host=HOST, port=0, drain_seconds=DRAIN_SECONDS)
        listening, port = listen(config)
        url = f"http://{HOST}:{port}/mcp"
        oauth = {"oauth_issuer": issuer, "oauth_audience": url, "public_url": url, "owner_subjects": (SUBJECT,)}
        applications.append(build_app(replace(settings, tokens=(), **oauth)))
        server = QuietServer(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield url
        finally:
            server.should_exit = True
            await serving


async def report(command: list[str], home: Path) -> dict[str, Any]:
    """What a client prints while this very loop serves it."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=home,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(SECONDS):
            told, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, errors.decode()[-4000:]
    found: dict[str, Any] = json.loads(told)
    return found


@pytest.mark.parametrize(("generation", "mode"), [(1, ""), (2, ""), (2, "auto")], ids=["v1", "v2", "v2-auto"])
@pytest.mark.parametrize("known_by", ["client document", "registration"])
async def test_the_typescript_sdk_is_let_in_and_steps_up(
    generation: int, mode: str, known_by: str, clients: Installed, figure: Figure, tmp_path: Path
) -> None:
    document = DOCUMENT if known_by == "client document" else None
    # The SDKs compare issuers as URLs are printed, which gives a bare host its slash.
    async with Issuer(path="/owner") as issuer, protected(issuer.url) as url:
        owner = AuthorizationServer(issuer, knows_documents=document is not None)
        owner.consents.append({"mail.read"})
        order = {"modules": str(clients.folder), "generation": generation, "mode": mode, "url": url}
        order |= {"message": MESSAGE} | ({"document": document} if document else {})
        found = await report([clients.node, str(HERE / "oauth.mjs"), json.dumps(order)], tmp_path)
    assert not found["read"].get("isError"), found["read"]
    assert not found["sent"].get("isError"), found["sent"]
    assert found["sent"]["structuredContent"]["prepared_id"]
    assert (found["statuses"].count(401), found["statuses"].count(403)) == (1, 1)
    first, second = owner.asked
    assert first["resource"] == second["resource"] == url
    assert set(first["scope"].split()) >= {"mail.read", "mail.write", "mail.send"}
    assert {"mail.read", "mail.send"} <= set(second["scope"].split())
    assert found["granted"][0] == "mail.read"
    assert {"mail.read", "mail.send"} <= set(found["granted"][1].split())
    assert bool(owner.registered) is (document is None)
    figure(f"TypeScript SDK v{generation} {mode or 'default'}, OAuth by {known_by}: let in, stepped up")
