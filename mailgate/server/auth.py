"""Who is calling: static bearer tokens, known to us only as hashes, and the issuer's JWTs (RFC 6750)."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from mailgate.limits import TOKEN_CHARS_MAX
from mailgate.policy import Gate, Principal, Scope
from mailgate.settings_values import StaticToken

# `b64token = 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="` (RFC 6750, 2.1); the scheme is
# compared without case (RFC 9110, 11.1).
_BEARER: Final = re.compile(rb"bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)


class Rejection(StrEnum):
    """Why nobody was recognised. The log says it in this word; the caller is only told whether there was a token."""

    ABSENT = "absent"
    INVALID = "invalid"
    QUERY = "token_in_query"
    MALFORMED = "malformed_jwt"
    ALGORITHM = "algorithm"
    TYPE = "token_type"
    CRITICAL = "critical_header"
    CLAIM = "claim_missing_or_of_wrong_type"
    ISSUER = "issuer"
    AUDIENCE = "audience"
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    BOUND = "bound_to_a_key"
    UNKNOWN_KEY = "unknown_key"
    SIGNATURE = "signature"
    SUBJECT = "subject"


@dataclass(frozen=True, slots=True)
class TokenTable:
    """The tokens that are accepted."""

    tokens: tuple[StaticToken, ...]

    def authenticate(self, authorization: Sequence[bytes]) -> Principal | Rejection:
        """The caller, from every `Authorization` field of the request."""
        token = bearer_token(authorization)
        return token if isinstance(token, Rejection) else self.known(token)

    def known(self, token: bytes) -> Principal | Rejection:
        """The caller whose token this is."""
        digest = hashlib.sha256(token).hexdigest()
        found: StaticToken | None = None
        for entry in self.tokens:
            # Every entry is compared, each in constant time, so that timing tells nothing about the table.
            if hmac.compare_digest(entry.digest_hex, digest):
                found = entry
        if found is None:
            return Rejection.INVALID
        return Principal("static", digest[: len(digest) // 2], found.scopes)


class JwtCheck(Protocol):
    """What knows the issuer's tokens."""

    async def verify(self, token: str) -> Principal | Rejection:
        """The caller whose token this is. Raises `KeysUnavailable` when that cannot be said now."""


@dataclass(frozen=True, slots=True)
class Callers:
    """Everybody who may call: the table's tokens, and the issuer's when there is one."""

    table: TokenTable
    jwts: JwtCheck | None = None

    async def recognise(self, authorization: Sequence[bytes]) -> Principal | Rejection:
        """The caller, from every `Authorization` field of the request. Raises `KeysUnavailable`."""
        token = bearer_token(authorization)
        if isinstance(token, Rejection):
            return token
        found = self.table.known(token)
        if isinstance(found, Principal) or self.jwts is None:
            return found
        return await self.jwts.verify(token.decode("ascii"))


def bearer_token(authorization: Sequence[bytes]) -> bytes | Rejection:
    """The one bearer token in all of a request's `Authorization` fields."""
    if not authorization:
        return Rejection.ABSENT
    match = _BEARER.fullmatch(authorization[0])
    if len(authorization) > 1 or match is None or len(match[1]) > TOKEN_CHARS_MAX:
        return Rejection.INVALID
    return match[1]


def open_scopes(gates: Iterable[Gate]) -> tuple[Scope, ...]:
    """The scopes that can help a caller here: those whose gates are open."""
    gates = frozenset(gates)
    useful = {Scope.READ: True, Scope.WRITE: Gate.WRITES in gates, Scope.SEND: Gate.SEND in gates}
    return tuple(scope for scope in Scope if useful[scope])


def challenge(scopes: Iterable[Scope], error: str | None = None, metadata_url: str | None = None) -> str:
    """A `WWW-Authenticate` value. No `error` where no token was sent (RFC 6750, 3.1).

    `metadata_url`: where the protected-resource metadata is (RFC 9728, 5.1), in JWT mode.
    """
    parts = [f'error="{error}"'] if error else []
    parts.append(f'scope="{" ".join(scopes)}"')
    if metadata_url is not None:
        parts.append(f'resource_metadata="{metadata_url}"')
    return "Bearer " + ", ".join(parts)
