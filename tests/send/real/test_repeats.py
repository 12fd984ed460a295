"""A repeat is told what is recorded, whatever has become of what a first call would have needed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from mailgate.demo.store import DemoMailbox
from mailgate.mime.composition import Composition
from mailgate.send.confirm import Confirmation, send_confirmed
from mailgate.send.prepare import prepare_send
from mailgate.send.record import PreparedId, SendStatus
from tests.contract.deployment import Result, demo_server, deployed, mailbox_with
from tests.peers.authority import authority
from tests.peers.processes import free_ports
from tests.peers.smtp_sink import PASSWORD, USERNAME, SmtpSink
from tests.send.fakes import OWNER, MemoryStore, flow
from tests.write.fakes import WritableFakeFolder, WritableFakeMailbox

SENT_IS_HIDDEN = {"MAIL_HIDDEN_FOLDERS": "Sent"}
NOBODY_IS_ALLOWED = {"MAIL_ALLOWED_RECIPIENTS": "@nowhere.example"}


@dataclass
class Place:
    """A mailbox, an SMTP server, and settings that lead to both."""

    mailbox: DemoMailbox
    smtp: SmtpSink
    imap_port: int
    settings: dict[str, str]

    async def prepared(self) -> Result:
        """The arguments that confirm a message."""
        message = {"to": ["ann@example.com"], "subject": "S", "text": "T"}
        async with deployed(self.imap_port, **self.settings) as box:
            review = await box.ok("mail_prepare_send", {"message": message})
        return {"prepared_id": review["prepared_id"], "confirmed_digest": review["digest"], "append_sent": True}

    async def confirmed(self, arguments: Result, *, imap_port: int | None = None, **changes: str) -> Result:
        async with deployed(imap_port or self.imap_port, **{**self.settings, **changes}) as box:
            return await box.ok("mail_send_confirmed", arguments)

    async def refused(self, code: str, arguments: Result, **changes: str) -> None:
        async with deployed(self.imap_port, **{**self.settings, **changes}) as box:
            await box.fails(code, "mail_send_confirmed", arguments)


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with AsyncExitStack() as stack:
        mailbox = mailbox_with()
        smtp = await stack.enter_async_context(SmtpSink())
        port, _ = await stack.enter_async_context(demo_server(mailbox))
        settings = {
            "MAIL_ENABLE_SEND": "1",
            "MAIL_ENABLE_WRITES": "1",
            "MAIL_FROM": "owner@example.org",
            "MAIL_SMTP_HOST": "127.0.0.1",
            "MAIL_SMTP_PORT": str(smtp.port),
            "MAIL_SMTP_USERNAME": USERNAME,
            "MAIL_SMTP_PASSWORD": PASSWORD,
            "MAIL_TLS_CA_FILE": str(authority().ca_file),
            "MAIL_STORE": f"sqlite:{tmp_path / 'send.sqlite3'}",
        }
        yield Place(mailbox, smtp, port, settings)


@pytest.mark.requirement("SC2", "SC6")
@pytest.mark.parametrize("since", [SENT_IS_HIDDEN, NOBODY_IS_ALLOWED], ids=["no Sent folder", "nobody allowed"])
async def test_a_record_is_told_without_what_sending_would_need(place: Place, since: dict[str, str]) -> None:
    arguments = await place.prepared()
    first = await place.confirmed(arguments)
    assert (first["status"], first["sent_copy"]) == ("accepted", "saved")
    assert await place.confirmed(arguments, **since) == first
    (nobody_listens,) = free_ports(1)
    assert await place.confirmed(arguments, imap_port=nobody_listens) == first
    assert len(place.smtp.taken) == len(place.mailbox.folder("Sent").messages) == 1


@pytest.mark.requirement("SC2", "SC6")
async def test_a_record_of_a_failure_is_told_without_the_sent_folder(place: Place) -> None:
    arguments = await place.prepared()
    first = await place.confirmed(arguments, MAIL_SMTP_PASSWORD="another")
    assert (first["status"], first["reason"]) == ("not_sent", "upstream_auth_failed")
    assert await place.confirmed(arguments, **SENT_IS_HIDDEN) == first
    assert place.smtp.taken == []


@pytest.mark.requirement("SC3", "SC6")
@pytest.mark.parametrize(
    ("since", "code"),
    [(SENT_IS_HIDDEN, "special_use_missing"), (NOBODY_IS_ALLOWED, "recipient_not_allowed")],
    ids=["no Sent folder", "nobody allowed"],
)
async def test_before_it_was_sent_the_same_refuses_and_consumes_nothing(
    place: Place, since: dict[str, str], code: str
) -> None:
    arguments = await place.prepared()
    await place.refused(code, arguments, **since)
    assert place.smtp.logins == 0
    assert (await place.confirmed(arguments))["status"] == "accepted"


@pytest.mark.requirement("SG3", "SC3")
async def test_what_nobody_prepared_is_not_found_though_there_is_no_sent_folder(place: Place) -> None:
    arguments = await place.prepared()
    await place.refused("prepared_not_found", {**arguments, "prepared_id": str(PreparedId.new())}, **SENT_IS_HIDDEN)


async def test_a_store_that_contradicts_itself_sends_nothing() -> None:
    """It says that nothing is prepared, and a moment later gives it out, as one that lags behind could."""

    class Lagging(MemoryStore):
        async def look(self, prepared_id: PreparedId, owner_tag: str) -> bytes | None:
            return None

    at = flow(store=Lagging())
    review = await prepare_send(at.desk, Composition(to=("ann@example.com",)), OWNER)
    mailbox = WritableFakeMailbox(WritableFakeFolder(), WritableFakeFolder("Sent"))
    confirmation = Confirmation(review.prepared_id, review.digest, append_sent=True)
    report = await send_confirmed(at.desk, mailbox, confirmation, OWNER)
    assert (report.record.status, report.record.reason) == (SendStatus.NOT_SENT, "store_unavailable")
    assert (at.submitter.attempts, mailbox.appended) == (0, [])
    assert (await send_confirmed(at.desk, mailbox, confirmation, OWNER)).record == report.record
