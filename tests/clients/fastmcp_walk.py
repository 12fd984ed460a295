"""The fastmcp client, in its own environment: the order is the first argument, the report goes to stdout.

As in `walk.mjs`: `url` and `token`, or `command` and `environment` for stdio; `mode`; `calls`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport


def client_of(order: dict[str, Any]) -> Client[Any]:
    if "url" in order:
        return Client(order["url"], auth=order["token"], mode=order["mode"])
    command, *arguments = order["command"]
    return Client(StdioTransport(command, arguments, env=order["environment"]), mode=order["mode"])


def as_json(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


async def walk(order: dict[str, Any]) -> dict[str, Any]:
    async with client_of(order) as client:
        tools = [as_json(tool) for tool in await client.list_tools()]
        answers: list[Any] = []
        reference: Any = None
        for name, given in order["calls"]:
            arguments = {key: reference if value == "$reference" else value for key, value in given.items()}
            result = await client.call_tool_mcp(name, arguments)
            answers.append({**as_json(result), "structuredContent": result.structured_content})
            if name == "mail_search":
                reference = answers[-1]["structuredContent"]["messages"][0]["reference"]
        try:
            await client.call_tool("mail_read", {"reference": {"folder": "INBOX", "uid_validity": 1, "uid": 1}})
            raised = ""
        except Exception as error:
            raised = str(error)
        report = {"protocol": client.protocol_version, "server": client.server_info.name}
        return {**report, "tools": tools, "answers": answers, "raised": raised}


if __name__ == "__main__":
    json.dump(asyncio.run(walk(json.loads(sys.argv[1]))), sys.stdout)
