"""A client that knows nothing but the URL: it finds the issuer, asks the owner, calls, and asks for more when it must.

The client is the SDK's own; mailgate keeps nothing between two requests and even starts anew in the middle.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from mailgate.app import build_app, build_service
from mailgate.server.http import HttpSurface
from tests.peers.issuer import Issuer
from tests.peers.issuer_oauth import AuthorizationServer, code_in
from tests.send.fakes import FakeSubmitter, MemoryStore
from tests.server.fakes import ERAS, inbox
from tests.server.oauth.deployment import OPEN, STORE_KEY, settings
from tests.write.fakes import WritableFakeFolder, WritableFakeMailbox

URL = "http://127.0.0.1:8000/mcp"
DOCUMENT = "https://client.example.com/mcp.json"
CALLBACK = "http://127.0.0.1:33418/callback"
MESSAGE = {"message": {"to": ["a@example.com"], "subject": "Hello"}}
SENDING = {
    **OPEN,
    "MAIL_PUBLIC_URL": URL,
    "MAIL_IMAP_HOST": "imap.example.net",
    "MAIL_USERNAME": "owner@example.com",
    "MAIL_PASSWORD": "canary-password-9f8e7d",
    "MAIL_SMTP_HOST": "smtp.example.net",
    "MAIL_FROM": "owner@example.com",
    "MAIL_STORE": "sqlite:/nonexistent/store",
    "MAIL_STORE_KEY": STORE_KEY,
}


class Memory:
    """What a client keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class Stage:
    """mailgate, the authorization server, and what the client keeps."""

    issuer: Issuer
    server: AuthorizationServer
    app: HttpSurface
    memory: Memory
    store: MemoryStore
    seen: list[tuple[str, int]]

    def restart(self) -> None:
        """A new instance of mailgate, as a serverless host starts one; only the store is the same."""
        self.app = deployed(self.issuer, self.store)

    async def serve(self, scope: Any, receive: Any, send: Any) -> None:
        async def noting(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.seen.append((scope["path"], message["status"]))
            await send(message)

        await self.app(scope, receive, noting)

    @asynccontextmanager
    async def client(self, era: str) -> AsyncIterator[Client]:
        """The SDK's client with its OAuth provider; its browser is the issuer's redirect."""
        here: dict[str, str] = {}

        async def redirect(url: str) -> None:
            async with httpx2.AsyncClient(trust_env=False) as browser:
                answer = await browser.get(url)
            assert answer.status_code == 302
            here.update(code_in(answer.headers["location"]))

        async def callback() -> AuthorizationCodeResult:
            return AuthorizationCodeResult(code=here["code"], state=here["state"], iss=here["iss"])

        provider = OAuthClientProvider(
            URL,
            OAuthClientMetadata(
                redirect_uris=[AnyUrl(CALLBACK)],
                client_name="Tests",
                token_endpoint_auth_method="none",
                grant_types=["authorization_code"],
            ),
            self.memory,
            redirect,
            callback,
            client_metadata_url=DOCUMENT,
        )
        ours = httpx2.ASGITransport(app=self.serve)
        async with (
            httpx2.AsyncClient(auth=provider, mounts={"http://127.0.0.1:8000": ours}, trust_env=False) as http,
            Client(
                streamable_http_client(URL, http_client=http), mode="legacy" if era == "legacy" else "auto"
            ) as client,
        ):
            assert (client.protocol_version == era) is (era != "legacy")
            yield client


def deployed(issuer: Issuer, store: MemoryStore) -> HttpSurface:
    configured = settings(issuer.url, **SENDING)
    box = WritableFakeMailbox(inbox(), WritableFakeFolder("Sent"))
    box.role_names["sent"] = "Sent"
    service = build_service(configured, mailbox=box, store=store, submitter=FakeSubmitter())
    return build_app(configured, service=service)


@pytest.fixture(params=["client document", "registration"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    knows_documents = request.param == "client document"
    async with Issuer(path="" if knows_documents else "/realms/owner/") as issuer:
        server = AuthorizationServer(issuer, knows_documents=knows_documents)
        store = MemoryStore()
        yield Stage(issuer, server, deployed(issuer, store), Memory(), store, [])


pytestmark = pytest.mark.parametrize("era", ERAS)


async def test_a_client_finds_its_way_from_the_url_alone(era: str, stage: Stage) -> None:
    async with stage.client(era) as client:
        found = await client.call_tool("mail_search", {})
        assert not found.is_error
        sent = await client.call_tool("mail_prepare_send", MESSAGE)
        assert not sent.is_error
    assert [status for path, status in stage.seen if path == "/mcp"].count(401) == 1
    assert ("/.well-known/oauth-protected-resource/mcp", 200) in stage.seen
    (asked,) = stage.server.asked
    assert asked["resource"] == URL
    assert set(asked["scope"].split()) >= {"mail.read", "mail.write", "mail.send"}
    known = asked["client_id"] == DOCUMENT
    assert known is not bool(stage.server.registered)


async def test_a_client_that_was_granted_little_steps_up_when_a_call_needs_more(era: str, stage: Stage) -> None:
    stage.server.consents.append({"mail.read"})
    async with stage.client(era) as client:
        assert not (await client.call_tool("mail_search", {})).is_error
        assert len(stage.server.asked) == 1
        assert stage.memory.tokens is not None
        assert stage.memory.tokens.scope == "mail.read"
        # A new instance knows nothing of the first; the token carries all there is to know.
        stage.restart()
        prepared = await client.call_tool("mail_prepare_send", MESSAGE)
        assert not prepared.is_error
    assert [status for path, status in stage.seen if path == "/mcp"].count(403) == 1
    first, second = stage.server.asked
    assert {"mail.read", "mail.send"} <= set(second["scope"].split())
    assert first["client_id"] == second["client_id"]
    assert len(stage.server.issued) == 2


async def test_one_step_is_enough_for_a_call_that_needs_two_more_scopes(era: str, stage: Stage) -> None:
    stage.server.consents.append({"mail.read", "mail.send"})
    async with stage.client(era) as client:
        prepared = (await client.call_tool("mail_prepare_send", MESSAGE)).structured_content
        assert prepared is not None
        confirm = {"prepared_id": prepared["prepared_id"], "confirmed_digest": prepared["digest"], "append_sent": True}
        stage.restart()
        done = await client.call_tool("mail_send_confirmed", confirm)
    assert not done.is_error, done.content
    assert (done.structured_content or {})["status"] == "accepted"
    assert [status for path, status in stage.seen if path == "/mcp"].count(403) == 1
    assert {"mail.read", "mail.write", "mail.send"} <= set(stage.server.asked[1]["scope"].split())


async def test_a_client_that_kept_its_token_asks_nobody(era: str, stage: Stage) -> None:
    async with stage.client(era) as client:
        await client.list_tools()
    stage.restart()
    async with stage.client(era) as client:
        await client.list_tools()
    assert len(stage.server.asked) == 1


async def test_a_token_that_is_no_longer_good_leads_to_a_new_one(era: str, stage: Stage) -> None:
    async with stage.client(era) as client:
        await client.list_tools()
        assert stage.memory.tokens is not None
    stage.memory.tokens.access_token = stage.issuer.mint(aud=URL, exp=1)
    async with stage.client(era) as client:
        assert len((await client.list_tools()).tools) > 0
    assert len(stage.server.asked) == 2


async def test_a_token_for_another_resource_of_the_same_issuer_is_of_no_use(era: str, stage: Stage) -> None:
    stage.memory.tokens = OAuthToken(access_token=stage.issuer.mint(aud="https://other.example.com/mcp"))
    stage.memory.client = OAuthClientInformationFull(client_id=DOCUMENT, redirect_uris=[AnyUrl(CALLBACK)])
    async with stage.client(era) as client:
        await client.list_tools()
    assert len(stage.server.asked) == 1
