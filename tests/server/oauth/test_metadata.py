"""The protected-resource metadata: where it is, what it says, to whom, and when there is none."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.peers.signing import AUDIENCE, ISSUER
from tests.server.fakes import TOKENS, Post, http_client
from tests.server.fakes import application as static_application
from tests.server.fakes import settings as static_settings
from tests.server.oauth.deployment import HOST, OPEN, STORE_KEY, application

ROOT = "/.well-known/oauth-protected-resource"
AUTHORITY = ("scheme", "host", "port")
BOTH = [ROOT, f"{ROOT}/mcp"]
SENDING = {**OPEN, "MAIL_FROM": "owner@example.com", "MAIL_SMTP_HOST": "smtp.example.net", "MAIL_STORE_KEY": STORE_KEY,
           "MAIL_STORE": "sqlite:/nonexistent/store", "MAIL_IMAP_HOST": "imap.example.net",
           "MAIL_USERNAME": "owner@example.com", "MAIL_PASSWORD": "canary-password"}  # fmt: skip


async def fetch(path: str, method: str = "GET", *, environ: dict[str, str] | None = None, **headers: str) -> Any:
    async with http_client(application(ISSUER, **(environ or {})), None, **{"Host": HOST, **headers}) as client:
        return await client.request(method, path)


@pytest.mark.parametrize("path", [*BOTH, f"{ROOT}/", f"{ROOT}/mcp/"])
async def test_it_is_at_the_root_and_where_the_path_is_inserted_for_anybody(path: str) -> None:
    response = await fetch(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    assert response.json() == {
        "resource": AUDIENCE,
        "authorization_servers": [ISSUER],
        "scopes_supported": ["mail.read"],
        "bearer_methods_supported": ["header"],
        "resource_name": "mailgate",
    }


@pytest.mark.parametrize(
    ("gates", "scopes"),
    [
        ({}, ["mail.read"]),
        ({"MAIL_ENABLE_WRITES": "1"}, ["mail.read", "mail.write"]),
        ({"MAIL_ENABLE_DELETE": "1"}, ["mail.read"]),
        (SENDING, ["mail.read", "mail.write", "mail.send"]),
        ({**SENDING, "MAIL_ENABLE_WRITES": "", "MAIL_ENABLE_DELETE": ""}, ["mail.read", "mail.send"]),
        ({**SENDING, "MAIL_ENABLE_SEND": "true"}, ["mail.read", "mail.write"]),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else "",
)
async def test_it_names_the_scopes_whose_gates_are_open_as_the_challenge_does(
    gates: dict[str, str], scopes: list[str]
) -> None:
    for path in BOTH:
        response = await fetch(path, environ=gates)
        assert response.json()["scopes_supported"] == scopes
        assert "offline_access" not in response.text
    refused = await Post("tools/list", token=None, headers={"Host": HOST}).to(application(ISSUER, **gates))
    assert f'scope="{" ".join(scopes)}"' in refused.headers["www-authenticate"]


async def test_it_tells_nothing_else() -> None:
    for path in BOTH:
        text = (await fetch(path, environ=SENDING)).text
        for word in ("imap", "smtp", "owner", "canary", "sqlite"):
            assert word not in text


@pytest.mark.parametrize(
    ("public_url", "inserted"),
    [
        ("https://mail.example.com/mcp", "/.well-known/oauth-protected-resource/mcp"),
        ("https://mail.example.com/", "/.well-known/oauth-protected-resource"),
        ("https://mail.example.com", "/.well-known/oauth-protected-resource"),
        ("https://mail.example.com/team/a/mcp", "/.well-known/oauth-protected-resource/team/a/mcp"),
        ("https://mail.example.com/team/a/mcp/", "/.well-known/oauth-protected-resource/team/a/mcp"),
        ("https://MAIL.example.com:8443/mcp", "/.well-known/oauth-protected-resource/mcp"),
        ("http://localhost:8000/mcp", "/.well-known/oauth-protected-resource/mcp"),
    ],
)
async def test_the_resource_is_the_public_url_to_the_letter(public_url: str, inserted: str) -> None:
    environ = {"MAIL_PUBLIC_URL": public_url, "MAIL_OAUTH_AUDIENCE": "api://mailgate"}
    for path in {ROOT, inserted}:
        response = await fetch(path, environ=environ, Host="localhost")
        assert response.json()["resource"] == public_url
    refused = await Post("tools/list", token=None).to(application(ISSUER, **environ))
    named = httpx2.URL(refused.headers["www-authenticate"].partition('resource_metadata="')[2].rstrip('"'))
    assert named.path == inserted
    assert (named.scheme, named.host, named.port) == tuple(getattr(httpx2.URL(public_url), part) for part in AUTHORITY)


async def test_no_other_place_has_it() -> None:
    for path in (
        f"{ROOT}/other",
        f"{ROOT}x",
        f"{ROOT}/mcp/x",
        "/.well-known/oauth-authorization-server",
        f"/mcp{ROOT}",
    ):
        assert (await fetch(path)).status_code == 404


async def test_a_mounted_application_has_it_below_its_mount_and_at_the_inserted_place() -> None:
    app = application(ISSUER, MAIL_PUBLIC_URL="https://mail.example.com/team/mcp")
    for path in (f"/team{ROOT}", f"{ROOT}/team/mcp"):
        sent: list[dict[str, Any]] = []

        async def send(message: Any, sent: list[dict[str, Any]] = sent) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        await app(
            {"type": "http", "method": "GET", "path": path, "root_path": "/team", "query_string": b"",
             "headers": [(b"host", b"mail.example.com")]},
            receive,
            send,
        )  # fmt: skip
        assert sent[0]["status"] == 200


# --- browsers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("origin", ["https://app.example.net", "http://localhost:6274", "null"])
async def test_a_page_may_read_it_from_anywhere(origin: str) -> None:
    for path in BOTH:
        read = await fetch(path, Origin=origin)
        asked = await fetch(path, "OPTIONS", Origin=origin, **{"Access-Control-Request-Method": "GET",
                            "Access-Control-Request-Headers": "mcp-protocol-version"})  # fmt: skip
        assert (read.status_code, asked.status_code) == (200, 204)
        for response in (read, asked):
            assert response.headers["access-control-allow-origin"] == "*"
            assert "access-control-allow-credentials" not in response.headers
        assert "GET" in asked.headers["access-control-allow-methods"]
        assert asked.headers["access-control-allow-headers"] == "*"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
async def test_it_is_only_read(method: str) -> None:
    response = await fetch(ROOT, method)
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD, OPTIONS")


async def test_a_head_has_no_body() -> None:
    assert (await fetch(ROOT, "HEAD")).status_code == 200


async def test_it_is_not_given_to_who_asks_another_host() -> None:
    for path in BOTH:
        assert (await fetch(path, Host="evil.example")).status_code == 421


# --- the two modes -------------------------------------------------------------------------------------------------


async def test_static_tokens_alone_have_none_and_name_none() -> None:
    app = static_application(static_settings(MAIL_PUBLIC_URL=AUDIENCE))
    async with http_client(app, None) as client:
        assert [(await client.get(path)).status_code for path in BOTH] == [404, 404]
    refused = await Post("tools/list", token=None).to(app)
    assert "resource_metadata" not in refused.headers["www-authenticate"]


async def test_static_tokens_beside_an_issuer_change_nothing_of_it() -> None:
    assert (await fetch(ROOT, environ={"MAIL_TOKENS": TOKENS})).status_code == 200
