"""The HTTP surface: `POST /mcp`, two health checks, in JWT mode the resource metadata, and nothing else.

Order for the endpoint: Host, Origin, method, caller, rate, place, body, scope, protocol. What is refused gets a fixed
sentence.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mailgate import policy
from mailgate.keys.trouble import KeysUnavailable
from mailgate.limits import BUSY_RETRY_SECONDS
from mailgate.policy import Principal, permit
from mailgate.server import cors, telemetry
from mailgate.server.auth import Callers, Rejection, challenge, open_scopes
from mailgate.server.dispatch import Dispatcher, UnknownTool
from mailgate.server.envelope import HEADER_MISMATCH, BadRequest, ClientGone, Envelope, parse_envelope, read_body
from mailgate.server.hangup import serve_until_gone
from mailgate.server.origins import AllowedOrigins
from mailgate.server.resource import ProtectedResource, protected_resource
from mailgate.server.throttle import Throttle, caller_key

ENDPOINT: Final = "/mcp"
PRINCIPAL: Final = "mailgate.principal"
"""Where the protocol layer finds the caller in the ASGI scope."""
RPC_ID: Final = "mailgate.rpc_id"
"""Where it finds the id of the JSON-RPC request; None for a notification."""

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
    def peer(self) -> str:
        """The address that the connection comes from. What a proxy says of others is not believed."""
        client = self.scope.get("client")
        return str(client[0]) if client else ""

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

    `endpoint` speaks MCP to a request that has passed every check here. `opened` is called when the server has
    started and `close` when it shuts down in an orderly way; nothing depends on either being called. `clock`: seconds,
    monotonic.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        endpoint: ASGIApp,
        *,
        callers: Callers,
        origins: AllowedOrigins,
        close: Callable[[], Awaitable[None]],
        opened: Callable[[], object] | None = None,
        throttle: Throttle | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dispatcher, self._endpoint = dispatcher, endpoint
        self._callers, self._origins, self._close = callers, origins, close
        self._opened = opened
        self._throttle, self._clock = throttle or Throttle(), clock
        self._settings = dispatcher.backend.settings
        self._scopes = open_scopes(self._settings.gates)
        self._resource: ProtectedResource | None = protected_resource(
            self._settings.public_url, self._settings.oauth_issuer, self._scopes
        )
        self._ending = False

    def stop_taking(self) -> None:
        """The process is about to end: no new call is taken, and those that run go on."""
        self._ending = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._serve(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        await receive()
        if self._opened is not None:
            await asyncio.to_thread(self._opened)
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
                if isinstance(response, Refusal) and not response.quiet:
                    telemetry.log_refusal(status=response.status_code, code=response.code, reason=response.reason)
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
        if self._resource is not None and request.path in self._resource.paths:
            return self._resource.answer(request.method)
        if request.path != ENDPOINT:
            return _refused(404, "not_found", "There is nothing here; the endpoint is /mcp.")
        return await self._endpoint_answer(request, outgoing)

    def _readiness(self) -> Response:
        if self._ending:
            return JSONResponse({"status": "ending"}, 503)
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
        if self._ending:
            return _refused(503, "ending", "The server is about to end.", {**_BUSY, "Connection": "close"})
        return await self._admitted(request)

    # --- how much -----------------------------------------------------------------------------------------------

    async def _admitted(self, request: Request) -> Response | None:
        """Measure strangers by their peer and callers by themselves; then carry the request out in a place."""
        now, credentials = self._clock(), request.fields(b"authorization")
        if wait := self._throttle.at_the_door(request.peer, credentials, now):
            return self._crowded(self._unauthorized(Rejection.ABSENT), wait, now)
        caller = await self._caller(request)
        if isinstance(caller, Response):
            refused = bool(credentials) and caller.status_code == 401
            wait = self._throttle.turned_away(request.peer, credentials, now) if refused else 0.0
            return self._crowded(caller, wait, now) if wait else caller
        if wait := self._throttle.recognised(caller, credentials, now):
            return _refused(429, "rate_limited", "This caller makes too many requests.", _retry_after(wait))
        with self._throttle.places.place(caller_key(caller)) as free:
            if not free:
                return _refused(503, "busy", "Too many calls are running; this one was not begun.", _BUSY)
            return await self._authenticated(request, caller)

    def _crowded(self, refused: Response, wait: float, now: float) -> Response:
        """What a stranger among too many is told: when to come again, and still how to become a caller."""
        fields = {"WWW-Authenticate": refused.headers["www-authenticate"], **_retry_after(wait)}
        quiet = not self._throttle.worth_a_line(now)
        return Refusal(429, "rate_limited", "Too many requests without a valid token.", fields, quiet=quiet)

    # --- the caller ---------------------------------------------------------------------------------------------

    async def _caller(self, request: Request) -> Principal | Response:
        if _has_token_in_query(request.scope["query_string"]):
            # "clients MUST NOT" (OAuth 2.1, 5.1.2): URLs end up in logs and histories.
            return self._unauthorized(Rejection.QUERY)
        try:
            found = await self._callers.recognise(request.fields(b"authorization"))
        except KeysUnavailable as unavailable:
            # Not 401: the token may be good, and a client would throw it away.
            fields, reason = _retry_after(unavailable.retry_after), unavailable.trouble.value
            sentence = "The issuer's keys cannot be fetched now; try again later."
            return Refusal(503, "keys_unavailable", sentence, fields, reason=reason)
        return self._unauthorized(found) if isinstance(found, Rejection) else found

    def _unauthorized(self, rejection: Rejection) -> Response:
        error = None if rejection is Rejection.ABSENT else "invalid_token"
        fields = self._challenge(self._scopes, error)
        return Refusal(401, "unauthorized", "A valid bearer token is needed.", fields, reason=rejection.value)

    def _challenge(self, scopes: Iterable[policy.Scope], error: str | None) -> dict[str, str]:
        metadata_url = None if self._resource is None else self._resource.metadata_url
        return {"WWW-Authenticate": challenge(scopes, error, metadata_url)}

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
        fields = self._challenge(needed, "insufficient_scope")
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
        scope = {**request.scope, "headers": headers, PRINCIPAL: principal, RPC_ID: envelope.request_id}
        may_end = self._only_reads(envelope)
        await serve_until_gone(self._endpoint, envelope, scope, request.receive, request.send, may_end=may_end)
        return None

    def _only_reads(self, envelope: Envelope) -> bool:
        """Whether nothing is lost when the request is broken off."""
        try:
            return envelope.tool is None or self._dispatcher.find(envelope.tool).hints.read_only
        except UnknownTool:
            return True

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
                sentence = "A header field disagrees with the body."
                raise BadRequest(400, sentence, HEADER_MISMATCH, request_id=envelope.request_id)
        return envelope


class Refusal(JSONResponse):
    """A refused request, with a code and a fixed sentence; logged when it is sent, unless `quiet`.

    `reason`: a word for the log alone.
    """

    def __init__(
        self,
        status: int,
        code: str,
        sentence: str,
        headers: dict[str, str] | None = None,
        *,
        quiet: bool = False,
        reason: str | None = None,
    ) -> None:
        self.code, self.quiet, self.reason = code, quiet, reason
        super().__init__({"error": code, "error_description": sentence}, status, headers)


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
    return Refusal(status, code, sentence, headers)


def _retry_after(seconds: float) -> dict[str, str]:
    """Whole seconds (RFC 9110, 10.2.3)."""
    return {"Retry-After": str(max(1, ceil(seconds)))}


_BUSY: Final = _retry_after(BUSY_RETRY_SECONDS)


def _rpc_error(bad: BadRequest) -> Response:
    error: dict[str, Any] = {"code": bad.rpc_code, "message": bad.sentence}
    return JSONResponse({"jsonrpc": "2.0", "id": bad.request_id, "error": error}, bad.status)
