"""Counting: time is an argument, so nothing here waits."""

from __future__ import annotations

import pytest

from mailgate.policy import Principal, Scope
from mailgate.server.throttle import Places, Throttle, TokenBuckets, caller_key

OWNER, OTHER = Principal("issuer", "owner"), Principal("issuer", "other")


def test_a_bucket_gives_its_burst_and_then_as_much_as_comes_in() -> None:
    buckets = TokenBuckets(2.0, 3.0)
    assert [buckets.take("a", 10.0) for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert buckets.take("a", 10.25) == 0.25
    assert buckets.take("a", 10.5) == 0.0
    assert buckets.take("a", 10.5) == 0.5


def test_a_bucket_never_holds_more_than_its_burst() -> None:
    buckets = TokenBuckets(1.0, 2.0)
    buckets.take("a", 0.0)
    assert [buckets.take("a", 1e9) for _ in range(3)] == [0.0, 0.0, 1.0]


def test_each_key_has_a_bucket_of_its_own() -> None:
    buckets = TokenBuckets(1.0, 1.0)
    assert (buckets.take("a", 0.0), buckets.take("a", 0.0), buckets.take("b", 0.0)) == (0.0, 1.0, 0.0)


def test_asking_takes_nothing() -> None:
    buckets = TokenBuckets(1.0, 1.0)
    assert [buckets.wait("a", 0.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    buckets.take("a", 0.0)
    assert buckets.wait("a", 0.25) == 0.75


def test_a_clock_that_is_read_late_gives_nothing_twice() -> None:
    buckets = TokenBuckets(1.0, 1.0)
    assert buckets.take("a", 5.0) == 0.0
    assert buckets.take("a", 1.0) == 1.0
    assert buckets.take("a", 5.5) == 0.5


def test_a_crowd_of_keys_is_bounded_and_the_latest_are_remembered() -> None:
    buckets = TokenBuckets(1.0, 1.0, keys=10)
    for number in range(1000):
        buckets.take(str(number), 0.0)
    assert len(buckets._buckets) == 10
    assert buckets.wait("999", 0.0) == 1.0


def test_places_are_counted_in_all_and_for_each() -> None:
    places = Places(most=3, each=2)
    with places.place("a") as first, places.place("a") as second:
        with places.place("a") as third, places.place("b") as other:
            assert (first, second, third, other) == (True, True, False, True)
            with places.place("c") as full:
                assert full is False
        assert places.taken == 2
    assert places.taken == 0


def test_a_place_comes_free_whatever_ends_the_call() -> None:
    places = Places(most=1, each=1)
    with pytest.raises(KeyError), places.place("a"):
        raise KeyError
    with places.place("a") as free:
        assert free


def test_scopes_are_no_part_of_who_is_counted() -> None:
    assert caller_key(OWNER) == caller_key(Principal("issuer", "owner", frozenset({Scope.READ})))
    assert caller_key(OWNER) != caller_key(OTHER)


def test_a_credential_that_was_good_lately_is_never_crowded_out() -> None:
    throttle = Throttle(strangers=TokenBuckets(1.0, 1.0))
    throttle.recognised(OWNER, [b"Bearer good"], 0.0)
    assert throttle.turned_away("peer", [b"Bearer bad"], 0.0) == 0.0
    assert throttle.turned_away("peer", [b"Bearer bad"], 0.0) > 0
    assert throttle.turned_away("peer", [b"Bearer good"], 0.0) == 0.0, "its owner has to hear that it has expired"


def test_a_flood_is_worth_a_line_now_and_then() -> None:
    throttle = Throttle()
    lines = sum(throttle.worth_a_line(second + fraction / 100) for second in range(3) for fraction in range(100))
    assert 2 <= lines <= 4
