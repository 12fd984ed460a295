"""Too much of a caller, too many strangers, too many calls at once: who is told what, and who is not."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator

import pytest

from mailgate.app import build_app
from mailgate.server.http import HttpSurface
from mailgate.server.telemetry import configure_logging
from mailgate.server.throttle import Places, Throttle, TokenBuckets
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
)
from tests.write.fakes import WritableFakeMailbox

CANARY = "canary-crowd-5e2a"
LIST = Post("tools/list")
pytestmark = pytest.mark.parametrize("era", ERAS)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def limited(throttle: Throttle, clock: Clock | None = None, box: WritableFakeMailbox | None = None) -> HttpSurface:
    app = application(box=box)
    app._throttle, app._clock = throttle, clock or Clock()
    return app


def listing(era: str, token: str | None = OWNER_TOKEN, **headers: str) -> Post:
    return Post("tools/list", era=era, token=token, headers=headers)


async def statuses(app: HttpSurface, post: Post, count: int) -> list[int]:
    return [(await post.to(app)).status_code for _ in range(count)]


async def test_a_caller_beyond_the_rate_is_told_when_to_come_again(era: str) -> None:
    clock, box = Clock(), mailbox()
    app = limited(Throttle(callers=TokenBuckets(0.5, 2.0)), clock, box)
    search = Post.call("mail_search", era=era)
    assert await statuses(app, search, 2) == [200, 200]
    examined = len(box.examined)
    refused = await search.to(app)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert refused.json()["error"] == "rate_limited"
    assert "www-authenticate" not in refused.headers, "the token is good"
    assert len(box.examined) == examined
    clock.now += 2.0
    assert (await search.to(app)).status_code == 200


async def test_a_caller_beyond_the_rate_takes_nothing_from_another(era: str) -> None:
    app = limited(Throttle(callers=TokenBuckets(1.0, 1.0)))
    assert await statuses(app, listing(era, READ_TOKEN), 3) == [200, 429, 429]
    assert await statuses(app, listing(era), 1) == [200]


async def test_a_flood_without_tokens_is_told_to_slow_down_and_still_how_to_log_in(era: str) -> None:
    clock = Clock()
    app = limited(Throttle(strangers=TokenBuckets(1.0, 2.0)), clock)
    flood = listing(era, None)
    assert await statuses(app, flood, 4) == [401, 401, 429, 429]
    crowded = await flood.to(app)
    assert crowded.headers["retry-after"] == "1"
    assert crowded.headers["www-authenticate"] == 'Bearer scope="mail.read"'
    clock.now += 1.0
    assert (await flood.to(app)).status_code == 401


@pytest.mark.parametrize("flood", [None, "nonsense", CANARY])
async def test_a_flood_of_strangers_never_keeps_a_caller_out(era: str, flood: str | None) -> None:
    app = limited(Throttle(strangers=TokenBuckets(0.001, 1.0)))
    assert await statuses(app, listing(era, flood), 20) == [401, *[429] * 19]
    for token in (OWNER_TOKEN, READ_TOKEN, BARE_TOKEN):
        assert (await listing(era, token).to(app)).status_code == 200


async def test_a_flood_from_one_address_is_not_everybodys(era: str) -> None:
    app = limited(Throttle(strangers=TokenBuckets(0.001, 1.0)))
    assert await statuses(app, listing(era, None), 2) == [401, 429]
    import httpx2

    transport = httpx2.ASGITransport(app=app, client=("192.0.2.7", 1))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        post = listing(era, None)
        response = await client.post("/mcp", content=post.content(), headers=post.fields())
    assert response.status_code == 401


async def test_what_a_proxy_says_about_addresses_is_not_believed(era: str) -> None:
    app = limited(Throttle(strangers=TokenBuckets(0.001, 1.0)))
    posts = [listing(era, None, **{"X-Forwarded-For": f"192.0.2.{number}"}) for number in range(3)]
    assert [(await post.to(app)).status_code for post in posts] == [401, 429, 429]


async def test_health_checks_are_not_counted(era: str) -> None:
    app = limited(Throttle(strangers=TokenBuckets(0.001, 1.0)))
    await statuses(app, listing(era, None), 3)
    async with http_client(app, None) as client:
        assert [(await client.get(path)).status_code for path in ("/healthz", "/readyz") * 3] == [200] * 6


@pytest.fixture
def logs() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure_logging("debug", "json", stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)


async def test_a_flood_leaves_few_lines_and_no_value_in_the_log(era: str, logs: io.StringIO) -> None:
    app = limited(Throttle(strangers=TokenBuckets(0.001, 1.0)))
    answers = [await listing(era, CANARY, **{"X-Canary": CANARY}).to(app) for _ in range(50)]
    lines = [json.loads(line) for line in logs.getvalue().splitlines() if '"mailgate' in line or '"refused"' in line]
    assert [line["status"] for line in lines if line["event"] == "refused"] == [401, 429]
    assert CANARY not in logs.getvalue()
    assert not [answer for answer in answers if CANARY in answer.text + str(answer.headers)]


# --- places ------------------------------------------------------------------------------------------------------


def held(box: WritableFakeMailbox) -> tuple[asyncio.Event, list[int]]:
    """Make every EXAMINE wait: an event to let them go on, and how many are waiting."""
    go_on, waiting = asyncio.Event(), [0]
    examine = box.examine

    def slow(*arguments: object, **more: object) -> object:
        from contextlib import asynccontextmanager

        @asynccontextmanager
        async def lend():  # type: ignore[no-untyped-def]
            waiting[0] += 1
            await go_on.wait()
            async with examine(*arguments, **more) as folder:  # type: ignore[arg-type]
                yield folder

        return lend()

    box.examine = slow  # type: ignore[method-assign, assignment]
    return go_on, waiting


async def until_waiting(waiting: list[int], count: int) -> None:
    async with asyncio.timeout(5):
        while waiting[0] < count:
            await asyncio.sleep(0)


async def test_a_call_beyond_the_places_is_refused_before_its_body_is_read(era: str) -> None:
    box = mailbox()
    go_on, waiting = held(box)
    app = limited(Throttle(places=Places(most=2, each=2)), box=box)
    search = Post.call("mail_search", era=era)
    running = [asyncio.ensure_future(search.to(app)) for _ in range(2)]
    await until_waiting(waiting, 2)
    refused = await Post(body=b"{", token=READ_TOKEN).to(app)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json()["error"] == "busy"
    go_on.set()
    assert [(await each).status_code for each in running] == [200, 200]
    assert (await search.to(app)).status_code == 200


async def test_a_caller_whose_calls_are_all_stuck_leaves_room_for_another(era: str) -> None:
    box = mailbox()
    go_on, waiting = held(box)
    app = limited(Throttle(places=Places(most=3, each=2)), box=box)
    stuck = [asyncio.ensure_future(Post.call("mail_search", era=era, token=READ_TOKEN).to(app)) for _ in range(2)]
    await until_waiting(waiting, 2)
    assert (await listing(era, READ_TOKEN).to(app)).status_code == 503
    assert (await listing(era, OWNER_TOKEN).to(app)).status_code == 200
    go_on.set()
    await asyncio.gather(*stuck)


async def test_the_limits_that_hold_by_default_let_an_assistant_work(era: str) -> None:
    deployment = service()
    app = build_app(deployment.settings, service=deployment)
    assert set(await statuses(app, listing(era), 300)) == {200}
    answers = await asyncio.gather(*(listing(era).to(app) for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200}
