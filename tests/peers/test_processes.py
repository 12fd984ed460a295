"""Nothing a session starts outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.peers.processes import _LEASH, Child, wait_until

ROOT = Path(__file__).parents[2]
START = "from tests.peers.processes import Child; print(Child(['sleep', '600']).pid, flush=True); input()"


def lives(pid: int) -> bool:
    """Whether the process runs; a zombie that nobody collects does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_kill_ends_a_child_at_once() -> None:
    child = Child(["sleep", "600"])
    assert child.running
    child.kill()
    assert not child.running
    assert not lives(child.pid)


@pytest.mark.skipif(not _LEASH, reason="this system has no setpriv")
def test_a_child_ends_with_a_session_that_was_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", START], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as session:
        assert session.stdout is not None
        pid = int(session.stdout.readline())
        # Until then it is still on its way: the kernel has not been told yet.
        assert wait_until(lambda: Path(f"/proc/{pid}/comm").read_text() == "sleep\n", seconds=5)
        os.kill(session.pid, signal.SIGKILL)
    assert wait_until(lambda: not lives(pid), seconds=5)
