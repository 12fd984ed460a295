"""The same server over standard input and output: the local user is the owner."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterable
from typing import Any, Protocol, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError

from mailgate.policy import ALL_SCOPES, Principal, Scope
from mailgate.server import telemetry
from mailgate.server.dispatch import Dispatcher
from mailgate.server.envelope import BadRequest, is_request_id, parse_envelope
from mailgate.server.mcp import build_server


def local_principal(scopes: Iterable[Scope] = ALL_SCOPES) -> Principal:
    """The local user, with all scopes unless narrowed. Gates apply all the same."""
    return Principal("local", "owner", frozenset(scopes))


async def serve_stdio(dispatcher: Dispatcher, scopes: Iterable[Scope] = ALL_SCOPES) -> None:
    """Serve until standard input ends."""
    server = build_server(dispatcher, local_principal(scopes))
    lines = _CheckedLines(anyio.wrap_file(sys.stdin.buffer))
    async with stdio_server(cast(Any, lines)) as (incoming, outgoing):
        lines.outgoing = outgoing
        # Only now are the SDK's stdio loggers sure to exist.
        telemetry.silence("mcp")
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Outgoing(Protocol):
    async def send(self, item: SessionMessage, /) -> None: ...


class _CheckedLines:
    """Standard input by lines, each one JSON-RPC message by the same strict reading as over HTTP.

    The SDK drops a line that it cannot read, and a client would wait for its answer until it gives up. Here such a line
    is answered and goes no further.
    """

    def __init__(self, lines: anyio.AsyncFile[bytes]) -> None:
        self._lines = lines
        self.outgoing: _Outgoing | None = None

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._lines:
            if not line.strip():
                continue
            try:
                parse_envelope(line)
            except BadRequest as bad:
                await self._refuse(line, bad)
            else:
                yield line.decode()

    async def _refuse(self, line: bytes, bad: BadRequest) -> None:
        message = _loosely(line)
        if self.outgoing is None or ("method" not in message and ("result" in message or "error" in message)):
            # An answer to a question that was never asked needs no answer.
            return
        named = message.get("id")
        error = ErrorData(code=bad.rpc_code, message=bad.sentence)
        answer = JSONRPCError(jsonrpc="2.0", id=named if is_request_id(named) else None, error=error)
        await self.outgoing.send(SessionMessage(answer))


def _loosely(line: bytes) -> dict[str, Any]:
    """As much of a refused message as is needed to say whose answer this is."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
