"""Fifty calls and more on event loops that come and go: nothing hangs, and the mail server sees nobody left behind."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mailgate.app import build_app
from mailgate.lambda_events import LambdaBridge
from tests.peers.dovecot import Dovecot, MailUser
from tests.peers.processes import wait_until
from tests.server.fakes import ERAS, TOKENS, Post
from tests.serverless.events import Remaining, fields_of, found, newer, search
from tests.serverless.peer import MailServer, mail_server

INVOCATIONS = 50
# A transport whose loop has ended complains when it is freed, though its socket was closed before.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning")


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server
        gc.collect()
        assert server.comes_to(0), "a connection was left behind"


def bridge(server: MailServer, *, new_loops: bool) -> LambdaBridge:
    service = server.service()
    return LambdaBridge(build_app(service.settings, service=service), new_loops=new_loops)


@pytest.mark.parametrize("era", ERAS)
def test_fifty_warm_invocations_on_new_event_loops_leave_one_connection(server: MailServer, era: str) -> None:
    warm = bridge(server, new_loops=True)
    most = 0
    for _ in range(INVOCATIONS):
        assert found(warm(newer(search(era)), Remaining())) == [3, 2]
        most = max(most, server.connected)
    assert server.accepted == INVOCATIONS, "a connection cannot outlive its loop"
    assert most <= 2
    assert server.comes_to(1)


@pytest.mark.parametrize("era", ERAS)
def test_fifty_warm_invocations_on_the_kept_loop_share_one_connection(server: MailServer, era: str) -> None:
    warm = bridge(server, new_loops=False)
    for _ in range(INVOCATIONS):
        assert found(warm(newer(search(era)), Remaining())) == [3, 2]
    assert (server.accepted, server.connected) == (1, 1)
    warm.close()


@pytest.mark.parametrize("era", ERAS)
def test_an_application_for_each_invocation_leaves_nothing_open(server: MailServer, era: str) -> None:
    most = 0
    for _ in range(INVOCATIONS):
        cold = LambdaBridge(build_app(server.settings), new_loops=True)
        assert found(cold(newer(search(era)), Remaining())) == [3, 2]
        most = max(most, server.connected)
    assert server.accepted == INVOCATIONS
    assert most <= 4, "what an application had open must not wait for the collector"


async def invoked(app: Any, post: Post) -> dict[str, Any]:
    """One request to an ASGI application on the running loop, without a lifespan."""
    sent: list[dict[str, Any]] = []
    waiting = [{"type": "http.request", "body": post.content()}]

    async def receive() -> Any:
        return waiting.pop() if waiting else await asyncio.get_running_loop().create_future()

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(name.encode(), value.encode()) for name, value in fields_of(post).items()]
    await app(
        {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}, receive, send
    )
    return {"statusCode": sent[0]["status"], "body": sent[1]["body"].decode(), "isBase64Encoded": False}


@pytest.mark.parametrize("era", ERAS)
async def test_an_application_for_each_request_of_one_loop_leaves_nothing_open(server: MailServer, era: str) -> None:
    for _ in range(INVOCATIONS):
        assert found(await invoked(build_app(server.settings), search(era))) == [3, 2]
    gc.collect()
    assert await asyncio.to_thread(server.comes_to, 0)


def test_a_loop_that_was_closed_by_somebody_is_replaced(server: MailServer) -> None:
    warm = bridge(server, new_loops=False)
    assert found(warm(newer(search()), Remaining())) == [3, 2]
    warm.close()
    assert found(warm(newer(search()), Remaining())) == [3, 2]
    assert server.comes_to(1)
    warm.close()


def test_many_calls_at_once_on_new_loops_stay_within_the_pool(server: MailServer) -> None:
    service = server.service()
    app = build_app(service.settings, service=service)

    async def burst() -> list[dict[str, Any]]:
        return await asyncio.gather(*(invoked(app, search()) for _ in range(6)))

    for _ in range(10):
        assert all(found(answer) == [3, 2] for answer in asyncio.run(burst()))
        assert server.connected <= 2 + 2


def logins_of(dovecot: Dovecot, user: str) -> Callable[[], int]:
    """How many sessions Dovecot itself counts for a user."""
    return lambda: dovecot.doveadm("who", user).count("imap")


def test_dovecot_counts_one_session_after_fifty_invocations_on_new_loops(dovecot: Dovecot, mail_user: MailUser) -> None:
    from mailgate.settings import load_settings

    mail_user.append_all([b"Subject: one\r\n\r\nText.\r\n", b"Subject: two\r\n\r\nText.\r\n"])
    settings = load_settings(
        {
            "MAIL_IMAP_HOST": "127.0.0.1",
            "MAIL_IMAP_PORT": str(mail_user.port),
            "MAIL_IMAP_SECURITY": "plaintext",
            "MAIL_USERNAME": mail_user.name,
            "MAIL_PASSWORD": mail_user.password,
            "MAIL_STORE_KEY": "bm90IGEgc2VjcmV0OiBvbmx5IGZvciB0aGUgdGVzdHM=",
            "MAIL_TOKENS": TOKENS,
        }
    )
    warm = LambdaBridge(build_app(settings), new_loops=True)
    sessions = logins_of(dovecot, mail_user.name)
    for _ in range(INVOCATIONS):
        assert len(found(warm(newer(search()), Remaining()))) == 2
    assert wait_until(lambda: sessions() == 1, seconds=5), dovecot.doveadm("who", mail_user.name)
    del warm
    gc.collect()
    assert wait_until(lambda: sessions() == 0, seconds=5), dovecot.doveadm("who", mail_user.name)
