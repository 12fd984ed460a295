"""A JSON Web Key Set (RFC 7517): from its octets to the public keys that may check a signature, and for what.

A key that mailgate cannot or must not use is passed over: an issuer may keep keys for other purposes in its set.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

import jwt
from jwt.algorithms import Algorithm, get_default_algorithms

from mailgate.keys.trouble import KeysUnavailable, KeyTrouble
from mailgate.limits import KEYS_MAX, RSA_BITS_MAX, RSA_BITS_MIN

_RSA: Final[tuple[str, ...]] = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_BY_CURVE: Final[Mapping[tuple[str, str], tuple[str, ...]]] = MappingProxyType(
    {
        ("EC", "P-256"): ("ES256",),
        ("EC", "P-384"): ("ES384",),
        ("EC", "P-521"): ("ES512",),
        ("OKP", "Ed25519"): ("EdDSA",),
    }
)
ALGORITHMS: Final = frozenset(_RSA).union(*_BY_CURVE.values())
"""What a signature may be made with: public keys only (RFC 7518, 3.1; RFC 8037, 3.1). `none` and HS* never."""

_IMPLEMENTED: Final[dict[str, Algorithm]] = {
    name: found for name, found in get_default_algorithms().items() if name in ALGORITHMS
}


@dataclass(frozen=True, slots=True)
class IssuerKey:
    """One public key; `algorithms` are those it may be used with."""

    kid: str | None
    algorithms: frozenset[str]
    public: Any = field(repr=False)

    def verifies(self, algorithm: str, signed: bytes, signature: bytes) -> bool:
        """Whether `signature` was made over `signed` with this key's other half. The algorithm must fit the key."""
        if algorithm not in self.algorithms:
            return False
        return _IMPLEMENTED[algorithm].verify(signed, self.public, signature)


def parse_keys(document: bytes) -> tuple[IssuerKey, ...]:
    """The usable keys of a set, perhaps none. `KeysUnavailable` when the document is no set."""
    keys = parse_object(document).get("keys")
    if not isinstance(keys, list):
        raise KeysUnavailable(KeyTrouble.UNREADABLE)
    found = (_key(each) for each in keys[:KEYS_MAX])
    return tuple(key for key in found if key is not None)


def parse_object(document: bytes) -> dict[str, Any]:
    """The JSON object in a document of the issuer. `KeysUnavailable` when it is something else."""
    try:
        value = json.loads(document.decode("utf-8"))
    except (ValueError, RecursionError):
        raise KeysUnavailable(KeyTrouble.UNREADABLE) from None
    if not isinstance(value, dict):
        raise KeysUnavailable(KeyTrouble.UNREADABLE)
    return value


def _key(jwk: object) -> IssuerKey | None:
    # A set with a private key in it (`d`) has given that key away; whoever read it can sign.
    if not isinstance(jwk, dict) or "d" in jwk or not _is_for_signatures(jwk):
        return None
    kid, algorithms = jwk.get("kid"), _algorithms(jwk)
    if not algorithms or not isinstance(kid, str | None):
        return None
    try:
        public: Any = _IMPLEMENTED[algorithms[0]].from_jwk(jwk)
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    if jwk["kty"] == "RSA" and not RSA_BITS_MIN <= public.key_size <= RSA_BITS_MAX:
        return None
    return IssuerKey(kid, frozenset(algorithms), public)


def _is_for_signatures(jwk: dict[str, Any]) -> bool:
    """RFC 7517, 4.2 and 4.3: what a key is meant for, where it says so."""
    operations = jwk.get("key_ops", ["verify"])
    return jwk.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations


def _algorithms(jwk: dict[str, Any]) -> tuple[str, ...]:
    """What fits the key's type, narrowed by the key's own `alg` (RFC 7517, 4.4)."""
    kind, curve = jwk.get("kty"), jwk.get("crv")
    fitting: tuple[str, ...] = ()
    if kind == "RSA":
        fitting = _RSA
    elif isinstance(kind, str) and isinstance(curve, str):
        fitting = _BY_CURVE.get((kind, curve), ())
    return tuple(name for name in fitting if jwk.get("alg", name) == name)
