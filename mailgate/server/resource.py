"""The protected-resource metadata (RFC 9728): where a client that was refused learns who gives out tokens for us."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.responses import JSONResponse, Response

from mailgate.policy import Scope

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"
_METHODS: Final = "GET, HEAD, OPTIONS"
# The document is for everybody, and browsers send no credentials for it.
_CORS: Final = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": _METHODS,
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Max-Age": "600",
}


@dataclass(frozen=True, slots=True)
class ProtectedResource:
    """This deployment as OAuth sees it: its URL, who issues its tokens, and which scopes can be of use here."""

    public_url: str
    issuer: str
    scopes: tuple[Scope, ...]
    metadata_url: str = field(init=False)
    """Where the document is, for the challenge: the well-known part stands between host and path (RFC 9728, 3.1)."""
    paths: frozenset[str] = field(init=False)
    """Where it is answered: there, and at the root, where some clients look. Without a slash at the end."""

    def __post_init__(self) -> None:
        parts = urlsplit(self.public_url)
        inserted = WELL_KNOWN + parts.path.rstrip("/")
        object.__setattr__(self, "metadata_url", f"{parts.scheme}://{parts.netloc}{inserted}")
        object.__setattr__(self, "paths", frozenset({WELL_KNOWN, inserted}))

    def document(self) -> dict[str, Any]:
        """The metadata. `resource` is the public URL to the letter: clients compare it (RFC 9728, 3.3)."""
        return {
            "resource": self.public_url,
            "authorization_servers": [self.issuer],
            "scopes_supported": [scope.value for scope in self.scopes],
            "bearer_methods_supported": ["header"],
            "resource_name": "mailgate",
        }

    def answer(self, method: str) -> Response:
        """The response to a request for the document."""
        if method == "OPTIONS":
            return Response(status_code=204, headers=_CORS)
        if method not in ("GET", "HEAD"):
            return Response(status_code=405, headers={"Allow": _METHODS})
        return JSONResponse(self.document(), headers=_CORS)


def protected_resource(public_url: str | None, issuer: str | None, scopes: Iterable[Scope]) -> ProtectedResource | None:
    """The resource, in JWT mode. With static tokens alone there is none: some clients that find the document no longer
    send the token they were given.
    """
    if public_url is None or issuer is None:
        return None
    return ProtectedResource(public_url, issuer, tuple(scopes))
