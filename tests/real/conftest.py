"""Suites run against every server unless they say otherwise: Dovecot, mailgate's own demo mailbox, Cyrus, Courier."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.conftest import missing_second_opinion
from tests.peers.courier import Courier, courier_binary
from tests.peers.cyrus import Cyrus, cyrus_binary
from tests.peers.demo import DemoPeer
from tests.peers.dovecot import MailUser
from tests.peers.imap_user import ImapUser
from tests.real.tools import WRITER, Tools, settings_for, writing_settings_for


@pytest.fixture(scope="session")
def demo_peer() -> Iterator[DemoPeer]:
    """The demo mailboxes of this session."""
    peer = DemoPeer()
    try:
        yield peer
    finally:
        peer.stop()


@pytest.fixture(scope="session")
def cyrus() -> Iterator[Cyrus]:
    """The session's Cyrus."""
    if cyrus_binary() is None:
        missing_second_opinion("Cyrus")
    server = Cyrus()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def courier() -> Iterator[Courier]:
    """The session's Courier."""
    if courier_binary() is None:
        missing_second_opinion("Courier")
    server = Courier()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(params=["dovecot", "demo", "cyrus", "courier"])
def user(request: pytest.FixtureRequest) -> ImapUser:
    """A mailbox nobody else uses, on each of the servers."""
    server = {"demo": "demo_peer"}.get(request.param, request.param)
    made: ImapUser = request.getfixturevalue(server).new_user()
    return made


@pytest.fixture
async def tools(user: ImapUser) -> AsyncIterator[Tools]:
    """The tools on `user`'s mailbox, with default settings."""
    made = Tools(settings_for(user))
    yield made
    await made.aclose()


@pytest.fixture
async def dovecot_tools(mail_user: MailUser) -> AsyncIterator[Tools]:
    """The tools on a Dovecot mailbox, for what only Dovecot can be asked."""
    made = Tools(settings_for(mail_user))
    yield made
    await made.aclose()


@pytest.fixture
async def writer(user: ImapUser) -> AsyncIterator[Tools]:
    """The tools on `user`'s mailbox with every gate for writing open, for a caller who may write."""
    made = Tools(writing_settings_for(user), WRITER)
    yield made
    await made.aclose()


@pytest.fixture
async def dovecot_writer(mail_user: MailUser) -> AsyncIterator[Tools]:
    """As `writer`, on a Dovecot mailbox."""
    made = Tools(writing_settings_for(mail_user), WRITER)
    yield made
    await made.aclose()
