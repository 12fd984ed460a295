"""Suites run against both servers unless they say otherwise: Dovecot, and the demo mailbox mailgate brings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.peers.demo import DemoPeer
from tests.peers.dovecot import MailUser
from tests.peers.imap_user import ImapUser
from tests.real.tools import Tools, settings_for


@pytest.fixture(scope="session")
def demo_peer() -> Iterator[DemoPeer]:
    """The demo mailboxes of this session."""
    peer = DemoPeer()
    try:
        yield peer
    finally:
        peer.stop()


@pytest.fixture(params=["dovecot", "demo"])
def user(request: pytest.FixtureRequest) -> ImapUser:
    """A mailbox nobody else uses, on each of the servers."""
    if request.param == "dovecot":
        found: ImapUser = request.getfixturevalue("dovecot").new_user()
        return found
    peer: DemoPeer = request.getfixturevalue("demo_peer")
    return peer.new_user()


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
