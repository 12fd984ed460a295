"""The end of a process: nothing new is begun, what runs is finished, and then it ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.deployment import demo_server, environ, mailbox_with, raw
from tests.peers.scripted_imap import ScriptedImap, script
from tests.peers.scripted_smtp import ScriptedSmtp, parse_smtp_dialogue
from tests.server.fakes import ERAS, Post, application, http_client
from tests.server.transport.serving import PATIENCE_SECONDS, Connection, Served, served, until
from tests.server.transport.test_hangup import SENDABLE, Sending, tool

HELD = """
@login IMAP4rev1
@examine exists=3 uidvalidity=7 uidnext=4
C: $ UID FETCH ...
S: * OK here it is
S: $ OK done
"""


class HeldImap(ScriptedImap):
    """Holds back the answer to a reading command until `go_on`."""

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._held: list[bytes] = []
        self._write = writer.write

        def write(data: bytes) -> None:
            (self._held.append if b"here it is" in data else self._write)(data)

        writer.write = write  # type: ignore[method-assign]
        super()._accept(reader, writer)

    def go_on(self) -> None:
        """Answer."""
        self._write(b"".join(self._held))


# --- in process --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_an_application_that_is_about_to_end_takes_no_call_and_says_it_is_not_ready(era: str) -> None:
    app = application()
    app.stop_taking()
    refused = await Post.call("mail_search", era=era).to(app)
    assert (refused.status_code, refused.json()["error"]) == (503, "ending")
    assert refused.headers["retry-after"] == "1"
    assert refused.headers["connection"] == "close"
    async with http_client(app, None) as client:
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/healthz")).status_code == 200


@pytest.mark.parametrize("era", ERAS)
async def test_a_send_that_runs_is_finished_and_answered_before_the_end(era: str) -> None:
    sending = Sending()
    async with served(sending.app) as server:
        confirm = await sending.confirmation(server, era)
        running, kept = await server.connect(), await server.connect()
        await kept.send(Post("tools/list", era=era))
        assert (await kept.reply()).status == 200
        await running.send(confirm)
        await sending.reached.wait()
        sending.app.stop_taking()
        await kept.send(Post("tools/list", era=era))
        refused = await kept.reply()
        assert (refused.status, refused.json["error"]) == (503, "ending")
        server.server.should_exit = True
        await until(lambda: len(server.server.server_state.connections) == 1)
        sending.go_on.set()
        assert tool(await running.reply())["status"] == "accepted"
        await server.ended
    assert len(sending.submitter.dots) == 1
    assert sending.submitter.closed


# --- a whole process ---------------------------------------------------------------------------------------------


class Process:
    """`mailgate serve` as a child, its log lines as they come."""

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-m", "mailgate", "serve", "--port", "0"],
            cwd=folder,
            env={"PYTHONPATH": os.getcwd(), "HOME": str(folder), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.lines: list[str] = []
        self.connections: list[Connection] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.child.stderr is not None
        for line in self.child.stderr:
            self.lines.append(line)

    @property
    def port(self) -> int | None:
        found = re.search(r"serving http://127\.0\.0\.1:([0-9]+)/mcp", "".join(self.lines))
        return int(found[1]) if found else None

    async def connect(self) -> Connection:
        await until(lambda: self.port is not None or self.child.poll() is not None)
        assert self.port is not None, "".join(self.lines)
        self.connections.append(Connection(*await asyncio.open_connection("127.0.0.1", self.port)))
        return self.connections[-1]

    async def ends(self) -> int:
        await until(lambda: self.child.poll() is not None)
        for connection in self.connections:
            connection.hang_up()
        return int(self.child.returncode)

    def close(self) -> None:
        self.child.kill()
        self.child.wait(timeout=10)
        self._reader.join(timeout=10)
        assert self.child.stderr is not None
        self.child.stderr.close()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Any]:
    started: list[Process] = []

    def start(environment: dict[str, str]) -> Process:
        started.append(Process(environment, tmp_path))
        return started[-1]

    yield start
    for each in started:
        each.close()


async def refuses_connections(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return True
    writer.close()
    return False


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
async def test_serve_answers_the_call_that_runs_when_it_is_told_to_end(processes: Any, ending: signal.Signals) -> None:
    async with HeldImap([script(HELD)]) as peer:
        process = processes(environ(peer.port))
        client = await process.connect()
        await client.send(Post.call("mail_search"))
        await until(lambda: b"UID FETCH" in b" ".join(peer.commands))
        process.child.send_signal(ending)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not await refuses_connections(process.port):
                await asyncio.sleep(0.01)
        assert process.child.poll() is None
        peer.go_on()
        answer = await client.reply()
        assert tool(answer)["messages"] == []
        assert await process.ends() == 0
        assert "Traceback" not in "".join(process.lines)


SMTP = """
# expect: {"outcome": "accepted"}
@hello
@login
@mail
@rcpt
@data
C-message
S-wait 0.5
S: 250 2.0.0 taken
"""


@pytest.mark.parametrize("era", ERAS)
async def test_serve_finishes_a_send_after_sigterm_and_one_dot_arrives(
    processes: Any, era: str, tmp_path: Path
) -> None:
    steps = parse_smtp_dialogue(SMTP).steps
    async with demo_server(mailbox_with(raw())) as (port, _), ScriptedSmtp([steps]) as smtp:
        process = processes(
            environ(
                port,
                MAIL_ENABLE_SEND="1",
                MAIL_FROM="owner@example.org",
                MAIL_SMTP_HOST="127.0.0.1",
                MAIL_SMTP_PORT=str(smtp.port),
                MAIL_SMTP_SECURITY="plaintext",
                MAIL_STORE=f"sqlite:{tmp_path}/store",
            )
        )
        client = await process.connect()
        await client.send(Post.call("mail_prepare_send", SENDABLE, era=era))
        prepared = tool(await client.reply())
        named = {"prepared_id": prepared["prepared_id"], "confirmed_digest": prepared["digest"], "append_sent": False}
        await client.send(Post.call("mail_send_confirmed", named, era=era))
        await until(lambda: smtp.dots == 1)
        process.child.send_signal(signal.SIGTERM)
        answer = tool(await client.reply())
        assert await process.ends() == 0
    assert answer["status"] == "accepted"
    assert (smtp.dots, smtp.accepted, smtp.problems) == (1, 1, [])
    finished = [json.loads(line) for line in process.lines if '"mail_send_confirmed"' in line]
    assert [line["code"] for line in finished] == ["ok"]


async def test_an_idle_server_ends_at_once(processes: Any) -> None:
    process = processes(environ(9))
    idle = await process.connect()
    await idle.send(Post("tools/list"))
    assert (await idle.reply()).status == 200
    process.child.send_signal(signal.SIGTERM)
    assert await process.ends() == 0
    assert await idle.reader.read() == b""


# --- with and without a lifespan ---------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("lifespan", ["on", "off"])
async def test_fifty_calls_under_uvicorn_with_or_without_a_lifespan_share_one_login(era: str, lifespan: Any) -> None:
    from tests.contract.deployment import deployed

    async with demo_server(mailbox_with(raw(), raw())) as (port, sent), deployed(port, sent) as box:
        async with served(box.app, lifespan=lifespan) as server:
            await fifty(server, era)
        logins = [name for name in box.names() if name in ("LOGIN", "AUTHENTICATE")]
        assert len(logins) == 1
        # With a lifespan the end says goodbye; without one the mail server is left to notice.
        assert ("LOGOUT" in box.names()) is (lifespan == "on")


async def fifty(server: Served, era: str) -> None:
    client = await server.connect()
    for _ in range(50):
        await client.send(Post.call("mail_search", era=era))
        assert len(tool(await client.reply())["messages"]) == 2
    client.hang_up()
