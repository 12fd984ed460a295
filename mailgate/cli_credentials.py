"""Fresh secrets: bearer tokens and store keys. A token is shown once; only its hash is ever configured."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Set as AbstractSet

from mailgate.policy import Scope

TOKEN_PREFIX = "mg_"  # noqa: S105  the prefix lets secret scanners recognise a leaked token
TOKEN_BYTES = 32
"""256 bits: what is guessed at random is found never, and a plain SHA-256 needs no salt or stretching."""


def new_token() -> str:
    """A bearer token in URL-safe characters (RFC 6750, 2.1)."""
    return TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)


def token_entry(token: str, scopes: AbstractSet[Scope]) -> str:
    """The `MAIL_TOKENS` entry that lets the token in: `sha256hex:scope+scope`."""
    digest = hashlib.sha256(token.encode("ascii")).hexdigest()
    return f"{digest}:" + "+".join(scope for scope in Scope if scope in scopes)


def new_store_key() -> str:
    """A `MAIL_STORE_KEY`: 32 random bytes in base64."""
    return base64.b64encode(secrets.token_bytes(32)).decode("ascii")
