"""The HTTP surface: `POST /mcp`, two health checks, and nothing else.

Order for the endpoint: Host, Origin, method, caller, body, scope, protocol. What is refused gets a fixed sentence.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mailgate import policy
from mailgate.policy import Principal, permit
from mailgate.server import cors, telemetry
from mailgate.server.auth import Rejection, TokenTable, challenge, open_scopes
from mailgate.server.dispatch import Dispatcher, UnknownTool
from mailgate.server.envelope import HEADER_MISMATCH, BadRequest, ClientGone, Envelope, parse_envelope, read_body
from mailgate.server.origins import AllowedOrigins

ENDPOINT: Final = "/mcp"
PRINCIPAL: Final = "mailgate.principal"
"""Where the protocol layer finds the caller in the ASGI scope."""

_ONCE: Final = (b"content-type", b"content-length", b"mcp-protocol-version", b"mcp-method", b"mcp-name")
"""Fields that two readers must not read differently."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the routing needs of an ASGI request."""

    scope: Scope
    receive: Receive
    send: Send

    @property
    def path(self) -> str:
        """The path below where the app is mounted, without a trailing slash."""
        path: str = self.scope["path"]
        root: str = self.scope.get("root_path", "")
        if root and path.startswith(root + "/"):
            path = path.removeprefix(root)
        return path.rstrip("/") or "/"

    @property
    def method(self) -> str:
        """The HTTP method."""
        return str(self.scope["method"])

    def fields(self, name: bytes) -> list[bytes]:
        """Every value of one header field; ASGI has the names in lower case."""
        return [value for key, value in self.scope["headers"] if key == name]

    def field(self, name: bytes) -> bytes | None:
        """The first value of one header field."""
        return next(iter(self.fields(name)), None)


class HttpSurface:
    """The ASGI application around one dispatcher.

    `endpoint` speaks MCP to a request that has passed every check here. `close` is called when the server shuts down
    in an orderly way; nothing depends on its being called.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        endpoint: ASGIApp,
        *,
        tokens: TokenTable,
        origins: AllowedOrigins,
        close: Callable[[], Awaitable[None]],
    ) -> None:
        self._dispatcher, self._endpoint = dispatcher, endpoint
        self._tokens, self._origins, self._close = tokens, origins, close
        self._settings = dispatcher.backend.settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        try:
            await self._close()
        except Exception as error:
            # The process ends anyway; whatever was open goes with it.
            telemetry.log_incident(secrets.token_hex(8), error)
        await send({"type": "lifespan.shutdown.complete"})

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request_id = secrets.token_hex(8)
        token = telemetry.REQUEST_ID.set(request_id)
        outgoing = _Outgoing(send, request_id)
        try:
            request = Request(scope, receive, outgoing)
            response = await self._answer(request, outgoing)
            if response is not None:
                await response(scope, receive, outgoing)
        except ClientGone:
            telemetry.log_refusal(status=0, code="client_gone")
        except Exception as error:
            telemetry.log_incident(request_id, error)
            if not outgoing.started:
                await JSONResponse({"error": "internal_error", "incident": request_id}, 500)(scope, receive, outgoing)
        finally:
            telemetry.REQUEST_ID.reset(token)

    async def _answer(self, request: Request, outgoing: _Outgoing) -> Response | None:
        """A response to send, or None when the endpoint has sent one."""
        if request.path == "/healthz":
            return _only_get(request) or JSONResponse({"status": "ok"})
        if not self._origins.allows_host(request.fields(b"host")):
            return _refused(421, "host_not_allowed", "This server does not answer for that host.")
        if request.path == "/readyz":
            return _only_get(request) or self._readiness()
        if request.path != ENDPOINT:
            return _refused(404, "not_found", "There is nothing here; the endpoint is /mcp.")
        return await self._endpoint_answer(request, outgoing)

    def _readiness(self) -> Response:
        missing = self._settings.missing
        if missing:
            return JSONResponse({"status": "not_configured", "missing": list(missing)}, 503)
        return JSONResponse({"status": "ok"})

    async def _endpoint_answer(self, request: Request, outgoing: _Outgoing) -> Response | None:
        origin = request.field(b"origin")
        if origin is not None:
            if not self._origins.allows_origin(request.fields(b"origin"), request.fields(b"host")):
                return _refused(403, "origin_not_allowed", "This origin is not allowed (MAIL_ALLOWED_ORIGINS).")
            outgoing.extra += cors.response_fields(origin)
            if cors.is_preflight(request.method, request.field(b"access-control-request-method")):
                return cors.preflight()
        if request.method != "POST":
            return _refused(405, "method_not_allowed", "The endpoint takes POST only.", {"Allow": "POST"})
        caller = self._caller(request)
        return caller if isinstance(caller, Response) else await self._authenticated(request, caller)

    # --- the caller ---------------------------------------------------------------------------------------------

    def _caller(self, request: Request) -> Principal | Response:
        if _has_token_in_query(request.scope["query_string"]):
            # "clients MUST NOT" (OAuth 2.1, 5.1.2): URLs end up in logs and histories.
            return self._unauthorized(Rejection.INVALID)
        found = self._tokens.authenticate(request.fields(b"authorization"))
        return self._unauthorized(found) if isinstance(found, Rejection) else found

    def _unauthorized(self, rejection: Rejection) -> Response:
        error = "invalid_token" if rejection is Rejection.INVALID else None
        header = challenge(open_scopes(self._settings.gates), error)
        return _refused(401, "unauthorized", "A valid bearer token is needed.", {"WWW-Authenticate": header})

    def _missing_scope(self, envelope: Envelope, principal: Principal) -> Response | None:
        """403 when the call lacks a scope. A closed gate goes through: it is the tool's error, and no grant helps."""
        if envelope.tool is None:
            return None
        try:
            tool = self._dispatcher.find(envelope.tool)
        except UnknownTool:
            return None
        requirement = tool.requirement_of(envelope.arguments)
        denial = permit(requirement, principal.scopes, self._settings.gates)
        if denial is None or not denial.scopes:
            return None
        needed = [scope for scope in policy.Scope if scope in requirement.scopes]
        fields = {"WWW-Authenticate": challenge(needed, "insufficient_scope")}
        return _refused(403, "insufficient_scope", "The token lacks a scope of this call.", fields)

    # --- the message ---------------------------------------------------------------------------------------------

    async def _authenticated(self, request: Request, principal: Principal) -> Response | None:
        try:
            envelope = await self._envelope(request)
        except BadRequest as bad:
            telemetry.log_refusal(status=bad.status, code="bad_request")
            return _rpc_error(bad)
        refusal = self._missing_scope(envelope, principal)
        if refusal is not None:
            return refusal
        # The layer below compares this field letter by letter; here it was understood already.
        others = [(name, value) for name, value in request.scope["headers"] if name != b"content-type"]
        headers = [*others, (b"content-type", b"application/json")]
        if not request.fields(b"accept"):
            # "A request without any Accept header field implies that the user agent will accept any media type"
            # (RFC 9110, 12.5.1).
            headers.append((b"accept", b"*/*"))
        scope = {**request.scope, "headers": headers, PRINCIPAL: principal}
        await self._endpoint(scope, envelope.replay(request.receive), request.send)
        return None

    async def _envelope(self, request: Request) -> Envelope:
        if any(len(request.fields(name)) > 1 for name in _ONCE):
            raise BadRequest(400, "A header field occurs more than once.")
        if request.field(b"content-encoding") not in (None, b"identity"):
            raise BadRequest(415, "A compressed body is not accepted.")
        if not _is_json(request.field(b"content-type")):
            raise BadRequest(415, "The Content-Type must be application/json.")
        declared = request.field(b"content-length")
        body = await read_body(request.receive, declared, self._settings.max_request_bytes)
        envelope = parse_envelope(body)
        for name, said in ((b"mcp-method", envelope.method), (b"mcp-name", envelope.tool)):
            if not _agrees(request.field(name), said):
                raise BadRequest(400, "A header field disagrees with the body.", HEADER_MISMATCH)
        return envelope


class _Outgoing:
    """`send`, with our own header fields on every response."""

    def __init__(self, send: Send, request_id: str) -> None:
        self._send = send
        self.started = False
        self.extra = [(b"x-request-id", request_id.encode()), (b"cache-control", b"no-store")]

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            own = {name for name, _ in self.extra}
            kept = [(name, value) for name, value in message.get("headers", []) if name.lower() not in own]
            message = {**message, "headers": [*kept, *self.extra]}
        await self._send(message)


def _is_json(content_type: bytes | None) -> bool:
    """`application/json`, with no charset but UTF-8 (RFC 8259, 8.1 and 11)."""
    kind, _, parameters = (content_type or b"").decode("latin-1").lower().partition(";")
    return kind.strip() == "application/json" and parameters.strip().replace('"', "") in ("", "charset=utf-8")


def _agrees(field: bytes | None, said: str | None) -> bool:
    """Whether a routing field, if there is one, names what the body names.

    The SDK checks this in the newer era only; a proxy that routes by these fields does so in both. Its encoded form is
    for names that no tool of ours has, and left to the SDK.
    """
    return field is None or said is None or field.startswith(b"=?") or field == said.encode()


def _has_token_in_query(query: bytes) -> bool:
    return any(pair.partition(b"=")[0].lower() == b"access_token" for pair in query.split(b"&"))


def _only_get(request: Request) -> Response | None:
    if request.method in ("GET", "HEAD"):
        return None
    return _refused(405, "method_not_allowed", "This is a health check; use GET.", {"Allow": "GET, HEAD"})


def _refused(status: int, code: str, sentence: str, headers: dict[str, str] | None = None) -> Response:
    telemetry.log_refusal(status=status, code=code)
    return JSONResponse({"error": code, "error_description": sentence}, status, headers)


def _rpc_error(bad: BadRequest) -> Response:
    error: dict[str, Any] = {"code": bad.rpc_code, "message": bad.sentence}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, bad.status)
