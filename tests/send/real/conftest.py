"""A real MTA in front of a real Dovecot, both of this session."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import missing_peer
from tests.peers.authority import authority
from tests.peers.dovecot import Dovecot, dovecot_binary
from tests.peers.dovecot_config import DovecotOptions
from tests.peers.exim import Exim, exim_binary, lmtp_binary


@pytest.fixture(scope="session")
def post_office() -> Iterator[Dovecot]:
    """A Dovecot that takes mail by LMTP."""
    for found, name in (
        (dovecot_binary(), "Dovecot"),
        (lmtp_binary(), "Dovecot's LMTP service"),
        (exim_binary(), "Exim"),
    ):
        if found is None:
            missing_peer(name)
    certificate = authority().certificate()
    server = Dovecot(certificate.chain, certificate.key, DovecotOptions(lmtp=True))
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def exim(post_office: Dovecot) -> Iterator[Exim]:
    """Delivers into that Dovecot."""
    server = Exim(post_office, authority().certificate())
    try:
        yield server
    finally:
        server.stop()
