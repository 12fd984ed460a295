"""Broken ways to the IMAP server: the right cause is named, the password is shown once, nothing is changed."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator

import pytest

from tests.conftest import missing_peer
from tests.doctor.deployment import CANARY, SHORT, black_hole, closed_port, dovecot_tls, examined, imap, old_tls_server
from tests.peers.authority import authority, foreign_authority
from tests.peers.dovecot import Dovecot, MailUser, dovecot_binary
from tests.peers.dovecot_config import DovecotOptions
from tests.peers.fault_proxy import Action, Conditions, Direction, Fault, FaultProxy, When
from tests.peers.processes import wait_until
from tests.peers.scripted_imap import ScriptedImap, script
from tests.peers.smtp_sink import SmtpSink

READING = {"CAPABILITY", "ID", "ENABLE", "LIST", "LOGOUT", "NOOP"}
STAGES = ("imap.dns", "imap.connect", "imap.tls", "imap.greeting", "imap.login")
GREETING = "S: * OK [CAPABILITY IMAP4rev1] ready\n"


@pytest.fixture(scope="module")
def plain_dovecot() -> Iterator[Dovecot]:
    """A Dovecot that offers next to nothing and gives no folder a role."""
    if dovecot_binary() is None:
        missing_peer("Dovecot")
    certificate = authority().certificate()
    options = DovecotOptions(capability="IMAP4rev1 ID", special_folders={})
    server = Dovecot(certificate.chain, certificate.key, options)
    try:
        yield server
    finally:
        server.stop()


# --- a mailbox that is well ------------------------------------------------------------------------------------


async def test_a_healthy_mailbox_has_nothing_to_complain_of(mail_user: MailUser) -> None:
    found = await examined(dovecot_tls(mail_user))
    assert found.failures == []
    assert all(found.verdict(check) == "ok" for check in found.report.outcomes if check.startswith(("imap.", "role.")))
    assert found.verdict("clock") == "ok"
    assert "certificate of the IMAP server" in found.cause("clock")


async def test_it_logs_in_once_reads_the_folders_and_logs_out(mail_user: MailUser) -> None:
    mail_user.fill("INBOX", [1, 2, 3])
    await examined(dovecot_tls(mail_user, MAIL_ENABLE_WRITES="1"))
    sent = [command.name for command in mail_user.commands()]
    assert set(sent) <= READING
    assert sent.count("LIST") == 1
    assert sent[-1] == "LOGOUT"
    log = (mail_user.server.root / "dovecot.log").read_text()
    # Dovecot 2.3 writes "Login:", 2.4 "Logged in:".
    assert len(re.findall(rf"(?:Login|Logged in): user=<{re.escape(mail_user.name)}>", log)) == 1


async def test_starttls_is_taken_where_the_settings_say_so(mail_user: MailUser) -> None:
    variables = {"MAIL_IMAP_PORT": str(mail_user.port), "MAIL_IMAP_SECURITY": "starttls"}
    found = await examined(dovecot_tls(mail_user, **variables))
    assert found.failures == []
    assert found.verdict("imap.tls") == "ok"


# --- the login -------------------------------------------------------------------------------------------------


async def test_a_wrong_password_is_tried_once(mail_user: MailUser) -> None:
    async with FaultProxy(mail_user.server.tls_port) as proxy:
        found = await examined(dovecot_tls(mail_user, MAIL_IMAP_PORT=str(proxy.port), MAIL_PASSWORD=CANARY))
        assert proxy.traffic.connections == 1
    assert found.failures == ["imap.login"]
    assert "user and password do not belong together" in found.cause("imap.login")
    assert "app password" in found.next_step("imap.login")
    assert [found.verdict(check) for check in STAGES] == ["ok"] * 4 + ["fail"]
    # Dovecot writes its line when it has noticed that the connection is gone.
    assert wait_until(lambda: attempts_of(mail_user) != [], seconds=10)
    assert attempts_of(mail_user) == ["auth failed, 1 attempts"]


def attempts_of(user: MailUser) -> list[str]:
    """What Dovecot's log says of the failed logins of a user, a line for each connection."""
    log = (user.server.root / "dovecot.log").read_text()
    return [
        found[0]
        for line in log.splitlines()
        if f"user=<{user.name}>" in line and (found := re.search(r"auth failed, [0-9]+ attempts", line))
    ]


REFUSED = {
    "NO [AUTHENTICATIONFAILED] no": "do not belong together",
    "NO no": "does not say why",
    "NO [UNAVAILABLE] later": "takes no login at the moment",
    "NO [LIMIT] too many": "takes no login at the moment",
    "NO [INUSE] locked": "takes no login at the moment",
    "NO [EXPIRED] old": "has expired",
    "NO [ALERT] Application-specific password required": "wants an app password",
    "NO [WEBALERT https://example.org/confirm] Log in via your web browser": "in a browser",
    "NO [AUTHORIZATIONFAILED] no": "does not let this account",
    "NO LOGIN failed. Basic authentication is disabled": "does not let this account",
    "NO [PRIVACYREQUIRED] no": "only inside TLS",
    "BAD User is authenticated but not connected.": "takes no login at the moment",
}


@pytest.mark.parametrize("answer", REFUSED)
async def test_a_refused_login_is_told_by_its_code_and_never_quoted(answer: str) -> None:
    told = f"{answer} {CANARY} \x1b[31m"
    steps = script(f"{GREETING}C: $ LOGIN ...\nS: $ {told}\nC-gone")
    async with ScriptedImap([steps]) as server:
        found = await examined(imap(server.port))
    assert found.failures == ["imap.login"]
    assert REFUSED[answer] in found.cause("imap.login")
    assert (server.accepted, server.problems) == (1, [])


NOT_OFFERED = {
    "IMAP4rev1 LOGINDISABLED": "no login with a password",
    "IMAP4rev1 LOGINDISABLED AUTH=XOAUTH2": "only OAuth",
    "IMAP4rev1 LOGINDISABLED AUTH=OAUTHBEARER AUTH=GSSAPI": "only OAuth",
}


@pytest.mark.parametrize("offered", NOT_OFFERED)
async def test_no_password_is_sent_where_password_login_is_off(offered: str) -> None:
    async with ScriptedImap([script(f"S: * OK [CAPABILITY {offered}] ready\nC-gone")]) as server:
        found = await examined(imap(server.port))
    assert found.failures == ["imap.login"]
    assert NOT_OFFERED[offered] in found.cause("imap.login")
    assert server.received == []


async def test_a_connection_that_ends_after_the_login_is_not_replaced_by_a_second_login() -> None:
    steps = script(f"{GREETING}C: $ LOGIN ...\nS: $ OK [CAPABILITY IMAP4rev1] in\nC: $ LIST ...\nS-close")
    async with ScriptedImap([steps]) as server:
        found = await examined(imap(server.port))
    assert found.failures == ["imap.session"]
    assert found.verdict("imap.login") == "ok"
    assert server.accepted == 1


async def test_a_login_without_an_answer_is_not_called_a_wrong_password() -> None:
    async with ScriptedImap([script(f"{GREETING}C: $ LOGIN ...\nS-stall")]) as server:
        found = await examined(imap(server.port), patience=SHORT)
    assert found.failures == ["imap.login"]
    assert "is not known" in found.cause("imap.login")
    assert server.accepted == 1


# --- the way there ---------------------------------------------------------------------------------------------


async def test_a_name_that_does_not_resolve() -> None:
    found = await examined(imap(993, "tls", "imap.nowhere.invalid"))
    assert found.failures == ["imap.dns"]
    assert "imap.nowhere.invalid" in found.cause("imap.dns")
    assert "reached" in found.cause("imap.login")


async def test_a_closed_port_is_named() -> None:
    port = closed_port()
    found = await examined(imap(port, "tls", "localhost"))
    assert found.failures == ["imap.connect"]
    assert f"refuses connections on port {port}" in found.cause("imap.connect")
    assert found.verdict("imap.dns") == "ok"


@pytest.mark.parametrize("security", ["tls", "plaintext"])
async def test_a_black_holed_port_is_called_blocked(security: str) -> None:
    with black_hole() as port:
        found = await examined(imap(port, security), patience=SHORT)
    assert found.failures == ["imap.connect"]
    assert f"Port {port} of 127.0.0.1 is blocked" in found.cause("imap.connect")
    assert f"Have port {port} opened" in found.next_step("imap.connect")


@pytest.mark.parametrize(("security", "check"), [("tls", "imap.tls"), ("starttls", "imap.greeting")])
async def test_a_port_behind_which_everything_disappears_is_told_from_a_closed_one(
    mail_user: MailUser, security: str, check: str
) -> None:
    silence = Conditions(faults=(Fault(Direction.DOWN, Action.STALL, after=0, when=When.BEFORE),))
    port = mail_user.server.tls_port if security == "tls" else mail_user.port
    async with FaultProxy(port, silence) as proxy:
        found = await examined(imap(proxy.port, security, "localhost"), patience=SHORT)
    assert found.failures == [check]
    assert f"Port {proxy.port}" in found.cause(check)
    assert "blocked on the way" in found.cause(check)
    assert found.verdict("imap.connect") == "ok"


async def test_a_server_that_closes_at_once() -> None:
    async with ScriptedImap([script("S-close")]) as server:
        found = await examined(imap(server.port))
    assert found.failures == ["imap.greeting"]
    assert "closed it without a greeting" in found.cause("imap.greeting")


async def test_a_server_that_greets_with_a_refusal() -> None:
    async with ScriptedImap([script(f"S: * BYE {CANARY}\nC-gone")]) as server:
        found = await examined(imap(server.port))
    assert found.failures == ["imap.greeting"]
    assert "greets with a refusal" in found.cause("imap.greeting")


async def test_another_service_on_the_port_is_no_imap_server() -> None:
    async with SmtpSink() as sink:
        found = await examined(imap(sink.port, "tls", "localhost"))
    assert found.failures == ["imap.greeting"]
    assert "is no IMAP server" in found.cause("imap.greeting")


# --- TLS -------------------------------------------------------------------------------------------------------

CERTIFICATES = {
    "wrong host": (lambda: authority().certificate("mail.example.net"), "for another host than localhost", "_HOST"),
    "expired": (lambda: authority().certificate(expired=True), "has expired", "clock"),
    "unknown authority": (lambda: foreign_authority().certificate(), "does not know", "MAIL_TLS_CA_FILE"),
}


@pytest.mark.parametrize("kind", CERTIFICATES)
@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_a_bad_certificate_is_told_from_another(kind: str, security: str) -> None:
    certificate, cause, step = CERTIFICATES[kind]
    context = certificate().server_context()
    upgrade = "S: * OK [CAPABILITY IMAP4rev1 STARTTLS] ready\nC: $ STARTTLS\nS: $ OK go\nS-starttls\nC-gone"
    steps = script(upgrade if security == "starttls" else "C-gone")
    async with ScriptedImap([steps], tls=security == "tls", context=context) as server:
        found = await examined(imap(server.port, security, "localhost"))
    assert found.failures == ["imap.tls"]
    assert cause in found.cause("imap.tls")
    assert step in found.next_step("imap.tls")
    assert not any(b"LOGIN" in line or b"AUTHENTICATE" in line for line in server.received)


async def test_an_expired_certificate_brings_the_clock_into_question() -> None:
    async with ScriptedImap([()], tls=True, context=authority().certificate(expired=True).server_context()) as server:
        found = await examined(imap(server.port, "tls", "localhost"))
    assert found.verdict("clock") == "warn"
    assert "the clock may be wrong" in found.cause("clock")


async def test_a_server_with_old_tls_only() -> None:
    with old_tls_server() as port:
        found = await examined(imap(port, "tls", "localhost"))
    assert found.failures == ["imap.tls"]
    assert "no TLS newer than 1.1" in found.cause("imap.tls")


async def test_a_handshake_that_breaks_off_without_a_word() -> None:
    with pytest.deprecated_call():
        context = authority().certificate().server_context(maximum=ssl.TLSVersion.TLSv1_1)
    async with ScriptedImap([()], tls=True, context=context) as server:
        found = await examined(imap(server.port, "tls", "localhost"))
    assert found.failures == ["imap.tls"]
    assert "may be too old" in found.cause("imap.tls")


async def test_a_plain_server_where_tls_is_expected(mail_user: MailUser) -> None:
    found = await examined(imap(mail_user.port, "tls", "localhost"))
    assert found.failures == ["imap.tls"]
    assert f"Port {mail_user.port} of localhost speaks without TLS" in found.cause("imap.tls")
    assert "MAIL_IMAP_SECURITY=starttls" in found.next_step("imap.tls")
    assert "993" in found.next_step("imap.tls")


async def test_a_tls_server_where_a_plain_one_is_expected(mail_user: MailUser) -> None:
    port = mail_user.server.tls_port
    patience = SHORT.__class__(connect=3.0, command=5.0, total=20.0)
    found = await examined(imap(port, "starttls", "localhost"), patience=patience)
    assert found.failures == ["imap.greeting"]
    assert f"Port {port} of localhost begins with TLS" in found.cause("imap.greeting")
    assert "MAIL_IMAP_SECURITY=tls" in found.next_step("imap.greeting")
    assert mail_user.commands() == []


async def test_starttls_missing_sends_no_password() -> None:
    async with ScriptedImap([script(f"{GREETING}C-gone")]) as server:
        found = await examined(imap(server.port, "starttls", "localhost"))
    assert found.failures == ["imap.tls"]
    assert "offers no STARTTLS" in found.cause("imap.tls")
    assert [found.verdict(check) for check in STAGES] == ["ok", "ok", "fail", "ok", "skipped"]
    assert server.received == []


async def test_starttls_refused() -> None:
    steps = script("S: * OK [CAPABILITY IMAP4rev1 STARTTLS] ready\nC: $ STARTTLS\nS: $ NO not now\nC-gone")
    async with ScriptedImap([steps]) as server:
        found = await examined(imap(server.port, "starttls", "localhost"))
    assert found.failures == ["imap.tls"]
    assert "then refuses it" in found.cause("imap.tls")


async def test_data_between_starttls_and_tls_is_called_an_attack() -> None:
    injected = "S: $ OK go\nS: * CAPABILITY IMAP4rev1 AUTH=PLAIN\nC-gone"
    steps = script(f"S: * OK [CAPABILITY IMAP4rev1 STARTTLS] ready\nC: $ STARTTLS\n{injected}")
    async with ScriptedImap([steps]) as server:
        found = await examined(imap(server.port, "starttls", "localhost"))
    assert found.failures == ["imap.tls"]
    assert "attacker" in found.cause("imap.tls")


# --- what it can do --------------------------------------------------------------------------------------------


async def test_what_is_missing_is_told_with_what_it_costs(plain_dovecot: Dovecot) -> None:
    user = plain_dovecot.new_user()
    found = await examined(dovecot_tls(user, MAIL_ENABLE_WRITES="1"))
    for check, cost in {
        "imap.move": "mail_move and mail_trash are refused",
        "imap.uidplus": "mail_delete_permanently is refused",
        "imap.condstore": "unchanged_since is refused",
        "imap.special_use": "may not say which folder is Sent or Trash",
    }.items():
        assert found.verdict(check) == "warn"
        assert cost in found.cause(check)
    assert {command.name for command in user.commands()} <= READING
