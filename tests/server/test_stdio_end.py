"""How a stdio server ends: what it was asked is carried out and answered first."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from mailgate.demo.server import DemoServer
from mailgate.demo.store import DemoMailbox
from tests.contract.deployment import mailbox_with, raw
from tests.peers.demo import DemoPeer

ROOT = Path(__file__).parent.parent.parent
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


class Held:
    """A demo server that stops in the middle of one command until it is told to go on."""

    def __init__(self, command: bytes) -> None:
        self.command = command
        self.reached, self.go_on = threading.Event(), threading.Event()
        self.mailbox: DemoMailbox = mailbox_with(raw())

    def on_command(self, line: bytes) -> None:
        if self.command in line:
            self.reached.set()
            assert self.go_on.wait(timeout=20)


@contextmanager
def serving(held: Held) -> Iterator[subprocess.Popen[bytes]]:
    """`mailgate stdio` on that server, after the handshake."""
    peer = DemoPeer()
    server = DemoServer(held.mailbox, username="u", password="p", on_command=held.on_command)
    _, port = peer.run(server.start())
    settings = {
        "MAIL_IMAP_HOST": "127.0.0.1",
        "MAIL_IMAP_PORT": str(port),
        "MAIL_IMAP_SECURITY": "plaintext",
        "MAIL_USERNAME": "u",
        "MAIL_PASSWORD": "p",
        "MAIL_ENABLE_WRITES": "1",
        "MAIL_ENABLE_DELETE": "1",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "mailgate", "stdio"],
        env={"HOME": "/nonexistent", "PYTHONPATH": str(ROOT), **settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        say(process, {"id": 1, "method": "initialize", "params": HELLO}, {"method": "notifications/initialized"})
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["id"] == 1
        yield process
    finally:
        held.go_on.set()
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        peer.run(server.stop())
        peer.stop()


def say(process: subprocess.Popen[bytes], *messages: dict[str, Any]) -> None:
    assert process.stdin is not None
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def change(held: Held, tool: str, **more: Any) -> dict[str, Any]:
    inbox = held.mailbox.folder("INBOX")
    reference = {"folder": "INBOX", "uid_validity": inbox.uid_validity, "uid": 1}
    return {"id": 3, "method": "tools/call", "params": {"name": tool, "arguments": {"reference": reference, **more}}}


def answer_of(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    answer: dict[str, Any] = json.loads(process.stdout.readline())
    assert answer["id"] == 3
    return answer


@pytest.mark.requirement("W6")
@pytest.mark.parametrize("end", ["end of input", signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_change_under_way_is_finished_and_answered(end: str | signal.Signals) -> None:
    held = Held(b"UID EXPUNGE")
    with serving(held) as process:
        say(process, change(held, "mail_delete_permanently"))
        assert held.reached.wait(timeout=20)
        if isinstance(end, str):
            assert process.stdin is not None
            process.stdin.close()
        else:
            process.send_signal(end)
        held.go_on.set()
        assert answer_of(process)["result"]["structuredContent"]["status"] == "done"
        assert process.wait(timeout=20) == 0
    assert list(held.mailbox.folder("INBOX").messages) == []


@pytest.mark.parametrize("end", ["end of input", signal.SIGTERM, signal.SIGINT], ids=str)
def test_an_idle_server_ends_at_once(end: str | signal.Signals) -> None:
    with serving(Held(b"never")) as process:
        if isinstance(end, str):
            assert process.stdin is not None
            process.stdin.close()
        else:
            process.send_signal(end)
        assert process.wait(timeout=20) == 0


def test_a_cancelled_call_does_not_keep_the_server_from_ending() -> None:
    held = Held(b"UID FETCH")
    with serving(held) as process:
        say(process, change(held, "mail_read"))
        assert held.reached.wait(timeout=20)
        say(process, {"method": "notifications/cancelled", "params": {"requestId": 3}})
        assert process.stdin is not None
        process.stdin.close()
        held.go_on.set()
        assert process.wait(timeout=20) == 0
