"""The HTTP surface: what is refused, in which order, with which status, and that nothing is repeated."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from mailgate.policy import Gate, Requirement, Scope
from mailgate.server.catalog import TOOLS
from mailgate.server.dispatch import Dispatcher
from mailgate.server.http import HttpSurface
from tests.server.fakes import (
    BARE_TOKEN,
    ERAS,
    OWNER_TOKEN,
    READ_TOKEN,
    Post,
    application,
    http_client,
    mailbox,
    service,
    settings,
    unconfigured,
)

CANARY = "canary-77aa"
SEARCH = Post.call("mail_search")


# --- health ------------------------------------------------------------------------------------------------------


async def test_healthz_answers_anyone_by_any_name() -> None:
    async with http_client(application(), None, Host="10.0.0.7") as client:
        response = await client.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


async def test_readyz_is_ready_when_the_settings_are_complete() -> None:
    box = mailbox()
    async with http_client(application(box=box), None) as client:
        response = await client.get("/readyz")
    assert response.status_code == 200
    assert box.examined == []


async def test_readyz_names_the_missing_variables() -> None:
    async with http_client(application(unconfigured()), None) as client:
        response = await client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["missing"] == ["MAIL_IMAP_HOST", "MAIL_USERNAME", "MAIL_PASSWORD"]


async def test_readyz_does_not_answer_for_a_foreign_host() -> None:
    async with http_client(application(), None, Host="evil.example") as client:
        assert (await client.get("/readyz")).status_code == 421


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_health_checks_take_get_only(path: str) -> None:
    async with http_client(application()) as client:
        response = await client.post(path)
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD")


# --- routing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_the_endpoint_takes_post_only(method: str, path: str) -> None:
    async with http_client(application()) as client:
        response = await client.request(method, path, headers={"Accept": "text/event-stream"})
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


async def test_a_trailing_slash_is_the_same_endpoint() -> None:
    async with http_client(application()) as client:
        response = await client.post("/mcp/", content=SEARCH.content(), headers=SEARCH.fields())
    assert response.json()["result"]["isError"] is False


@pytest.mark.parametrize(
    "path",
    ["/", "/sse", "/mcp/x", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
     "/.well-known/oauth-authorization-server"],
)  # fmt: skip
async def test_nothing_else_is_served_and_no_metadata_while_tokens_are_static(path: str) -> None:
    async with http_client(application()) as client:
        response = await client.get(path)
    assert response.status_code == 404
    assert "resource_metadata" not in str(response.headers)


@pytest.mark.parametrize("path", ["/mcp", "/", "/readyz"])
async def test_a_foreign_host_is_refused_before_anything_else(path: str) -> None:
    async with http_client(application(), Host=f"{CANARY}.example") as client:
        response = await client.post(path, content=SEARCH.content(), headers=SEARCH.fields())
    assert response.status_code == 421
    assert CANARY not in response.text


async def test_a_mounted_application_finds_its_endpoint() -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "GET", "path": "/mail/mcp", "root_path": "/mail", "query_string": b"",
             "headers": [(b"host", b"localhost")]}  # fmt: skip
    await application()(scope, receive, send)
    assert sent[0]["status"] == 405


# --- origins -----------------------------------------------------------------------------------------------------

BROWSER = {"MAIL_PUBLIC_URL": "https://mail.example.com/mcp", "MAIL_ALLOWED_ORIGINS": "https://app.example.net"}


async def test_a_configured_origin_gets_cors_answers() -> None:
    app = application(settings(**BROWSER))
    async with http_client(app, None, Host="mail.example.com", Origin="https://app.example.net") as client:
        asked = await client.options("/mcp", headers={"Access-Control-Request-Method": "POST"})
        refused = await client.post("/mcp")
    assert asked.status_code == 204
    assert asked.headers["access-control-allow-methods"] == "POST"
    assert "Authorization" in asked.headers["access-control-allow-headers"]
    for response in (asked, refused):
        assert response.headers["access-control-allow-origin"] == "https://app.example.net"
        assert "Origin" in response.headers["vary"]
    assert refused.status_code == 401
    assert "WWW-Authenticate" in refused.headers["access-control-expose-headers"]


@pytest.mark.parametrize("method", ["OPTIONS", "POST"])
async def test_any_other_origin_is_forbidden_without_cors_fields(method: str) -> None:
    app = application(settings(**BROWSER))
    async with http_client(app, Host="mail.example.com", Origin=f"https://{CANARY}.example") as client:
        response = await client.request(method, "/mcp", content=SEARCH.content(), headers=SEARCH.fields())
    assert response.status_code == 403
    assert not [name for name in response.headers if name.startswith("access-control")]
    assert CANARY not in response.text


async def test_a_request_without_an_origin_gets_no_cors_fields() -> None:
    response = await SEARCH.to(application())
    assert not [name for name in response.headers if name.startswith("access-control")]


# --- the caller --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_no_token_is_a_challenge_without_an_error(era: str) -> None:
    box = mailbox()
    response = await Post.call("mail_search", era=era, token=None).to(application(box=box))
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == 'Bearer scope="mail.read"'
    assert box.examined == []


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Bearer nonsense", "Basic b3duZXI6eA==", OWNER_TOKEN, f"Bearer {OWNER_TOKEN[:-1]}"]
)
async def test_a_bad_credential_is_an_invalid_token(value: str) -> None:
    response = await Post.call("mail_search", token=None, headers={"Authorization": value}).to(application())
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == 'Bearer error="invalid_token", scope="mail.read"'
    assert "canary" not in response.text


async def test_a_token_in_the_query_is_refused_even_when_it_is_good() -> None:
    async with http_client(application()) as client:
        response = await client.post(
            f"/mcp?access_token={OWNER_TOKEN}", content=SEARCH.content(), headers=SEARCH.fields()
        )
    assert response.status_code == 401
    assert OWNER_TOKEN not in response.text


async def test_the_challenge_names_every_scope_whose_gate_is_open() -> None:
    app = application(settings(MAIL_ENABLE_WRITES="1"))
    response = await Post.call("mail_search", token=None).to(app)
    assert response.headers["www-authenticate"] == 'Bearer scope="mail.read mail.write"'


@pytest.mark.parametrize("era", ERAS)
async def test_any_valid_token_may_list_tools(era: str) -> None:
    response = await Post("tools/list", era=era, token=BARE_TOKEN).to(application())
    assert len(response.json()["result"]["tools"]) == len(TOOLS)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", [tool.name for tool in TOOLS if tool.hints.read_only])
async def test_a_call_without_its_scope_is_403_naming_what_it_needs(era: str, name: str) -> None:
    box = mailbox()
    response = await Post.call(name, era=era, token=BARE_TOKEN).to(application(box=box))
    assert response.status_code == 403
    assert response.headers["www-authenticate"] == 'Bearer error="insufficient_scope", scope="mail.read"'
    assert box.examined == []


def writing(app: HttpSurface) -> HttpSurface:
    """The application with its last tool behind the writes gate."""
    import dataclasses

    row = dataclasses.replace(
        TOOLS[1], requirement=Requirement(frozenset({Scope.READ, Scope.WRITE}), frozenset({Gate.WRITES}))
    )
    from mailgate.server.mcp import McpEndpoint

    dispatcher = Dispatcher(app._dispatcher.backend, (row,))
    app._dispatcher, app._endpoint = dispatcher, McpEndpoint(dispatcher)
    return app


@pytest.mark.parametrize("era", ERAS)
async def test_a_closed_gate_is_a_tool_error_and_never_a_challenge(era: str) -> None:
    response = await Post.call(TOOLS[1].name, era=era, token=READ_TOKEN).to(writing(application()))
    assert response.status_code == 200
    assert "error gate_closed: " in response.json()["result"]["content"][0]["text"]


@pytest.mark.parametrize("era", ERAS)
async def test_every_scope_of_the_call_is_named_in_one_challenge(era: str) -> None:
    app = writing(application(settings(MAIL_ENABLE_WRITES="1")))
    response = await Post.call(TOOLS[1].name, era=era, token=READ_TOKEN).to(app)
    assert response.status_code == 403
    assert response.headers["www-authenticate"] == 'Bearer error="insufficient_scope", scope="mail.read mail.write"'


# --- the body ----------------------------------------------------------------------------------------------------

CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mail_search","arguments":%s}}'


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (CALL % '{"subject":"canary","subject":"x"}', -32700),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"canary"}', -32700),
        (CALL % ('{"a":' * 200 + "1" + "}" * 200), -32700),
        ("[" * 100_000, -32700),
        (CALL % '{"limit":NaN}', -32700),
        (CALL % '{"limit":-Infinity}', -32700),
        (CALL % '{"limit":1e999}', -32700),
        (CALL % ('{"limit":' + "9" * 5000 + "}"), -32700),
        (CALL % '{"subject":"\\ud800canary"}', -32700),
        ('{"canary', -32700),
        ("", -32700),
        ("\ufeff{}", -32700),
        ("[" + CALL % "{}" + "]", -32600),
        ("[]", -32600),
        ('"canary"', -32600),
        ("null", -32600),
        ("{}", -32600),
        ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1,"result":{"canary":1}}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":"canary canary"}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":["canary"]}', -32600),
        ('{"jsonrpc":"2.0","id":{"canary":1},"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":"ping","params":["canary"]}', -32600),
    ],
)
async def test_a_body_that_is_not_one_plain_message_is_refused_with_a_fixed_text(
    era: str, body: str, code: int
) -> None:
    headers = {} if era == "legacy" else {"MCP-Protocol-Version": era, "Mcp-Method": "tools/call"}
    response = await Post(body=body.encode(), headers=headers).to(application())
    assert response.status_code == 400
    answer = response.json()
    assert (answer["id"], answer["error"]["code"]) == (None, code)
    assert "canary" not in response.text


@pytest.mark.parametrize("body", [b'{"a":"\xff"}', CALL.encode("utf-16")])
async def test_a_body_that_is_not_utf_8_is_refused(body: bytes) -> None:
    assert (await Post(body=body).to(application())).status_code == 400


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/xml", "application/json-canary", "application/json; charset=utf-16"]
)
async def test_a_body_that_does_not_say_it_is_json_is_refused(kind: str) -> None:
    response = await Post.call("mail_search", headers={"Content-Type": kind}).to(application())
    assert response.status_code == 415
    assert "canary" not in response.text


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON", 'application/json; charset="UTF-8"'])
async def test_json_is_json_in_any_spelling(kind: str) -> None:
    assert (await Post.call("mail_search", headers={"Content-Type": kind}).to(application())).status_code == 200


@pytest.mark.parametrize("era", ERAS)
async def test_a_request_that_does_not_say_what_it_accepts_accepts_anything(era: str) -> None:
    post = Post.call("mail_capabilities", era=era)
    fields = [(name, value) for name, value in post.fields().items() if name != "Accept"]
    async with http_client(application()) as client:
        request = client.build_request("POST", "/mcp", content=post.content(), headers=fields)
        del request.headers["Accept"]
        answer = await client.send(request)
    assert answer.status_code == 200
    assert answer.json()["result"]["structuredContent"]


async def test_a_compressed_body_is_refused() -> None:
    assert (await Post.call("mail_search", headers={"Content-Encoding": "gzip"}).to(application())).status_code == 415


@pytest.mark.parametrize("name", ["Content-Type", "MCP-Protocol-Version", "Mcp-Name"])
async def test_a_field_that_two_readers_could_read_differently_is_refused(name: str) -> None:
    post = Post.call("mail_search", era="2026-07-28")
    fields = [*post.fields().items(), (name, "application/json")]
    async with http_client(application()) as client:
        response = await client.post("/mcp", content=post.content(), headers=fields)
    assert response.status_code == 400


SMALL = {"MAIL_MAX_REQUEST_BYTES": "2048"}


async def test_a_body_over_the_cap_is_refused_by_what_it_declares() -> None:
    response = await Post(body=b" " * 2049).to(application(settings(**SMALL)))
    assert response.status_code == 413
    assert "2048" in response.text


async def test_a_body_of_exactly_the_cap_is_read() -> None:
    body = (CALL % "{}").ljust(2048).encode()
    assert (await Post(body=body).to(application(settings(**SMALL)))).status_code == 200


@pytest.mark.parametrize("declared", [None, "5", "nonsense", "9" * 400])
async def test_a_body_over_the_cap_is_not_read_to_its_end_whatever_it_declares(declared: str | None) -> None:
    chunks = 0

    async def receive() -> Any:
        nonlocal chunks
        chunks += 1
        return {"type": "http.request", "body": b"x" * 1024, "more_body": True}

    sent = await raw(application(settings(**SMALL)), receive, declared)
    assert sent[0]["status"] == 413
    assert chunks <= 3


async def test_a_client_that_leaves_in_the_middle_of_its_body_ends_the_request() -> None:
    async def receive() -> Any:
        return {"type": "http.disconnect"}

    assert await raw(application(), receive, None) == []


async def test_a_body_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailgate.server.envelope.BODY_SECONDS", 0.01)

    async def receive() -> Any:
        await asyncio.Event().wait()

    assert (await raw(application(), receive, None))[0]["status"] == 408


async def raw(app: HttpSurface, receive: Any, declared: str | None) -> list[dict[str, Any]]:
    """What the application sends to a POST whose body comes from `receive`."""
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    fields = {**SEARCH.fields(), "Host": "localhost", "Authorization": f"Bearer {OWNER_TOKEN}"}
    fields |= {"Content-Length": declared} if declared else {}
    headers = [(name.lower().encode(), value.encode()) for name, value in fields.items()]
    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}
    await app(scope, receive, send)
    return sent


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("field", ["Mcp-Name", "Mcp-Method"])
async def test_a_routing_field_that_disagrees_with_the_body_runs_nothing(era: str, field: str) -> None:
    box = mailbox()
    response = await Post.call("mail_search", era=era, headers={field: "mail_capabilities"}).to(application(box=box))
    assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)
    assert box.examined == []


# --- the rest ----------------------------------------------------------------------------------------------------


async def test_a_notification_is_accepted_without_an_answer() -> None:
    body = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode()
    response = await Post(body=body).to(application())
    assert (response.status_code, response.text) == (202, "")


@pytest.mark.parametrize("version", [CANARY, "2026-07-28x", "1" * 400])
async def test_a_protocol_version_of_no_form_is_refused_without_being_repeated(version: str) -> None:
    response = await Post.call("mail_search", headers={"MCP-Protocol-Version": version}).to(application())
    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32022
    assert "2026-07-28" in response.json()["error"]["data"]["supported"]
    assert CANARY not in response.text


async def test_every_response_has_a_request_id_of_ours_and_is_not_stored() -> None:
    first = await Post.call("mail_search", headers={"X-Request-Id": CANARY}).to(application())
    second = await Post.call("mail_search", token=None).to(application())
    ids = {response.headers["x-request-id"] for response in (first, second)}
    assert len(ids) == 2
    assert CANARY not in ids
    assert first.headers["cache-control"] == second.headers["cache-control"] == "no-store"


async def test_a_fault_of_the_protocol_layer_is_an_incident(caplog: pytest.LogCaptureFixture) -> None:
    app = application()

    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError(CANARY)

    app._endpoint = broken
    caplog.set_level("DEBUG")
    response = await SEARCH.to(app)
    assert response.status_code == 500
    assert response.json() == {"error": "internal_error", "incident": response.headers["x-request-id"]}
    assert CANARY not in response.text + caplog.text


async def test_requests_work_without_a_lifespan_and_on_one_loop_after_another() -> None:
    app = application()
    for _ in range(2):
        response = await asyncio.to_thread(asyncio.run, SEARCH.to(app))
        assert response.json()["result"]["isError"] is False


async def test_the_lifespan_warms_up_first_and_closes_the_mailbox_last() -> None:
    closed = []
    app = application()

    async def close() -> None:
        closed.append(True)

    app._close = close
    app._opened = lambda: closed.append(False)
    messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])
    sent: list[str] = []

    async def receive() -> Any:
        return next(messages)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await app({"type": "lifespan"}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert closed == [False, True]


async def test_a_mailbox_that_will_not_close_does_not_keep_the_server_from_ending(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = application()

    async def close() -> None:
        raise RuntimeError(CANARY)

    app._close = close
    sent: list[str] = []

    async def receive() -> Any:
        return {"type": "lifespan"}

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await app({"type": "lifespan"}, receive, send)
    assert sent[-1] == "lifespan.shutdown.complete"
    assert CANARY not in caplog.text


async def test_an_id_may_be_a_string_of_some_length() -> None:
    for length, status in ((256, 200), (257, 400)):
        body = json.dumps({"jsonrpc": "2.0", "id": "x" * length, "method": "ping"}).encode()
        assert (await Post(body=body).to(application())).status_code == status


async def test_calls_run_side_by_side() -> None:
    app = application()
    responses = await asyncio.gather(*(SEARCH.to(app) for _ in range(8)))
    assert {response.status_code for response in responses} == {200}


def test_the_service_of_the_tests_is_the_service_of_the_application() -> None:
    assert service().dispatcher.tools is TOOLS
