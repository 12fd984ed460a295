"""What mailgate relies on in aioimaplib, and what it must never reach: one test for each."""

from __future__ import annotations

import asyncio
import logging
import re

import pytest
from aioimaplib import aioimaplib as upstream

from mailgate.imap import commands
from mailgate.imap.receiving import ImapProtocol
from mailgate.imap.values import INBOX
from tests.imap.sessions import mailbox_on, session


async def test_upstreams_protocol_can_be_built_without_connecting_anything() -> None:
    protocol = upstream.IMAP4ClientProtocol(asyncio.get_running_loop())
    assert protocol.transport is None
    assert protocol.conn_lost_cb is None
    assert protocol.tasks == set()


async def test_upstream_keeps_the_transport_it_is_connected_with() -> None:
    protocol = upstream.IMAP4ClientProtocol(asyncio.get_running_loop())
    transport = asyncio.Transport()
    protocol.connection_made(transport)
    assert protocol.transport is transport


async def test_upstreams_tags_are_atoms_that_never_repeat() -> None:
    protocol = upstream.IMAP4ClientProtocol(asyncio.get_running_loop())
    tags = [protocol.new_tag() for _ in range(1000)]
    assert len(set(tags)) == 1000
    assert all(re.fullmatch("[A-Z]+[0-9]+", tag) for tag in tags)


@pytest.mark.parametrize("name", ["data_received", "connection_lost", "execute", "send", "welcome"])
def test_every_way_in_and_out_is_mailgates_own(name: str) -> None:
    assert name in vars(upstream.IMAP4ClientProtocol)
    assert name in vars(ImapProtocol)


UPSTREAM_PARTS = [
    "_handle_responses",
    "_handle_line",
    "_untagged_response",
    "_response_done",
    "_continuation",
    "data_received",
    "connection_lost",
    "execute",
    "send",
    "welcome",
    "login",
    "capability",
]


async def test_a_whole_session_reaches_none_of_upstreams_receive_path(monkeypatch: pytest.MonkeyPatch) -> None:
    reached = []
    for name in UPSTREAM_PARTS:
        assert hasattr(upstream.IMAP4ClientProtocol, name)
        monkeypatch.setattr(upstream.IMAP4ClientProtocol, name, lambda *_, _name=name: reached.append(_name))
    async with mailbox_on("@login IMAP4rev1\n@examine") as (mailbox, peer), mailbox.examine(INBOX) as folder:
        assert folder.messages == 3
    assert reached == []
    assert peer.problems == []


async def test_upstreams_command_runner_is_closed() -> None:
    protocol = ImapProtocol(asyncio.get_running_loop())
    with pytest.raises(NotImplementedError):
        await protocol.login("user", "secret")
    with pytest.raises(NotImplementedError):
        protocol.send("A1 NOOP")
    with pytest.raises(NotImplementedError):
        await protocol.welcome(b"* BYE TOKYO")


class Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


async def test_upstreams_logger_is_silent_whatever_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    assert upstream.log.name == "aioimaplib.aioimaplib"
    collector = Collector()
    monkeypatch.setattr(upstream.log, "level", logging.DEBUG)
    monkeypatch.setattr(upstream.log, "handlers", [collector])
    upstream.log.error("a password")
    async with mailbox_on("@login IMAP4rev1\n@examine") as (mailbox, _), mailbox.examine(INBOX):
        pass
    assert collector.records == []


async def test_nothing_of_a_session_is_logged_anywhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with session("C: $ NOOP\nS: X9 OK canary\nC-gone") as made:
        with pytest.raises(Exception, match="answered a command that was not sent"):
            await made.connection.run(commands.noop(), seconds=2)
    assert "canary" not in caplog.text
    assert "127.0.0.1" not in caplog.text
