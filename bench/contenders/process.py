"""A program under measurement: a process that speaks JSON-RPC by lines on its standard streams."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

LINE_MAX = 64 * 1024 * 1024
PATIENCE = 120.0


class PeerFailed(RuntimeError):
    """It ended, or answered with an error."""


@dataclass
class Program:
    """How to start it. `hello`: whether it is an MCP server, which wants to be introduced first."""

    command: Sequence[str]
    environment: Mapping[str, str]
    hello: bool = True


class Growth:
    """How far the resident memory of a process has risen since this was made (proc_pid_clear_refs(5), value 5)."""

    def __init__(self, process: Path) -> None:
        self._process = process
        (process / "clear_refs").write_text("5")
        self._before = self._status("VmRSS")

    def octets(self) -> int:
        """At the highest so far."""
        return self._status("VmHWM") - self._before

    def _status(self, name: str) -> int:
        lines = (self._process / "status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


class Running:
    """The process, from its start to its end."""

    def __init__(self, process: asyncio.subprocess.Process, errors: Path) -> None:
        self._process, self._errors = process, errors
        self._number = 0

    @classmethod
    async def begin(cls, program: Program) -> Self:
        """Start it, and say nothing yet."""
        descriptor, errors = tempfile.mkstemp(prefix="mailgate-bench-")
        process = await asyncio.create_subprocess_exec(
            *program.command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=descriptor,
            env={"PATH": os.environ["PATH"], **program.environment},
            limit=LINE_MAX,
        )
        os.close(descriptor)
        return cls(process, Path(errors))

    @classmethod
    async def start(cls, program: Program) -> Self:
        """Start it, and introduce ourselves."""
        running = await cls.begin(program)
        if program.hello:
            about = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "bench", "version": "1"},
            }
            await running.ask("initialize", about)
            await running._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            await running.ask("tools/list", {})
        else:
            await running.ask("ready", {})
        return running

    async def ask(self, method: str, parameters: Mapping[str, Any]) -> Any:
        """The result of a request."""
        self._number += 1
        await self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})
        async with asyncio.timeout(PATIENCE):
            while line := await self._process.stdout.readline():  # type: ignore[union-attr]
                answer = json.loads(line)
                if answer.get("id") == self._number and ("result" in answer or "error" in answer):
                    if "error" in answer:
                        raise PeerFailed(str(answer["error"])[:300])
                    return answer["result"]
        raise PeerFailed("it ended: " + self._errors.read_text(errors="replace")[-300:])

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """All text of a tool's answer; `PeerFailed` where the tool says that it failed."""
        result = await self.ask("tools/call", {"name": tool, "arguments": arguments})
        text = "\n".join(str(item.get("text", "")) for item in result.get("content", []))
        text += json.dumps(result["structuredContent"]) if result.get("structuredContent") else ""
        if result.get("isError"):
            raise PeerFailed(text[:300])
        return text

    def peak(self) -> int:
        """Octets resident at the highest, so far (VmHWM)."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))

    def growth_of(self) -> Growth:
        """Measures what is resident at the highest from now on, beyond what is resident now."""
        return Growth(Path(f"/proc/{self._process.pid}"))

    async def stop(self) -> None:
        """End it, by its id."""
        if self._process.returncode is None:
            self._process.stdin.close()  # type: ignore[union-attr]
            try:
                await asyncio.wait_for(self._process.wait(), 3)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        self._errors.unlink(missing_ok=True)

    async def _send(self, message: Mapping[str, Any]) -> None:
        self._process.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
        await self._process.stdin.drain()  # type: ignore[union-attr]
