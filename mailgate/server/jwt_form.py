"""A signed JWT in its compact form (RFC 7515, 7.1): taken apart strictly, believed in nothing yet.

What two readers could read differently is refused: padding and line breaks in the base64url, a second spelling of the
same octets, repeated names, extensions nobody here understands. Where a header says the key is found (`jku`, `x5u`,
`jwk`, `x5c`) is not looked at: keys come from the configured issuer alone.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mailgate.keys.jwks import ALGORITHMS
from mailgate.server import strict_json
from mailgate.server.auth import Rejection

_COMPACT: Final = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")
_TYPES: Final = frozenset({"at+jwt", "application/at+jwt", "jwt", "application/jwt"})
"""RFC 9068, 2.1 and RFC 7519, 5.1. A type that says something else, such as `logout+jwt`, is no access token."""


class TokenRefused(Exception):
    """The token is not accepted. Nothing of it is in here."""

    def __init__(self, reason: Rejection) -> None:
        self.reason = reason
        super().__init__(reason.value)


@dataclass(frozen=True, slots=True)
class SignedToken:
    """A token in its parts. `signed`: the octets under the signature."""

    algorithm: str
    kid: str | None = field(repr=False)
    claims: Mapping[str, Any] = field(repr=False)
    signed: bytes = field(repr=False)
    signature: bytes = field(repr=False)


def parse_token(text: str) -> SignedToken:
    """The parts of a token that has the form of one we accept. Raises `TokenRefused`."""
    match = _COMPACT.fullmatch(text)
    if match is None:
        raise TokenRefused(Rejection.MALFORMED)
    header = _object(match[1])
    algorithm, kid = _checked_header(header)
    signed = text[: match.end(2)].encode("ascii")
    return SignedToken(algorithm, kid, _object(match[2]), signed, _octets(match[3]))


def _checked_header(header: Mapping[str, Any]) -> tuple[str, str | None]:
    """The algorithm and the key's name."""
    # RFC 7515, 4.1.11: a recipient that does not understand what is critical refuses; and `crit` must not be empty.
    # `b64` changes what is signed (RFC 7797) and is to be in `crit`; here it is refused wherever it stands.
    if "crit" in header or "b64" in header:
        raise TokenRefused(Rejection.CRITICAL)
    algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", "JWT")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        raise TokenRefused(Rejection.ALGORITHM)
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise TokenRefused(Rejection.TYPE)
    if "kid" in header and not isinstance(kid, str):
        raise TokenRefused(Rejection.MALFORMED)
    return algorithm, kid


def _object(segment: str) -> Mapping[str, Any]:
    try:
        value = strict_json.loads(_octets(segment))
    except strict_json.NotStrictJson:
        raise TokenRefused(Rejection.MALFORMED) from None
    if not isinstance(value, dict):
        raise TokenRefused(Rejection.MALFORMED)
    return value


def _octets(segment: str) -> bytes:
    """The octets of one base64url segment (RFC 7515, 2: without padding, line breaks or other characters)."""
    try:
        octets = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    except (binascii.Error, ValueError):
        raise TokenRefused(Rejection.MALFORMED) from None
    # The last character can carry bits that are dropped; a token has one spelling only.
    if base64.urlsafe_b64encode(octets).rstrip(b"=").decode("ascii") != segment:
        raise TokenRefused(Rejection.MALFORMED)
    return octets
