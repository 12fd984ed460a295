"""The demo's SMTP server, asked by another client and by mailgate's own."""

from __future__ import annotations

import asyncio
import smtplib
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from mailgate.demo.smtp_sink import DemoSmtpServer
from mailgate.demo.store import DemoMailbox
from mailgate.imap.endpoint import Credentials, Security
from mailgate.send.record import Envelope
from mailgate.send.smtp import SmtpEndpoint
from mailgate.send.submission import Accepted, NotSent
from mailgate.send.submit import SmtpSubmitter

MESSAGE = b"Subject: hello\r\n\r\n.\r\n..dots\r\nend\r\n"
MOMENT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


@pytest.fixture
async def demo() -> AsyncIterator[tuple[DemoMailbox, int]]:
    mailbox = DemoMailbox()
    server = DemoSmtpServer(mailbox, username="me@example.com", password="pass", now=lambda: MOMENT)
    _, port = await server.start()
    yield mailbox, port
    await server.stop()


def inbox(mailbox: DemoMailbox) -> list[bytes]:
    return [message.raw for message in mailbox.folder("INBOX").messages.values()]


async def submitted(port: int, password: str = "pass") -> object:
    endpoint = SmtpEndpoint("127.0.0.1", port, Security.PLAINTEXT)
    submitter = SmtpSubmitter(endpoint, Credentials("me@example.com", password))

    async def begin() -> bool:
        return True

    deadline = asyncio.get_running_loop().time() + 5
    try:
        envelope = Envelope("me@example.com", ("a@example.org",), (), ("b@example.org",))
        return await submitter.submit(envelope, MESSAGE, begin=begin, deadline=deadline)
    finally:
        await submitter.aclose()


async def test_what_is_sent_lies_in_the_inbox_once_behind_its_trace(demo: tuple[DemoMailbox, int]) -> None:
    mailbox, port = demo
    assert isinstance(await submitted(port), Accepted)
    (raw,) = inbox(mailbox)
    trace = b"Return-Path: <me@example.com>\r\nReceived: by demo.mailgate.invalid with ESMTPA; "
    assert raw == trace + b"Wed, 04 Mar 2026 05:06:07 +0000\r\n" + MESSAGE


async def test_a_wrong_password_takes_no_mail(demo: tuple[DemoMailbox, int]) -> None:
    mailbox, port = demo
    outcome = await submitted(port, "wrong")
    assert isinstance(outcome, NotSent)
    assert outcome.reason == "upstream_auth_failed"
    assert inbox(mailbox) == []


def with_smtplib(port: int) -> list[int]:
    """The replies that the standard library's client gets, good and bad commands mixed."""
    with smtplib.SMTP("127.0.0.1", port, timeout=5) as client:
        codes = [client.ehlo()[0], client.docmd("MAIL", "FROM:<me@example.com>")[0]]
        client.login("me@example.com", "pass")
        for line in ("RCPT TO:<a@b.c>", "MAIL FROM:me", "MAIL FROM:<me@example.com> SIZE=5", "DATA", "RCPT TO:<a>"):
            codes.append(client.docmd(line)[0])
        codes += [client.docmd("RCPT TO:<a@b.c>")[0], client.rset()[0], client.docmd("EXPN x")[0], client.noop()[0]]
        client.sendmail("me@example.com", ["a@b.c", "d@e.f"], MESSAGE)
        codes += [client.docmd("AUTH PLAIN !")[0], client.docmd("AUTH XOAUTH2 x")[0]]
    return codes


async def test_another_client_is_answered_as_the_standard_has_it(demo: tuple[DemoMailbox, int]) -> None:
    mailbox, port = demo
    codes = await asyncio.to_thread(with_smtplib, port)
    assert codes == [250, 530, 503, 501, 250, 503, 501, 250, 250, 502, 250, 501, 504]
    assert [raw.endswith(MESSAGE) for raw in inbox(mailbox)] == [True]


async def test_a_full_mailbox_refuses_and_keeps_nothing(
    demo: tuple[DemoMailbox, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    mailbox, port = demo
    monkeypatch.setattr("mailgate.demo.store.MAX_OCTETS", 10)
    outcome = await submitted(port)
    assert outcome.reply.code == 452
    assert inbox(mailbox) == []


async def test_a_client_that_goes_in_mid_message_leaves_nothing(demo: tuple[DemoMailbox, int]) -> None:
    mailbox, port = demo

    def talk() -> None:
        client = smtplib.SMTP("127.0.0.1", port, timeout=5)
        client.login("me@example.com", "pass")
        for line in ("MAIL FROM:<me@example.com>", "RCPT TO:<a@b.c>", "DATA"):
            client.docmd(line)
        client.send(b"Subject: half\r\n")
        client.close()

    await asyncio.to_thread(talk)
    assert isinstance(await submitted(port), Accepted)
    assert len(inbox(mailbox)) == 1
