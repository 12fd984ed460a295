"""Children of the test session: started in a group of their own, ended by the id of that group."""

from __future__ import annotations

import asyncio
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PAUSE = 0.005
"""Seconds between two looks at something that announces itself to nobody, such as a listening port."""

_SETPRIV = shutil.which("setpriv")
_LEASH = [_SETPRIV, "--pdeathsig", "KILL", "--"] if _SETPRIV else []
"""Ends a server when the test session is killed before it can do so itself (prctl(2), PR_SET_PDEATHSIG)."""


@dataclass(frozen=True, slots=True)
class Account:
    """The system account a server runs as: never root, which Dovecot and its kin refuse for mail."""

    name: str
    uid: int
    gid: int

    @classmethod
    def unprivileged(cls) -> Account:
        """`nobody` when the tests run as root, else whoever runs them."""
        entry = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)

    def own(self, *paths: Path) -> None:
        """Hand the paths over to this account; without root they are its own already."""
        if os.geteuid() == 0:
            for path in paths:
                os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def switch(self) -> dict[str, object]:
        """The arguments of `subprocess` that start a child as this account."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if os.geteuid() == 0 else {}


class Child:
    """One server process with everything it forks."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        account: Account | None = None,
        output: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        switch = account.switch() if account else {}
        with open(output or os.devnull, "ab") as sink:
            self._process = subprocess.Popen(  # type: ignore[call-overload]
                [*_LEASH, *command],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                env=dict(environment) if environment is not None else None,
                start_new_session=True,
                **switch,
            )

    @property
    def pid(self) -> int:
        """The leader's process id, which is the group's id too (setsid(2))."""
        return int(self._process.pid)

    @property
    def running(self) -> bool:
        """Whether the leader still lives."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End the whole group at once; a polite stop of Dovecot takes more than a second."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.wait(timeout=10)


def free_ports(count: int) -> list[int]:
    """Loopback ports nobody listens on right now; the caller copes with losing the race for one."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def wait_until(ready: Callable[[], bool], *, seconds: float, alive: Callable[[], bool] = lambda: True) -> bool:
    """Look until `ready` says yes, the time is over, or `alive` says no."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if ready():
            return True
        if not alive():
            return False
        time.sleep(PAUSE)
    return False


async def eventually(ready: Callable[[], bool], *, seconds: float = 5.0) -> bool:
    """As `wait_until`, letting the event loop go on meanwhile."""
    deadline = time.monotonic() + seconds
    while not ready() and time.monotonic() < deadline:
        await asyncio.sleep(PAUSE)
    return ready()


def greets(port: int, expected: bytes) -> bool:
    """Whether a server on the port opens with `expected`."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1.0) as connection:
            return connection.recv(64).startswith(expected)
    except OSError:
        return False
