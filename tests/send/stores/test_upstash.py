"""What only the REST interface can get wrong: every fault of the network and of what stands before the store."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mailgate.errors import LimitExceeded, StoreUnavailable
from mailgate.limits import STORE_REQUEST_BYTES_MAX
from mailgate.send.record import Nonce, SendStatus
from mailgate.send.store import StoredClaim, StoredOutcome, StoredRecord
from mailgate.send.upstash_store import UpstashStore
from tests.peers.authority import authority, foreign_authority
from tests.peers.redis_rest import TOKEN, RedisRest, RestFault
from tests.peers.redis_server import RedisServer
from tests.send.stores.harness import LIFETIME, RedisBackdoor, Step, Subject, a_message

SHORT = 1.0
NOT_APPLIED = [
    RestFault.DROP_BEFORE,
    RestFault.STALL_BEFORE,
    RestFault.ERROR_500,
    RestFault.BUSY_429,
    RestFault.REDIRECT,
]
APPLIED = [
    RestFault.DROP_AFTER,
    RestFault.STALL_AFTER,
    RestFault.ERROR_500_AFTER,
    RestFault.TRUNCATED,
    RestFault.ODD,
    RestFault.PACKED,
]


@pytest.fixture
async def remote(redis_server: RedisServer, rest: RedisRest, tag: str) -> Subject:
    store = UpstashStore(rest.url, TOKEN, tag, seconds=SHORT)
    return Subject(store, lambda: UpstashStore(rest.url, TOKEN, tag), RedisBackdoor(redis_server.port, tag))


@pytest.mark.parametrize("fault", NOT_APPLIED, ids=lambda fault: fault.name)
async def test_a_claim_that_was_not_carried_out_leaves_the_message_prepared(
    remote: Subject, rest: RedisRest, fault: RestFault
) -> None:
    message = await remote.prepared()
    rest.then(fault)
    with pytest.raises(StoreUnavailable):
        await remote.claim(message)
    assert len(rest.commands) == 2
    assert isinstance(await remote.claim(message), StoredClaim)


@pytest.mark.parametrize("step", Step)
@pytest.mark.parametrize("fault", APPLIED, ids=lambda fault: fault.name)
async def test_a_step_whose_answer_was_lost_may_count_and_is_not_repeated(
    remote: Subject, rest: RedisRest, fault: RestFault, step: Step
) -> None:
    nonce = Nonce.new()
    message = await step.lead_up(remote, nonce)
    before = len(rest.commands)
    rest.then(fault)
    with pytest.raises(StoreUnavailable):
        await step.take(remote, message, nonce)
    assert len(rest.commands) == before + 1
    assert (await remote.recorded(message)).status is step.taken


async def test_an_answer_without_end_is_cut(rest: RedisRest, tag: str) -> None:
    store = UpstashStore(rest.url, TOKEN, tag)
    rest.then(RestFault.ENDLESS)
    with pytest.raises(StoreUnavailable):
        await store.check()
    await store.aclose()


@pytest.mark.parametrize("step", Step)
async def test_a_step_that_arrives_twice_is_one_step(remote: Subject, rest: RedisRest, step: Step) -> None:
    nonce = Nonce.new()
    message = await step.lead_up(remote, nonce)
    rest.then(RestFault.REPLAY)
    answer = await step.take(remote, message, nonce)
    assert answer is True or isinstance(answer, StoredClaim | StoredRecord)
    assert (await remote.recorded(message)).status is step.taken


async def test_a_preparation_that_arrives_twice_is_refused_and_its_id_never_told(
    remote: Subject, rest: RedisRest
) -> None:
    rest.then(RestFault.REPLAY)
    with pytest.raises(StoreUnavailable):
        await remote.prepared()


async def test_a_claim_that_arrives_late_consumes_the_message_and_sends_nothing(
    remote: Subject, rest: RedisRest
) -> None:
    nonce = Nonce.new()
    message = await remote.prepared()
    rest.then(RestFault.DELAY)
    with pytest.raises(StoreUnavailable):
        await remote.claim(message, nonce)
    assert len(await rest.release()) == 1
    assert (await remote.recorded(message)).status is SendStatus.CLAIMED
    remote.backdoor.age(10_000)
    assert (await remote.recorded(message)).status is SendStatus.NOT_SENT


async def test_a_claim_that_arrives_after_another_one_changes_nothing(remote: Subject, rest: RedisRest) -> None:
    message, second = await remote.prepared(), Nonce.new()
    rest.then(RestFault.DELAY)
    with pytest.raises(StoreUnavailable):
        await remote.claim(message)
    assert isinstance(await remote.claim(message, second), StoredClaim)
    await rest.release()
    assert await remote.store.begin(message.prepared_id, second)


@pytest.mark.parametrize("step", [Step.BEGIN, Step.SETTLE])
async def test_a_step_that_arrives_after_the_outcome_changes_nothing(
    remote: Subject, rest: RedisRest, step: Step
) -> None:
    nonce = Nonce.new()
    message = await step.lead_up(remote, nonce)
    rest.then(RestFault.DELAY)
    with pytest.raises(StoreUnavailable):
        await step.take(remote, message, nonce)
    await remote.store.settle(message.prepared_id, nonce, StoredOutcome(SendStatus.NOT_SENT))
    await rest.release()
    assert (await remote.recorded(message)).status is SendStatus.NOT_SENT


async def test_a_wrong_token_is_unavailable_and_told_to_nobody(rest: RedisRest, tag: str) -> None:
    store = UpstashStore(rest.url, "wrong-token", tag)
    with pytest.raises(StoreUnavailable) as caught:
        await store.check()
    assert caught.value.__cause__ is None
    assert "wrong-token" not in caught.value.render()
    await store.aclose()


async def test_a_redirect_takes_neither_token_nor_message_elsewhere(
    remote: Subject, rest: RedisRest, redis_server: RedisServer
) -> None:
    async with RedisRest(redis_server.port) as elsewhere:
        rest.elsewhere = elsewhere.url
        rest.then(RestFault.REDIRECT)
        with pytest.raises(StoreUnavailable):
            await remote.prepared()
        assert elsewhere.requests == []


async def test_nothing_about_the_host_is_reported_and_nothing_stands_in_the_url(
    remote: Subject, rest: RedisRest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERCEL", "1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    await remote.prepared()
    (headers,) = rest.requests
    assert not [name for name in headers if "telemetry" in name]
    assert headers["accept-encoding"] == "identity"
    assert rest.paths == ["/"]


async def test_a_request_larger_than_the_store_takes_is_not_made(remote: Subject, rest: RedisRest) -> None:
    with pytest.raises(LimitExceeded):
        await remote.store.prepare(a_message(b"x" * STORE_REQUEST_BYTES_MAX), expires_seconds=LIFETIME)
    assert rest.commands == []


async def test_tls_with_the_operators_own_authority_and_with_no_other(redis_server: RedisServer, tag: str) -> None:
    async with RedisRest(redis_server.port, tls=authority().certificate().server_context()) as rest:
        for ca_file in (None, foreign_authority().ca_file):
            store = UpstashStore(rest.url, TOKEN, tag, ca_file=ca_file)
            with pytest.raises(StoreUnavailable):
                await store.check()
            await store.aclose()
        assert rest.requests == []
        store = UpstashStore(rest.url, TOKEN, tag, ca_file=authority().ca_file)
        await store.check()
        await store.aclose()


async def test_a_file_of_anchors_that_cannot_be_read_is_unavailable(rest: RedisRest, tag: str, tmp_path: Path) -> None:
    store = UpstashStore(rest.url, TOKEN, tag, ca_file=tmp_path / "none.pem")
    with pytest.raises(StoreUnavailable, match="MAIL_TLS_CA_FILE"):
        await store.check()


async def test_a_cancelled_step_disturbs_no_later_one(remote: Subject, rest: RedisRest) -> None:
    message = await remote.prepared()
    rest.then(RestFault.STALL_AFTER)
    cancelled = asyncio.ensure_future(remote.claim(message))
    while len(rest.commands) < 2:
        await asyncio.sleep(0)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert isinstance(await remote.claim(message), StoredClaim | StoredRecord)
