"""CORS answers (Fetch standard, 3.2) for origins that the operator allows; others never get this far."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

_METHODS: Final = "POST"
_HEADERS: Final = "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id"
_EXPOSED: Final = b"WWW-Authenticate, Retry-After, X-Request-Id"
_MAX_AGE_SECONDS: Final = "600"


def is_preflight(method: str, requested: bytes | None) -> bool:
    """Whether a browser asks before it sends the real request."""
    return method == "OPTIONS" and requested is not None


def preflight() -> Response:
    """What a page may send: a POST with the fields that MCP needs. Credentials are tokens, never cookies."""
    fields = {
        "Access-Control-Allow-Methods": _METHODS,
        "Access-Control-Allow-Headers": _HEADERS,
        "Access-Control-Max-Age": _MAX_AGE_SECONDS,
    }
    return Response(status_code=204, headers=fields)


def response_fields(origin: bytes) -> list[tuple[bytes, bytes]]:
    """Fields on every response to an allowed origin."""
    return [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", _EXPOSED),
        (b"vary", b"Origin"),
    ]
