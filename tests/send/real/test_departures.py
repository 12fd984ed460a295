"""Who is waiting leaves, or the process is told to end, in the middle of a confirmed send.

The processes are real ones. The SMTP server has taken the message whole and says nothing yet when it happens; how many
messages it took is counted there, and what is recorded is asked of a process that had no part in it.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import struct
import subprocess
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mailgate.demo.server import DemoServer
from mailgate.demo.store import DemoMailbox
from tests.contract.deployment import environ
from tests.peers.authority import authority
from tests.peers.demo import DemoPeer
from tests.peers.smtp_sink import PASSWORD, USERNAME
from tests.send.real.serving import HeldSink, Result, Served, say, served, stdio, until

LETTER = {"to": ["ann@example.com"], "bcc": ["bob@example.org"], "subject": "S", "text": "Hello.\n.\nBye"}
ENDED_BY_SIGNAL = (0, -signal.SIGTERM)
"""uvicorn ends in an orderly way and then lets the signal have its usual effect."""


@dataclass
class Post:
    """The SMTP server that waits, the mailbox, and how to reach both."""

    smtp: HeldSink
    mailbox: DemoMailbox
    environment: dict[str, str] = field(repr=False)

    def filed(self) -> list[bytes]:
        return [message.raw for message in self.mailbox.folder("Sent").messages.values()]


@pytest.fixture
async def post(tmp_path: Path) -> AsyncIterator[Post]:
    peer = DemoPeer()
    user = peer.new_user()
    async with HeldSink() as smtp:
        variables = environ(
            user.port,
            MAIL_USERNAME=user.name,
            MAIL_PASSWORD=user.password,
            MAIL_ENABLE_SEND="1",
            MAIL_ENABLE_WRITES="1",
            MAIL_FROM="owner@example.org",
            MAIL_SMTP_HOST="127.0.0.1",
            MAIL_SMTP_PORT=str(smtp.port),
            MAIL_SMTP_USERNAME=USERNAME,
            MAIL_SMTP_PASSWORD=PASSWORD,
            MAIL_TLS_CA_FILE=str(authority().ca_file),
            MAIL_STORE=f"sqlite:{tmp_path / 'send.sqlite3'}",
        )
        try:
            yield Post(smtp, user.mailbox, variables)
        finally:
            smtp.open.set()
            peer.stop()


async def prepare(server: Served) -> Result:
    """A message, and the arguments that confirm it."""
    review = await server.ok("mail_prepare_send", {"message": LETTER})
    return confirmation(review)


def confirmation(review: Result) -> Result:
    return {"prepared_id": review["prepared_id"], "confirmed_digest": review["digest"], "append_sent": True}


async def told_afterwards(post: Post, arguments: Result, *, locally: bool = False) -> Result:
    """What a process of its own says, which must not send. `locally`: to the user of stdio, who is somebody else."""
    taken, filed = len(post.smtp.taken), post.filed()
    if locally:
        with stdio(post.environment) as process:
            report = await asyncio.to_thread(answer_to, process, 9, "mail_send_confirmed", arguments)
    else:
        with served(post.environment) as fresh:
            report = await fresh.ok("mail_send_confirmed", arguments)
    assert (len(post.smtp.taken), post.filed()) == (taken, filed)
    return report


def reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST (socket(7), SO_LINGER)."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@pytest.mark.requirement("SC1", "SC7")
@pytest.mark.parametrize("how", ["closed", "reset", "half closed"])
async def test_a_client_that_goes_does_not_stop_the_send(post: Post, how: str) -> None:
    with served(post.environment) as server:
        arguments = await prepare(server)
        _, writer = await server.started_call("mail_send_confirmed", arguments)
        await post.smtp.at_dot.wait()
        if how == "reset":
            reset(writer)
        elif how == "closed":
            writer.close()
        else:
            writer.write_eof()
        assert (await server.ok("mail_send_confirmed", arguments))["status"] == "sending"
        assert (await told_afterwards(post, arguments))["status"] == "sending"
        post.smtp.open.set()

        async def filed() -> bool:
            return (await server.ok("mail_send_confirmed", arguments))["sent_copy"] != "none"

        await until(filed)
        report = await server.ok("mail_send_confirmed", arguments)
        writer.close()
    assert (report["status"], report["sent_copy"]) == ("accepted", "saved")
    assert await told_afterwards(post, arguments) == report
    (taken,) = post.smtp.taken
    assert post.filed() == [taken.data]


@pytest.mark.requirement("SC7")
async def test_sigterm_lets_the_send_end_and_its_answer_out(post: Post) -> None:
    with served(post.environment) as server:
        arguments = await prepare(server)
        reader, writer = await server.started_call("mail_send_confirmed", arguments)
        await post.smtp.at_dot.wait()
        server.terminate()
        await until(server.takes_nothing_more)
        assert server.running
        post.smtp.open.set()
        answer = await asyncio.wait_for(reader.read(), 30)
        assert await server.ended(seconds=30) in ENDED_BY_SIGNAL
        writer.close()
    report = json.loads(answer.partition(b"\r\n\r\n")[2])["result"]["structuredContent"]
    assert (report["status"], report["sent_copy"]) == ("accepted", "saved")
    assert await told_afterwards(post, arguments) == report
    assert len(post.smtp.taken) == len(post.filed()) == 1


@pytest.mark.requirement("SC7")
async def test_sigterm_waits_even_for_a_send_whose_caller_has_gone(post: Post) -> None:
    with served(post.environment) as server:
        arguments = await prepare(server)
        _, writer = await server.started_call("mail_send_confirmed", arguments)
        await post.smtp.at_dot.wait()
        reset(writer)
        server.terminate()
        await until(server.takes_nothing_more)
        assert server.running
        post.smtp.open.set()
        assert await server.ended(seconds=30) in ENDED_BY_SIGNAL
    report = await told_afterwards(post, arguments)
    assert (report["status"], report["sent_copy"]) == ("accepted", "saved")
    assert len(post.smtp.taken) == len(post.filed()) == 1


@pytest.mark.requirement("SC6", "SC7")
async def test_the_copy_is_waited_for_when_the_server_has_given_up_the_request(post: Post) -> None:
    """Requests may finish for as long as a send may take; filing the copy begins after that, and comes to its end."""
    reached, go_on = threading.Event(), threading.Event()

    def held(line: bytes) -> None:
        if b" APPEND " in line:
            reached.set()
            go_on.wait(timeout=60)

    peer = DemoPeer()
    slow = DemoServer(post.mailbox, username="u", password="p", on_command=held)
    _, port = peer.run(slow.start())
    post.environment |= {"MAIL_IMAP_PORT": str(port), "MAIL_USERNAME": "u", "MAIL_PASSWORD": "p"}
    post.environment |= {"MAIL_SEND_DEADLINE_SECONDS": "2"}
    post.smtp.open.set()
    try:
        with served(post.environment) as server:
            arguments = await prepare(server)
            reader, writer = await server.started_call("mail_send_confirmed", arguments)
            assert await asyncio.to_thread(reached.wait, 30)
            server.terminate()
            await asyncio.wait_for(reader.read(), 30)
            assert server.running
            go_on.set()
            assert await server.ended(seconds=30) in ENDED_BY_SIGNAL
            writer.close()
        report = await told_afterwards(post, arguments)
    finally:
        go_on.set()
        peer.run(slow.stop())
        peer.stop()
    assert (report["status"], report["sent_copy"]) == ("accepted", "saved")
    assert len(post.smtp.taken) == len(post.filed()) == 1


@pytest.mark.requirement("SC4", "SC7")
@pytest.mark.parametrize("gone", [False, True], ids=["caller waits", "caller gone"])
async def test_a_server_that_never_answers_does_not_keep_the_process(post: Post, gone: bool) -> None:
    post.environment |= {"MAIL_SEND_DEADLINE_SECONDS": "2"}
    with served(post.environment) as server:
        arguments = await prepare(server)
        _, writer = await server.started_call("mail_send_confirmed", arguments)
        await post.smtp.at_dot.wait()
        if gone:
            reset(writer)
        server.terminate()
        # The deadline, the farewells, and what a busy machine adds.
        assert await server.ended(seconds=20) in ENDED_BY_SIGNAL
        writer.close()
    report = await told_afterwards(post, arguments)
    assert (report["status"], report["reason"], report["sent_copy"]) == ("unknown", "upstream_timeout", "none")
    assert (len(post.smtp.taken), post.filed()) == (1, [])


@pytest.mark.requirement("SC7")
@pytest.mark.parametrize("end", ["end of input", "SIGTERM", "SIGINT", "nobody reads"])
async def test_over_stdio_the_send_is_finished_and_answered_before_the_process_ends(post: Post, end: str) -> None:
    with stdio(post.environment) as process:
        call = asyncio.to_thread(answer_to, process, 2, "mail_prepare_send", {"message": LETTER})
        arguments = confirmation(await call)
        ask(process, 3, "mail_send_confirmed", arguments)
        await post.smtp.at_dot.wait()
        assert process.stdin is not None
        assert process.stdout is not None
        if end.startswith("SIG"):
            process.send_signal(getattr(signal, end))
        else:
            process.stdin.close()
        if end == "nobody reads":
            process.stdout.close()
        assert (await told_afterwards(post, arguments, locally=True))["status"] == "sending"
        assert process.poll() is None
        post.smtp.open.set()
        report = None
        if end != "nobody reads":
            report = answered(await asyncio.to_thread(process.stdout.readline), 3)
        status = await asyncio.to_thread(process.wait, 30)
    after = await told_afterwards(post, arguments, locally=True)
    assert (after["status"], after["sent_copy"]) == ("accepted", "saved")
    assert report in (None, after)
    assert len(post.smtp.taken) == len(post.filed()) == 1
    assert end == "nobody reads" or status == 0


@pytest.mark.requirement("SC4", "SC7")
async def test_over_stdio_a_server_that_never_answers_does_not_keep_the_process(post: Post) -> None:
    post.environment |= {"MAIL_SEND_DEADLINE_SECONDS": "2"}
    with stdio(post.environment) as process:
        call = asyncio.to_thread(answer_to, process, 2, "mail_prepare_send", {"message": LETTER})
        arguments = confirmation(await call)
        ask(process, 3, "mail_send_confirmed", arguments)
        await post.smtp.at_dot.wait()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        report = answered(await asyncio.to_thread(process.stdout.readline), 3)
        assert await asyncio.to_thread(process.wait, 20) == 0
    assert (report["status"], report["reason"]) == ("unknown", "upstream_timeout")
    assert await told_afterwards(post, arguments, locally=True) == report
    assert len(post.smtp.taken) == 1


def ask(process: subprocess.Popen[bytes], number: int, tool: str, arguments: Result) -> None:
    say(process, {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})


def answered(line: bytes, number: int) -> Result:
    answer = json.loads(line)
    assert answer["id"] == number
    structured: Result = answer["result"]["structuredContent"]
    return structured


def answer_to(process: subprocess.Popen[bytes], number: int, tool: str, arguments: Result) -> Result:
    ask(process, number, tool, arguments)
    assert process.stdout is not None
    return answered(process.stdout.readline(), number)
