"""The body of a POST: read within a bound, parsed once and strictly, and checked to be one JSON-RPC message.

What is refused here is refused with a fixed sentence. The transport below parses the same octets again; because nothing
here is ambiguous, it cannot read anything else.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.types import Message, Receive

from mailgate.server import strict_json

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
HEADER_MISMATCH: Final = -32020
"""MCP 2026-07-28: routing header fields and the body name different things."""

BODY_SECONDS: Final = 30.0
"""How long a body may take to arrive; a slow one would hold a place for ever."""

ID_BYTES_MAX: Final = 256
"""The longest id with its escapes: it comes back in the response and counts there."""
_METHOD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_/.$-]{0,127}", re.ASCII)


class BadRequest(Exception):
    """A request that is refused before it reaches the protocol layer. Nothing of it is repeated but its id.

    "If there was an error in detecting the id in the Request object [...], it MUST be Null" (JSON-RPC 2.0, 5), and the
    caller's own otherwise.
    """

    def __init__(
        self, status: int, sentence: str, rpc_code: int = INVALID_REQUEST, *, request_id: str | int | None = None
    ) -> None:
        self.status, self.sentence, self.rpc_code, self.request_id = status, sentence, rpc_code, request_id
        super().__init__(sentence)


class ClientGone(Exception):
    """The client left before its body was complete; nobody waits for an answer."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """One JSON-RPC message: its method, and the tool's name and arguments when it is a `tools/call`."""

    body: bytes
    method: str
    tool: str | None = None
    arguments: Mapping[str, Any] | None = field(default=None, repr=False)
    request_id: str | int | None = None
    """None for a notification, which is not answered."""

    def replay(self, receive: Receive) -> Receive:
        """A `receive` that hands the body out again and then listens on."""
        pending: list[Message] = [{"type": "http.request", "body": self.body, "more_body": False}]

        async def again() -> Message:
            return pending.pop() if pending else await receive()

        return again


async def read_body(receive: Receive, declared: bytes | None, limit: int) -> bytes:
    """The whole body, at most `limit` octets, counted while they arrive. 413 beyond, 408 when it takes too long."""
    if declared is not None and declared.isdigit() and int(declared[:20]) > limit:
        raise _too_large(limit)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _collected(receive, limit)
    except TimeoutError:
        raise BadRequest(408, "The request body took too long to arrive.") from None


async def _collected(receive: Receive, limit: int) -> bytes:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            return bytes(body)


def _too_large(limit: int) -> BadRequest:
    return BadRequest(413, f"The request body is larger than {limit} octets (MAIL_MAX_REQUEST_BYTES).")


def parse_envelope(body: bytes) -> Envelope:
    """The one JSON-RPC request or notification in `body`. Raises `BadRequest`."""
    try:
        message = strict_json.loads(body)
    except strict_json.NotStrictJson as problem:
        raise BadRequest(400, f"Parse error: {problem}.", PARSE_ERROR) from None
    if not isinstance(message, dict):
        raise BadRequest(400, "The body must be one JSON-RPC request or notification, not a batch.")
    _check(message)
    return Envelope(body, message["method"], *_tool(message), request_id=message.get("id"))


def _check(message: dict[str, Any]) -> None:
    """The shape that JSON-RPC 2.0 (4) and MCP ask for; the protocol layer's own complaint would quote the message."""
    method = message.get("method")
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str) or not _METHOD.fullmatch(method):
        raise BadRequest(400, "The body must be one JSON-RPC 2.0 request or notification.")
    if "id" in message and not is_request_id(message["id"]):
        raise BadRequest(400, "The JSON-RPC id must be a string or an integer.")
    if not isinstance(message.get("params", {}), dict | None):
        raise BadRequest(400, "The JSON-RPC params must be an object.")


def is_request_id(value: object) -> bool:
    """Whether JSON-RPC and the size of a response allow `value` as an id."""
    if isinstance(value, str):
        return len(json.dumps(value)) - len('""') <= ID_BYTES_MAX
    return isinstance(value, int) and not isinstance(value, bool)


def _tool(message: dict[str, Any]) -> tuple[str | None, Mapping[str, Any] | None]:
    if message["method"] != "tools/call":
        return None, None
    params = message.get("params") or {}
    name, arguments = params.get("name"), params.get("arguments")
    return name if isinstance(name, str) else None, arguments if isinstance(arguments, dict) else None
