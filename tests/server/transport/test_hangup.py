"""A client that leaves before its answer: what only reads ends soon, what changes or sends anything is seen through."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from mailgate.app import build_app, build_service
from mailgate.send.submission import Accepted, SmtpReply
from mailgate.server.envelope import ClientGone, Envelope
from mailgate.server.hangup import serve_until_gone
from mailgate.settings import Settings, load_settings
from tests.contract.deployment import environ
from tests.peers.scripted_imap import ScriptedImap, script
from tests.send.fakes import FakeSubmitter, MemoryStore, held
from tests.server.fakes import ERAS, Post, application, settings, writable
from tests.server.transport.serving import Served, served, until
from tests.test_surface_eras import OPEN, REFERENCE

SENDABLE = {"message": {"to": ["a@example.com"], "subject": "Now", "text": "Yes."}}


def tool(response: Any) -> dict[str, Any]:
    """The structured half of a tool's success."""
    result = response.json["result"]
    assert not result.get("isError"), result
    content: dict[str, Any] = result["structuredContent"]
    return content


# --- reading -----------------------------------------------------------------------------------------------------

STALLING = """
@login IMAP4rev1
@examine exists=3 uidvalidity=7 uidnext=4
C: $ UID FETCH ...
C-gone
"""
ANSWERING = """
@login IMAP4rev1
@examine exists=0 uidvalidity=7 uidnext=1
C: $ UID FETCH ...
S: $ OK done
"""


@pytest.mark.parametrize("era", ERAS)
async def test_a_search_whose_client_left_ends_with_its_connection_to_the_mail_server(era: str) -> None:
    async with ScriptedImap([script(STALLING), script(ANSWERING)]) as peer:
        service = build_service(load_settings(environ(peer.port)))
        app = build_app(service.settings, service=service)
        async with served(app) as server:
            client = await server.connect()
            await client.send(Post.call("mail_search", era=era))
            await until(lambda: b"UID FETCH" in b" ".join(peer.commands))
            client.hang_up()
            await until(lambda: peer.finished == 1)
            assert peer.problems == [], "the connection was dropped, and nothing more was asked over it"
            await until(lambda: app._throttle.places.taken == 0)
            found = tool(await server.call(Post.call("mail_search", era=era)))
            assert found["complete"] is True
            assert peer.accepted == 2


@pytest.mark.parametrize("era", ERAS)
async def test_a_reading_call_that_was_left_is_told_in_the_log_by_code(
    era: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="mailgate.server")
    async with ScriptedImap([script(STALLING)]) as peer:
        service = build_service(load_settings(environ(peer.port)))
        async with served(build_app(service.settings, service=service)) as server:
            client = await server.connect()
            await client.send(Post.call("mail_search", era=era))
            await until(lambda: b"UID FETCH" in b" ".join(peer.commands))
            client.hang_up()
            await until(lambda: peer.finished == 1)
            await until(lambda: any("refused" in record.message for record in caplog.records))
    codes = [record.mailgate_fields["code"] for record in caplog.records if hasattr(record, "mailgate_fields")]
    assert codes == ["cancelled", "client_gone"]


# --- changing and sending ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_change_whose_client_left_is_carried_out(era: str) -> None:
    box = writable()
    reached, go_on, step = held()
    folder = next(iter(box.folders.values()))
    select = box.select

    @asynccontextmanager
    async def slow(*arguments: Any, **more: Any) -> AsyncIterator[Any]:
        async with select(*arguments, **more) as lent:
            await step()
            yield lent

    box.select = slow  # type: ignore[method-assign, assignment]
    app = application(settings(**OPEN), box)
    async with served(app) as server:
        client = await server.connect()
        change = {"reference": REFERENCE, "operation": "add", "flags": ["\\Flagged"]}
        await client.send(Post.call("mail_set_flags", change, era=era))
        await reached.wait()
        client.hang_up()
        await until(lambda: not server.server.server_state.connections)
        go_on.set()
        await until(lambda: app._throttle.places.taken == 0)
    assert "\\Flagged" in folder.content[2].flags


class Sending:
    """A deployment that sends, with the submission held at the final dot."""

    def __init__(self) -> None:
        self.reached, self.go_on, step = held()
        self.submitter = FakeSubmitter(late=Accepted(SmtpReply(250)), at_dot=step)
        self.store = MemoryStore()
        configured: Settings = settings(**OPEN)
        self.service = build_service(configured, mailbox=writable(), store=self.store, submitter=self.submitter)
        self.app = build_app(configured, service=self.service)

    async def confirmation(self, server: Served, era: str) -> Post:
        prepared = tool(await server.call(Post.call("mail_prepare_send", SENDABLE, era=era)))
        named = {"prepared_id": prepared["prepared_id"], "confirmed_digest": prepared["digest"], "append_sent": False}
        return Post.call("mail_send_confirmed", named, era=era)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_leaves_in_the_middle_of_a_confirmed_send_changes_nothing_about_it(era: str) -> None:
    sending = Sending()
    async with served(sending.app) as server:
        confirm = await sending.confirmation(server, era)
        client = await server.connect()
        await client.send(confirm)
        await sending.reached.wait()
        client.hang_up()
        await until(lambda: not server.server.server_state.connections)
        assert tool(await server.call(confirm))["status"] == "sending"
        sending.go_on.set()
        await until(lambda: "settle" in sending.store.calls)
        told = tool(await server.call(confirm))
    assert told["status"] == "accepted"
    assert (len(sending.submitter.dots), sending.submitter.attempts) == (1, 1)


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_leaves_before_the_message_is_handed_in_does_not_stop_it_either(era: str) -> None:
    sending = Sending()
    sending.submitter.at_connect, sending.submitter.at_dot = sending.submitter.at_dot, None
    async with served(sending.app) as server:
        confirm = await sending.confirmation(server, era)
        client = await server.connect()
        await client.send(confirm)
        await sending.reached.wait()
        client.hang_up()
        await until(lambda: not server.server.server_state.connections)
        sending.go_on.set()
        await until(lambda: "settle" in sending.store.calls)
        assert tool(await server.call(confirm))["status"] == "accepted"
    assert len(sending.submitter.dots) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_that_loses_patience_still_waits_for_a_send(era: str) -> None:
    """uvicorn cancels what is left after its own time; the attempt belongs to no request, and the end waits for it."""
    sending = Sending()
    async with served(sending.app, drain_seconds=0.01) as server:
        confirm = await sending.confirmation(server, era)
        client = await server.connect()
        await client.send(confirm)
        await sending.reached.wait()
        server.server.should_exit = True
        await until(lambda: not server.server.server_state.tasks)
        assert not server.ended.done()
        sending.go_on.set()
        await server.ended
    assert len(sending.submitter.dots) == 1
    assert sending.store.only.status == "accepted"


# --- the watch itself --------------------------------------------------------------------------------------------

BODY = Envelope(json.dumps({"jsonrpc": "2.0", "method": "x"}).encode(), "x")


async def nothing(_message: Any) -> None:
    return


async def leaves() -> Any:
    return {"type": "http.disconnect"}


async def stays() -> Any:
    await asyncio.Event().wait()


async def waits_for_the_end(_scope: Any, receive: Any, _send: Any) -> None:
    assert (await receive())["type"] == "http.request"
    assert (await receive())["type"] == "http.disconnect"


async def test_the_endpoint_hears_of_it_too() -> None:
    await serve_until_gone(waits_for_the_end, BODY, {}, leaves, nothing, may_end=False)


async def test_a_call_that_may_end_is_ended() -> None:
    ended = []

    async def endless(_scope: Any, _receive: Any, _send: Any) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    with pytest.raises(ClientGone):
        await serve_until_gone(endless, BODY, {}, leaves, nothing, may_end=True)
    assert ended == [True]


async def test_a_call_that_finishes_all_the_same_is_finished() -> None:
    async def stubborn(_scope: Any, _receive: Any, _send: Any) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return

    await serve_until_gone(stubborn, BODY, {}, leaves, nothing, may_end=True)


async def test_a_disconnect_after_the_whole_answer_ends_nothing() -> None:
    """A server reports the end of every complete response so."""
    answered = asyncio.Event()
    wound_down = []

    async def answers(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.body", "body": b"{}", "more_body": False})
        for _ in range(5):
            await asyncio.sleep(0)
        wound_down.append(True)

    async def sent(_message: Any) -> None:
        answered.set()

    async def over() -> Any:
        await answered.wait()
        return {"type": "http.disconnect"}

    await serve_until_gone(answers, BODY, {}, over, sent, may_end=True)
    assert wound_down == [True]


async def test_a_fault_of_the_endpoint_comes_through() -> None:
    async def broken(_scope: Any, _receive: Any, _send: Any) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await serve_until_gone(broken, BODY, {}, stays, nothing, may_end=True)


async def test_a_host_that_repeats_itself_after_the_body_does_not_spin_the_loop() -> None:
    asked = 0

    async def repeats() -> Any:
        nonlocal asked
        asked += 1
        return {"type": "http.request", "body": b"", "more_body": False}

    async def short(_scope: Any, _receive: Any, _send: Any) -> None:
        for _ in range(10):
            await asyncio.sleep(0)

    await serve_until_gone(short, BODY, {}, repeats, nothing, may_end=True)
    assert asked == 1


async def test_cancelling_the_request_cancels_the_endpoint_and_waits_for_it() -> None:
    steps: list[str] = []
    began = asyncio.Event()

    async def tidy(_scope: Any, _receive: Any, _send: Any) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            steps.append("tidied")

    request = asyncio.ensure_future(serve_until_gone(tidy, BODY, {}, stays, nothing, may_end=False))
    await began.wait()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    assert steps == ["tidied"]
