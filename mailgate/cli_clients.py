"""What to paste into MCP clients, for an endpoint with a bearer token and for a command over stdio."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

NAME = "mailgate-demo"


def claude_code_http(endpoint: str, token: str) -> str:
    """The command that adds the endpoint to Claude Code."""
    header = shlex.quote(f"Authorization: Bearer {token}")
    return f"claude mcp add --transport http {NAME} {endpoint} --header {header}"


def vs_code(endpoint: str, token: str) -> str:
    """A `.vscode/mcp.json`."""
    return _pretty({"servers": {NAME: _remote(endpoint, token)}})


def generic_http(endpoint: str, token: str) -> str:
    """The form that most clients share."""
    return _pretty({"mcpServers": {NAME: _remote(endpoint, token)}})


def generic_stdio(command: Sequence[str]) -> str:
    """The same form for a client that starts the command itself."""
    return _pretty({"mcpServers": {NAME: {"command": command[0], "args": list(command[1:])}}})


def claude_code_stdio(command: Sequence[str]) -> str:
    """The command that adds a stdio server to Claude Code."""
    return f"claude mcp add {NAME} -- {shlex.join(command)}"


def _remote(endpoint: str, token: str) -> dict[str, object]:
    return {"type": "http", "url": endpoint, "headers": {"Authorization": f"Bearer {token}"}}


def _pretty(value: object) -> str:
    return json.dumps(value, indent=2)
