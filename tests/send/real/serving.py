"""`mailgate serve` and `mailgate stdio` as processes of their own, and an SMTP server that can be made to wait."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from aiosmtpd.smtp import SMTP, Envelope, Session

from tests.peers.smtp_sink import SmtpSink
from tests.server.fakes import OWNER_TOKEN, Post

ROOT = Path(__file__).parents[3]
START_SECONDS = 30.0
ANSWER_SECONDS = 60.0

Result = dict[str, Any]


@dataclass
class HeldSink(SmtpSink):
    """Takes a message whole and gives no answer to the dot until `open` is set."""

    open: asyncio.Event = field(default_factory=asyncio.Event)
    at_dot: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        said = await super().handle_DATA(server, session, envelope)
        self.at_dot.set()
        await self.open.wait()
        return said


class Served:
    """One process; its answers over HTTP, its end, and everything it has logged."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mailgate", "serve", "--port", "0"],
            env=environment_of(environment),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._listening = threading.Event()
        self._lines: list[str] = []
        self.port = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._listening.wait(START_SECONDS) or not self.port:
            self.kill()
            raise RuntimeError("mailgate did not start: " + self.log)

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self._lines.append(line.decode())
            found = re.search(r"serving http://127\.0\.0\.1:(\d+)/mcp", self._lines[-1])
            if found:
                self.port = int(found[1])
                self._listening.set()
        self._listening.set()

    @property
    def log(self) -> str:
        """What it has written so far."""
        return "".join(self._lines)

    @property
    def running(self) -> bool:
        """Whether it lives."""
        return self._process.poll() is None

    @property
    def most_memory(self) -> int:
        """The most octets that it had in memory (proc(5), VmHWM), since `memory_from_now` if that was called."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found is not None
        return int(found[1]) * 1024

    def memory_from_now(self) -> int:
        """Begin anew with the peak (proc(5), clear_refs); the octets that it has in memory."""
        Path(f"/proc/{self._process.pid}/clear_refs").write_text("5")
        return self.most_memory

    def terminate(self) -> None:
        """SIGTERM."""
        os.kill(self._process.pid, signal.SIGTERM)

    async def ended(self, *, seconds: float) -> int:
        """Its exit status once it has ended by itself; `subprocess.TimeoutExpired` if it does not."""
        status = await asyncio.to_thread(self._process.wait, seconds)
        self._reader.join(seconds)
        return status

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()
        self._reader.join(10)
        assert self._process.stderr is not None
        self._process.stderr.close()

    # --- over HTTP ----------------------------------------------------------------------------------------------

    async def post(self, post: Post) -> httpx.Response:
        """One raw request."""
        async with httpx.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False) as client:
            return await client.post(
                f"http://127.0.0.1:{self.port}/mcp", content=post.content(), headers=headers_of(post)
            )

    async def call(self, name: str, arguments: Result, *, era: str = "2026-07-28") -> Result:
        """The result of one call, a failure too."""
        response = await self.post(Post.call(name, arguments, era=era))
        assert response.status_code == 200, response.text[:300]
        answer: Result = response.json()["result"]
        return answer

    async def ok(self, name: str, arguments: Result) -> Result:
        """The structured half of a success."""
        answer = await self.call(name, arguments)
        assert not answer.get("isError"), answer["content"][0]["text"]
        structured: Result = answer["structuredContent"]
        return structured

    async def fails(self, name: str, arguments: Result) -> str:
        """The text of a failure."""
        answer = await self.call(name, arguments)
        assert answer.get("isError"), "it succeeded"
        text: str = answer["content"][0]["text"]
        return text

    async def started_call(self, name: str, arguments: Result) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A call whose answer nobody has read yet, on a connection of its own."""
        post = Post.call(name, arguments, era="2026-07-28")
        body = post.content()
        fields = {**headers_of(post), "Host": f"127.0.0.1:{self.port}", "Content-Length": str(len(body))}
        head = "POST /mcp HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n" for key, value in fields.items()) + "\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(head.encode() + body)
        await writer.drain()
        return reader, writer

    async def takes_nothing_more(self) -> bool:
        """Whether connecting is refused."""
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            return True
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
        return False


@contextmanager
def served(environment: dict[str, str]) -> Iterator[Served]:
    """A server for as long as the block lasts; it has not printed a traceback then."""
    server = Served(environment)
    try:
        yield server
    finally:
        server.kill()
    assert "Traceback" not in server.log, server.log


@contextmanager
def stdio(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """`mailgate stdio`, after the handshake."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mailgate", "stdio"],
        env=environment_of(environment),
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    try:
        say(process, {"id": 1, "method": "initialize", "params": hello}, {"method": "notifications/initialized"})
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["id"] == 1
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


def say(process: subprocess.Popen[bytes], *messages: Result) -> None:
    """To a stdio server."""
    assert process.stdin is not None
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def environment_of(variables: dict[str, str]) -> dict[str, str]:
    """Nothing of this process's own environment gets in."""
    return {"HOME": "/nonexistent", "PYTHONPATH": str(ROOT), **variables}


def headers_of(post: Post) -> dict[str, str]:
    """Of a request by the owner."""
    return {"Authorization": f"Bearer {OWNER_TOKEN}", **post.fields()}


async def until(ready: Callable[[], Awaitable[bool]], *, seconds: float = 20.0) -> None:
    """Ask again and again until `ready` says yes."""
    async with asyncio.timeout(seconds):
        while not await ready():
            await asyncio.sleep(0.01)
