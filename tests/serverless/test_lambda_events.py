"""What AWS Lambda hands over and takes back, in both payload formats."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from mailgate.lambda_events import LambdaBridge, to_scope
from tests.server.fakes import ENVIRONMENT, ERAS, OWNER_TOKEN, READ_TOKEN, Post, application, settings
from tests.serverless.events import Remaining, fields_of, found, newer, older, search

CANARY = "canary-lambda-3c9d"


def invoke(event: Any, context: Remaining | None = None, app: Any = None) -> dict[str, Any]:
    bridge = LambdaBridge(app or application())
    try:
        return bridge(event, context)
    finally:
        bridge.close()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("event", [newer, older, lambda post: newer(post, encoded=False)])
def test_a_call_is_answered_in_either_format(era: str, event: Any) -> None:
    answer = invoke(event(search(era)))
    assert found(answer) == [3, 2]
    fields = answer.get("headers") or {name: values[0] for name, values in answer["multiValueHeaders"].items()}
    assert fields["content-type"] == "application/json"
    assert fields["x-request-id"]


def test_a_lists_answer_is_text_and_not_base64() -> None:
    answer = invoke(newer(Post("tools/list")))
    assert answer["isBase64Encoded"] is False
    assert len(json.loads(answer["body"])["result"]["tools"]) > 10


def test_an_answer_that_is_not_utf_8_goes_as_base64() -> None:
    async def odd(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"Vary", b"a"), (b"Vary", b"b")]})
        await send({"type": "http.response.body", "body": b"\xff\xfe"})

    for event, names in ((newer, {"vary": "a, b"}), (older, {"vary": ["a", "b"]})):
        answer = invoke(event(search()), app=odd)
        assert base64.b64decode(answer["body"]) == b"\xff\xfe"
        assert (answer["isBase64Encoded"], answer.get("headers", answer.get("multiValueHeaders"))) == (True, names)


def test_the_scope_says_what_the_event_says() -> None:
    scope = to_scope(newer(search(), path="/mcp%20x", rawQueryString="a=1&b=%26"))
    assert (scope["method"], scope["path"], scope["query_string"]) == ("POST", "/mcp x", b"a=1&b=%26")
    assert scope["client"] == ("192.0.2.1", 0)
    old = to_scope(older(search(), multiValueQueryStringParameters={"a": ["1", "2"]}))
    assert (old["query_string"], old["client"]) == (b"a=1&a=2", ("192.0.2.1", 0))


def test_a_stage_before_the_path_is_no_part_of_it() -> None:
    request = {"http": {"method": "POST", "path": "/prod/mcp", "sourceIp": "192.0.2.1"}, "stage": "prod"}
    assert found(invoke(newer(search(), path="/prod/mcp", requestContext=request))) == [3, 2]


def test_get_is_405_here_too() -> None:
    request = {"http": {"method": "GET", "path": "/mcp", "sourceIp": "192.0.2.1"}, "stage": "$default"}
    answer = invoke(newer(search(), requestContext=request, body=None))
    assert (answer["statusCode"], answer["headers"]["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "doubled", [{"authorization": f"Bearer {OWNER_TOKEN},Bearer {READ_TOKEN}"}, {"authorization": ""}]
)
def test_a_field_that_arrives_joined_is_refused_like_one_that_occurs_twice(doubled: dict[str, str]) -> None:
    answer = invoke(newer(search(), headers={**fields_of(search()), **doubled}))
    assert answer["statusCode"] == 401


def test_two_values_of_a_field_stay_two() -> None:
    several = {name: [value] for name, value in fields_of(search()).items()}
    several["content-type"] *= 2
    assert invoke(older(search(), multiValueHeaders=several))["statusCode"] == 400


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"source": "aws.events", CANARY: 1},
        {"version": "2.0", "requestContext": {"http": CANARY}},
        {"version": "2.0", "requestContext": {"http": {"method": "POST"}}},
        newer(search(), body=f"{CANARY}!", isBase64Encoded=True),
        newer(search(), headers=CANARY),
        newer(search(), headers={CANARY: 5}),
        newer(search(), path=f"/{CANARY}\ud800"),
        newer(search(), rawQueryString=f"{CANARY}=\udfff"),
        older(search(), path=f"/{CANARY}\ud800"),
        older(search(), queryStringParameters={"a": f"{CANARY}\ud800"}),
        older(search(), queryStringParameters={f"{CANARY}\ud800": "a"}),
    ],
)
def test_what_is_no_http_request_is_400_and_repeats_nothing(event: Any) -> None:
    answer = invoke(event)
    assert answer["statusCode"] == 400
    assert CANARY not in json.dumps(answer)


@pytest.mark.parametrize("body", ["\ud800", "\ufeff{}", '{"a":1,"a":2}', "", None])
def test_a_body_that_is_not_one_plain_message_is_refused_cleanly(body: str | None) -> None:
    assert invoke(newer(search(), body=body, isBase64Encoded=False))["statusCode"] == 400


def test_a_call_that_takes_longer_than_the_function_may_is_told_so_in_time() -> None:
    ended = []

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    answer = invoke(newer(search()), Remaining(505), app=slow)
    assert answer["statusCode"] == 504
    assert json.loads(answer["body"])["error"] == "out_of_time"
    assert ended == [True]


def test_nobody_hangs_up_on_a_function() -> None:
    """A request's `receive` has nothing more to say after the body, least of all that the client is gone."""
    heard: list[Any] = []

    async def listening(scope: Any, receive: Any, send: Any) -> None:
        heard.append(await receive())
        waiting = asyncio.ensure_future(receive())
        await asyncio.sleep(0)
        heard.append(waiting.done())
        waiting.cancel()
        await send({"type": "http.response.start", "status": 204, "headers": []})

    assert invoke(newer(search()), app=listening)["statusCode"] == 204
    assert (heard[0]["type"], heard[0]["more_body"], heard[1]) == ("http.request", False, False)


def test_the_handler_is_built_from_the_environment() -> None:
    script = (
        "import json,sys; from mailgate.lambda_handler import handler\n"
        "print(json.dumps([handler(event, None) for event in json.load(sys.stdin)]))"
    )
    events = json.dumps([newer(Post("tools/list", era=era)) for era in ERAS])
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=events,
        env={**ENVIRONMENT, "AWS_LAMBDA_FUNCTION_NAME": "mail", "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [answer["statusCode"] for answer in json.loads(done.stdout)] == [200, 200]


# --- what is not kept must not be relied on ------------------------------------------------------------------------

SENDING = {
    "MAIL_ENABLE_SEND": "1",
    "MAIL_FROM": "owner@example.org",
    "MAIL_SMTP_HOST": "smtp.example.net",
    "MAIL_STORE_KEY": "bm90IGEgc2VjcmV0OiBvbmx5IGZvciB0aGUgdGVzdHM=",
}
HOSTS = ("VERCEL", "AWS_LAMBDA_FUNCTION_NAME", "K_SERVICE")


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("store", ["", "sqlite:/tmp/store", "sqlite:/var/lib/mailgate/store"])
def test_sending_from_a_disk_that_is_not_kept_does_not_start(host: str, store: str) -> None:
    from mailgate.settings import SettingsError

    with pytest.raises(SettingsError) as refused:
        settings(**SENDING, MAIL_STORE=store, **{host: "1"})
    (problem,) = refused.value.problems
    assert "MAIL_STORE must be a remote store" in problem


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("store", ["rediss://cache.example.net", "upstash"])
def test_sending_with_a_remote_store_starts_there(host: str, store: str) -> None:
    upstash = {"UPSTASH_REDIS_REST_URL": "https://x.example.net", "UPSTASH_REDIS_REST_TOKEN": "t"}
    remote = upstash if store == "upstash" else {}
    assert settings(**SENDING, MAIL_STORE=store, **remote, **{host: "1"}).store.is_remote


@pytest.mark.parametrize("host", HOSTS)
def test_reading_needs_no_store_there(host: str) -> None:
    assert settings(**{host: "1"}).gates == frozenset()
