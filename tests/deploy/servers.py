"""Servers for the tests of `deploy/`: mailgate as a process, and the application in a thread with one thing broken."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from mailgate.cli_web import QuietServer, http_config, listen
from tests.peers.demo import DemoUser
from tests.peers.processes import Child, free_ports, wait_until

ROOT = Path(__file__).parents[2]
TOKEN = "mg_canary-of-the-deploy-tests-4e1f"
START_SECONDS = 60.0


def token_entry(scopes: str = "mail.read+mail.write+mail.send", token: str = TOKEN) -> str:
    """The `MAIL_TOKENS` entry of a token."""
    return f"{hashlib.sha256(token.encode()).hexdigest()}:{scopes}"


def mailbox_environment(user: DemoUser) -> dict[str, str]:
    """The variables of an embedded mailbox."""
    return {
        "MAIL_IMAP_HOST": "127.0.0.1",
        "MAIL_IMAP_PORT": str(user.port),
        "MAIL_IMAP_SECURITY": "plaintext",
        "MAIL_USERNAME": user.name,
        "MAIL_PASSWORD": user.password,
        "MAIL_FROM": "owner@example.org",
    }


@contextmanager
def serving(
    folder: Path, environment: Mapping[str, str], command: Sequence[str] = ("serve", "--port", "0")
) -> Iterator[str]:
    """`mailgate serve` in a process of its own; gives the endpoint that it says it serves."""
    log = folder / "serve.log"
    child = Child(
        [sys.executable, "-m", "mailgate", *command],
        output=log,
        environment={"PYTHONPATH": str(ROOT), "HOME": str(folder), "MAIL_TOKENS": token_entry(), **environment},
    )
    try:
        assert wait_until(lambda: endpoint_in(log) is not None, seconds=START_SECONDS, alive=lambda: child.running), (
            log.read_text(encoding="utf-8")
        )
        yield str(endpoint_in(log))
    finally:
        child.kill()


def endpoint_in(log: Path) -> str | None:
    """The endpoint that a server's log announces."""
    found = re.search(r"serving (http://[0-9.]+:[0-9]+/mcp)", log.read_text(encoding="utf-8")) if log.exists() else None
    return found[1] if found else None


@contextmanager
def in_a_thread(app: Any) -> Iterator[str]:
    """An ASGI application on a loopback port, served as mailgate is; gives the endpoint."""
    config = http_config(app, host="127.0.0.1", port=0, drain_seconds=5)
    config.lifespan = "off"
    listening, port = listen(config)
    server: uvicorn.Server = QuietServer(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listening.close()


@contextmanager
def in_oauth_mode(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """`mailgate serve` with an issuer beside its token; the issuer is never asked, since no JWT comes."""
    (port,) = free_ports(1)
    said = {
        "MAIL_PUBLIC_URL": f"http://127.0.0.1:{port}/mcp",
        "MAIL_OAUTH_ISSUER": "http://127.0.0.1:9/realms/mail",
        "MAIL_OWNER_SUBJECTS": "owner",
    }
    with serving(folder, {**said, **environment}, ("serve", "--port", str(port))) as endpoint:
        yield endpoint


def run_python(code: str, *, cwd: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """A Python program in a process of its own, with nothing of ours in the environment but what is given."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
        stdin=subprocess.DEVNULL,
    )


def last_json(output: str) -> Any:
    """What a program printed last, as JSON."""
    return json.loads(output.strip().splitlines()[-1])
