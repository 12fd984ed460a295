"""Scenes on each store, as for the faults, and the process that starts processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.send.faults.conftest import redis_server, scene, smtp

__all__ = ["redis_server", "scene", "smtp", "starter"]

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def starter() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.send.parallel.caller"], cwd=ROOT, stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(timeout=10)
        assert process.stdin is not None
        process.stdin.close()
