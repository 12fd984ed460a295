"""The peers every suite may use: one Dovecot per session, a fresh user per test."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from tests.peers.authority import authority
from tests.peers.dovecot import Dovecot, MailUser, dovecot_binary


def missing_peer(name: str) -> None:
    """End the test that needs a peer this machine lacks: a failure in CI, a loud skip elsewhere."""
    sentence = f"{name} is not installed; scripts/test says how to get it"
    if os.environ.get("CI") == "true":
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


def missing_second_opinion(name: str) -> None:
    """Skip the test, loudly and even in CI: packages that could not be had are nobody's fault here."""
    pytest.skip(f"{name} is MISSING, no second opinion was asked; scripts/second-opinions gets it on Debian 12 and 13")


@pytest.fixture(scope="session")
def dovecot() -> Iterator[Dovecot]:
    """The session's Dovecot, with Maildir storage and five special folders."""
    if dovecot_binary() is None:
        missing_peer("Dovecot")
    certificate = authority().certificate()
    server = Dovecot(certificate.chain, certificate.key)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def mail_user(dovecot: Dovecot) -> MailUser:
    """A user of the session's Dovecot whom no other test has."""
    return dovecot.new_user()


def pytest_collection_finish() -> None:
    """Thousands of collected tests live until the end; no later collection has to walk over them again."""
    gc.collect()
    gc.freeze()
