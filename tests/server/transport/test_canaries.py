"""Whatever a caller puts into headers, paths and bodies: none of it in a response, a header or a log line."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from mailgate.app import build_app
from mailgate.limits import STRANGER_BURST
from mailgate.server.telemetry import configure_logging
from tests.contract.deployment import environ
from tests.peers.scripted_imap import ScriptedImap, script
from tests.server.fakes import BARE_TOKEN, ERAS, OWNER_TOKEN, READ_TOKEN, Post, application, service
from tests.server.transport.serving import served, until
from tests.server.transport.test_hangup import STALLING
from tests.serverless.events import newer

CANARY = "canary-transport-7b1e"
TOKENS = (OWNER_TOKEN, READ_TOKEN, BARE_TOKEN)
HEADERS = (
    "User-Agent", "Referer", "Cookie", "X-Forwarded-For", "X-Request-Id", "Traceparent", "Accept-Language",
    "Mcp-Param-Folder", "Mcp-Session-Id", "Last-Event-ID", "Via", "Forwarded", "Baggage", "If-None-Match",
)  # fmt: skip
pytestmark = pytest.mark.parametrize("era", ERAS)


@pytest.fixture
def logs() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure_logging("debug", "json", stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)


def assert_quiet(*texts: str) -> None:
    for text in texts:
        assert CANARY not in text
        assert not [token for token in TOKENS if token in text]


@pytest.mark.parametrize("name", HEADERS)
async def test_a_header_of_any_name_is_in_no_answer_and_no_log(era: str, name: str, logs: io.StringIO) -> None:
    app = application()
    for post in (
        Post("tools/list", era=era, headers={name: CANARY}),
        Post.call("mail_search", era=era, headers={name: CANARY}),
        Post.call("mail_search", {"limit": 0}, era=era, headers={name: CANARY}),
        Post.call("mail_search", era=era, token=None, headers={name: CANARY}),
        Post.call("mail_capabilities", era=era, token=BARE_TOKEN, headers={name: CANARY}),
    ):
        response = await post.to(app)
        assert_quiet(response.text, str(response.headers))
    assert_quiet(logs.getvalue())
    assert len(logs.getvalue().splitlines()) >= 4


async def test_what_is_throttled_busy_or_ending_repeats_nothing(era: str, logs: io.StringIO) -> None:
    app = application()
    posts = [Post.call("mail_search", era=era, token=CANARY, headers={"X-Odd": CANARY})] * (int(STRANGER_BURST) + 5)
    statuses = set()
    for post in posts:
        response = await post.to(app)
        statuses.add(response.status_code)
        assert_quiet(response.text, str(response.headers))
    app.stop_taking()
    ending = await Post.call("mail_search", {"query": CANARY}, era=era).to(app)
    assert_quiet(ending.text, str(ending.headers), logs.getvalue())
    assert (statuses, ending.status_code) == ({401, 429}, 503)


async def test_a_client_that_leaves_repeats_nothing(era: str, logs: io.StringIO) -> None:
    from mailgate.app import build_service
    from mailgate.settings import load_settings

    async with ScriptedImap([script(STALLING)]) as peer:
        deployment = build_service(load_settings(environ(peer.port)))
        app = build_app(deployment.settings, service=deployment)
        async with served(app) as server:
            client = await server.connect()
            await client.send(Post.call("mail_search", {"query": CANARY}, era=era, headers={"X-Odd": CANARY}))
            await until(lambda: b"UID SEARCH" in b" ".join(peer.commands))
            client.hang_up()
            await until(lambda: app._throttle.places.taken == 0)
    assert_quiet(logs.getvalue())


async def test_every_line_of_a_request_has_its_id_and_the_answer_has_it_too(era: str, logs: io.StringIO) -> None:
    deployment = service()
    app = build_app(deployment.settings, service=deployment)
    answers = [await Post.call("mail_search", {"query": CANARY}, era=era).to(app) for _ in range(3)]
    lines = [json.loads(line) for line in logs.getvalue().splitlines()]
    calls = [line["request_id"] for line in lines if line["event"] == "call"]
    assert calls == [answer.headers["x-request-id"] for answer in answers]


def test_a_lambda_event_repeats_nothing(era: str, logs: io.StringIO) -> None:
    from mailgate.lambda_events import LambdaBridge

    bridge = LambdaBridge(application())
    changes: list[dict[str, Any]] = [
        {"rawQueryString": CANARY}, {"body": CANARY}, {"cookies": [CANARY]}, {"rawPath": f"/{CANARY}"}
    ]  # fmt: skip
    for change in changes:
        answer = bridge(newer(Post.call("mail_search", {"query": CANARY}, era=era), **change), None)
        assert_quiet(json.dumps(answer))
    bridge.close()
    assert_quiet(logs.getvalue())
