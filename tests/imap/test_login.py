"""Who may be talked to, and what is said before that is certain. What is said after: tests/dialogues."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mailgate.errors import UpstreamTimeout, UpstreamUnavailable
from mailgate.imap.connection import ImapConnection
from mailgate.imap.endpoint import Credentials, ImapEndpoint, Security
from mailgate.imap.login import open_session
from mailgate.imap.tls import client_context
from tests.imap.sessions import USER, loopback
from tests.peers.authority import authority, foreign_authority
from tests.peers.scripted_imap import ScriptedImap, login_steps, script

UPGRADE = "S: * OK [CAPABILITY IMAP4rev1 STARTTLS] ready\nC: $ STARTTLS\nS: $ OK go\nS-starttls\n"
INSIDE = "C: $ CAPABILITY\nS: * CAPABILITY IMAP4rev1\nS: $ OK done\n"


async def log_in(endpoint: ImapEndpoint) -> ImapConnection:
    return await open_session(endpoint, USER, partial(client_context, endpoint.ca_file), seconds=2)


def trusted(port: int, security: Security = Security.TLS) -> ImapEndpoint:
    return ImapEndpoint("localhost", port, security, authority().ca_file)


async def test_tls_with_a_private_authority_needs_its_certificate() -> None:
    async with ScriptedImap([login_steps()], tls=True) as peer:
        connection = await log_in(trusted(peer.port))
        await connection.aclose()
        assert peer.problems == []


SERVERS: dict[str, Callable[[], ssl.SSLContext]] = {
    "unknown authority": lambda: foreign_authority().certificate().server_context(),
    "expired": lambda: authority().certificate(expired=True).server_context(),
    "another host": lambda: authority().certificate("mail.example.org").server_context(),
    "TLS 1.1 only": lambda: old_server(),
}


def old_server() -> ssl.SSLContext:
    with pytest.warns(DeprecationWarning, match="TLS"):
        return authority().certificate().server_context(maximum=ssl.TLSVersion.TLSv1_1)


@pytest.mark.parametrize("server", SERVERS.values(), ids=list(SERVERS))
async def test_a_server_that_cannot_be_verified_is_sent_nothing(server: Callable[[], ssl.SSLContext]) -> None:
    async with ScriptedImap([login_steps()], tls=True, context=server()) as peer:
        with pytest.raises(UpstreamUnavailable) as raised:
            await log_in(trusted(peer.port))
        assert peer.received == []
    assert "localhost" not in raised.value.render()
    assert "example" not in raised.value.render()


@pytest.mark.parametrize("server", SERVERS.values(), ids=list(SERVERS))
async def test_starttls_towards_a_server_that_cannot_be_verified_ends_there(
    server: Callable[[], ssl.SSLContext],
) -> None:
    async with ScriptedImap([script(UPGRADE + "C-gone")], context=server()) as peer:
        with pytest.raises(UpstreamUnavailable):
            await log_in(trusted(peer.port, Security.STARTTLS))
        await peer.done()
        assert [line.partition(b" ")[2] for line in peer.received] == [b"STARTTLS"]


async def test_starttls_logs_in_inside_tls_only() -> None:
    text = UPGRADE + INSIDE + "C: $ LOGIN ...\nS: $ OK [CAPABILITY IMAP4rev1] done"
    async with ScriptedImap([script(text)]) as peer:
        connection = await log_in(trusted(peer.port, Security.STARTTLS))
        await connection.aclose()
        assert peer.problems == []


async def test_clear_text_in_place_of_the_handshake_ends_the_connection() -> None:
    text = UPGRADE.removesuffix("S-starttls\n") + "C-gone"
    async with ScriptedImap([script(text)]) as peer:
        endpoint = ImapEndpoint("localhost", peer.port, Security.STARTTLS, authority().ca_file, connect_seconds=0.1)
        with pytest.raises((UpstreamTimeout, UpstreamUnavailable)):
            await log_in(endpoint)
        await peer.done()
        assert b"LOGIN" not in b"".join(peer.received)


async def test_tls_towards_a_clear_text_server_is_unavailable() -> None:
    async with ScriptedImap([script("S: * OK hello\nC-gone")]) as peer:
        with pytest.raises(UpstreamUnavailable):
            await log_in(trusted(peer.port))


async def test_a_ca_file_that_cannot_be_read_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("no certificate")
    async with ScriptedImap([login_steps()], tls=True) as peer:
        for name in ("bad.pem", "missing.pem"):
            with pytest.raises(UpstreamUnavailable, match="MAIL_TLS_CA_FILE"):
                await log_in(ImapEndpoint("localhost", peer.port, Security.TLS, tmp_path / name))
        assert peer.accepted == 0


async def test_a_failed_login_leaves_no_connection_behind() -> None:
    async with ScriptedImap([script("S: * OK [CAPABILITY IMAP4rev1] hi\nC: $ LOGIN ...\nS: $ NO no\nC-gone")]) as peer:
        with pytest.raises(Exception, match="refused the login"):
            await log_in(loopback(peer.port))
        await peer.done()
        assert peer.problems == []


@pytest.mark.parametrize("host", ["mail.example.org", "192.0.2.1", "localhost.example.org", "127.0.0.1.example.org"])
def test_plaintext_is_for_loopback_only(host: str) -> None:
    with pytest.raises(ValueError, match="loopback"):
        ImapEndpoint(host, 143, Security.PLAINTEXT)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1"])
def test_plaintext_to_this_machine_is_allowed(host: str) -> None:
    assert ImapEndpoint(host, 143, Security.PLAINTEXT).host == host


@pytest.mark.parametrize(("host", "port"), [("", 993), ("h", 0), ("h", 65_536), ("h", -1)])
def test_an_impossible_endpoint_is_refused(host: str, port: int) -> None:
    with pytest.raises(ValueError, match="IMAP"):
        ImapEndpoint(host, port)


@pytest.mark.parametrize("text", ["a\rb", "a\nb", "a\0b", "a\udcffb", ""])
def test_credentials_that_cannot_be_sent_are_refused(text: str) -> None:
    for username, password in ((text, "x"), ("x", text)):
        with pytest.raises(ValueError, match="user name"):
            Credentials(username, password)


def test_credentials_do_not_show_themselves() -> None:
    shown = repr(Credentials("owner@example.org", "canary"))
    assert "canary" not in shown
    assert "owner" not in shown


def test_nothing_below_tls_1_2_and_nothing_unverified() -> None:
    context = client_context(authority().ca_file)
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2
    assert context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED
