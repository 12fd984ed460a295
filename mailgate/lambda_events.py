"""An ASGI application behind AWS Lambda's function URLs and API Gateway, without a server and without a lifespan.

One event in, one answer out. The event loop is kept from one invocation to the next, so that the connections to the
mailbox are; the application survives a new loop as well. Payload format 2.0 joins repeated header fields with commas
and 1.0 lists them; both are understood, and whatever must occur once is refused behind this when it occurs twice.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from typing import Any, Final, Protocol
from urllib.parse import unquote, urlencode

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
Event = Mapping[str, Any]

MARGIN_SECONDS: Final = 0.5
"""Kept of the function's time for the answer that it is over."""


class Context(Protocol):
    """What is used of the object that Lambda gives beside the event."""

    def get_remaining_time_in_millis(self) -> int:
        """Until the function is stopped."""
        ...


class BadEvent(ValueError):
    """Not an HTTP event, or one that contradicts itself. Nothing of it is repeated."""


class LambdaBridge:
    """The handler for one application: call it with event and context.

    `new_loops`: give every invocation an event loop of its own, as some wrappers around Lambda do.
    """

    def __init__(self, app: Application, *, new_loops: bool = False) -> None:
        self._app, self._new_loops = app, new_loops
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(self, event: Event, context: Context | None = None) -> dict[str, Any]:
        """The answer to one invocation, in the form of the event's own payload version."""
        seconds = None
        if context is not None:
            seconds = max(0.0, context.get_remaining_time_in_millis() / 1000 - MARGIN_SECONDS)
        if self._new_loops:
            return asyncio.run(self._answer(event, seconds))
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        return self._loop.run_until_complete(self._answer(event, seconds))

    def close(self) -> None:
        """Close the loop that was kept."""
        if self._loop is not None:
            self._loop.close()

    async def _answer(self, event: Event, seconds: float | None) -> dict[str, Any]:
        try:
            scope, body = to_scope(event), _body(event)
        except (BadEvent, KeyError, TypeError, AttributeError, UnicodeEncodeError):
            # Half a surrogate pair, which JSON can hold and a path or a query cannot, is such an error too.
            return _plain(400, "bad_event", "The event is no HTTP request.")
        answer = _Answer(scope["mailgate.version"])
        try:
            async with asyncio.timeout(seconds):
                await self._app(scope, _once(body), answer)
        except TimeoutError:
            # A confirmed send is a task of its own and not ended by this; it goes on when the function next runs.
            return _plain(504, "out_of_time", "The function's own time limit came first; the operator raises it.")
        return answer.whole()


# --- the request -------------------------------------------------------------------------------------------------


def to_scope(event: Event) -> dict[str, Any]:
    """The ASGI scope of an HTTP event. Raises `BadEvent`, or what a malformed event makes of it."""
    request = event["requestContext"]
    newer = event.get("version") == "2.0"
    http = request["http"] if newer else {"method": event["httpMethod"], "path": event["path"]}
    path = event["rawPath"] if newer else event["path"]
    source = http.get("sourceIp") or request.get("identity", {}).get("sourceIp") or ""
    stage = f"/{request.get('stage', '$default')}"
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": http["method"].upper(),
        "scheme": "https",
        "path": unquote(path),
        "raw_path": path.encode(),
        # A stage that is not the default one stands before the path.
        "root_path": stage if path.startswith(stage + "/") else "",
        "query_string": _query(event, newer=newer).encode(),
        "headers": list(_fields(event)),
        "client": (source, 0),
        "server": None,
        "mailgate.version": "2.0" if newer else "1.0",
    }


def _fields(event: Event) -> Iterator[tuple[bytes, bytes]]:
    several = event.get("multiValueHeaders") or {name: [value] for name, value in (event.get("headers") or {}).items()}
    for name, values in several.items():
        for value in values:
            yield name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace")


def _query(event: Event, *, newer: bool) -> str:
    if newer:
        return str(event.get("rawQueryString", ""))
    several = event.get("multiValueQueryStringParameters") or event.get("queryStringParameters") or {}
    return urlencode(several, doseq=True)


def _body(event: Event) -> bytes:
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        # Half a surrogate pair becomes what the reader of the body refuses, instead of an exception here.
        return str(body).encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raise BadEvent("the body is not base64") from None


def _once(body: bytes) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if pending:
            return pending.pop()
        # Nobody hangs up here: the function is stopped from outside, or it answers.
        never: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        return await never

    return receive


# --- the answer --------------------------------------------------------------------------------------------------


class _Answer:
    """Collects what the application sends."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._status = 500
        self._fields: dict[str, list[str]] = {}
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
            for name, value in message.get("headers", []):
                self._fields.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        elif message["type"] == "http.response.body":
            self._body += message.get("body", b"")

    def whole(self) -> dict[str, Any]:
        """The answer in the form that Lambda asks for."""
        try:
            body, encoded = self._body.decode(), False
        except UnicodeDecodeError:
            body, encoded = base64.b64encode(self._body).decode(), True
        answer = {"statusCode": self._status, "body": body, "isBase64Encoded": encoded}
        if self._version == "1.0":
            return {**answer, "multiValueHeaders": self._fields}
        return {**answer, "headers": {name: ", ".join(values) for name, values in self._fields.items()}}


def _plain(status: int, code: str, sentence: str) -> dict[str, Any]:
    body = json.dumps({"error": code, "error_description": sentence})
    fields = {"content-type": "application/json", "cache-control": "no-store"}
    return {"statusCode": status, "headers": fields, "body": body, "isBase64Encoded": False}
