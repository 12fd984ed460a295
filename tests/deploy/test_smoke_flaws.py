"""The smoke script against servers that are right but for one thing: it finds that thing, and no other."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.deploy.servers import ROOT, in_a_thread
from tests.server.fakes import OWNER_TOKEN, application

Flaw = Callable[[Any], Any]
"""Takes an ASGI application, gives one with a flaw."""


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mailgate_smoke", ROOT / "deploy" / "smoke.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up while they are made.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SMOKE = _module()


def failures(app: Any, seconds: float = 10.0) -> list[str]:
    """The names of the checks that fail."""
    lines: list[str] = []
    with in_a_thread(app) as endpoint:
        SMOKE.run(SMOKE.Target(urlsplit(endpoint), OWNER_TOKEN, seconds), lines.append)
    return [line[5:].partition(":")[0] for line in lines if line.startswith("FAIL ")]


def test_without_a_flaw_nothing_fails() -> None:
    assert failures(application()) == []


# --- flaws -------------------------------------------------------------------------------------------------------


async def _reply(send: Any, status: int, body: bytes = b"{}", *fields: tuple[bytes, bytes]) -> None:
    headers = [(b"content-type", b"application/json"), *fields]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def answers(matches: Callable[[Any], bool], reply: Callable[[Any], Awaitable[None]]) -> Flaw:
    """Replies by itself where `matches` says so."""

    def flawed(app: Any) -> Any:
        async def call(scope: Any, receive: Any, send: Any) -> None:
            if matches(scope):
                await reply(send)
            else:
                await app(scope, receive, send)

        return call

    return flawed


def rewrites(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Flaw:
    """Changes the request's scope first."""

    def flawed(app: Any) -> Any:
        async def call(scope: Any, receive: Any, send: Any) -> None:
            await app(change(scope), receive, send)

        return call

    return flawed


def edits(start: Callable[[dict[str, Any]], dict[str, Any]]) -> Flaw:
    """Changes the head of every answer."""

    def flawed(app: Any) -> Any:
        async def call(scope: Any, receive: Any, send: Any) -> None:
            async def edited(message: Any) -> None:
                await send(start(message) if message["type"] == "http.response.start" else message)

            await app(scope, receive, edited)

        return call

    return flawed


def at(path: str, *methods: str) -> Callable[[Any], bool]:
    return lambda scope: scope["path"] == path and (not methods or scope["method"] in methods)


def without_field(name: bytes) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda message: {**message, "headers": [each for each in message["headers"] if each[0] != name]}


def set_field(name: bytes, value: bytes) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def change(scope: dict[str, Any]) -> dict[str, Any]:
        return {**scope, "headers": [(key, value if key == name else held) for key, held in scope["headers"]]}

    return change


def replace_in_challenge(old: bytes, new: bytes) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def change(message: dict[str, Any]) -> dict[str, Any]:
        fields = [
            (name, value.replace(old, new) if name == b"www-authenticate" else value)
            for name, value in message["headers"]
        ]
        return {**message, "headers": fields}

    return change


async def _stream(send: Any) -> None:
    """An event stream with a sign of life now and then, and no end."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    for _ in range(200):
        await send({"type": "http.response.body", "body": b": ping\n\n", "more_body": True})
        await asyncio.sleep(0.05)


HTML = b"<html>Sign in</html>"
OTHER_METADATA = json.dumps({"resource": "https://other.example/mcp"}).encode()

FLAWS: dict[str, tuple[Flaw, list[str]]] = {
    "a host's own page at /healthz": (answers(at("/healthz"), lambda send: _reply(send, 404, HTML)), ["healthz"]),
    "a page that says 200 at /healthz": (answers(at("/healthz"), lambda send: _reply(send, 200, HTML)), ["healthz"]),
    "a stream on GET": (answers(at("/mcp", "GET"), _stream), ["POST only"]),
    "405 without Allow": (edits(without_field(b"allow")), ["POST only"]),
    "no challenge": (edits(without_field(b"www-authenticate")), ["no token", "wrong token"]),
    "no scope in the challenge": (edits(replace_in_challenge(b"scope=", b"x=")), ["no token"]),
    "a missing token called an error": (
        edits(replace_in_challenge(b"Bearer scope", b'Bearer error="invalid_token", scope')),
        ["no token"],
    ),
    "a wrong token not called an error": (edits(replace_in_challenge(b"invalid_token", b"other")), ["wrong token"]),
    "metadata beside static tokens": (
        answers(at("/.well-known/oauth-protected-resource"), lambda send: _reply(send, 200, OTHER_METADATA)),
        ["metadata"],
    ),
    "metadata on another host": (
        edits(replace_in_challenge(b"Bearer ", b'Bearer resource_metadata="https://other.example/m", ')),
        ["metadata"],
    ),
    "metadata that cannot be had": (
        edits(replace_in_challenge(b"Bearer ", b'Bearer resource_metadata="http://127.0.0.1/m", ')),
        ["metadata"],
    ),
    "a proxy that sets the Host field": (rewrites(set_field(b"host", b"127.0.0.1")), ["wrong Host"]),
    "a proxy that drops the Origin field": (rewrites(without_field(b"origin")), ["foreign Origin"]),
    "a proxy that drops the token": (
        rewrites(without_field(b"authorization")),
        [
            "wrong token",
            "initialize 2025-11-25",
            "server/discover 2026-07-28",
            "tools/list 2025-11-25",
            "mail_capabilities 2025-11-25",
            "tools/list 2026-07-28",
            "mail_capabilities 2026-07-28",
        ],
    ),
    "a proxy that drops the era": (
        rewrites(without_field(b"mcp-protocol-version")),
        ["server/discover 2026-07-28"],
    ),
}


def metadata_says(**changes: Any) -> Flaw:
    """OAuth mode whose document differs from the right one by `changes`; None takes a member away."""

    def flawed(app: Any) -> Any:
        async def call(scope: Any, receive: Any, send: Any) -> None:
            host = dict(scope["headers"])[b"host"].decode()
            right = {
                "resource": f"http://{host}/mcp",
                "authorization_servers": ["https://id.example"],
                "scopes_supported": ["mail.read"],
            }
            document = {name: value for name, value in {**right, **changes}.items() if value is not None}
            if scope["path"].startswith(SMOKE.METADATA):
                await _reply(send, 200, json.dumps(document).encode())
                return
            where = f'Bearer resource_metadata="http://{host}{SMOKE.METADATA}/mcp", '.encode()
            await edits(replace_in_challenge(b"Bearer ", where))(app)(scope, receive, send)

        return call

    return flawed


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"resource": "https://mail.example.com/mcp"}, ["metadata"]),
        ({"resource": None}, ["metadata"]),
        ({"authorization_servers": []}, ["metadata"]),
        ({"authorization_servers": None}, ["metadata"]),
        ({"scopes_supported": ["mail.read", "mail.send"]}, ["metadata"]),
        ({"scopes_supported": "mail.read"}, ["metadata"]),
    ],
)
def test_metadata_that_would_mislead_a_client_is_found(changes: dict[str, Any], expected: list[str]) -> None:
    assert failures(metadata_says(**changes)(application())) == expected


@pytest.mark.parametrize("name", FLAWS)
def test_a_flaw_is_found_where_it_is(name: str) -> None:
    flaw, expected = FLAWS[name]
    assert failures(flaw(application()), seconds=3.0 if "stream" in name else 10.0) == expected


def test_a_redirect_is_not_followed_and_named() -> None:
    target = (b"location", b"https://elsewhere.example/mcp")
    app = answers(lambda scope: True, lambda send: _reply(send, 307, b"", target))(None)
    lines: list[str] = []
    with in_a_thread(app) as endpoint:
        assert not SMOKE.run(SMOKE.Target(urlsplit(endpoint), OWNER_TOKEN, 10.0), lines.append)
    assert "FAIL healthz: status 307 instead of 200 (a redirect: give the address it leads to)" in lines
    assert not [line for line in lines if line.startswith("ok")], lines


def test_somebody_who_agrees_to_everything_passes_nothing() -> None:
    app = answers(lambda scope: True, lambda send: _reply(send, 200, b'{"result": {}}'))(None)
    lines: list[str] = []
    with in_a_thread(app) as endpoint:
        assert not SMOKE.run(SMOKE.Target(urlsplit(endpoint), OWNER_TOKEN, 10.0), lines.append)
    assert not [line for line in lines if line.startswith("ok")], lines
