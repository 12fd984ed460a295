"""The issuer's keys over time: kept, fetched again, withdrawn, out of reach; at most so often, once at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from mailgate import limits
from mailgate.keys.cache import IssuerKeys
from mailgate.keys.discovery import Get
from mailgate.keys.trouble import KeysUnavailable, KeyTrouble
from tests.peers.signing import SigningKey, ec_key, rsa_key

OLD, NEW = rsa_key("old"), rsa_key("new")
URL = "https://login.example.com/keys"
FRESH, KEPT = limits.KEYS_FRESH_SECONDS, limits.KEYS_KEPT_SECONDS
REFETCH, RETRY = limits.KEYS_REFETCH_SECONDS, limits.KEYS_RETRY_SECONDS


class Published:
    """What the issuer publishes, without a network; `trouble` is what stands in the way, `hold` keeps one waiting."""

    def __init__(self, *keys: SigningKey) -> None:
        self.keys = list(keys)
        self.trouble: KeyTrouble | None = None
        self.hold: Callable[[], asyncio.Event] | None = None
        self.fetched: list[str] = []

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Get]:
        yield self.get

    async def get(self, url: str) -> bytes:
        self.fetched.append(url)
        if self.hold is not None:
            await self.hold().wait()
        if self.trouble is not None:
            raise KeysUnavailable(self.trouble)
        return json.dumps({"keys": [key.jwk() for key in self.keys]}).encode()


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def published() -> Published:
    return Published(OLD)


@pytest.fixture
def keys(published: Published, clock: Clock) -> IssuerKeys:
    return IssuerKeys("https://login.example.com/", URL, published, clock=clock)


async def kids(keys: IssuerKeys, kid: str | None = "old", algorithm: str = "RS256") -> list[str | None]:
    return [key.kid for key in await keys.find(kid, algorithm)]


async def unavailable(keys: IssuerKeys, kid: str | None = "old") -> KeysUnavailable:
    with pytest.raises(KeysUnavailable) as caught:
        await keys.find(kid, "RS256")
    return caught.value


def test_the_numbers_are_what_was_promised() -> None:
    assert REFETCH == 30
    assert RETRY <= REFETCH <= FRESH <= KEPT


# --- kept --------------------------------------------------------------------------------------------------------


async def test_nothing_is_fetched_before_a_token_asks(published: Published, keys: IssuerKeys) -> None:
    assert published.fetched == []


async def test_keys_are_fetched_once_while_they_are_fresh(published: Published, keys: IssuerKeys, clock: Clock) -> None:
    for _ in range(5):
        assert await kids(keys) == ["old"]
        clock.now += (FRESH - 1) / 5
    assert published.fetched == [URL]


async def test_keys_that_are_no_longer_fresh_are_fetched_again(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    await kids(keys)
    clock.now += FRESH
    assert await kids(keys) == ["old"]
    assert published.fetched == [URL, URL]


async def test_a_clock_set_back_makes_keys_old_and_not_eternal(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    await kids(keys)
    clock.now -= 365 * 86400
    assert await kids(keys) == ["old"]
    assert published.fetched == [URL, URL]


# --- rotation ----------------------------------------------------------------------------------------------------


async def test_a_new_key_is_picked_up_when_a_token_names_it(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    await kids(keys)
    published.keys.append(NEW)
    clock.now += REFETCH
    assert await kids(keys, "new") == ["new"]
    assert await kids(keys, "old") == ["old"]
    assert len(published.fetched) == 2


async def test_a_key_that_was_removed_is_refused_once_it_is_noticed(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    await kids(keys)
    published.keys[:] = [NEW]
    clock.now += REFETCH
    assert await kids(keys, "new") == ["new"]
    assert await kids(keys, "old") == []


async def test_a_removed_key_opens_no_longer_than_keys_are_fresh(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    await kids(keys)
    published.keys[:] = []
    clock.now += FRESH
    assert await kids(keys) == []


async def test_a_key_published_just_after_a_fetch_is_not_said_to_be_unknown(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    await kids(keys)
    published.keys.append(NEW)
    clock.now += 1
    early = await unavailable(keys, "new")
    assert (early.trouble, early.retry_after) == (KeyTrouble.TOO_SOON, REFETCH - 1)
    assert len(published.fetched) == 1
    clock.now += early.retry_after
    assert await kids(keys, "new") == ["new"]


async def test_a_known_key_for_another_algorithm_is_refused_without_waiting(keys: IssuerKeys) -> None:
    await kids(keys)
    assert await keys.find("old", "ES256") == ()


async def test_a_key_replaced_under_its_name_is_the_new_one(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    (before,) = await keys.find("old", "RS256")
    published.keys[:] = [SigningKey("old", "RS256", NEW.private)]
    clock.now += FRESH
    (after,) = await keys.find("old", "RS256")
    signature = NEW.sign(b"x")
    assert not before.verifies("RS256", b"x", signature)
    assert after.verifies("RS256", b"x", signature)


# --- no more often than allowed ------------------------------------------------------------------------------------


async def test_unknown_names_cause_one_fetch_in_thirty_seconds(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    await kids(keys)
    for second in range(60):
        if second == 30:
            assert await kids(keys, "canary-30") == []
        else:
            assert (await unavailable(keys, f"canary-{second}")).retry_after == 30 - second % 30
        clock.now += 1
    # The first one, and one more after 30 seconds; the 60th second has not begun.
    assert len(published.fetched) == 2
    await kids(keys, "canary")
    assert len(published.fetched) == 3


async def test_a_thousand_unknown_names_at_once_cause_one_fetch(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    await kids(keys)
    clock.now += REFETCH
    found = await asyncio.gather(*(kids(keys, f"canary-{number}") for number in range(1000)))
    assert found == [[]] * 1000
    assert len(published.fetched) == 2


async def test_first_callers_share_one_fetch(published: Published, keys: IssuerKeys) -> None:
    gate = asyncio.Event()
    published.hold = lambda: gate
    callers = [asyncio.create_task(kids(keys)) for _ in range(20)]
    await asyncio.sleep(0)
    gate.set()
    assert await asyncio.gather(*callers) == [["old"]] * 20
    assert published.fetched == [URL]


async def test_a_caller_that_goes_away_does_not_end_the_fetch_of_the_others(
    published: Published, keys: IssuerKeys
) -> None:
    gate = asyncio.Event()
    published.hold = lambda: gate
    first, second = asyncio.create_task(kids(keys)), asyncio.create_task(kids(keys))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    gate.set()
    assert await second == ["old"]
    assert first.cancelled()
    assert published.fetched == [URL]


async def test_while_keys_are_fetched_again_the_old_ones_are_not_waited_for(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    await kids(keys)
    clock.now += FRESH
    gate = asyncio.Event()
    published.hold = lambda: gate
    first = asyncio.create_task(kids(keys))
    while len(published.fetched) < 2:
        await asyncio.sleep(0)
    assert await kids(keys) == ["old"]
    gate.set()
    assert await first == ["old"]


# --- an outage ---------------------------------------------------------------------------------------------------


async def test_without_keys_nobody_can_be_judged(published: Published, keys: IssuerKeys, clock: Clock) -> None:
    published.trouble = KeyTrouble.UNREACHABLE
    first = await unavailable(keys)
    assert first.trouble is KeyTrouble.UNREACHABLE
    assert 1 <= first.retry_after <= RETRY
    clock.now += RETRY - 1
    assert (await unavailable(keys)).retry_after == 1
    assert len(published.fetched) == 1


async def test_after_the_time_it_named_it_tries_again(published: Published, keys: IssuerKeys, clock: Clock) -> None:
    published.trouble = KeyTrouble.TIMEOUT
    wait = (await unavailable(keys)).retry_after
    published.trouble = None
    clock.now += wait
    assert await kids(keys) == ["old"]


async def test_kept_keys_go_on_working_for_a_bounded_time(published: Published, keys: IssuerKeys, clock: Clock) -> None:
    await kids(keys)
    published.trouble = KeyTrouble.STATUS
    clock.now += FRESH
    assert await kids(keys) == ["old"]
    clock.now += KEPT - FRESH - 1
    assert await kids(keys) == ["old"]
    clock.now += 1
    assert (await unavailable(keys)).trouble is KeyTrouble.STATUS


async def test_in_an_outage_kept_keys_are_not_fetched_at_every_call(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    await kids(keys)
    published.trouble = KeyTrouble.TIMEOUT
    clock.now += FRESH
    for _ in range(60):
        assert await kids(keys) == ["old"]
        clock.now += 1
    assert len(published.fetched) == 3


async def test_in_an_outage_an_unknown_name_is_not_said_to_be_wrong(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    await kids(keys)
    published.trouble = KeyTrouble.UNREACHABLE
    clock.now += REFETCH
    assert 1 <= (await unavailable(keys, "new")).retry_after <= REFETCH
    assert await kids(keys, "old") == ["old"]


@pytest.mark.parametrize("kept", [False, True])
async def test_an_issuer_without_keys_has_no_good_token(
    published: Published, keys: IssuerKeys, clock: Clock, kept: bool
) -> None:
    if kept:
        await kids(keys)
        clock.now += FRESH
    published.keys.clear()
    assert await kids(keys) == []


async def test_a_fetch_has_a_time_of_its_own(published: Published, clock: Clock) -> None:
    keys = IssuerKeys("https://login.example.com/", URL, published, clock=clock, seconds=0.02)
    published.hold = asyncio.Event
    assert (await unavailable(keys)).trouble is KeyTrouble.TIMEOUT
    published.hold = None
    clock.now += RETRY
    assert await kids(keys) == ["old"]


# --- event loops -------------------------------------------------------------------------------------------------


def test_keys_survive_their_event_loop(published: Published, keys: IssuerKeys) -> None:
    for _ in range(50):
        assert asyncio.run(kids(keys)) == ["old"]
    assert published.fetched == [URL]


def test_keys_are_fetched_again_on_a_new_loop(published: Published, keys: IssuerKeys, clock: Clock) -> None:
    for _ in range(5):
        assert asyncio.run(kids(keys)) == ["old"]
        clock.now += FRESH
    assert len(published.fetched) == 5


def test_a_fetch_that_ended_with_its_loop_does_not_block_the_next(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    """A serverless host ends an invocation in the middle of a fetch, by an orderly end or by freezing it for good."""

    async def give_up() -> None:
        published.hold = asyncio.Event
        await asyncio.wait([asyncio.create_task(kids(keys))], timeout=0.02)

    asyncio.run(give_up())
    frozen = asyncio.new_event_loop()
    frozen.run_until_complete(give_up())
    published.hold = None
    assert asyncio.run(kids(keys)) == ["old"]
    assert len(published.fetched) == 3
    for task in asyncio.all_tasks(frozen):
        task.cancel()
    frozen.run_until_complete(asyncio.sleep(0.01))
    frozen.close()


# --- a token that names no key -------------------------------------------------------------------------------------


async def test_a_token_that_names_no_key_needs_a_set_with_one(
    published: Published, keys: IssuerKeys, clock: Clock
) -> None:
    assert await kids(keys, None) == ["old"]
    published.keys.append(ec_key())
    clock.now += FRESH
    assert await kids(keys, None) == ["old"]
    published.keys.append(NEW)
    clock.now += FRESH
    assert await kids(keys, None) == []
    assert await kids(keys, None, "ES256") == [ec_key().kid]
