"""The issuer's access tokens: form, claims, key, signature, owner, in this order (RFC 9068, 4)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from mailgate.keys.jwks import IssuerKey
from mailgate.policy import Principal
from mailgate.server.auth import Rejection
from mailgate.server.jwt_claims import TokenRules, check_addressing, principal_of
from mailgate.server.jwt_form import SignedToken, TokenRefused, parse_token


class KeySource(Protocol):
    """Where the issuer's keys come from."""

    async def find(self, kid: str | None, algorithm: str) -> tuple[IssuerKey, ...]:
        """The keys that may have made a signature. Raises `KeysUnavailable`."""


class JwtVerifier:
    """Accepts what `rules` allow and one of the issuer's `keys` has signed. `clock`: seconds of the epoch."""

    def __init__(self, rules: TokenRules, keys: KeySource, *, clock: Callable[[], float] = time.time) -> None:
        self._rules, self._keys, self._clock = rules, keys, clock

    async def verify(self, token: str) -> Principal | Rejection:
        """The owner, or why the token is not accepted. Raises `KeysUnavailable` when that cannot be said now."""
        try:
            parsed = parse_token(token)
            # Before the keys: no token of somebody else's makes us ask the issuer for anything.
            check_addressing(parsed.claims, self._rules, self._clock())
            await self._check_signature(parsed)
            # After the signature: only the issuer's word tells who the owner is.
            return principal_of(parsed.claims, self._rules)
        except TokenRefused as refused:
            return refused.reason

    async def _check_signature(self, token: SignedToken) -> None:
        keys = await self._keys.find(token.kid, token.algorithm)
        if not keys:
            raise TokenRefused(Rejection.UNKNOWN_KEY)
        if not any(key.verifies(token.algorithm, token.signed, token.signature) for key in keys):
            raise TokenRefused(Rejection.SIGNATURE)
