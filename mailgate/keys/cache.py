"""The issuer's keys, kept for a while: fetched when needed, one fetch at a time, never more often than allowed.

Times are the wall clock's, as the tokens' are: it goes on while a serverless host freezes the process. When it is set
back, what was fetched "later" counts as old. Nothing kept here belongs to an event loop, but for a fetch that is under
way, and that only counts in its own.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from mailgate import limits
from mailgate.keys.discovery import Get, discover_keys_url
from mailgate.keys.jwks import IssuerKey, parse_keys
from mailgate.keys.trouble import KeysUnavailable, KeyTrouble

_NOTHING: Final[tuple[IssuerKey, ...]] = ()


class Documents(Protocol):
    """A way to fetch the issuer's documents."""

    def session(self) -> AbstractAsyncContextManager[Get]:
        """What fetches documents until the end of the block."""


@dataclass(frozen=True, slots=True)
class _KeySet:
    keys: tuple[IssuerKey, ...]
    fetched_at: float
    gone: frozenset[str | None] = frozenset()
    """The names of keys that the set before had and this one has not."""

    def is_younger(self, seconds: float, now: float) -> bool:
        return 0 <= now - self.fetched_at < seconds

    def matching(self, kid: str | None, algorithm: str) -> tuple[IssuerKey, ...]:
        """The keys a token may have been signed with. A token that names none needs a set with one fitting key.

        OpenID Connect Core 1.0, 10.1: "If there are multiple keys in the referenced JWK Set document, a kid value MUST
        be provided in the JOSE Header."
        """
        fitting = tuple(key for key in self.keys if algorithm in key.algorithms)
        if kid is None:
            return fitting if len(fitting) == 1 else _NOTHING
        return tuple(key for key in fitting if key.kid == kid)

    def may_lack(self, kid: str | None) -> bool:
        """Can the issuer have published a key of this name since? Not one that it took away or has for other uses."""
        return kid is not None and kid not in self.gone and all(key.kid != kid for key in self.keys)


class IssuerKeys:
    """The keys of `issuer`, from `jwks_url` or from where its metadata says.

    `seconds` bounds one fetch with all that belongs to it.
    """

    def __init__(
        self,
        issuer: str,
        jwks_url: str | None,
        documents: Documents,
        *,
        clock: Callable[[], float] = time.time,
        seconds: float = limits.KEYS_SECONDS,
    ) -> None:
        self._issuer, self._configured, self._documents = issuer, jwks_url, documents
        self._clock, self._seconds = clock, seconds
        self._held: _KeySet | None = None
        self._discovered: str | None = None
        self._attempted_at: float | None = None
        self._trouble: KeyTrouble | None = None
        self._asked_for: str | None = None
        """What the last fetch was for: if that is still unknown, the issuer has said so."""
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, kid: str | None, algorithm: str) -> tuple[IssuerKey, ...]:
        """The keys that may have made a signature; none when the issuer has no such key.

        `KeysUnavailable` when that cannot be said: there are no keys, or perhaps newer ones that cannot be fetched.
        """
        now = self._clock()
        held, found = self._usable(now), self._matching(kid, algorithm, now)
        if found and held is not None and held.is_younger(limits.KEYS_FRESH_SECONDS, now):
            return found
        fetching = self._under_way()
        if fetching is None and self._may_fetch(now):
            self._asked_for = kid
            fetching = self._begin(now)
        elif found:
            # Somebody else is finding out whether these are still the issuer's, or has just tried to.
            return found
        if fetching is not None:
            # A caller that goes away must not end the fetch of the others.
            await asyncio.shield(fetching)
        elif held is not None and self._trouble is None and kid != self._asked_for and held.may_lack(kid):
            # Perhaps a key newer than the last fetch: nobody can say before the next one.
            raise KeysUnavailable(KeyTrouble.TOO_SOON, max(1, math.ceil(self._wait(now))))
        return self._matching(kid, algorithm, self._clock()) or self._nothing_found()

    def _usable(self, now: float) -> _KeySet | None:
        held = self._held
        return held if held is not None and held.is_younger(limits.KEYS_KEPT_SECONDS, now) else None

    def _matching(self, kid: str | None, algorithm: str, now: float) -> tuple[IssuerKey, ...]:
        held = self._usable(now)
        return held.matching(kid, algorithm) if held is not None else _NOTHING

    def _nothing_found(self) -> tuple[IssuerKey, ...]:
        now = self._clock()
        if self._trouble is None and self._usable(now) is not None:
            return _NOTHING
        raise KeysUnavailable(self._trouble or KeyTrouble.INTERRUPTED, max(1, math.ceil(self._wait(now))))

    # --- fetching -------------------------------------------------------------------------------------------------

    def _wait(self, now: float) -> float:
        """Seconds until the next fetch may begin; zero or less when it may now."""
        if self._attempted_at is None or now < self._attempted_at or self._trouble is KeyTrouble.INTERRUPTED:
            # Interrupted and not under way: the loop ended in the middle of it, which is nobody's fault.
            return 0.0
        pause = limits.KEYS_RETRY_SECONDS if self._usable(now) is None else limits.KEYS_REFETCH_SECONDS
        return self._attempted_at + pause - now

    def _may_fetch(self, now: float) -> bool:
        return self._wait(now) <= 0

    def _under_way(self) -> asyncio.Task[None] | None:
        """The fetch at hand, if it is this loop's: one of a loop that has ended will never finish."""
        task = self._fetching
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            return None
        return task

    def _begin(self, now: float) -> asyncio.Task[None]:
        self._attempted_at, self._trouble = now, KeyTrouble.INTERRUPTED
        self._fetching = asyncio.create_task(self._fetch(), name="issuer keys")
        return self._fetching

    async def _fetch(self) -> None:
        """One fetch. It leaves keys, or what was in the way, and raises neither."""
        try:
            async with asyncio.timeout(self._seconds), self._documents.session() as get:
                keys = parse_keys(await get(await self._keys_url(get)))
        except TimeoutError:
            self._failed(KeyTrouble.TIMEOUT)
        except KeysUnavailable as unavailable:
            self._failed(unavailable.trouble)
        else:
            before = {key.kid for key in self._held.keys} if self._held is not None else set()
            gone = frozenset(before - {key.kid for key in keys})
            self._held, self._trouble = _KeySet(keys, self._clock(), gone), None

    def _failed(self, trouble: KeyTrouble) -> None:
        # The keys may have moved: the next fetch asks the metadata again.
        self._trouble, self._discovered = trouble, None

    async def _keys_url(self, get: Get) -> str:
        if self._configured is not None:
            return self._configured
        if self._discovered is None:
            self._discovered = await discover_keys_url(get, self._issuer)
        return self._discovered
