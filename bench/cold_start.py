"""From an interpreter that runs to the first answered `tools/list`: mailgate beside a bare low-level MCP server.

Both are asked over ASGI, each time in a process of their own, turn by turn, with bytecode compiled before. The figure
is the median of the ratios of neighbours, which other work on the machine slows down alike; resident memory stands
beside it. `--runs` sets how many processes each gets (default 15).
"""

from __future__ import annotations

import argparse
import asyncio
import compileall
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
AIM = 1.15
TOKEN = "a-token-of-the-bench"
REQUEST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
FIELDS = [
    (b"host", b"127.0.0.1"),
    (b"content-type", b"application/json"),
    (b"accept", b"application/json, text/event-stream"),
    (b"authorization", f"Bearer {TOKEN}".encode()),
]


async def listed(app: Any) -> int:
    """How many tools the application answers with."""
    body = bytearray()
    waiting = [{"type": "http.request", "body": REQUEST, "more_body": False}]

    async def receive() -> Any:
        return waiting.pop() if waiting else await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        body.extend(message.get("body", b""))

    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": FIELDS}
    await app(scope, receive, send)
    return len(json.loads(body)["result"]["tools"])


async def bare() -> int:
    """The least that can answer: one tool, no authorization, no limits."""
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from mcp.types import ListToolsResult, Tool

    async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name="noop", input_schema={"type": "object"})])

    manager = StreamableHTTPSessionManager(Server("bare", on_list_tools=list_tools), json_response=True, stateless=True)
    async with manager.run():
        return await listed(manager.handle_request)


async def ours() -> int:
    """The application as every host loads it."""
    from mailgate.asgi import app

    return await listed(app)


@dataclass(frozen=True)
class Start:
    """One process: seconds of wall clock and of processor, octets resident."""

    wall: float
    cpu: float
    resident: int


def child(name: str) -> None:
    """Measure in here, and print it."""
    import resource

    began, used = time.perf_counter(), time.process_time()
    tools = asyncio.run({"bare": bare, "ours": ours}[name]())
    wall, cpu = time.perf_counter() - began, time.process_time() - used
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"wall": wall, "cpu": cpu, "resident": resident, "tools": tools}))


def measured(name: str) -> Start:
    """One fresh process."""
    entry = hashlib.sha256(TOKEN.encode()).hexdigest() + ":mail.read"
    mailbox = {"MAIL_IMAP_HOST": "127.0.0.1", "MAIL_USERNAME": "owner", "MAIL_PASSWORD": "x"}
    done = subprocess.run(
        [sys.executable, "-m", "bench.cold_start", "--child", name],
        cwd=ROOT,
        env={"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent", "MAIL_TOKENS": entry, **mailbox},
        capture_output=True,
        text=True,
        check=True,
    )
    said = json.loads(done.stdout)
    assert said.pop("tools") > 0
    return Start(**said)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--child", choices=("bare", "ours"))
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return
    compileall.compile_dir(str(ROOT / "mailgate"), quiet=2)
    starts: dict[str, list[Start]] = {"bare": [], "ours": []}
    for name in starts:
        measured(name)  # the first of each reads from disk
    for _ in range(options.runs):
        for name, found in starts.items():
            found.append(measured(name))
    for name, found in starts.items():
        wall = statistics.median(each.wall for each in found)
        cpu = statistics.median(each.cpu for each in found)
        resident = statistics.median(each.resident for each in found) / 2**20
        print(f"{name}: {wall * 1000:6.0f} ms wall, {cpu * 1000:6.0f} ms processor, {resident:5.1f} MiB resident")
    pairs = starts["ours"], starts["bare"]
    for what in ("wall", "cpu"):
        turns = [getattr(mine, what) / getattr(other, what) for mine, other in zip(*pairs, strict=True)]
        print(f"ratio, {what}: {statistics.median(turns):.3f} (aim: at most {AIM})")


if __name__ == "__main__":
    main()
