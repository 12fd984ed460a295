"""From an issuer's identifier to the address of its keys (RFC 8414, 3; OpenID Connect Discovery 1.0, 4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit

from mailgate.imap.endpoint import is_loopback
from mailgate.keys.jwks import parse_object
from mailgate.keys.trouble import KeysUnavailable, KeyTrouble

Get = Callable[[str], Awaitable[bytes]]
"""Fetches one document. Raises `KeysUnavailable`."""

_OAUTH: Final = "/.well-known/oauth-authorization-server"
_OPENID: Final = "/.well-known/openid-configuration"
_URL_CHARS_MAX: Final = 2048


def metadata_urls(issuer: str) -> tuple[str, ...]:
    """Where the issuer's metadata can be, in the order in which MCP clients look too.

    RFC 8414, 3.1 inserts the well-known part between host and path, OpenID appends it; both drop a slash at the end.
    """
    parts = urlsplit(issuer)
    base, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    urls = (f"{base}{_OAUTH}{path}", f"{base}{_OPENID}{path}", f"{base}{path}{_OPENID}")
    return tuple(dict.fromkeys(urls))


async def discover_keys_url(get: Get, issuer: str) -> str:
    """The `jwks_uri` of the first document that is this issuer's. `KeysUnavailable` when there is none.

    A document that is missing, unreadable or somebody else's is passed over: hosts answer unknown paths with all kinds
    of pages. The most telling trouble is the one reported.
    """
    telling = KeyTrouble.STATUS
    for url in metadata_urls(issuer):
        try:
            return keys_url(parse_object(await get(url)), issuer)
        except KeysUnavailable as passed_over:
            if passed_over.trouble.is_of_the_line:
                raise
            if telling is KeyTrouble.STATUS:
                telling = passed_over.trouble
    raise KeysUnavailable(telling)


def keys_url(metadata: dict[str, Any], issuer: str) -> str:
    """The `jwks_uri` of one document. `KeysUnavailable` when the document must not be used."""
    # RFC 8414, 3.3: "The "issuer" value returned MUST be identical to the authorization server's issuer identifier
    # value into which the well-known URI string was inserted"; otherwise nothing of it may be used.
    if metadata.get("issuer") != issuer:
        raise KeysUnavailable(KeyTrouble.ISSUER_MISMATCH)
    url = metadata.get("jwks_uri")
    if not isinstance(url, str) or not _is_safe(url):
        raise KeysUnavailable(KeyTrouble.KEYS_URL)
    return url


def _is_safe(url: str) -> bool:
    """Whether keys may come from there: https, or http on this machine; a plain URL that names no user."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if len(url) > _URL_CHARS_MAX or not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return False
    if not host or "@" in parts.netloc or "#" in url:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))
