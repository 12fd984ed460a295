"""The mock issuer as a tiny authorization server: the code grant with PKCE for one owner, who consents.

Both ways for a client nobody knows yet: its own metadata document, or dynamic registration.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections import deque
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.peers.issuer import Issuer, Reply, Seen
from tests.peers.signing import SUBJECT

OFFERED = ["mail.read", "mail.write", "mail.send", "offline_access", "openid"]


class AuthorizationServer:
    """Adds the endpoints to `issuer`. `consents`: what the owner grants at each authorization; empty means all asked.

    `asked` are the queries of the authorizations, `issued` the access tokens.
    """

    def __init__(self, issuer: Issuer, *, knows_documents: bool) -> None:
        self.issuer = issuer
        self.consents: deque[set[str]] = deque()
        self.asked: list[dict[str, str]] = []
        self.issued: list[str] = []
        self.registered: list[dict[str, Any]] = []
        self._codes: dict[str, dict[str, str]] = {}
        issuer.metadata |= {
            "authorization_endpoint": f"{issuer.base}/authorize",
            "token_endpoint": f"{issuer.base}/token",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
            "scopes_supported": OFFERED,
        }
        issuer.routes |= {("GET", "/authorize"): self._authorize, ("POST", "/token"): self._token}
        if knows_documents:
            issuer.metadata["client_id_metadata_document_supported"] = True
        else:
            issuer.metadata["registration_endpoint"] = f"{issuer.base}/register"
            issuer.routes["POST", "/register"] = self._register

    def _register(self, seen: Seen) -> Reply:
        asked = json.loads(seen.body)
        self.registered.append(asked)
        return Reply.json({**asked, "client_id": "client-1", "token_endpoint_auth_method": "none"}, 201)

    def _authorize(self, seen: Seen) -> Reply:
        query = seen.query
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        asked = set(query.get("scope", "").split())
        granted = asked & self.consents.popleft() if self.consents else asked
        code = secrets.token_urlsafe(16)
        self.asked.append(query)
        self._codes[code] = {**query, "granted": " ".join(scope for scope in OFFERED if scope in granted)}
        answer = urlencode({"code": code, "state": query["state"], "iss": self.issuer.url})
        return Reply(302, b"", (("Location", f"{query['redirect_uri']}?{answer}"),))

    def _token(self, seen: Seen) -> Reply:
        form = seen.form
        asked = self._codes.pop(form["code"])
        proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        same = all(form[name] == asked[name] for name in ("client_id", "redirect_uri", "resource"))
        if proof != asked["code_challenge"] or not same:
            return Reply.json({"error": "invalid_grant"}, 400)
        # RFC 8707, 2.2: the token is for the resource that was named.
        token = self.issuer.mint(aud=form["resource"], sub=SUBJECT, scope=asked["granted"], client_id=form["client_id"])
        self.issued.append(token)
        return Reply.json(
            {"access_token": token, "token_type": "Bearer", "expires_in": 600, "scope": asked["granted"]},
        )


def code_in(location: str) -> dict[str, str]:
    """What a redirect brings back to the client."""
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
