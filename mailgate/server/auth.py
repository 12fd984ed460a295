"""Who is calling: static bearer tokens, known to us only as hashes (RFC 6750)."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mailgate.policy import Gate, Principal, Scope
from mailgate.settings_values import StaticToken

TOKEN_CHARS_MAX: Final = 4096
"""Longer than any token of ours or of a known issuer; what is longer is not hashed."""

# `b64token = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="` (RFC 6750, 2.1); the scheme is
# compared without case (RFC 9110, 11.1).
_BEARER: Final = re.compile(rb"bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)


class Rejection(StrEnum):
    """Why nobody was recognised."""

    ABSENT = "absent"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class TokenTable:
    """The tokens that are accepted."""

    tokens: tuple[StaticToken, ...]

    def authenticate(self, authorization: Sequence[bytes]) -> Principal | Rejection:
        """The caller, from every `Authorization` field of the request."""
        if not authorization:
            return Rejection.ABSENT
        match = _BEARER.fullmatch(authorization[0])
        if len(authorization) > 1 or match is None or len(match[1]) > TOKEN_CHARS_MAX:
            return Rejection.INVALID
        return self._known(hashlib.sha256(match[1]).hexdigest())

    def _known(self, digest: str) -> Principal | Rejection:
        found: StaticToken | None = None
        for token in self.tokens:
            # Every entry is compared, each in constant time, so that timing tells nothing about the table.
            if hmac.compare_digest(token.digest_hex, digest):
                found = token
        if found is None:
            return Rejection.INVALID
        return Principal("static", digest[: len(digest) // 2], found.scopes)


def open_scopes(gates: Iterable[Gate]) -> tuple[Scope, ...]:
    """The scopes that can help a caller here: those whose gates are open."""
    gates = frozenset(gates)
    useful = {Scope.READ: True, Scope.WRITE: Gate.WRITES in gates, Scope.SEND: Gate.SEND in gates}
    return tuple(scope for scope in Scope if useful[scope])


def challenge(scopes: Iterable[Scope], error: str | None = None) -> str:
    """A `WWW-Authenticate` value. No `error` where no token was sent (RFC 6750, 3.1)."""
    parts = [f'error="{error}"'] if error else []
    return "Bearer " + ", ".join([*parts, f'scope="{" ".join(scopes)}"'])
