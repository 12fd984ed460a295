"""The sending tools from call to wire: SQLite, an SMTP server with TLS, and the embedded mail server.

The numbers are those of docs/tools.md. Dots are counted at the SMTP server.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import sqlite3
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from mailgate.demo.store import DemoMailbox
from mailgate.policy import Principal, Scope
from mailgate.server.catalog import TOOLS
from tests.contract.deployment import (
    OWNER,
    SEND_TOOLS,
    WRITE_TOOLS,
    Deployment,
    codes,
    demo_server,
    deployed,
    mailbox_with,
    raw,
)
from tests.peers.authority import authority
from tests.peers.smtp_sink import PASSWORD, USERNAME, SmtpSink

Result = dict[str, Any]
LETTER = {
    "to": ["ann@example.com"],
    "cc": ["cid@example.net"],
    "bcc": ["bob@example.org"],
    "subject": "Grüße",
    "text": "Hello.\n.\nBye",
    "attachments": [{"filename": "a.csv", "content_type": "text/csv", "data_base64": "MSwyCg=="}],
}


@dataclass
class Sink(SmtpSink):
    """Holds the answer to the dot while `open` is not set, and refuses some recipients."""

    open: asyncio.Event = field(default_factory=asyncio.Event)
    at_dot: asyncio.Event = field(default_factory=asyncio.Event)
    refuses: tuple[str, ...] = ()
    answer: str = ""

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if address in self.refuses:
            return "550 5.1.1 nobody here"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 ok"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        said = await super().handle_DATA(server, session, envelope)
        self.at_dot.set()
        await self.open.wait()
        return self.answer or said


class Sending(Deployment):
    """A deployment that sends, what it sends to, and where it keeps its records."""

    mailbox: DemoMailbox
    smtp: Sink
    database: Path
    imap_port: int
    extra: dict[str, str]

    async def prepare(self, **changes: Any) -> Result:
        return await self.ok("mail_prepare_send", {"message": {**LETTER, **changes}})

    async def confirm(self, review: Result, *, append_sent: Any = False, caller: Principal = OWNER) -> Result:
        return await self.ok("mail_send_confirmed", confirmation(review, append_sent), caller)

    def stored(self) -> bytes:
        """Every octet that the store has on disk."""
        files = sorted(self.database.parent.glob(self.database.name + "*"))
        return b"".join(file.read_bytes() for file in files if file.suffix != ".key")

    def filed(self) -> list[bytes]:
        return [message.raw for message in self.mailbox.folder("Sent").messages.values()]


def confirmation(review: Result, append_sent: Any = False) -> Result:
    return {
        "prepared_id": review["prepared_id"],
        "confirmed_digest": review["digest"],
        "append_sent": append_sent,
    }


def variables(smtp: Sink, database: Path, **more: str) -> dict[str, str]:
    return {
        "MAIL_ENABLE_SEND": "1",
        "MAIL_ENABLE_WRITES": "1",
        "MAIL_FROM": "The Owner <owner@example.org>",
        "MAIL_SMTP_HOST": "127.0.0.1",
        "MAIL_SMTP_PORT": str(smtp.port),
        "MAIL_SMTP_USERNAME": USERNAME,
        "MAIL_SMTP_PASSWORD": PASSWORD,
        "MAIL_TLS_CA_FILE": str(authority().ca_file),
        "MAIL_STORE": f"sqlite:{database}",
        **more,
    }


@pytest.fixture
async def box(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Sending]:
    """INBOX with one message that has an attachment. Parameters: settings as `NAME=value`."""
    more = dict(word.split("=", 1) for word in getattr(request, "param", ()))
    source = raw(
        "--b\nContent-Type: text/plain\n\nTheir words.\n"
        '--b\nContent-Disposition: attachment; filename="x.bin"\n\nx\n--b--',
        message_id="<2@example.com>",
        references="<1@example.com>",
        subject="Re: AW: Plans",
        bcc="hidden@example.com",
        mime_version="1.0",
        content_type='multipart/mixed; boundary="b"',
    )
    async with AsyncExitStack() as stack:
        mailbox = mailbox_with(source)
        smtp = await stack.enter_async_context(Sink())
        smtp.open.set()
        port, sent = await stack.enter_async_context(demo_server(mailbox))
        database = tmp_path / "store" / "send.sqlite3"
        service = await stack.enter_async_context(deployed(port, sent, **variables(smtp, database, **more)))
        made = Sending(service.service, sent)
        made.mailbox, made.smtp, made.database, made.imap_port, made.extra = mailbox, smtp, database, port, more
        yield made


def settings(*words: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("box", [words], indirect=True, ids=["-".join(words).replace("=", ":")])


def source_of(box: Sending) -> Result:
    return {"folder": "INBOX", "uid_validity": box.mailbox.folder("INBOX").uid_validity, "uid": 1}


# --- in general ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("SG1", "SG2")
async def test_sending_tools_are_annotated_and_tell_their_store(box: Sending) -> None:
    hints = {tool.name: tool.hints for tool in TOOLS if tool.name in SEND_TOOLS}
    for name, hint in hints.items():
        confirms = name == "mail_send_confirmed"
        assert (hint.read_only, hint.destructive, hint.idempotent, hint.open_world) == (False, *[confirms] * 3)
    told = await box.ok("mail_capabilities")
    assert told["store"] == {"kind": "sqlite", "durable": True}
    assert all(row["callable"] for row in told["tools"] if row["name"] in SEND_TOOLS)
    narrow = replace(OWNER, scopes=frozenset({Scope.READ, Scope.SEND}))
    review = await box.prepare()
    await box.fails("scope_missing", "mail_send_confirmed", confirmation(review, True), narrow)
    assert (await box.confirm(review, caller=narrow))["status"] == "accepted"


@pytest.mark.requirement("SG3")
async def test_what_is_prepared_belongs_to_one_caller_of_one_deployment(box: Sending) -> None:
    review = await box.prepare()
    for stranger in (replace(OWNER, subject="other"), replace(OWNER, issuer="static")):
        await box.fails("prepared_not_found", "mail_send_confirmed", confirmation(review), stranger)
    elsewhere = variables(box.smtp, box.database, MAIL_PUBLIC_URL="https://other.example.org/mcp")
    async with deployed(box.imap_port, **elsewhere) as other:
        await other.fails("prepared_not_found", "mail_send_confirmed", confirmation(review))
    assert (await box.confirm(review))["status"] == "accepted"


@pytest.mark.requirement("SG3")
@pytest.mark.parametrize("name", ["p_x", "x" * 1_000_000, "../../etc/passwd", "*", "p_" + "ä" * 24, "p_" + "0" * 24])
async def test_what_nobody_was_given_is_one_answer(box: Sending, name: str) -> None:
    review = await box.prepare()
    text = await box.fails("prepared_not_found", "mail_send_confirmed", {**confirmation(review), "prepared_id": name})
    assert name not in text
    assert "not sent" not in text


@pytest.mark.requirement("SG4")
async def test_nothing_that_is_stored_can_be_read_without_the_key(box: Sending) -> None:
    review = await box.prepare()
    box.smtp.refuses = ("ann@example.com",)
    assert (await box.confirm(review))["status"] == "rejected"
    disk = box.stored()
    assert review["prepared_id"].encode() in disk
    for word in (b"ann@", b"bob@", b"Hello", b"Gr\xc3\xbc", b"owner@example.org", review["message_id"].encode()):
        assert word not in disk


# --- preparing -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("SP1", "SP2", "SP5", "SP6")
async def test_the_review_has_everything(box: Sending) -> None:
    before = datetime.now(UTC)
    review = await box.prepare()
    assert review["from"] == "The Owner <owner@example.org>"
    assert {name: review[name] for name in ("to", "cc", "bcc", "subject", "text")} == {
        name: LETTER[name] for name in ("to", "cc", "bcc", "subject", "text")
    }
    data = base64.b64decode("MSwyCg==")
    digest = hashlib.sha256(data).hexdigest()
    described = {"filename": "a.csv", "content_type": "text/csv", "size": len(data), "sha256": digest}
    assert review["attachments"] == [described]
    assert len(review["digest"]) == 64
    assert review["message_id"].startswith("<")
    assert review["warnings"] == []
    expires = datetime.fromisoformat(review["expires_at"])
    assert timedelta(minutes=14, seconds=50) < expires - before < timedelta(minutes=15, seconds=10)
    await box.confirm(review)
    assert len(box.smtp.taken[0].data) == review["size"]
    assert box.commands() == []


@pytest.mark.requirement("SP1", "A11")
async def test_the_text_half_of_a_review_is_enough_to_approve_it(box: Sending) -> None:
    answer = await box.call("mail_prepare_send", {"message": LETTER})
    assert answer.structured is not None
    for name in ("prepared_id", "digest", "from", "subject", "text", "message_id", "expires_at"):
        assert answer.structured[name] in answer.text
    for said in ("ann@example.com", "cid@example.net", "Bcc: bob@example.org", "a.csv, text/csv, 4 octets"):
        assert said in answer.text


@pytest.mark.requirement("SP3")
async def test_somebody_has_to_get_it(box: Sending) -> None:
    await box.fails("invalid_argument", "mail_prepare_send", {"message": {"subject": "S", "text": "T"}})
    await box.fails("invalid_argument", "mail_prepare_send", {"message": {"to": ["Ann <ann@example.com>"]}})
    review = await box.ok("mail_prepare_send", {"message": {"bcc": ["bob@example.org"]}})
    assert codes(review) == ["subject_empty", "text_empty"]
    assert (await box.confirm(review))["status"] == "accepted"
    assert box.smtp.taken[0].recipients == ("bob@example.org",)
    assert b"bob@example.org" not in box.smtp.taken[0].data


@pytest.mark.requirement("SP4")
async def test_a_repeated_recipient_keeps_its_first_role(box: Sending) -> None:
    review = await box.prepare(cc=["ann@EXAMPLE.com"])
    assert (review["to"], review["cc"]) == (["ann@example.com"], [])
    assert codes(review) == ["recipient_repeated"]


@pytest.mark.requirement("SP7")
@settings("MAIL_ALLOWED_RECIPIENTS=ann@example.com,@example.net")
async def test_only_allowed_recipients(box: Sending) -> None:
    text = await box.fails("recipient_not_allowed", "mail_prepare_send", {"message": LETTER})
    assert "bob@example.org" not in text
    review = await box.prepare(bcc=[])
    narrower = {**variables(box.smtp, box.database), "MAIL_ALLOWED_RECIPIENTS": "@example.com"}
    async with deployed(box.imap_port, **narrower) as other:
        await other.fails("recipient_not_allowed", "mail_send_confirmed", confirmation(review))
    assert box.smtp.taken == []
    assert (await box.confirm(review))["status"] == "accepted"


@pytest.mark.requirement("SP8")
async def test_a_reply_stays_in_its_thread(box: Sending) -> None:
    message = {"to": ["ann@example.com"], "text": "Yes."}
    review = await box.ok("mail_prepare_reply", {"reference": source_of(box), "message": message})
    assert (review["subject"], review["to"], review["cc"], review["bcc"]) == ("Re: Plans", message["to"], [], [])
    await box.confirm(review)
    data = box.smtp.taken[0].data
    assert b"In-Reply-To: <2@example.com>\r\n" in data
    assert b"References: <1@example.com> <2@example.com>\r\n" in data
    without = {"reference": source_of(box), "message": {"text": "Yes."}}
    await box.fails("invalid_argument", "mail_prepare_reply", without)
    assert "SELECT" not in box.names()


@pytest.mark.requirement("SP9")
async def test_a_forward_has_the_text_and_no_attachments(box: Sending) -> None:
    message = {"to": ["cid@example.net"], "text": "See below."}
    review = await box.ok("mail_prepare_forward", {"reference": source_of(box), "message": message})
    assert review["subject"] == "Fwd: Re: AW: Plans"
    assert review["text"].startswith("See below.\n\n-")
    assert "Their words." in review["text"]
    assert "hidden@example.com" not in review["text"]
    assert (review["attachments"], codes(review)) == ([], ["attachments_not_copied"])


@pytest.mark.requirement("SP10")
@pytest.mark.parametrize("tool", ["mail_prepare_reply", "mail_prepare_forward"])
async def test_a_source_that_is_too_large_is_refused(box: Sending, tool: str) -> None:
    box.mailbox.append("INBOX", raw("x" * (5 * 2**20)), (), datetime.now(UTC))
    reference = {**source_of(box), "uid": 2}
    await box.fails("source_truncated", tool, {"reference": reference, "message": {"to": ["ann@example.com"]}})
    stale = {**reference, "uid_validity": 1}
    await box.fails("stale_reference", tool, {"reference": stale, "message": {"to": ["ann@example.com"]}})


# --- confirming ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("SC1", "SC2")
async def test_the_prepared_octets_go_out_once_and_a_repeat_is_told_so(box: Sending) -> None:
    review = await box.prepare()
    first = await box.confirm(review, append_sent=True)
    assert (first["status"], first["sent_copy"], first["refused"], first["warnings"]) == ("accepted", "saved", [], [])
    assert first["message_id"] == review["message_id"]
    (taken,) = box.smtp.taken
    assert taken.sender == "owner@example.org"
    assert taken.recipients == ("ann@example.com", "cid@example.net", "bob@example.org")
    assert box.filed() == [taken.data]
    for append_sent in (True, False, "true"):
        assert await box.confirm(review, append_sent=append_sent) == first
    assert (len(box.smtp.taken), len(box.filed()), box.smtp.logins) == (1, 1, 1)


@pytest.mark.requirement("SC1", "SC7")
async def test_a_hundred_confirms_at_once_are_one_message(box: Sending) -> None:
    review = await box.prepare()
    box.smtp.open.clear()
    calls = [asyncio.create_task(box.confirm(review)) for _ in range(100)]
    await box.smtp.at_dot.wait()
    done = set[asyncio.Task[Result]]()
    while len(done) < 99:
        done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        calls = [call for call in calls if not call.done()]
        done = {*done}
        if len(calls) == 1:
            break
    box.smtp.open.set()
    assert (await calls[0])["status"] == "accepted"
    assert (await box.confirm(review))["status"] == "accepted"
    assert (len(box.smtp.taken), box.smtp.logins) == (1, 1)


@pytest.mark.requirement("SC3")
async def test_what_is_refused_before_the_claim_consumes_nothing(box: Sending) -> None:
    review = await box.prepare()
    wrong = {**confirmation(review), "confirmed_digest": "0" * 64}
    await box.fails("digest_mismatch", "mail_send_confirmed", wrong)
    await box.fails("invalid_argument", "mail_send_confirmed", {**wrong, "confirmed_digest": "x"})
    for name in wrong:
        missing = {key: value for key, value in wrong.items() if key != name}
        await box.fails("invalid_argument", "mail_send_confirmed", missing)
    assert (await box.confirm(review))["status"] == "accepted"
    await box.fails("digest_mismatch", "mail_send_confirmed", wrong)


@pytest.mark.requirement("SC3")
@settings("MAIL_SEND_LIMIT_PER_HOUR=1")
async def test_the_hourly_limit_consumes_nothing(box: Sending) -> None:
    first, second = await box.prepare(), await box.prepare()
    assert (await box.ok("mail_capabilities"))["limits"]["send_limit_per_hour"] == 1
    await box.confirm(first)
    await box.fails("send_limit_reached", "mail_send_confirmed", confirmation(second))
    assert (await box.confirm(first))["status"] == "accepted"
    async with deployed(box.imap_port, **variables(box.smtp, box.database)) as unlimited:
        answer = await unlimited.ok("mail_send_confirmed", confirmation(second))
        assert answer["status"] == "accepted"


@pytest.mark.requirement("SC4", "SC5")
async def test_one_refused_recipient_stops_it_for_all(box: Sending) -> None:
    review = await box.prepare()
    box.smtp.refuses = ("bob@example.org",)
    report = await box.confirm(review, append_sent=True)
    assert (report["status"], report["sent_copy"]) == ("rejected", "none")
    assert report["refused"] == [{"address": "bob@example.org", "code": 550}]
    box.smtp.refuses = ()
    assert await box.confirm(review) == report
    assert (box.smtp.taken, box.filed()) == ([], [])


@pytest.mark.requirement("SC4")
@pytest.mark.parametrize(
    ("answer", "status"),
    [("250 ok", "accepted"), ("252 fine", "accepted"), ("451 later", "rejected"), ("554 no", "rejected")],
)
async def test_the_servers_last_word_is_the_status(box: Sending, answer: str, status: str) -> None:
    box.smtp.answer = answer
    review = await box.prepare()
    report = await box.confirm(review)
    assert report["status"] == status
    assert await box.confirm(review) == report
    assert len(box.smtp.taken) == 1


@pytest.mark.requirement("SC4")
@settings("MAIL_SMTP_PASSWORD=wrong")
async def test_a_refused_login_is_not_sent_with_its_code(box: Sending) -> None:
    review = await box.prepare()
    report = await box.confirm(review)
    assert (report["status"], report["reason"]) == ("not_sent", "upstream_auth_failed")
    assert box.smtp.logins == 1
    assert await box.confirm(review) == report


@pytest.mark.requirement("SC4")
@settings("MAIL_SEND_DEADLINE_SECONDS=1")
async def test_silence_after_the_dot_is_unknown_and_stays_it(box: Sending) -> None:
    box.smtp.open.clear()
    review = await box.prepare()
    report = await box.confirm(review)
    assert (report["status"], codes(report)) == ("unknown", ["look_first"])
    box.smtp.open.set()
    assert (await box.confirm(review))["status"] == "unknown"
    assert len(box.smtp.taken) == 1


@pytest.mark.requirement("SC6")
async def test_a_copy_needs_the_one_sent_folder_before_anything_is_claimed(box: Sending, tmp_path: Path) -> None:
    hidden = variables(box.smtp, box.database, MAIL_HIDDEN_FOLDERS="Sent")
    review = await box.prepare()
    async with deployed(box.imap_port, **hidden) as other:
        await other.fails("special_use_missing", "mail_send_confirmed", confirmation(review, True))
    assert (await box.confirm(review, append_sent=True))["sent_copy"] == "saved"


@pytest.mark.requirement("SC6")
async def test_a_copy_that_is_there_already_is_not_made_twice(box: Sending) -> None:
    review = await box.prepare()
    twin = raw(message_id=review["message_id"])
    box.mailbox.append("Sent", twin, (), datetime.now(UTC))
    assert (await box.confirm(review, append_sent=True))["sent_copy"] == "already_there"
    assert box.filed() == [twin]


@pytest.mark.requirement("SC7")
async def test_who_leaves_does_not_stop_it_and_closing_waits_for_it(box: Sending) -> None:
    review = await box.prepare()
    box.smtp.open.clear()
    leaving = asyncio.create_task(box.call("mail_send_confirmed", confirmation(review, True)))
    await box.smtp.at_dot.wait()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert (await box.confirm(review))["status"] == "sending"
    closing = asyncio.create_task(box.service.aclose())
    await asyncio.sleep(0)
    assert not closing.done()
    box.smtp.open.set()
    await closing
    async with deployed(box.imap_port, **variables(box.smtp, box.database)) as later:
        report = await later.ok("mail_send_confirmed", confirmation(review))
    assert (report["status"], report["sent_copy"]) == ("accepted", "saved")
    assert (len(box.smtp.taken), len(box.filed())) == (1, 1)


@pytest.mark.requirement("SC8")
async def test_a_store_that_cannot_be_used_sends_nothing(box: Sending) -> None:
    review = await box.prepare()
    blocked = box.database.with_name("elsewhere")
    blocked.mkdir()
    async with deployed(box.imap_port, **variables(box.smtp, blocked)) as other:
        await other.fails("store_unavailable", "mail_prepare_send", {"message": LETTER})
        await other.fails("store_unavailable", "mail_send_confirmed", confirmation(review))
    assert (box.smtp.taken, box.smtp.logins) == ([], 0)


@pytest.mark.requirement("SC9")
async def test_once_it_is_over_content_and_addresses_are_wiped(box: Sending) -> None:
    review = await box.prepare(attachments=[{"filename": "a", "content_type": "a/b", "data_base64": "eHh4" * 30_000}])
    assert len(box.stored()) > 90_000
    await box.confirm(review)
    with sqlite3.connect(box.database) as database:
        (table,) = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%content%'")]
        ((content,),) = database.execute(f"SELECT content FROM {table}").fetchall()
    database.close()
    assert not content


@pytest.mark.requirement("SG1")
async def test_a_closed_gate_after_preparing_consumes_nothing(box: Sending) -> None:
    review = await box.prepare()
    closed = {**variables(box.smtp, box.database), "MAIL_ENABLE_SEND": ""}
    async with deployed(box.imap_port, **closed) as other:
        await other.fails("gate_closed", "mail_send_confirmed", confirmation(review))
        assert (await other.ok("mail_capabilities"))["store"] is None
    no_writes = {**variables(box.smtp, box.database), "MAIL_ENABLE_WRITES": ""}
    async with deployed(box.imap_port, **no_writes) as other:
        await other.fails("gate_closed", "mail_send_confirmed", confirmation(review, True))
        assert {row["name"] for row in (await other.ok("mail_capabilities"))["tools"] if not row["callable"]} == {
            *WRITE_TOOLS
        }
        assert (await other.ok("mail_send_confirmed", confirmation(review)))["status"] == "accepted"
