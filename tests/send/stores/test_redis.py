"""What only a Redis server can get wrong: the network between, logins, TLS, odd data."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from mailgate.errors import PreparedNotFound, StoreUnavailable
from mailgate.send.record import Nonce, SendStatus
from mailgate.send.redis_store import RedisStore
from mailgate.send.store import StoredClaim, StoredOutcome, StoredRecord
from tests.conftest import missing_peer
from tests.peers.authority import authority, foreign_authority
from tests.peers.fault_proxy import Action, Conditions, Direction, Fault, FaultProxy, When
from tests.peers.redis_server import RedisServer, redis_binary
from tests.send.stores.harness import DEADLINE, LIFETIME, Inside, RedisBackdoor, Step, Subject, a_message

SHORT = 1.0
NOT_APPLIED = [
    Fault(Direction.UP, action, pattern=b"EVAL", when=When.BEFORE)
    for action in (Action.RESET, Action.CLOSE, Action.STALL)
]


def _name(fault: Fault) -> str:
    return f"{fault.action.name}-{fault.after}"


def _over(server: RedisServer, tag: str, port: int) -> Subject:
    store = RedisStore(f"redis://127.0.0.1:{port}", tag, seconds=SHORT)
    return Subject(store, lambda: RedisStore(server.url, tag), RedisBackdoor(server.port, tag))


def _with(fault: Fault) -> Conditions:
    return Conditions(faults=(fault,))


@pytest.mark.parametrize("fault", NOT_APPLIED, ids=_name)
async def test_a_claim_that_never_arrived_leaves_the_message_prepared(
    redis_server: RedisServer, tag: str, fault: Fault
) -> None:
    async with FaultProxy(redis_server.port) as proxy:
        subject = _over(redis_server, tag, proxy.port)
        message = await subject.prepared()
        proxy.conditions = _with(fault)
        with pytest.raises(StoreUnavailable):
            await subject.claim(message)
        assert proxy.traffic.faults == 1
        proxy.conditions = Conditions()
        assert isinstance(await subject.claim(message), StoredClaim)


@pytest.mark.parametrize("action", [Action.RESET, Action.CLOSE, Action.STALL])
@pytest.mark.parametrize("step", Step)
async def test_a_step_whose_answer_was_lost_may_count_and_is_not_repeated(
    redis_server: RedisServer, tag: str, step: Step, action: Action
) -> None:
    nonce = Nonce.new()
    word = {Step.CLAIM: b"claimed", Step.BEGIN: b"yes", Step.SETTLE: b"record"}[step]
    async with FaultProxy(redis_server.port) as proxy:
        subject = _over(redis_server, tag, proxy.port)
        message = await step.lead_up(subject, nonce)
        proxy.traffic.reset()
        proxy.conditions = _with(Fault(Direction.DOWN, action, pattern=word))
        with pytest.raises(StoreUnavailable):
            await step.take(subject, message, nonce)
        assert (proxy.traffic.faults, proxy.traffic.connections) == (1, 1)
        assert bytes(proxy.traffic.sent).count(b"EVAL") == 1
        proxy.conditions = Conditions()
        assert (await subject.recorded(message)).status is step.taken


async def test_a_server_that_is_not_there_is_unavailable(redis_server: RedisServer, tag: str) -> None:
    async with FaultProxy(redis_server.port, Conditions(refuse=True)) as proxy:
        subject = _over(redis_server, tag, proxy.port)
        with pytest.raises(StoreUnavailable):
            await subject.store.check()
        with pytest.raises(StoreUnavailable):
            await subject.prepared()
        assert proxy.traffic.connections == 2


async def test_a_cancelled_step_disturbs_no_later_one(redis_server: RedisServer, tag: str) -> None:
    async with FaultProxy(redis_server.port) as proxy:
        subject = _over(redis_server, tag, proxy.port)
        message = await subject.prepared()
        proxy.conditions = _with(Fault(Direction.DOWN, Action.STALL, pattern=b"claimed"))
        cancelled = asyncio.ensure_future(subject.claim(message))
        while not proxy.traffic.faults:
            await asyncio.sleep(0)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        proxy.conditions = Conditions()
        assert (await subject.recorded(message)).status is SendStatus.CLAIMED


# --- TLS and login ---------------------------------------------------------------------------------------------


async def test_tls_with_the_operators_own_authority(redis_server: RedisServer, tag: str) -> None:
    store = RedisStore(redis_server.tls_url, tag, ca_file=authority().ca_file)
    await store.check()


@pytest.mark.parametrize("case", ["unknown authority", "another authority", "options in the URL", "no such file"])
async def test_a_server_that_cannot_be_verified_is_unavailable(
    redis_server: RedisServer, tag: str, case: str, tmp_path: Path
) -> None:
    url, ca_file = redis_server.tls_url, None
    if case == "another authority":
        ca_file = foreign_authority().ca_file
    elif case == "options in the URL":
        url += "?ssl_cert_reqs=none&ssl_check_hostname=false"
    elif case == "no such file":
        ca_file = tmp_path / "none.pem"
    with pytest.raises(StoreUnavailable):
        await RedisStore(url, tag, ca_file=ca_file).check()


@pytest.fixture(scope="module")
def locked() -> Iterator[RedisServer]:
    if redis_binary() is None:
        missing_peer("redis-server")
    server = RedisServer(authority().certificate(), password="s:cret")
    try:
        yield server
    finally:
        server.stop()


async def test_a_password_with_special_characters_is_understood(locked: RedisServer, tag: str) -> None:
    await RedisStore(f"redis://:s%3Acret@127.0.0.1:{locked.port}/3", tag).check()


async def test_a_refused_login_is_unavailable_and_names_nothing(locked: RedisServer, tag: str) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        await RedisStore(f"redis://:wr0ng@127.0.0.1:{locked.port}", tag).check()
    assert caught.value.__cause__ is None
    assert "wr0ng" not in caught.value.render()


# --- odd data --------------------------------------------------------------------------------------------------


async def test_the_script_itself_judges_expiry(redis_server: RedisServer, tag: str) -> None:
    """Also where the server has not removed the key yet."""
    subject = _over(redis_server, tag, redis_server.port)
    message = await subject.prepared()
    key = f"mailgate:{{{tag}}}:send:{message.prepared_id}"
    with redis.Redis(port=redis_server.port) as client:
        client.persist(key)
        client.hincrby(key, "expires", -round(LIFETIME * 1000) - 1)
        with pytest.raises(PreparedNotFound):
            await subject.claim(message)
        assert not client.exists(key)


async def test_a_record_of_another_type_is_unavailable(redis_server: RedisServer, tag: str) -> None:
    subject = _over(redis_server, tag, redis_server.port)
    message = a_message()
    with redis.Redis(port=redis_server.port) as client:
        client.set(f"mailgate:{{{tag}}}:send:{message.prepared_id}", "text")
    with pytest.raises(StoreUnavailable):
        await subject.claim(message)


@pytest.mark.parametrize("name", ["status", "at", "kept", "sent_copy"])
async def test_a_record_with_odd_fields_is_unavailable(redis_server: RedisServer, tag: str, name: str) -> None:
    subject = _over(redis_server, tag, redis_server.port)
    message = await subject.finished(Nonce.new())
    with redis.Redis(port=redis_server.port) as client:
        client.hset(f"mailgate:{{{tag}}}:send:{message.prepared_id}", name, "!")
    with pytest.raises(StoreUnavailable):
        await subject.claim(message)


async def test_a_server_restarted_empty_knows_nothing(tag: str) -> None:
    if redis_binary() is None:
        missing_peer("redis-server")
    server = RedisServer(authority().certificate())
    nonce = Nonce.new()
    try:
        subject = _over(server, tag, server.port)
        message = await subject.begun(nonce)
    finally:
        server.stop()
    with pytest.raises(StoreUnavailable):
        await subject.store.settle(message.prepared_id, nonce, StoredOutcome(SendStatus.ACCEPTED))
    server = RedisServer(authority().certificate())
    try:
        subject = _over(server, tag, server.port)
        with pytest.raises(PreparedNotFound):
            await subject.claim(message)
        assert await subject.store.settle(message.prepared_id, nonce, StoredOutcome(SendStatus.ACCEPTED)) is None
    finally:
        server.stop()


# --- the two keys of a message ---------------------------------------------------------------------------------


async def test_the_content_of_a_claim_that_nobody_comes_back_to_ends_with_its_deadline(
    redis_server: RedisServer, tag: str
) -> None:
    """The server does it by itself; the record stays, and tells the truth about a message that was not sent."""
    subject = _over(redis_server, tag, redis_server.port)
    message = await subject.claimed(Nonce.new())
    content = f"mailgate:{{{tag}}}:content:{message.prepared_id}"
    with redis.Redis(port=redis_server.port) as client:
        assert 0 < client.pttl(content) <= DEADLINE * 1000
        subject.backdoor.age(DEADLINE + 1)
        assert not client.exists(content)
    inside = subject.backdoor.inside(message.prepared_id)
    assert inside == Inside("claimed", b"")
    subject.backdoor.age(6 * 24 * 3600)
    assert (await subject.recorded(message)).status is SendStatus.NOT_SENT


@pytest.mark.parametrize("lost", ["send", "content"])
@pytest.mark.parametrize("state", ["prepared", "claimed", "begun", "finished"])
async def test_whichever_of_the_two_keys_is_lost_nothing_can_be_claimed_any_more(
    redis_server: RedisServer, tag: str, state: str, lost: str
) -> None:
    subject = _over(redis_server, tag, redis_server.port)
    nonce = Nonce.new()
    message = await (subject.prepared() if state == "prepared" else getattr(subject, state)(nonce))
    with redis.Redis(port=redis_server.port) as client:
        client.delete(f"mailgate:{{{tag}}}:{lost}:{message.prepared_id}")
    known = lost == "content" and state != "prepared"
    for asking in (nonce, Nonce.new(), nonce):
        if known:
            assert isinstance(await subject.claim(message, asking), StoredRecord)
        else:
            with pytest.raises(PreparedNotFound):
                await subject.claim(message, asking)
    assert await subject.store.begin(message.prepared_id, nonce) is (known and state != "finished")


async def test_keys_tell_nothing_about_mailbox_or_owner_and_share_a_prefix(redis_server: RedisServer, tag: str) -> None:
    subject = _over(redis_server, tag, redis_server.port)
    message = await subject.claimed(Nonce.new())
    assert isinstance(await subject.claim(message), StoredRecord)
    with redis.Redis(port=redis_server.port) as client:
        keys = {key.decode() for key in client.keys(f"*{tag}*")}
    names = {f"send:{message.prepared_id}", f"content:{message.prepared_id}", "claims"}
    assert keys == {f"mailgate:{{{tag}}}:{name}" for name in names}
