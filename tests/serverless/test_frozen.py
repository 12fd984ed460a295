"""A process that stood still for a while: the next call is answered in time, whatever became of its connections."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from mailgate.app import build_app
from mailgate.lambda_events import LambdaBridge
from mailgate.limits import CONNECTION_IDLE_SECONDS, CONNECTION_TRUSTED_SECONDS, LIVENESS_SECONDS
from tests.peers.fault_proxy import Action
from tests.server.fakes import ERAS
from tests.serverless.events import Remaining, found, newer, search
from tests.serverless.peer import Clock, MailServer, mail_server
from tests.serverless.test_reuse import invoked

DEADLINE = LIVENESS_SECONDS + 1.0
"""One question whether the connection lives, and a new login on loopback."""
ASLEEP = [CONNECTION_TRUSTED_SECONDS + 1, CONNECTION_IDLE_SECONDS + 1]
pytestmark = pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning")


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


class Instance:
    """A function that was frozen after its first call."""

    def __init__(self, server: MailServer) -> None:
        self.clock = Clock()
        service = server.service(self.clock)
        self.app = build_app(service.settings, service=service)
        self.bridge = LambdaBridge(self.app)

    def call(self, era: str = "legacy") -> float:
        """One successful call, and the seconds it took."""
        began = time.monotonic()
        assert found(self.bridge(newer(search(era)), Remaining())) == [3, 2]
        return time.monotonic() - began


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("asleep", ASLEEP)
def test_a_connection_that_is_still_there_serves_on(server: MailServer, era: str, asleep: float) -> None:
    instance = Instance(server)
    instance.call()
    instance.clock.now += asleep
    assert instance.call(era) < DEADLINE
    assert server.accepted == (1 if asleep <= CONNECTION_IDLE_SECONDS else 2)
    assert server.comes_to(1)
    instance.bridge.close()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("asleep", ASLEEP)
def test_a_connection_that_the_server_closed_meanwhile_is_replaced(server: MailServer, era: str, asleep: float) -> None:
    instance = Instance(server)
    instance.call()
    server.hang_up()
    instance.clock.now += asleep
    assert instance.call(era) < DEADLINE
    assert (server.accepted, server.connected) == (2, 1)
    instance.bridge.close()


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", [Action.STALL, Action.RESET])
def test_a_connection_that_leads_nowhere_any_more_costs_a_second_at_most(
    server: MailServer, era: str, action: Action
) -> None:
    instance = Instance(server)
    instance.call()
    server.swallow_noop(action)
    instance.clock.now += CONNECTION_TRUSTED_SECONDS + 1
    assert instance.call(era) < DEADLINE
    assert server.accepted == 2
    assert server.comes_to(1)
    instance.bridge.close()


def test_two_connections_that_lead_nowhere_cost_one_second_and_not_two(server: MailServer) -> None:
    instance = Instance(server)

    async def two_at_once() -> list[dict[str, Any]]:
        return await asyncio.gather(*(invoked(instance.app, search()) for _ in range(2)))

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(two_at_once())
        assert server.connected == 2
        server.swallow_noop()
        instance.clock.now += CONNECTION_TRUSTED_SECONDS + 1
        began = time.monotonic()
        assert found(loop.run_until_complete(invoked(instance.app, search()))) == [3, 2]
        assert time.monotonic() - began < DEADLINE
        assert server.comes_to(1), "both were given up"
    finally:
        loop.close()


def test_a_server_that_is_gone_altogether_is_told_in_time(server: MailServer) -> None:
    instance = Instance(server)
    instance.call()
    server.proxy.conditions.refuse = True
    server.swallow_noop()
    instance.clock.now += CONNECTION_TRUSTED_SECONDS + 1
    began = time.monotonic()
    answer = instance.bridge(newer(search()), Remaining())
    assert "error upstream_unavailable: " in answer["body"]
    assert time.monotonic() - began < DEADLINE
    instance.bridge.close()
