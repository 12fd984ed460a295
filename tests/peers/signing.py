"""Keys of an issuer and the tokens it signs with them, the right ones and every wrong kind.

Nothing here goes through a JWT library's own rules, so that tokens can be wrong in any way.
"""

from __future__ import annotations

import base64
import functools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import get_default_algorithms

ISSUER: Final = "https://login.example.com/"
AUDIENCE: Final = "https://mail.example.com/mcp"
SUBJECT: Final = "owner|canary-subject-3c9d"
SCOPES: Final = "mail.read mail.write mail.send"


class _Missing:
    def __repr__(self) -> str:
        return "missing"


MISSING: Final = _Missing()
"""Stands for a claim or header field that is not there."""

_IMPLEMENTED: Final = get_default_algorithms()
_CURVES: Final = {"P-256": ec.SECP256R1, "P-384": ec.SECP384R1, "P-521": ec.SECP521R1, "secp256k1": ec.SECP256K1}


def b64(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


@dataclass(frozen=True)
class SigningKey:
    """One key pair; `algorithm` is what it signs with unless told otherwise."""

    kid: str
    algorithm: str
    private: Any = field(repr=False)

    def jwk(self, **changes: Any) -> dict[str, Any]:
        """The public half, with `kid`, `alg` and `use`; `MISSING` takes a member away."""
        public = _IMPLEMENTED[self.algorithm].to_jwk(self.private.public_key(), as_dict=True)
        members = {**public, "kid": self.kid, "alg": self.algorithm, "use": "sig", **changes}
        return {name: value for name, value in members.items() if value is not MISSING}

    def pem(self) -> bytes:
        """The public half as PEM."""
        return bytes(self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))

    def sign(self, signed: bytes, algorithm: str | None = None) -> bytes:
        return bytes(_IMPLEMENTED[algorithm or self.algorithm].sign(signed, self.private))


@functools.cache
def rsa_key(kid: str = "rsa-1", algorithm: str = "RS256", bits: int = 2048) -> SigningKey:
    return SigningKey(kid, algorithm, rsa.generate_private_key(65537, bits))


@functools.cache
def ec_key(curve: str = "P-256", kid: str | None = None) -> SigningKey:
    algorithm = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "secp256k1": "ES256K"}[curve]
    return SigningKey(kid or f"ec-{curve}", algorithm, ec.generate_private_key(_CURVES[curve]()))


@functools.cache
def ed_key(kid: str = "ed-1") -> SigningKey:
    return SigningKey(kid, "EdDSA", ed25519.Ed25519PrivateKey.generate())


@functools.cache
def ed448_key(kid: str = "ed448-1") -> SigningKey:
    return SigningKey(kid, "EdDSA", ed448.Ed448PrivateKey.generate())


def claims_of(now: float | None = None, **changes: Any) -> dict[str, Any]:
    """A good access token's claims, changed; `MISSING` takes one away."""
    now = int(time.time() if now is None else now)
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": SUBJECT,
        "exp": now + 600,
        "iat": now,
        "scope": SCOPES,
        "client_id": "canary-client-7b1e",
        **changes,
    }
    return {name: value for name, value in claims.items() if value is not MISSING}


def header_of(key: SigningKey, **changes: Any) -> dict[str, Any]:
    """The header that belongs to a key, changed; `MISSING` takes a field away."""
    header = {"typ": "at+jwt", "alg": key.algorithm, "kid": key.kid, **changes}
    return {name: value for name, value in header.items() if value is not MISSING}


def compact(key: SigningKey, header: Mapping[str, Any] | bytes, payload: Mapping[str, Any] | bytes) -> str:
    """A token signed by `key` with its own algorithm, whatever the header says. Octets are taken as they are."""
    parts = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in (header, payload)]
    signed = ".".join(b64(part) for part in parts)
    return f"{signed}.{b64(key.sign(signed.encode()))}"


def mint(key: SigningKey | None = None, now: float | None = None, **changes: Any) -> str:
    """A good token with these claims changed."""
    key = key or rsa_key()
    return compact(key, header_of(key), claims_of(now, **changes))
