"""The server that foreign clients talk to: the demo in a process of its own, and its log."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.installed import ROOT

START_SECONDS = 60.0
STDIO = [sys.executable, "-m", "mailgate", "demo", "--stdio"]
"""The demo again, as a server that the client itself starts."""


@dataclass(frozen=True, slots=True)
class Demo:
    """Where it listens: `url` wants the token, `open_url` is for clients that cannot be given one."""

    url: str
    open_url: str
    token: str
    log: Path

    def events(self, name: str) -> list[dict[str, Any]]:
        """The lines of the log about one kind of event, so far."""
        lines = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]
        return [line for line in lines if line["event"] == name]

    def refusals(self, status: int) -> int:
        """How many requests were refused with this status, so far."""
        return len([event for event in self.events("refused") if event["status"] == status])


@contextmanager
def running_demo(folder: Path) -> Iterator[Demo]:
    """A demo until the end of the block; it ends with its standard input, so with this process at the latest."""
    log = folder / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.clients.deployment"],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert select.select([process.stdout], [], [], START_SECONDS)[0], "the demo does not start"
        line = process.stdout.readline()
        assert line, log.read_text(encoding="utf-8")
        yield Demo(**json.loads(line), log=log)
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=30)
        finally:
            process.kill()
            process.stdout.close()
