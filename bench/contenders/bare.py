"""The least that a tool call over HTTP can cost with this SDK: a low-level server with one tool that does nothing."""

from __future__ import annotations

import sys
from typing import Any


def application() -> Any:
    """The ASGI application, with a lifespan that runs the SDK's session manager."""
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

    async def list_tools(_context: Any, _parameters: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="noop", input_schema={"type": "object"})])

    async def call_tool(_context: Any, _parameters: Any) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text="done")])

    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            async with manager.run():
                await receive()
                await send({"type": "lifespan.startup.complete"})
                await receive()
            await send({"type": "lifespan.shutdown.complete"})
        elif scope["path"] == "/readyz":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await manager.handle_request(scope, receive, send)

    return app


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(application(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
