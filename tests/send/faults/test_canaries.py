"""Sending leaves nothing it was told in a log, an error or the raw store: unique words everywhere, every ending."""

from __future__ import annotations

import base64
import io
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from mailgate.demo.store import DemoMailbox
from mailgate.limits import SEND_DEADLINE_DEFAULT
from mailgate.server.telemetry import configure_logging
from tests.conftest import missing_peer
from tests.contract.deployment import PASSWORD, USERNAME, Result, demo_server, mailbox_with, raw
from tests.peers.authority import authority
from tests.peers.redis_proxy import RedisProxy
from tests.peers.redis_rest import RedisRest
from tests.peers.redis_server import RedisServer, redis_binary
from tests.send.faults.raw import raw_of
from tests.send.faults.scene import KINDS, RedisPlace, Scene, Sending, UpstashPlace, arrange, confirmation, place
from tests.send.faults.smtp import CountingSmtp
from tests.send.faults.test_table import STALLS, Fault

BYTES = b"canary-octets-\x00\xff-7b1d" * 9
KEY_BYTES = b"canary-store-key-canary-store-k!"
KEY = base64.b64encode(KEY_BYTES).decode()
SMTP_PASSWORD, STORE_PASSWORD = "canary-smtp-password-31", "canary-store-password-32"
CONTENT = [
    "canary-to",
    "canary-cc",
    "canary-bcc",
    "canary-subject",
    "canary-text",
    "canary-file",
    "canary-octets",
    "canary-sender",
    "canary-source",
    base64.b64encode(BYTES).decode()[:40],
]
SECRETS = [SMTP_PASSWORD, STORE_PASSWORD, KEY, KEY_BYTES.decode(), PASSWORD]
ARGUMENT = "canary-argument"
LETTER: Result = {
    "to": ["canary-to@example.com"],
    "cc": ["canary-cc@example.net"],
    "bcc": ["canary-bcc@example.org"],
    "subject": "canary-subject",
    "text": "canary-text",
    "attachments": [
        {
            "filename": "canary-file.bin",
            "content_type": "application/octet-stream",
            "data_base64": base64.b64encode(BYTES).decode(),
        }
    ],
}


@pytest.fixture(scope="module")
def guarded() -> Iterator[RedisServer]:
    """A server with a password."""
    if redis_binary() is None:
        missing_peer("redis-server")
    server = RedisServer(authority().certificate(), password=STORE_PASSWORD)
    try:
        yield server
    finally:
        server.stop()


@dataclass
class Watched:
    """A scene whose mailbox exists, and everything that was logged: in our form, and as the libraries wrote it."""

    scene: Scene
    mailbox: DemoMailbox
    own: io.StringIO
    caplog: pytest.LogCaptureFixture
    seen: list[str]

    def quiet(self, *more: str) -> None:
        """Nothing of it all in any log."""
        assert self.own.getvalue()
        for text in (self.own.getvalue(), self.caplog.text):
            for canary in [*CONTENT, *SECRETS, *more, *self.seen, ARGUMENT, USERNAME]:
                assert canary not in text

    def closed(self) -> None:
        """Nothing of the content in the raw store, nor in what its base64 stands for."""
        dump = raw_of(self.scene).dump()
        assert dump
        for canary in [*CONTENT, *SECRETS, USERNAME]:
            assert canary.encode() not in dump
        assert BYTES[:20] not in dump

    async def review(self, service: Sending) -> Result:
        """A prepared message; its ids are not for any log either."""
        review = await service.ok("mail_prepare_send", {"message": LETTER})
        self.seen += [review["prepared_id"], review["digest"], review["message_id"].strip("<>")]
        self.closed()
        return review


@pytest.fixture
async def watched(
    request: pytest.FixtureRequest, smtp: CountingSmtp, tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str
) -> AsyncIterator[Watched]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    own = io.StringIO()
    configure_logging("debug", "json", own)
    root.addHandler(caplog.handler)
    caplog.handler.setLevel(0)
    try:
        async with AsyncExitStack() as stack:
            where = await stack.enter_async_context(
                place(kind, tmp_path, lambda: request.getfixturevalue("guarded"), password=STORE_PASSWORD)
            )
            source = raw("canary-source text", message_id="<1@example.com>", subject="canary-source")
            mailbox = mailbox_with(source)
            port, _ = await stack.enter_async_context(demo_server(mailbox))
            extra = {
                "MAIL_IMAP_PORT": str(port),
                "MAIL_FROM": "canary-sender <canary-sender@example.org>",
                "MAIL_SMTP_PASSWORD": SMTP_PASSWORD,
                "MAIL_STORE_KEY": KEY,
                "MAIL_LOG_LEVEL": "debug",
            }
            scene = Scene(where, smtp, extra, USERNAME)
            raw_of(scene).clear()
            yield Watched(scene, mailbox, own, caplog, [])
    finally:
        root.handlers[:] = before
        root.setLevel(level)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


async def test_success_with_a_copy_a_reply_and_a_forward(watched: Watched) -> None:
    scene = watched.scene
    async with scene.service() as service:
        review = await watched.review(service)
        told = await service.ok("mail_send_confirmed", confirmation(review, append_sent=True))
        assert (told["status"], told["sent_copy"]) == ("accepted", "saved")
        assert await scene.confirmed_elsewhere(review) == "accepted"
        reference = {"folder": "INBOX", "uid_validity": watched.mailbox.folder("INBOX").uid_validity, "uid": 1}
        for tool in ("mail_prepare_reply", "mail_prepare_forward"):
            answered = await service.ok(tool, {"reference": reference, "message": LETTER})
            watched.seen.append(answered["prepared_id"])
            watched.closed()
            assert await service.outcome(answered) == "accepted"
    watched.closed()
    watched.quiet()
    assert b"canary-bcc" not in b"".join(taken.data for taken in scene.smtp.taken)
    calls = [entry for entry in map(json.loads, watched.own.getvalue().splitlines()) if entry["event"] == "call"]
    assert {entry["code"] for entry in calls} == {"ok"}
    assert len(calls) == 7


Ending = Callable[[CountingSmtp], object]
ENDINGS: dict[str, Ending] = {
    "rejected": lambda smtp: setattr(smtp, "ending", "554 5.6.0 canary-argument"),
    "unknown": lambda smtp: setattr(smtp, "ending", None),
    "not_sent": lambda smtp: setattr(smtp, "password_is_wrong", True),
    "rejected ": lambda smtp: setattr(smtp, "refuses", ("canary-bcc@example.org", "canary-to@example.com")),
}


@pytest.mark.parametrize("ending", ENDINGS, ids=["dot refused", "no answer", "login refused", "recipients refused"])
async def test_a_message_that_was_not_accepted(watched: Watched, ending: str) -> None:
    ENDINGS[ending](watched.scene.smtp)
    async with watched.scene.service() as service:
        review = await watched.review(service)
        told = await service.call("mail_send_confirmed", confirmation(review))
        assert told.structured is not None
        assert told.structured["status"] == ending.strip()
        assert len(told.structured["refused"]) == (2 if ending == "rejected " else 0)
        watched.closed()
        again = await watched.scene.confirmed_elsewhere(review)
        assert again.startswith(ending.strip())
    watched.closed()
    watched.quiet()
    assert ARGUMENT not in told.text


async def test_an_orphan_and_an_abandoned_message(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """An attempt that breaks inside, with everything in the exception; and a claim that nobody came back to."""
    scene = watched.scene
    async with scene.service() as service:
        review = await watched.review(service)
        assert service.service.desk is not None

        async def broken(*given: object, **more: object) -> None:
            raise RuntimeError(f"{given} {more} {SMTP_PASSWORD} {STORE_PASSWORD} {ARGUMENT}")

        monkeypatch.setattr(service.service.desk.submitter, "submit", broken)
        assert await service.outcome(review) == "not_sent:internal_error"
        watched.closed()
        monkeypatch.setattr(service.service.desk.ledger, "claim", broken)
        answer = await service.call("mail_send_confirmed", confirmation(review))
        assert answer.text.startswith("error internal_error: ")
        scene.backdoor.age(SEND_DEADLINE_DEFAULT + 1)
        watched.closed()
    watched.quiet()
    for canary in [*CONTENT, *SECRETS, ARGUMENT]:
        assert canary not in answer.text


BAD: list[tuple[str, dict[str, Any]]] = [
    ("mail_prepare_send", {"message": {**LETTER, "to": ["canary-to@example.com\r\nRCPT TO:<canary-argument@x.org>"]}}),
    ("mail_prepare_send", {"message": {**LETTER, "to": ["canary-argument"]}}),
    ("mail_prepare_send", {"message": {**LETTER, "subject": "canary-subject" * 100}}),
    ("mail_prepare_send", {"message": {**LETTER, "subject": "canary-subject\r\nBcc: canary-argument@example.com"}}),
    ("mail_prepare_send", {"message": {**LETTER, "canary-argument": 1}}),
    ("mail_prepare_send", {"message": {**LETTER, "text": "canary-text" * 100_000}}),
    ("mail_prepare_send", {"message": {**LETTER, "to": ["canary-to@example.com"] * 51}}),
    ("mail_prepare_send", {"message": {**LETTER, "attachments": [{"filename": "canary-file"}]}}),
    (
        "mail_prepare_send",
        {"message": {**LETTER, "attachments": [{**LETTER["attachments"][0], "data_base64": "canary-argument!"}]}},
    ),
    (
        "mail_prepare_send",
        {"message": {**LETTER, "attachments": [{**LETTER["attachments"][0], "content_type": "canary-argument"}]}},
    ),
    ("mail_prepare_send", {"message": "canary-argument"}),
    ("mail_prepare_reply", {"reference": {"folder": ARGUMENT, "uid_validity": 1, "uid": 1}, "message": LETTER}),
    ("mail_prepare_forward", {"reference": {"folder": "INBOX", "uid_validity": 1, "uid": 9}, "message": LETTER}),
    ("mail_send_confirmed", {"prepared_id": ARGUMENT, "confirmed_digest": "0" * 64, "append_sent": False}),
    ("mail_send_confirmed", {"prepared_id": "p_" + "0" * 24, "confirmed_digest": ARGUMENT, "append_sent": False}),
    ("mail_send_confirmed", {"prepared_id": "p_" + "0" * 24, "confirmed_digest": "0" * 64, "append_sent": ARGUMENT}),
]


async def test_whatever_is_refused_repeats_nothing(watched: Watched) -> None:
    scene = watched.scene
    async with scene.service() as service:
        review = await watched.review(service)
        for name, arguments in [*BAD, ("mail_send_confirmed", {**confirmation(review), "confirmed_digest": "0" * 64})]:
            await fails_quietly(watched, service, name, arguments)
    allowed = {"MAIL_ALLOWED_RECIPIENTS": "@canary-allowed.example"}
    closed = {"MAIL_ENABLE_SEND": "0"}
    for changed in (allowed, closed):
        async with scene.service(**changed) as service:
            await fails_quietly(watched, service, "mail_prepare_send", {"message": LETTER})
            await fails_quietly(watched, service, "mail_send_confirmed", confirmation(review))
    async with scene.service(MAIL_SEND_LIMIT_PER_HOUR="1") as service:
        assert await service.outcome(review) == "accepted"
        second = await watched.review(service)
        await fails_quietly(watched, service, "mail_send_confirmed", confirmation(second))
    watched.quiet("canary-allowed")
    watched.closed()


async def fails_quietly(watched: Watched, service: Sending, name: str, arguments: dict[str, Any]) -> None:
    answer = await service.call(name, arguments)
    assert answer.structured is None, (name, answer.text)
    for canary in [*CONTENT, *SECRETS, *watched.seen, ARGUMENT, "canary-allowed", USERNAME]:
        assert canary not in answer.text


@pytest.mark.parametrize("kind", KINDS[1:], indirect=True)
@pytest.mark.parametrize("fault", [fault for fault in Fault if fault not in STALLS])
async def test_whatever_a_remote_store_does(watched: Watched, fault: Fault) -> None:
    scene = watched.scene
    where = scene.place
    assert isinstance(where, RedisPlace | UpstashPlace)
    async with scene.service() as service:
        arrange(where, fault.value)
        answers = [await service.call("mail_prepare_send", {"message": LETTER})]
        where.proxy.clear()
        for earlier in range(3):
            # At the claim, at the leave before DATA, and at the outcome, which is written twice.
            review = await watched.review(service)
            arrange(where, *[None] * earlier, fault.value, *[fault.value] * (earlier == 2))
            answers.append(await service.call("mail_send_confirmed", confirmation(review)))
            where.proxy.clear()
    for answer in answers:
        if answer.structured is None:
            for canary in [*CONTENT, *SECRETS, *watched.seen]:
                assert canary not in answer.text
    watched.quiet()


@pytest.mark.parametrize("kind", KINDS[1:], indirect=True)
@pytest.mark.parametrize("how", ["wrong password", "nobody there"])
async def test_a_remote_store_that_cannot_be_reached(watched: Watched, how: str) -> None:
    scene, where = watched.scene, watched.scene.place
    wrong = "canary-wrong-password-33"
    if isinstance(where, RedisPlace):
        proxy: Any = where.proxy if how == "wrong password" else RedisProxy(1)
        if how != "wrong password":
            proxy.port, proxy.url = 9, "redis://127.0.0.1:9"
    else:
        proxy = where.proxy if how == "wrong password" else RedisRest(1)  # type: ignore[attr-defined]
        if how != "wrong password":
            proxy.url = "http://127.0.0.1:9"
    lost = replace(where, proxy=proxy, password=wrong)  # type: ignore[type-var]
    async with replace(scene, place=lost).service() as service:
        await fails_quietly(watched, service, "mail_prepare_send", {"message": LETTER})
        arguments = {"prepared_id": "p_" + "0" * 24, "confirmed_digest": "0" * 64, "append_sent": False}
        await fails_quietly(watched, service, "mail_send_confirmed", arguments)
        assert wrong not in repr(service.service.settings)
    watched.quiet(wrong)


async def test_the_settings_and_the_service_do_not_print_their_secrets(watched: Watched) -> None:
    async with watched.scene.service() as service:
        review = await watched.review(service)
        desk = service.service.desk
        printed = repr(service.service.settings) + repr(desk) + repr(service.service.dispatcher.backend) + str(desk)
    for secret in (*SECRETS, *CONTENT, review["digest"]):
        assert secret not in printed.replace("canary-sender", "")
