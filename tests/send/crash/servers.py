"""Server processes of the harness: the command line of mailgate, forked or started anew, and ended by its id."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.peers.processes import PAUSE, Child
from tests.send.crash.points import Plan

ROOT = Path(__file__).parents[3]
START_SECONDS = 60.0
END_SECONDS = 60.0
_PORT = re.compile(r"serving http://127\.0\.0\.1:(\d+)/mcp")


async def until(ready: Callable[[], Any], *, seconds: float, what: str) -> None:
    """Look again and again, until it is so."""
    async with asyncio.timeout(seconds):
        while not ready():
            await asyncio.sleep(PAUSE)
    assert ready(), what


@dataclass
class Server(ABC):
    """One running server. `port`: of its HTTP endpoint."""

    pid: int
    log: Path
    port: int = 0

    @property
    @abstractmethod
    def running(self) -> bool:
        """Does the process still live?"""

    @abstractmethod
    def signal(self, number: int) -> None:
        """Send it a signal, if it still lives."""

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        await self.ended()

    def terminate(self) -> None:
        """SIGTERM."""
        self.signal(signal.SIGTERM)

    async def ended(self) -> None:
        """Wait until it is gone."""
        await until(lambda: not self.running, seconds=END_SECONDS, what="the server does not end")

    async def announced(self) -> None:
        """Wait until it says where it listens."""

        def listening() -> bool:
            found = _PORT.search(self.log.read_text()) if self.log.exists() else None
            self.port = int(found[1]) if found else 0
            if not (self.port or self.running):
                raise RuntimeError(f"a server did not start: {self.log.read_text()[-2000:]}")
            return self.port > 0

        await until(listening, seconds=START_SECONDS, what="the server does not start")


class Servers(ABC):
    """Where servers come from. `async with`; whatever still runs at the end is ended."""

    async def __aenter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="mailgate-crash-")
        self.folder = Path(self._folder.name)
        self._count = 0
        # Given to every server, so that a .env in somebody's working folder is not read.
        self._nothing = self.folder / "nothing.env"
        self._nothing.touch()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    async def start(self, environment: Mapping[str, str], plan: Plan) -> Server:
        """A server that listens."""
        self._count += 1
        log = self.folder / f"{self._count}.log"
        base = {"PATH": os.environ.get("PATH", ""), "HOME": str(self.folder), "PYTHONPATH": str(ROOT)}
        arguments = ["serve", "--port", "0", "--env-file", str(self._nothing)]
        server = await self._start({**base, **environment}, plan, arguments, log)
        await server.announced()
        return server

    @abstractmethod
    async def _start(self, environment: Mapping[str, str], plan: Plan, arguments: list[str], log: Path) -> Server: ...


# --- started anew ----------------------------------------------------------------------------------------------------


@dataclass
class _Started(Server):
    child: Child | None = None

    @property
    def running(self) -> bool:
        assert self.child is not None
        return self.child.running

    def signal(self, number: int) -> None:
        if self.running:
            os.kill(self.pid, number)


class StartedServers(Servers):
    """Each server is a program of its own, `python -m mailgate serve`; slow, for Python has to load everything."""

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._children: list[Child] = []
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self._children:
            if child.running:
                child.kill()
        await super().__aexit__(kind, error, trace)

    async def _start(self, environment: Mapping[str, str], plan: Plan, arguments: list[str], log: Path) -> Server:
        program = ["mailgate"] if plan.changes_nothing else ["tests.send.crash.held", json.dumps(plan.to_json())]
        child = Child([sys.executable, "-m", *program, *arguments], output=log, environment=environment)
        self._children.append(child)
        return _Started(child.pid, log, child=child)


# --- forked ----------------------------------------------------------------------------------------------------------


@dataclass
class _Forked(Server):
    nursery: ForkedServers = field(repr=False, kw_only=True)

    @property
    def running(self) -> bool:
        return self.pid not in self.nursery.ended

    def signal(self, number: int) -> None:
        self.nursery.say({"signal": int(number), "pid": self.pid})


class ForkedServers(Servers):
    """Each server is forked from a process that has only loaded the program, and runs mailgate's command line."""

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self.ended: dict[int, int] = {}
        self._born: dict[str, asyncio.Future[int]] = {}
        self._ready = asyncio.get_running_loop().create_future()
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.send.crash.nursery"),
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        self._listening = asyncio.ensure_future(self._listen())
        async with asyncio.timeout(START_SECONDS):
            await self._ready
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()
        await self._listening
        await super().__aexit__(kind, error, trace)

    def say(self, request: dict[str, Any]) -> None:
        """One request to the nursery."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")

    async def _start(self, environment: Mapping[str, str], plan: Plan, arguments: list[str], log: Path) -> Server:
        name = log.stem
        born = self._born[name] = asyncio.get_running_loop().create_future()
        request = {"serve": name, "environment": dict(environment), "log": str(log), "arguments": arguments}
        self.say({**request, "plan": plan.to_json()})
        async with asyncio.timeout(START_SECONDS):
            return _Forked(await born, log, nursery=self)

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            report = json.loads(line)
            if "ready" in report:
                self._ready.set_result(None)
            elif "born" in report:
                # Process ids come round again.
                self.ended.pop(report["pid"], None)
                self._born.pop(report["born"]).set_result(report["pid"])
            else:
                self.ended[report["ended"]] = report["status"]
