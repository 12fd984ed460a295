"""From the tools through a real MTA into a real INBOX: what arrives, what lies in Sent, and what "accepted" means."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email import message_from_bytes
from pathlib import Path
from typing import Any

import pytest

from mailgate.send.record import Envelope, digest_of
from tests.contract.deployment import Deployment, Result, deployed
from tests.peers.authority import authority
from tests.peers.dovecot import Dovecot, MailUser
from tests.peers.exim import PASSWORD, USERNAME, Exim
from tests.peers.fault_proxy import Conditions, FaultProxy
from tests.peers.imap_user import Kept
from tests.peers.meanwhile import Meanwhile
from tests.peers.processes import wait_until
from tests.send.limits.compositions import brimful

TRACE = {"return-path", "delivered-to", "received"}
"""Fields that every server on the way puts before a message (RFC 5321, 4.4)."""
TEXT = (
    ".\n..\nFrom the beginning of a line\n\n.\r\nQUIT\r\n"
    "Grüße, 日本語, 😀 and a word of a thousand letters: " + "x" * 1000 + "\n=\n= 3D\n \n\t\n-- \nThe Owner\n."
)


def settings(owner: MailUser, exim: Exim, database: Path, security: str, **more: str) -> dict[str, str]:
    return {
        "MAIL_USERNAME": owner.name,
        "MAIL_PASSWORD": owner.password,
        "MAIL_ENABLE_SEND": "1",
        "MAIL_ENABLE_WRITES": "1",
        "MAIL_FROM": f"The Owner <{owner.name}>",
        "MAIL_SMTP_HOST": "127.0.0.1",
        "MAIL_SMTP_PORT": str(exim.tls_port if security == "tls" else exim.starttls_port),
        "MAIL_SMTP_SECURITY": security,
        "MAIL_SMTP_USERNAME": USERNAME,
        "MAIL_SMTP_PASSWORD": PASSWORD,
        "MAIL_TLS_CA_FILE": str(authority().ca_file),
        "MAIL_STORE": f"sqlite:{database}",
        **more,
    }


class Correspondence:
    """The owner's tools, and everybody's mailboxes."""

    def __init__(self, box: Deployment, owner: MailUser, people: dict[str, MailUser]) -> None:
        self.box, self.owner, self.people = box, owner, people

    async def prepare(self, **changes: Any) -> Result:
        letter = {
            "to": [self.people["ann"].name],
            "cc": [self.people["cid"].name],
            "bcc": [self.people["bob"].name],
            "subject": "Grüße = ?utf-8?q? =?utf-8?q?x?= 😀",
            "text": TEXT,
            "attachments": [
                {"filename": "données 😀.csv", "content_type": "text/csv", "data_base64": "LgouLgoKLg0KDQo="},
                {"filename": "empty", "content_type": "application/octet-stream", "data_base64": ""},
            ],
        }
        return await self.box.ok("mail_prepare_send", {"message": {**letter, **changes}})

    async def confirm(self, review: Result, *, append_sent: bool = True) -> Result:
        arguments = {
            "prepared_id": review["prepared_id"],
            "confirmed_digest": review["digest"],
            "append_sent": append_sent,
        }
        return await self.box.ok("mail_send_confirmed", arguments)


@asynccontextmanager
async def corresponding(
    post_office: Dovecot,
    exim: Exim,
    folder: Path,
    security: str = "tls",
    *,
    owner: MailUser | None = None,
    imap_port: int | None = None,
    **more: str,
) -> AsyncIterator[Correspondence]:
    owner = owner or post_office.new_user("owner")
    people = {name: post_office.new_user(name) for name in ("ann", "bob", "cid")}
    variables = settings(owner, exim, folder / "send.sqlite3", security, **more)
    async with deployed(imap_port or owner.port, **variables) as box:
        yield Correspondence(box, owner, people)


async def only_message(user: MailUser, folder: str = "INBOX") -> Kept:
    """The one message of a folder, which may be on its way there."""

    def there() -> bool:
        return bool(user.contents(folder))

    assert await asyncio.to_thread(wait_until, there, seconds=20.0), f"nothing arrived in {folder}"
    (message,) = user.contents(folder).values()
    return message


def envelope_of(review: Result, owner: MailUser) -> Envelope:
    return Envelope(owner.name, tuple(review["to"]), tuple(review["cc"]), tuple(review["bcc"]))


def trace_before(arrived: bytes, octets: bytes) -> set[str]:
    """The names of the fields that stand before these octets, which end what arrived."""
    assert arrived.endswith(octets), "what arrived is not what was sent"
    head = arrived.removesuffix(octets).decode()
    unfolded = re.sub(r"\r\n[ \t]+", " ", head)
    return {line.partition(":")[0].lower() for line in unfolded.split("\r\n") if line}


@pytest.mark.requirement("SC1", "SC4", "SC6", "SP2", "SP5")
@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_the_approved_octets_arrive_and_lie_in_sent(
    post_office: Dovecot, exim: Exim, tmp_path: Path, security: str
) -> None:
    async with corresponding(post_office, exim, tmp_path, security) as mail:
        review = await mail.prepare()
        report = await mail.confirm(review)
        assert (report["status"], report["sent_copy"], report["warnings"]) == ("accepted", "saved", [])
        copy = await only_message(mail.owner, "Sent")
        # The digest that was approved, computed here anew, from what lies in Sent.
        assert digest_of(envelope_of(review, mail.owner), copy.raw).value == review["digest"]
        assert (len(copy.raw), set(copy.flags)) == (review["size"], {"\\Seen"})
        for user in mail.people.values():
            arrived = await only_message(user)
            assert trace_before(arrived.raw, copy.raw) <= TRACE
            assert f"Return-Path: <{mail.owner.name}>".encode() in arrived.raw
        assert mail.people["bob"].name.encode() not in copy.raw
        assert message_from_bytes(copy.raw)["Message-ID"] == review["message_id"]
        assert await mail.confirm(review) == report
        assert mail.owner.contents("Sent").keys() == {1}
        assert [len(user.contents()) for user in mail.people.values()] == [1, 1, 1]


@pytest.mark.requirement("SP2")
async def test_who_gets_it_reads_what_was_approved(post_office: Dovecot, exim: Exim, tmp_path: Path) -> None:
    async with corresponding(post_office, exim, tmp_path) as mail:
        review = await mail.prepare()
        await mail.confirm(review, append_sent=False)
        ann = mail.people["ann"]
        await only_message(ann)
        async with deployed(ann.port, MAIL_USERNAME=ann.name, MAIL_PASSWORD=ann.password) as reader:
            (row,) = (await reader.search())["messages"]
            read = await reader.read(row["reference"], max_chars=262_144)
            told = read["untrusted"]
            headers = told["headers"]
            assert headers["message_id"] == review["message_id"]
            assert headers["subject"] == review["subject"]
            assert (headers["from"], headers["to"], headers["cc"]) == ([review["from"]], review["to"], review["cc"])
            assert "bcc" not in headers
            assert told["text"].split() == review["text"].split()
            for told_of, approved in zip(told["attachments"], review["attachments"], strict=True):
                got = await reader.attachment(row["reference"], told_of["index"])
                assert (got["sha256"], told_of["filename"]) == (approved["sha256"], approved["filename"])
        assert mail.owner.contents("Sent") == {}


@pytest.mark.requirement("SC6")
async def test_a_copy_that_the_provider_filed_is_not_doubled(post_office: Dovecot, tmp_path: Path) -> None:
    owner = post_office.new_user("owner")
    exim = Exim(post_office, authority().certificate(), files_copies_for=owner.name)

    def filed() -> None:
        assert wait_until(lambda: bool(owner.contents("Sent")), seconds=20.0), exim.log()

    try:
        # The provider files when it pleases; here, just before Sent is looked into.
        filing = Conditions(edit=Meanwhile(command=b" EXAMINE ", act=filed))
        async with (
            FaultProxy(owner.port, filing) as proxy,
            corresponding(post_office, exim, tmp_path, owner=owner, imap_port=proxy.port) as mail,
        ):
            review = await mail.prepare()
            report = await mail.confirm(review)
            assert (report["status"], report["sent_copy"]) == ("accepted", "already_there")
            assert await mail.confirm(review) == report
            arrived = await only_message(mail.people["ann"])
        copy = await only_message(owner, "Sent")
    finally:
        exim.stop()
    octets = copy.raw[copy.raw.index(b"From: ") :]
    assert digest_of(envelope_of(review, owner), octets).value == review["digest"]
    assert arrived.raw.endswith(octets)


@pytest.mark.requirement("SC4")
async def test_accepted_means_that_the_server_took_it_and_no_more(
    post_office: Dovecot, exim: Exim, tmp_path: Path
) -> None:
    async with corresponding(post_office, exim, tmp_path) as mail:
        review = await mail.prepare(to=["nobody-here@example.org"])
        report = await mail.confirm(review)
        assert (report["status"], report["refused"]) == ("accepted", [])
        bounce = await only_message(mail.owner)
        assert message_from_bytes(bounce.raw)["X-Failed-Recipients"] == "nobody-here@example.org"
        # What to look for is in the bounce, and the record stays what it was.
        assert review["message_id"].encode() in bounce.raw
        assert await mail.confirm(review) == report


@pytest.mark.requirement("SC4")
@pytest.mark.parametrize("security", ["tls", "starttls"])
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"MAIL_SMTP_PASSWORD": "another"}, "upstream_auth_failed"),
        ({"MAIL_TLS_CA_FILE": ""}, "upstream_unavailable"),
    ],
    ids=["password", "authority"],
)
async def test_a_server_that_will_not_have_us_or_that_cannot_be_verified_gets_nothing(
    post_office: Dovecot, exim: Exim, tmp_path: Path, wrong: dict[str, str], reason: str, security: str
) -> None:
    async with corresponding(post_office, exim, tmp_path, security, **wrong) as mail:
        review = await mail.prepare()
        report = await mail.confirm(review)
        assert (report["status"], report["reason"], report["sent_copy"]) == ("not_sent", reason, "none")
        assert await mail.confirm(review) == report
        assert review["message_id"].strip("<>") not in exim.log()
        assert mail.owner.contents("Sent") == {}


@pytest.mark.requirement("SP5", "SC6")
async def test_a_message_of_five_mebibytes_arrives_whole(post_office: Dovecot, exim: Exim, tmp_path: Path) -> None:
    async with corresponding(post_office, exim, tmp_path) as mail:
        prepare: Callable[..., Any] = mail.prepare
        people = [user.name for user in mail.people.values()]
        review, _ = await brimful(lambda message: prepare(**message), to=people, cc=[], bcc=[])
        assert review["size"] == 5 * 2**20
        assert (await mail.confirm(review))["sent_copy"] == "saved"
        copy = await only_message(mail.owner, "Sent")
        assert digest_of(envelope_of(review, mail.owner), copy.raw).value == review["digest"]
        for user in mail.people.values():
            assert trace_before((await only_message(user)).raw, copy.raw) <= TRACE
