"""A network that fails in the middle of a call: a clear answer in time, and the next call works."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.peers.dovecot import Dovecot, MailUser
from tests.peers.fault_proxy import Action, Conditions, Direction, Fault, FaultProxy
from tests.real.letters import letter
from tests.real.tools import Result, Tools, refused, settings_for

TEXT = "".join(f"line {number} of a long message\n" for number in range(5_000))


@pytest.fixture
async def proxy(dovecot: Dovecot) -> AsyncIterator[FaultProxy]:
    """A proxy before the session's Dovecot, without faults yet."""
    async with FaultProxy(dovecot.plain_port) as proxy:
        yield proxy


@pytest.fixture
async def slow_tools(mail_user: MailUser, proxy: FaultProxy) -> AsyncIterator[Tools]:
    """The tools behind the proxy, with a deadline of one second."""
    mail_user.append(bytes(letter("A long one", TEXT)))
    made = Tools(settings_for(mail_user, MAIL_IMAP_PORT=str(proxy.port), MAIL_UPSTREAM_TIMEOUT_SECONDS="1"))
    yield made
    await made.aclose()


async def reference_of(tools: Tools) -> Result:
    """The one message there is."""
    reference: Result = (await tools.search())["messages"][0]["reference"]
    return reference


@pytest.mark.requirement("A26")
@pytest.mark.parametrize("action", [Action.RESET, Action.CLOSE])
@pytest.mark.parametrize("inside", [b"line 100 of", b"BODY[]<0> {", b")\r\n"], ids=["literal", "announcement", "end"])
async def test_a_connection_cut_inside_an_answer_is_unavailable_and_the_next_call_works(
    slow_tools: Tools, proxy: FaultProxy, action: Action, inside: bytes
) -> None:
    reference = await reference_of(slow_tools)
    pattern = inside if inside != b")\r\n" else TEXT.splitlines()[-1].encode() + b"\r\n"
    proxy.conditions.faults = (Fault(Direction.DOWN, action, pattern=pattern),)
    with refused("upstream_unavailable"):
        await slow_tools.read(reference)
    proxy.conditions = Conditions()
    assert (await slow_tools.read(reference))["untrusted"]["text"].startswith("line 0 of")


@pytest.mark.requirement("A27")
async def test_a_server_that_falls_silent_is_a_timeout_and_the_next_call_works(
    slow_tools: Tools, proxy: FaultProxy
) -> None:
    reference = await reference_of(slow_tools)
    proxy.conditions.faults = (Fault(Direction.DOWN, Action.STALL, pattern=b"line 100 of"),)
    with refused("upstream_timeout"):
        await slow_tools.read(reference)
    proxy.conditions = Conditions()
    assert (await slow_tools.read(reference))["untrusted"]["text"].startswith("line 0 of")


@pytest.mark.requirement("S16")
@pytest.mark.parametrize("where", [b"[UIDVALIDITY", b"SEARCH", b"OK Search completed", b"* 1 FETCH"])
async def test_a_search_that_is_cut_is_never_an_empty_page(slow_tools: Tools, proxy: FaultProxy, where: bytes) -> None:
    proxy.conditions.faults = (Fault(Direction.DOWN, Action.RESET, pattern=where),)
    with refused("upstream_unavailable"):
        await slow_tools.search(subject="long")
    assert proxy.traffic.faults == 1


@pytest.mark.requirement("A26")
async def test_a_server_that_cannot_be_reached_is_unavailable(mail_user: MailUser, proxy: FaultProxy) -> None:
    proxy.conditions.refuse = True
    tools = Tools(settings_for(mail_user, MAIL_IMAP_PORT=str(proxy.port)))
    with refused("upstream_unavailable"):
        await tools.search()
    await tools.aclose()


async def test_a_server_that_resets_every_opening_is_unavailable_and_the_next_call_works(
    slow_tools: Tools, proxy: FaultProxy
) -> None:
    reference = await reference_of(slow_tools)
    proxy.conditions.faults = (Fault(Direction.UP, Action.RESET, pattern=b"EXAMINE"),)
    first = proxy.traffic.connections
    with refused("upstream_unavailable"):
        await slow_tools.read(reference)
    proxy.conditions = Conditions()
    await slow_tools.read(reference)
    assert proxy.traffic.connections > first
