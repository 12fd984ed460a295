"""The largest legal message through each store, over real HTTP, into an SMTP server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from mailgate.limits import REQUEST_BYTES_DEFAULT, STORE_REQUEST_BYTES_MAX
from mailgate.send.record import Envelope, digest_of
from tests.peers.redis_rest import TOKEN, RedisRest
from tests.peers.redis_server import RedisServer
from tests.peers.smtp_sink import SmtpSink
from tests.send.limits.compositions import COMPLETE, DECODED, RECIPIENTS, brimful
from tests.send.limits.conftest import sending
from tests.send.limits.test_edges import shown, told
from tests.send.real.serving import Result, Served, served
from tests.server.fakes import Post


@dataclass(frozen=True)
class Place:
    """A server on one of the stores, what it sends to, and the stand-in for Upstash where there is one."""

    server: Served
    smtp: SmtpSink
    rest: RedisRest | None


@pytest.fixture(params=["sqlite", "redis", "upstash"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    async with AsyncExitStack() as stack:
        smtp = await stack.enter_async_context(SmtpSink())
        rest = None
        if request.param == "sqlite":
            store = {"MAIL_STORE": f"sqlite:{tmp_path / 'send.sqlite3'}"}
        else:
            redis: RedisServer = request.getfixturevalue("redis_server")
            store = {"MAIL_STORE": redis.url}
        if request.param == "upstash":
            # A request of this size is more than a stream reader takes by default; the stand-in reads it whole.
            rest = await stack.enter_async_context(RedisRest(redis.port))
            named = {"UPSTASH_REDIS_REST_URL": rest.url, "UPSTASH_REDIS_REST_TOKEN": TOKEN}
            store = {"MAIL_STORE": "upstash", **named}
        server = stack.enter_context(served(sending(smtp.port, **store)))
        yield Place(server, smtp, rest)


@pytest.mark.requirement("WD4", "SP1", "SP2", "SC1")
async def test_the_largest_message_is_prepared_confirmed_and_sent_whole(place: Place) -> None:
    sizes: list[int] = []

    async def prepare(message: Result) -> Result:
        sizes.append(len(Post.call("mail_prepare_send", {"message": message}, era="2026-07-28").content()))
        return await place.server.ok("mail_prepare_send", {"message": message})

    review, message = await brimful(prepare)
    assert review["size"] == COMPLETE
    assert told(review) == shown(message)
    assert sum(each["size"] for each in review["attachments"]) == DECODED
    assert max(sizes) <= REQUEST_BYTES_DEFAULT

    arguments = {
        "prepared_id": review["prepared_id"],
        "confirmed_digest": review["digest"],
        "append_sent": False,
    }
    report = await place.server.ok("mail_send_confirmed", arguments)
    assert (report["status"], report["warnings"]) == ("accepted", [])
    (taken,) = place.smtp.taken
    assert taken.recipients == (*review["to"], *review["cc"], *review["bcc"])
    assert len(taken.recipients) == RECIPIENTS
    envelope = Envelope(taken.sender, tuple(review["to"]), tuple(review["cc"]), tuple(review["bcc"]))
    assert digest_of(envelope, taken.data).value == review["digest"]
    assert await place.server.ok("mail_send_confirmed", arguments) == report
    assert len(place.smtp.taken) == 1
    if place.rest is not None:
        requests = [len(json.dumps(command)) for command in place.rest.commands]
        assert COMPLETE * 4 // 3 < max(requests) < STORE_REQUEST_BYTES_MAX
