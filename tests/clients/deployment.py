"""The demo in a process of its own, for clients that are not ours: `python -m tests.clients.deployment`.

The real server over real HTTP, on two free ports: one as an owner runs it, one that adds the bearer token to each
request that brings none, for clients that cannot be given one. The first line printed names both; the log, one JSON
object a line, goes to stderr. It ends with its standard input.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from typing import Any

from mailgate.app import build_app
from mailgate.cli_credentials import new_token
from mailgate.cli_demo import DRAIN_SECONDS, HOST, demo_settings
from mailgate.cli_web import QuietServer, http_config, listen
from mailgate.server.telemetry import configure_logging


class WithToken:
    """The application, for callers who bring no token: they get this one."""

    def __init__(self, app: Any, token: str) -> None:
        self._app, self._field = app, (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and all(name != b"authorization" for name, _ in scope["headers"]):
            scope = {**scope, "headers": [*scope["headers"], self._field]}
        await self._app(scope, receive, send)


async def serve() -> None:
    token = new_token()
    async with demo_settings(token) as settings:
        configure_logging("info", "json")
        app = build_app(replace(settings, log_level="info", log_format="json"))
        servers, tasks, urls = [], [], []
        for each in (app, WithToken(app, token)):
            config = http_config(each, host=HOST, port=0, drain_seconds=DRAIN_SECONDS)
            listening, port = listen(config)
            servers.append(QuietServer(config))
            tasks.append(asyncio.create_task(servers[-1].serve(sockets=[listening])))
            urls.append(f"http://{HOST}:{port}/mcp")
        print(json.dumps({"url": urls[0], "open_url": urls[1], "token": token}), flush=True)
        await asyncio.to_thread(sys.stdin.read)
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*tasks)


if __name__ == "__main__":
    asyncio.run(serve())
