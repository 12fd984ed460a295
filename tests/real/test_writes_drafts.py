"""mail_save_draft against real servers: what lies in the folder is what was composed, Bcc included."""

from __future__ import annotations

import base64
import re
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest

from tests.peers.fault_proxy import FaultProxy
from tests.peers.imap_user import ImapUser
from tests.peers.rawlog import parse_raw_log
from tests.real.letters import PDF, letter
from tests.real.tools import WRITER, Result, Tools, refused, writing_settings_for

FULL: Result = {
    "to": ["ann@example.org", "bob@example.org"],
    "cc": ["carol@example.net"],
    "bcc": ["secret@example.com", "hidden@example.com"],
    "subject": "Größe, 東京 and \N{PARTY POPPER} " + "long " * 30,
    "text": "Grüße!\n\n.\n..leading dots\nFrom here on\n-- \n" + "x" * 3000 + "\n{5+}\n",
    "attachments": [
        {
            "filename": "Überblick 概要.pdf",
            "content_type": "application/pdf",
            "data_base64": base64.b64encode(PDF).decode(),
        }
    ],
    "in_reply_to": "<first@example.org>",
    "references": ["<zero@example.org>", "<first@example.org>"],
}


def parsed(raw: bytes) -> EmailMessage:
    message = message_from_bytes(raw, policy=default)
    assert isinstance(message, EmailMessage)
    return message


def addresses(message: EmailMessage, name: str) -> list[str]:
    return [address.addr_spec for address in message[name].addresses]


@pytest.mark.requirement("WD1")
async def test_a_draft_is_octet_for_octet_what_was_composed_and_keeps_its_bcc(user: ImapUser) -> None:
    before = user.everything()
    drafts = user.folder("Drafts")
    async with FaultProxy(user.port) as proxy:
        tools = Tools(writing_settings_for(user, MAIL_IMAP_PORT=str(proxy.port)), WRITER)
        result = await tools.call("mail_save_draft", message=FULL)
        await tools.aclose()
        sent = [command.line for command in parse_raw_log(bytes(proxy.traffic.sent)) if command.name == "APPEND"]
    assert (result["status"], result["warnings"]) == ("done", [])
    after = user.everything()
    draft = after[drafts].pop(result["reference"]["uid"])
    assert after == before
    assert draft.flags == {"\\Draft"}
    assert len(sent) == 1
    head, _, literal = sent[0].partition(b"}\r\n")
    assert re.search(rb" \(\\Draft\) \{(\d+)\Z", head)
    assert draft.raw == literal[: int(head.rpartition(b"{")[2])]
    message = parsed(draft.raw)
    assert [addresses(message, name) for name in ("To", "Cc", "Bcc")] == [FULL["to"], FULL["cc"], FULL["bcc"]]
    assert message["Subject"] == FULL["subject"].rstrip() or message["Subject"] == FULL["subject"]
    assert message["From"] == "The Owner <owner@example.org>"
    assert message["Message-ID"] == result["message_id"]
    assert (message["In-Reply-To"], message["References"]) == ("<first@example.org>", " ".join(FULL["references"]))
    body = message.get_body(("plain",))
    assert body is not None
    assert body.get_content().replace("\r\n", "\n") == FULL["text"]
    (attachment,) = message.iter_attachments()
    assert (attachment.get_filename(), attachment.get_content()) == ("Überblick 概要.pdf", PDF)
    assert re.search(rb"(?<!\r)\n|\r(?!\n)|[\x00\x80-\xff]", draft.raw) is None
    assert max(map(len, draft.raw.split(b"\r\n"))) <= 998


@pytest.mark.requirement("WD6")
async def test_a_draft_can_be_read_at_its_new_reference(user: ImapUser, writer: Tools) -> None:
    result = await writer.call("mail_save_draft", message=FULL)
    message = await writer.read(result["reference"])
    headers = message["untrusted"]["headers"]
    assert (headers["bcc"], headers["message_id"]) == (FULL["bcc"], result["message_id"])
    assert message["flags"] == ["\\Draft"]
    assert message["untrusted"]["text"].startswith("Grüße!")
    attachment = await writer.call("mail_get_attachment", reference=result["reference"], index=1)
    assert base64.b64decode(attachment["untrusted"]["data_base64"]) == PDF


@pytest.mark.requirement("WD2", "WD3")
async def test_an_empty_draft_goes_where_it_is_told(user: ImapUser, writer: Tools) -> None:
    archive = user.folder("Archive")
    result = await writer.call("mail_save_draft", message={}, folder=archive)
    assert result["reference"]["folder"] == archive
    (draft,) = user.contents(archive).values()
    assert draft.flags == {"\\Draft"}
    assert parsed(draft.raw)["Bcc"] is None
    assert user.contents(user.folder("Drafts")) == {}


@pytest.mark.requirement("WD6")
async def test_every_draft_has_an_id_of_its_own(user: ImapUser, writer: Tools) -> None:
    results = [await writer.call("mail_save_draft", message={"subject": "Same"}) for _ in range(2)]
    assert len({result["message_id"] for result in results}) == 2
    assert set(user.contents(user.folder("Drafts"))) == {result["reference"]["uid"] for result in results}


@pytest.mark.requirement("W9")
@pytest.mark.parametrize("folder", ["Nowhere", "role:flagged"])
async def test_a_folder_that_is_not_there_is_not_created_for_a_draft(
    user: ImapUser, writer: Tools, folder: str
) -> None:
    user.append(bytes(letter()))
    before = user.everything()
    named = folder if folder.startswith("role:") else user.folder(folder)
    with refused("special_use_missing" if named == folder and ":" in folder else "folder_not_found"):
        await writer.call("mail_save_draft", message={"subject": "Lost"}, folder=named)
    assert user.everything() == before
