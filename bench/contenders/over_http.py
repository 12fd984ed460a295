"""mailgate as a hosted endpoint: the same jobs, asked over HTTP on loopback."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import sys
from collections.abc import Mapping
from typing import Any

import httpx

from bench.contenders.contenders import Mailgate, Place
from bench.contenders.process import PATIENCE, PeerFailed, Program, Running

TOKEN = "a-token-of-the-bench-0123456789abcdef"


class RunningOverHttp(Running):
    """The process, and a client with one kept connection to it."""

    client: httpx.AsyncClient

    async def ask(self, method: str, parameters: Mapping[str, Any]) -> Any:
        """The result of a request."""
        self._number += 1
        body = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        answer = (await self.client.post("/mcp", json=body)).json()
        if "error" in answer:
            raise PeerFailed(str(answer["error"])[:300])
        return answer["result"]

    async def stop(self) -> None:
        """End it, by its id."""
        await self.client.aclose()
        self._process.terminate()
        await super().stop()


class MailgateOverHttp(Mailgate):
    """This project, over HTTP."""

    name = "mailgate over HTTP"

    async def start(self, place: Place) -> RunningOverHttp:
        """Start `mailgate serve` on a free port and wait until it is ready."""
        port = free_port()
        tokens = f"{hashlib.sha256(TOKEN.encode()).hexdigest()}:mail.read+mail.write"
        environment = {**self.environment(place), "MAIL_TOKENS": tokens, "PYTHONPATH": "."}
        command = [sys.executable, "-m", "mailgate", "serve", "--port", str(port)]
        running = await RunningOverHttp.begin(Program(command, environment))
        running.client = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}",
            headers={"authorization": f"Bearer {TOKEN}", "accept": "application/json, text/event-stream"},
            timeout=PATIENCE,
        )
        await until_ready(running)
        await running.ask("tools/list", {})
        return running


def free_port() -> int:
    """A port of loopback that was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


async def until_ready(running: RunningOverHttp) -> None:
    """Return when it says that it is ready."""
    for _ in range(3000):
        try:
            if (await running.client.get("/readyz")).status_code == 200:
                return
        except httpx.TransportError:
            await asyncio.sleep(0.01)
    raise PeerFailed("it did not become ready")
