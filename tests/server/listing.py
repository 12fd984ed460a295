"""The tool list as it travels."""

from __future__ import annotations

from typing import Any

from mcp import Client
from mcp.server.lowlevel import Server


async def published(server: Server[Any]) -> list[dict[str, Any]]:
    """Every tool, as a client gets it."""
    async with Client(server, mode="auto") as client:
        listed = await client.list_tools()
    return [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in listed.tools]
