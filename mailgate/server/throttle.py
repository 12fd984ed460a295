"""How much one caller, a crowd of strangers, and everybody together may ask of this process.

Time is an argument: seconds of a clock that never goes back. Nothing here outlives the process, and nothing is shared
between processes: this keeps a runaway client from the mailbox, it is no accounting.
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from mailgate.limits import (
    CALLER_BURST,
    CALLER_PER_SECOND,
    CALLS_AT_ONCE,
    CALLS_AT_ONCE_EACH,
    STRANGER_BURST,
    STRANGER_PER_SECOND,
    THROTTLE_KEYS_MAX,
)
from mailgate.policy import Principal

_CROWDED_LINES_PER_SECOND: Final = 1.0
"""Log lines about strangers over their limit: a flood must not fill a disk."""


@dataclass(slots=True)
class _Bucket:
    level: float
    at: float


class TokenBuckets:
    """One bucket a key: `burst` tokens at first, `per_second` new ones, never more than `burst`.

    A bounded number of keys is remembered, the latest; a key that was forgotten begins anew.
    """

    def __init__(self, per_second: float, burst: float, *, keys: int = THROTTLE_KEYS_MAX) -> None:
        self._per_second, self._burst, self._keys = per_second, burst, keys
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def wait(self, key: str, now: float) -> float:
        """Seconds until `key` can take a token; 0.0 when it can at once."""
        bucket = self._buckets.get(key)
        return 0.0 if bucket is None else max(0.0, (1.0 - self._filled(bucket, now)) / self._per_second)

    def take(self, key: str, now: float) -> float:
        """Take a token and answer 0.0; when there is none, take nothing and answer the seconds until there is."""
        bucket = self._buckets.setdefault(key, _Bucket(self._burst, now))
        self._buckets.move_to_end(key)
        while len(self._buckets) > self._keys:
            self._buckets.popitem(last=False)
        bucket.level, bucket.at = self._filled(bucket, now), max(bucket.at, now)
        if bucket.level < 1.0:
            return (1.0 - bucket.level) / self._per_second
        bucket.level -= 1.0
        return 0.0

    def _filled(self, bucket: _Bucket, now: float) -> float:
        return min(self._burst, bucket.level + max(0.0, now - bucket.at) * self._per_second)


class Places:
    """How many calls may run at one moment: `most` in all, `each` for one caller, so that others still get in."""

    def __init__(self, most: int = CALLS_AT_ONCE, each: int = CALLS_AT_ONCE_EACH) -> None:
        self._most, self._each = most, each
        self._running: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """Calls that run now."""
        return self._running.total()

    @contextmanager
    def place(self, key: str) -> Iterator[bool]:
        """A place for the time of one call; False, and none taken, when there is none."""
        free = self.taken < self._most and self._running[key] < self._each
        if free:
            self._running[key] += 1
        try:
            yield free
        finally:
            if free:
                self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]


class _Accepted:
    """Which credentials were accepted lately, by their hashes."""

    def __init__(self, keys: int = THROTTLE_KEYS_MAX) -> None:
        self._keys = keys
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    def add(self, credentials: Sequence[bytes]) -> None:
        digest = _digest(credentials)
        self._seen[digest] = None
        self._seen.move_to_end(digest)
        if len(self._seen) > self._keys:
            self._seen.popitem(last=False)

    def __contains__(self, credentials: Sequence[bytes]) -> bool:
        return _digest(credentials) in self._seen


def _digest(credentials: Sequence[bytes]) -> bytes:
    return hashlib.sha256(b"\0".join(credentials)).digest()


def _callers() -> TokenBuckets:
    return TokenBuckets(CALLER_PER_SECOND, CALLER_BURST)


def _strangers() -> TokenBuckets:
    return TokenBuckets(STRANGER_PER_SECOND, STRANGER_BURST)


def _lines() -> TokenBuckets:
    return TokenBuckets(_CROWDED_LINES_PER_SECOND, _CROWDED_LINES_PER_SECOND)


@dataclass(frozen=True, slots=True)
class Throttle:
    """The counts of one application. Each question answers with seconds to wait, 0.0 for none.

    A caller who is recognised is only ever measured against what that caller did. Strangers share what their peer
    address may do, which behind a proxy is everybody's; so a request with a token is always looked at first, and a
    token that was good until lately is told that it no longer is: its owner has to hear that to renew it.
    """

    callers: TokenBuckets = field(default_factory=_callers)
    strangers: TokenBuckets = field(default_factory=_strangers)
    places: Places = field(default_factory=Places)
    _accepted: _Accepted = field(default_factory=_Accepted)
    _lines: TokenBuckets = field(default_factory=_lines)

    def recognised(self, principal: Principal, credentials: Sequence[bytes], now: float) -> float:
        """For one more request of a caller whose `Authorization` fields were accepted."""
        self._accepted.add(credentials)
        return self.callers.take(caller_key(principal), now)

    def turned_away(self, peer: str, credentials: Sequence[bytes], now: float) -> float:
        """For one more request that was not accepted."""
        return 0.0 if credentials in self._accepted else self.strangers.take(peer, now)

    def at_the_door(self, peer: str, credentials: Sequence[bytes], now: float) -> float:
        """Before a caller is looked for: for a request that names none, from a peer with too many of them."""
        return 0.0 if credentials else self.strangers.take(peer, now)

    def worth_a_line(self, now: float) -> bool:
        """Whether one more refusal of a crowd is to be logged."""
        return self._lines.take("", now) == 0.0


def caller_key(principal: Principal) -> str:
    """Names a caller in the counts; scopes are no part of who somebody is."""
    return f"{principal.issuer}\0{principal.subject}"
