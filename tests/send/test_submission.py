"""Handing in a message, beyond what a dialogue file can show: certificates, deadlines, cancellation, secrets."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mailgate.imap.endpoint import Credentials, Security
from mailgate.send.record import Envelope
from mailgate.send.smtp import SmtpEndpoint, stuffed
from mailgate.send.submission import Accepted, NotSent, SmtpReply, Submission, SubmissionStage, Unknown
from mailgate.send.submit import Features, SmtpSubmitter
from tests.peers.authority import authority, foreign_authority
from tests.peers.scripted_imap import Step
from tests.peers.scripted_smtp import ScriptedSmtp, parse_smtp_dialogue, unstuffed

ENVELOPE = Envelope("me@example.com", ("a@example.org",))
MESSAGE = b"Subject: x\r\n\r\nhello\r\n"
CREDENTIALS = Credentials("canary-user", "canary-password")


def steps(text: str) -> tuple[Step, ...]:
    return parse_smtp_dialogue("# expect: {}\n" + text).steps


def submitter_to(port: int, security: Security = Security.PLAINTEXT, **options: Any) -> SmtpSubmitter:
    ca_file = None if security is Security.PLAINTEXT else authority().ca_file
    endpoint = SmtpEndpoint("127.0.0.1", port, security, ca_file)
    return SmtpSubmitter(endpoint, CREDENTIALS, farewell_seconds=0.2, **options)


async def leave_given() -> bool:
    return True


async def submit(submitter: SmtpSubmitter, *, seconds: float = 5, message: bytes = MESSAGE) -> Submission:
    try:
        deadline = asyncio.get_running_loop().time() + seconds
        return await submitter.submit(ENVELOPE, message, begin=leave_given, deadline=deadline)
    finally:
        await submitter.aclose()


# --- TLS --------------------------------------------------------------------------------------------------------


def old_server() -> ssl.SSLContext:
    return authority().certificate().server_context(maximum=ssl.TLSVersion.TLSv1_1)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
@pytest.mark.parametrize(
    "context",
    [
        lambda: foreign_authority().certificate().server_context(),
        lambda: authority().certificate(expired=True).server_context(),
        lambda: authority().certificate("mail.example.net").server_context(),
        old_server,
    ],
    ids=["unknown authority", "expired", "another host", "TLS 1.1"],
)
@pytest.mark.parametrize("security", [Security.TLS, Security.STARTTLS])
async def test_a_server_that_cannot_be_verified_hears_no_credentials(
    context: Callable[[], ssl.SSLContext], security: Security
) -> None:
    script = steps("@hello STARTTLS AUTH=PLAIN\nC: STARTTLS\nS: 220 go\nS-starttls\nC-gone")
    tls = security is Security.TLS
    async with ScriptedSmtp([script], tls=tls, context=context()) as peer:
        outcome = await submit(submitter_to(peer.port, security))
        assert outcome == NotSent(SubmissionStage.CONNECT, "upstream_unavailable")
        assert [line for line in peer.received if line not in (b"EHLO [127.0.0.1]", b"STARTTLS", b"")] == []


async def test_a_server_in_clear_text_where_tls_is_wanted_is_not_talked_to() -> None:
    async with ScriptedSmtp([steps("@hello AUTH=PLAIN")]) as peer:
        outcome = await submit(submitter_to(peer.port, Security.TLS))
        assert outcome == NotSent(SubmissionStage.CONNECT, "upstream_unavailable")
        assert not any(b"EHLO" in line or b"AUTH" in line for line in peer.received)


async def test_nobody_listening_is_unavailable() -> None:
    async with ScriptedSmtp([]) as peer:
        port = peer.port
    assert await submit(submitter_to(port)) == NotSent(SubmissionStage.CONNECT, "upstream_unavailable")


async def test_a_name_that_does_not_resolve_is_unavailable() -> None:
    submitter = SmtpSubmitter(SmtpEndpoint("no..such", 465), CREDENTIALS)
    assert await submit(submitter) == NotSent(SubmissionStage.CONNECT, "upstream_unavailable")


@pytest.mark.parametrize("port", [0, 65_536])
def test_an_impossible_port_is_refused(port: int) -> None:
    with pytest.raises(ValueError, match="port"):
        SmtpEndpoint("mail.example.org", port)


def test_clear_text_is_refused_beyond_this_machine() -> None:
    with pytest.raises(ValueError, match="loopback"):
        SmtpEndpoint("mail.example.org", 25, Security.PLAINTEXT)
    with pytest.raises(ValueError, match="empty"):
        SmtpEndpoint("", 25)


# --- time -------------------------------------------------------------------------------------------------------


async def test_after_the_deadline_nothing_is_begun() -> None:
    async with ScriptedSmtp([steps("C-gone")]) as peer:
        assert await submit(submitter_to(peer.port), seconds=0) == NotSent(SubmissionStage.CONNECT, "upstream_timeout")
        assert peer.accepted == 0


async def test_a_deadline_that_passes_while_the_store_is_asked_means_no_data() -> None:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + 1

    async def slow() -> bool:
        await asyncio.sleep(deadline - loop.time() + 0.01)
        return True

    async with ScriptedSmtp([steps("@hello\n@login\n@mail\n@rcpt")]) as peer:
        submitter = submitter_to(peer.port)
        outcome = await submitter.submit(ENVELOPE, MESSAGE, begin=slow, deadline=deadline)
        await submitter.aclose()
        await peer.done()
        assert outcome == NotSent(SubmissionStage.BEGIN, "upstream_timeout")
        assert (peer.said, peer.problems) == ([b"RSET", b"QUIT"], [])


@pytest.mark.parametrize(
    "script", ["S-stall", "@hello\n@login\n@mail\n@rcpt\nC: DATA\nS-stall"], ids=["greeting", "354"]
)
async def test_no_reply_before_the_message_may_take_until_the_deadline(script: str) -> None:
    async with ScriptedSmtp([steps(script)]) as peer, asyncio.timeout(5):
        outcome = await submit(submitter_to(peer.port, command_seconds=0.2), seconds=60)
        assert isinstance(outcome, NotSent)
        assert outcome.reason == "upstream_timeout"


async def test_a_connection_that_dies_while_the_store_is_asked_means_no_data() -> None:
    async with ScriptedSmtp([steps("@hello\n@login\n@mail\n@rcpt\nS-close")]) as peer:

        async def slow() -> bool:
            await peer.done()
            await asyncio.sleep(0.05)
            return True

        submitter = submitter_to(peer.port)
        deadline = asyncio.get_running_loop().time() + 5
        outcome = await submitter.submit(ENVELOPE, MESSAGE, begin=slow, deadline=deadline)
        assert outcome == NotSent(SubmissionStage.DATA, "upstream_unavailable")


async def test_the_outcome_does_not_wait_for_quit() -> None:
    async with ScriptedSmtp(
        [steps("@hello\n@login\n@mail\n@rcpt\n@data\nC-message\nS: 250 ok\nC: QUIT\nS-stall")]
    ) as peer:
        submitter = SmtpSubmitter(
            SmtpEndpoint("127.0.0.1", peer.port, Security.PLAINTEXT), CREDENTIALS, farewell_seconds=30
        )
        deadline = asyncio.get_running_loop().time() + 5
        async with asyncio.timeout(5):
            outcome = await submitter.submit(ENVELOPE, MESSAGE, begin=leave_given, deadline=deadline)
        assert isinstance(outcome, Accepted)


# --- cancellation -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    ["S-stall", "@hello\n@login\nC: MAIL ...\nS-stall", "@hello\n@login\n@mail\n@rcpt\n@data\nC-message\nS-stall"],
    ids=["connect", "mail", "final"],
)
async def test_a_cancelled_attempt_closes_at_once_and_says_nothing(script: str) -> None:
    async with ScriptedSmtp([steps(script)]) as peer:
        submitter = submitter_to(peer.port)
        deadline = asyncio.get_running_loop().time() + 5
        task = asyncio.create_task(submitter.submit(ENVELOPE, MESSAGE, begin=leave_given, deadline=deadline))
        await asyncio.wait({task}, timeout=0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await submitter.aclose()
        await peer.done()
        assert (peer.said, peer.accepted) == ([], 1)


# --- what is sent -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message", [b"", b"a", b"a\n", b"a\r", b"a\r\nb", b"a\nb\r\n", b"a\rb\r\n", b"a\0\r\n", b"\r\r\n"]
)
async def test_a_message_that_is_not_made_of_lines_is_not_taken(message: bytes) -> None:
    submitter = SmtpSubmitter(SmtpEndpoint("localhost", 1), CREDENTIALS)
    with pytest.raises(ValueError, match="CRLF"):
        await submit(submitter, message=message)


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        (b"a\r\n", b"a\r\n"),
        (b".\r\n", b"..\r\n"),
        (b"..a\r\n.\r\n", b"...a\r\n..\r\n"),
        (b"a.\r\n\r\n.b\r\n", b"a.\r\n\r\n..b\r\n"),
    ],
)
def test_dots_are_doubled_at_the_beginning_of_lines_and_nowhere_else(message: bytes, sent: bytes) -> None:
    assert stuffed(message) == sent
    assert unstuffed(sent) == message


async def test_each_message_has_a_connection_and_a_login_of_its_own() -> None:
    script = steps("@hello\n@login\n@mail\n@rcpt\n@data\nC-message\nS: 250 ok")
    async with ScriptedSmtp([script] * 5, message=MESSAGE) as peer:
        submitter = submitter_to(peer.port)
        deadline = asyncio.get_running_loop().time() + 5
        outcomes = await asyncio.gather(
            *(submitter.submit(ENVELOPE, MESSAGE, begin=leave_given, deadline=deadline) for _ in range(5))
        )
        await submitter.aclose()
        await peer.done()
        assert [type(outcome) for outcome in outcomes] == [Accepted] * 5
        assert (peer.dots, peer.problems) == (5, [])


async def test_no_secret_and_no_word_of_the_server_is_in_a_repr_or_a_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    for last in ("S: 550 5.7.1 canary-text", "S: canary-garbage", "S-cut"):
        script = steps("@hello\n@login\n@mail\n@rcpt\n@data\nC-message\n" + last)
        async with ScriptedSmtp([script]) as peer:
            submitter = submitter_to(peer.port)
            assert "canary" not in repr(await submit(submitter)) + repr(submitter)
    assert "canary" not in caplog.text
    assert "example" not in caplog.text


# --- what EHLO says ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((b"mx SIZE 5 STARTTLS",), Features()),
        ((b"mx", b"size 35882577"), Features(size_known=True, size=35_882_577)),
        ((b"mx", b"SIZE"), Features(size_known=True)),
        ((b"mx", b"SIZE 0"), Features(size_known=True)),
        ((b"mx", b"SIZE x"), Features(size_known=True)),
        ((b"mx", b"SIZE " + b"9" * 5000), Features(size_known=True)),
        ((b"mx", b"StartTLS"), Features(starttls=True)),
        ((b"mx", b"AUTH plain Login"), Features(mechanisms=frozenset({"PLAIN", "LOGIN"}))),
        ((b"mx", b"AUTH=PLAIN", b"AUTH LOGIN"), Features(mechanisms=frozenset({"PLAIN", "LOGIN"}))),
        ((b"mx", b"", b"  ", b"X-AUTH PLAIN"), Features()),
    ],
)
def test_features(lines: tuple[bytes, ...], expected: Features) -> None:
    assert Features.of(SmtpReply(250, None, lines)) == expected


@pytest.mark.parametrize(("code", "kind"), [(250, "yes"), (299, "yes"), (354, ""), (334, ""), (421, "no"), (550, "no")])
def test_a_reply_is_a_yes_a_no_or_neither(code: int, kind: str) -> None:
    reply = SmtpReply(code)
    assert (reply.is_positive, reply.is_negative) == (kind == "yes", kind == "no")
    assert replace(reply, code=421).is_closing


def test_an_outcome_is_a_value() -> None:
    assert Unknown(SubmissionStage.FINAL, "upstream_timeout") == Unknown(SubmissionStage.FINAL, "upstream_timeout")
