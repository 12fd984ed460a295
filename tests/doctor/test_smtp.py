"""Broken ways to the SMTP server: the right cause is named, AUTH is said once, MAIL never."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from mailgate.imap.endpoint import Security
from tests.doctor.deployment import CANARY, SHORT, black_hole, closed_port, dovecot_tls, examined, imap, smtp
from tests.peers.authority import authority, foreign_authority
from tests.peers.dovecot import MailUser
from tests.peers.scripted_imap import ScriptedImap
from tests.peers.scripted_imap import script as imap_script
from tests.peers.scripted_smtp import ScriptedSmtp, parse_smtp_dialogue
from tests.peers.smtp_sink import PASSWORD, USERNAME, SmtpSink

LOGIN = {"MAIL_SMTP_USERNAME": USERNAME, "MAIL_SMTP_PASSWORD": PASSWORD}
TRANSACTION = (b"MAIL", b"RCPT", b"DATA", b"VRFY", b"EXPN")


def script(text: str) -> list[tuple]:  # type: ignore[type-arg]
    return [parse_smtp_dialogue("# expect: {}\n" + text).steps]


def failures_of(found: object) -> list[str]:
    """Without the mailbox's own, which nobody reaches in these tests."""
    return [check for check in found.failures if not check.startswith("imap.")]  # type: ignore[attr-defined]


@pytest.mark.parametrize("security", [Security.TLS, Security.STARTTLS])
async def test_a_healthy_server_is_logged_in_to_once_and_given_no_mail(security: Security) -> None:
    async with SmtpSink(security) as sink:
        found = await examined(smtp(sink.port, security, "localhost", **LOGIN))
    assert failures_of(found) == []
    assert all(found.verdict(check) == "ok" for check in found.report.outcomes if check.startswith("smtp."))
    assert (sink.logins, sink.taken) == (1, [])
    assert found.cause("smtp.size") == "Up to 32 MiB."


async def test_the_last_word_is_quit_and_no_transaction_is_begun() -> None:
    async with ScriptedSmtp(script("@hello\n@login")) as server:
        found = await examined(smtp(server.port, **LOGIN))
    assert failures_of(found) == []
    assert (server.said, server.problems, server.accepted) == ([b"QUIT"], [], 1)
    assert not any(line.upper().startswith(TRANSACTION) for line in server.received)


async def test_a_wrong_password_is_tried_once() -> None:
    async with SmtpSink() as sink:
        found = await examined(smtp(sink.port, "tls", "localhost", MAIL_SMTP_PASSWORD=CANARY, MAIL_SMTP_USERNAME="x"))
    assert failures_of(found) == ["smtp.login"]
    assert "do not belong together" in found.cause("smtp.login")
    assert "MAIL_SMTP_PASSWORD" in found.next_step("smtp.login")
    assert (sink.logins, sink.taken) == (1, [])


REFUSED = {
    "535 5.7.8 no": "do not belong together",
    "534 5.7.9 Application-specific password required": "wants an app password",
    "535 5.7.139 Authentication unsuccessful": "does not let this account",
    "535 5.7.3 basic authentication is disabled": "does not let this account",
    "534 5.7.14 log in via your web browser": "in a browser",
    "538 5.7.11 no": "only inside TLS",
    "530 5.7.0 no": "only inside TLS",
    "504 5.5.4 no": "no login with a password",
    "454 4.7.0 later": "takes no login at the moment",
    "421 4.7.0 later": "takes no login at the moment",
    "550 5.1.0 no": "does not say why",
    "250 2.0.0 what": "did not answer the login",
}


@pytest.mark.parametrize("reply", REFUSED)
async def test_a_refused_login_is_told_by_its_code_and_never_quoted(reply: str) -> None:
    async with ScriptedSmtp(script(f"@hello\nC: AUTH PLAIN ...\nS: {reply} {CANARY}")) as server:
        found = await examined(smtp(server.port))
    assert failures_of(found) == ["smtp.login"]
    assert REFUSED[reply] in found.cause("smtp.login")
    assert (server.accepted, server.problems) == (1, [])


@pytest.mark.parametrize(
    ("offered", "cause"),
    [("AUTH=XOAUTH2+OAUTHBEARER", "only OAuth"), ("AUTH=GSSAPI", "no login with a password")],
)
async def test_no_password_is_sent_where_password_login_is_off(offered: str, cause: str) -> None:
    async with ScriptedSmtp(script(f"@hello {offered}")) as server:
        found = await examined(smtp(server.port))
    assert failures_of(found) == ["smtp.login"]
    assert cause in found.cause("smtp.login")
    assert not any(b"AUTH" in line for line in server.received)


async def test_a_password_that_imap_has_just_refused_is_not_tried_again(mail_user: MailUser) -> None:
    async with SmtpSink() as sink:
        variables = {"MAIL_SMTP_HOST": "localhost", "MAIL_SMTP_PORT": str(sink.port)}
        found = await examined(dovecot_tls(mail_user, MAIL_PASSWORD=CANARY, **variables))
    assert found.failures == ["imap.login"]
    assert found.verdict("smtp.login") == "skipped"
    assert "has just refused" in found.cause("smtp.login")
    assert found.verdict("smtp.greeting") == "ok"
    assert sink.logins == 0


async def test_it_is_tried_where_imap_has_not_judged_it() -> None:
    busy = imap_script("S: * OK [CAPABILITY IMAP4rev1] ready\nC: $ LOGIN ...\nS: $ NO [UNAVAILABLE] later\nC-gone")
    async with ScriptedImap([busy]) as imap_server, SmtpSink() as sink:
        variables = {"MAIL_SMTP_HOST": "localhost", "MAIL_SMTP_PORT": str(sink.port)}
        found = await examined(imap(imap_server.port, **variables, MAIL_USERNAME=USERNAME, MAIL_PASSWORD=PASSWORD))
    assert found.failures == ["imap.login"]
    assert found.verdict("smtp.login") == "ok"
    assert sink.logins == 1


# --- the way there ---------------------------------------------------------------------------------------------


async def test_a_name_that_does_not_resolve() -> None:
    found = await examined(smtp(465, "tls", "smtp.nowhere.invalid"))
    assert failures_of(found) == ["smtp.dns"]


async def test_a_closed_port_and_a_blocked_one_are_told_apart() -> None:
    port = closed_port()
    found = await examined(smtp(port, "tls", "localhost"))
    assert failures_of(found) == ["smtp.connect"]
    assert f"refuses connections on port {port}" in found.cause("smtp.connect")
    with black_hole() as blocked:
        found = await examined(smtp(blocked, "tls"), patience=SHORT)
    assert failures_of(found) == ["smtp.connect"]
    assert f"Port {blocked} of 127.0.0.1 is blocked" in found.cause("smtp.connect")


CERTIFICATES = {
    "wrong host": (lambda: authority().certificate("mail.example.net"), "for another host than localhost"),
    "expired": (lambda: authority().certificate(expired=True), "has expired"),
    "unknown authority": (lambda: foreign_authority().certificate(), "does not know"),
}


@pytest.mark.parametrize("kind", CERTIFICATES)
@pytest.mark.parametrize("security", [Security.TLS, Security.STARTTLS])
async def test_a_bad_certificate_is_told_from_another(kind: str, security: Security) -> None:
    certificate, cause = CERTIFICATES[kind]
    async with SmtpSink(security, certificate().server_context()) as sink:
        found = await examined(smtp(sink.port, security, "localhost", **LOGIN))
    assert failures_of(found) == ["smtp.tls"]
    assert cause in found.cause("smtp.tls")
    assert sink.logins == 0


async def test_starttls_missing_sends_no_password() -> None:
    async with ScriptedSmtp(script("@hello")) as server:
        found = await examined(smtp(server.port, "starttls", "localhost"))
    assert failures_of(found) == ["smtp.tls"]
    assert "offers no STARTTLS" in found.cause("smtp.tls")
    assert "465" in found.next_step("smtp.tls")
    assert not any(b"AUTH" in line for line in server.received)


async def test_starttls_refused() -> None:
    async with ScriptedSmtp(script("@hello STARTTLS\nC: STARTTLS\nS: 454 4.7.0 not now")) as server:
        found = await examined(smtp(server.port, "starttls", "localhost"))
    assert failures_of(found) == ["smtp.tls"]
    assert "then refuses it" in found.cause("smtp.tls")


async def test_data_behind_starttls_is_called_an_attack() -> None:
    text = "@hello STARTTLS\nC: STARTTLS\nS: 220 go\nS: 250 forged\nC-gone"
    async with ScriptedSmtp(script(text)) as server:
        found = await examined(smtp(server.port, "starttls", "localhost"))
    assert failures_of(found) == ["smtp.tls"]
    assert "attacker" in found.cause("smtp.tls")


async def test_a_plain_server_where_tls_is_expected_and_the_reverse() -> None:
    async with SmtpSink(Security.STARTTLS) as sink:
        found = await examined(smtp(sink.port, "tls", "localhost"))
    assert failures_of(found) == ["smtp.tls"]
    assert "speaks without TLS" in found.cause("smtp.tls")
    async with SmtpSink(Security.TLS) as sink:
        patience = SHORT.__class__(connect=3.0, command=1.0, total=20.0)
        found = await examined(smtp(sink.port, "starttls", "localhost"), patience=patience)
    assert failures_of(found) == ["smtp.greeting"]
    assert f"Port {sink.port} of localhost begins with TLS" in found.cause("smtp.greeting")


async def test_a_server_that_greets_with_a_refusal() -> None:
    async with ScriptedSmtp(script(f"S: 554 5.7.1 {CANARY}")) as server:
        found = await examined(smtp(server.port))
    assert failures_of(found) == ["smtp.greeting"]
    assert "greets with a refusal" in found.cause("smtp.greeting")


async def test_another_service_on_the_port_is_no_smtp_server(mail_user: MailUser) -> None:
    found = await examined(smtp(mail_user.server.tls_port, "tls", "localhost"))
    assert failures_of(found) == ["smtp.greeting"]
    assert "is no SMTP server" in found.cause("smtp.greeting")


# --- what it says ----------------------------------------------------------------------------------------------


async def test_a_server_that_takes_less_than_mailgate_composes() -> None:
    async with ScriptedSmtp(script("@hello SIZE=1048576 AUTH=PLAIN\n@login")) as server:
        found = await examined(smtp(server.port))
    assert found.verdict("smtp.size") == "warn"
    assert "1048576 octets" in found.cause("smtp.size")


@pytest.mark.parametrize(("hours", "verdict"), [(0, "ok"), (-3, "fail"), (3, "fail")])
async def test_the_time_in_a_greeting_is_compared(hours: int, verdict: str) -> None:
    said = format_datetime(datetime.now(UTC) + timedelta(hours=hours))
    text = f"S: 220 mx.example.org ESMTP Exim 4.96 {said}\nC: EHLO ...\nS: 250 AUTH PLAIN\n"
    async with ScriptedSmtp(script(text)) as server:
        found = await examined(smtp(server.port))
    assert found.verdict("clock") == verdict
    assert "SMTP server" in found.cause("clock")


async def test_a_server_that_only_a_preset_names_is_left_alone_while_sending_is_off() -> None:
    found = await examined(imap(closed_port(), MAIL_PROVIDER="posteo"))
    assert found.verdict("smtp.login") == "skipped"
    assert "only MAIL_PROVIDER" in found.cause("smtp.login")
