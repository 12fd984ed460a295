"""The same server over standard input and output: the local user is the owner."""

from __future__ import annotations

from collections.abc import Iterable

from mcp.server.stdio import stdio_server

from mailgate.policy import ALL_SCOPES, Principal, Scope
from mailgate.server import telemetry
from mailgate.server.dispatch import Dispatcher
from mailgate.server.mcp import build_server


def local_principal(scopes: Iterable[Scope] = ALL_SCOPES) -> Principal:
    """The local user, with all scopes unless narrowed. Gates apply all the same."""
    return Principal("local", "owner", frozenset(scopes))


async def serve_stdio(dispatcher: Dispatcher, scopes: Iterable[Scope] = ALL_SCOPES) -> None:
    """Serve until standard input ends."""
    server = build_server(dispatcher, local_principal(scopes))
    async with stdio_server() as (incoming, outgoing):
        # Only now are the SDK's stdio loggers sure to exist.
        telemetry.silence("mcp")
        await server.run(incoming, outgoing, server.create_initialization_options())
