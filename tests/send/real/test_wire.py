"""Hundreds of generated compositions through the tools: what arrives at the SMTP server is what was reviewed.

The digest that the review showed is computed anew from what the server received, so what was stored, what was approved
and what arrived are one. What the review says is read from the received octets again, by mailgate and by the standard
library, whose reading depends on the version of Python and must not matter.
"""

from __future__ import annotations

import base64
import hashlib
import random
import re
from email import message_from_bytes
from email.message import Message
from email.utils import getaddresses
from pathlib import Path
from typing import Any

import pytest

from mailgate.mime.composition import Composition
from mailgate.mime.review import review as read_back
from mailgate.send.record import Envelope, digest_of
from tests.contract.deployment import Deployment, Result, demo_server, deployed, mailbox_with
from tests.peers.authority import authority
from tests.peers.smtp_sink import PASSWORD, USERNAME, SmtpSink, TakenMail
from tests.send.test_smtp_wire import composition_of

EACH = 30
NAMES = [
    "a.bin",
    "..a",
    "日本語.txt",
    "😀.png",
    'q"uo;te.csv',
    "n" * 196 + ".bin",
    "é" * 200,
    "a b  c",
    "=?utf-8?q?x?=",
]
EDGES = [
    "y" * 76,
    "y" * 77,
    "y" * 78,
    "y" * 79,
    "y" * 997,
    "y" * 998,
    "y" * 999,
    "é" * 38,
    "é" * 39,
    " y ",
    "y\t",
    "--=_",
]


def message_of(asked: Composition, random_: random.Random) -> Result:
    """As a client writes it, with odd file names and lines of every critical length."""
    edges = "\n".join(random_.choices(EDGES, k=random_.choice([0, 0, 3, 8])))
    files = [
        {
            "filename": random_.choice([each.filename, *NAMES]),
            "content_type": each.content_type,
            "data_base64": base64.b64encode(each.data).decode(),
        }
        for each in asked.attachments
    ]
    addressed = {"to": list(asked.to), "cc": list(asked.cc), "bcc": list(asked.bcc)}
    return {**addressed, "subject": asked.subject, "text": asked.text + edges, "attachments": files}


def parts_of(message: Message[str, str]) -> tuple[bytes, list[tuple[str, bytes]]]:
    """The text's octets, and the type and octets of each attachment, as the standard library reads them."""
    leaves = [part for part in message.walk() if not part.is_multipart()]
    text, *files = [(part.get_content_type(), part.get_payload(decode=True)) for part in leaves]
    assert text[0] == "text/plain"
    assert isinstance(text[1], bytes)
    return text[1], [(kind, data) for kind, data in files if isinstance(data, bytes)]


def check_form(taken: TakenMail, asked: Result) -> None:
    """CRLF only, 7 bits, short lines, no Bcc field and nothing of whom it would name."""
    data = taken.data
    assert data.endswith(b"\r\n")
    assert re.search(rb"\r(?!\n)|(?<!\r)\n|\0", data) is None
    assert max(data) < 128
    assert max(map(len, data.split(b"\r\n"))) <= 998
    head = data.partition(b"\r\n\r\n")[0]
    names = [line.partition(b":")[0].lower() for line in re.sub(rb"\r\n[ \t]", b"", head).split(b"\r\n")]
    assert len(names) == len(set(names))
    assert not {b"bcc", b"resent-bcc"} & set(names)
    hidden = set(asked["bcc"]) - {*asked["to"], *asked["cc"]}
    assert not any(re.search(rb"[^\w.+'-]" + re.escape(address.encode()) + rb"[^\w.-]", head) for address in hidden)


def check_review(taken: TakenMail, shown: Result) -> None:
    """The review, held against the octets that arrived."""
    envelope = Envelope(taken.sender, tuple(shown["to"]), tuple(shown["cc"]), tuple(shown["bcc"]))
    assert digest_of(envelope, taken.data).value == shown["digest"]
    assert taken.recipients == (*shown["to"], *shown["cc"], *shown["bcc"])
    assert len(taken.data) == shown["size"]
    again = read_back(taken.data)
    assert (again.subject, again.text, again.from_) == (shown["subject"], shown["text"], shown["from"])
    assert (list(again.to), list(again.cc)) == (shown["to"], shown["cc"])
    read: Any = message_from_bytes(taken.data)
    assert read["Message-ID"] == shown["message_id"]
    for role in ("to", "cc"):
        assert [address for _, address in getaddresses(read.get_all(role, []))] == shown[role]
    text, files = parts_of(read)
    if "invisible_characters" not in " ".join(shown["warnings"]):
        assert text.decode().replace("\r\n", "\n").removesuffix("\n") == shown["text"]
    assert [(kind, len(data), hashlib.sha256(data).hexdigest()) for kind, data in files] == [
        (each["content_type"], each["size"], each["sha256"]) for each in shown["attachments"]
    ]
    assert [each.filename for each in again.attachments] == [each["filename"] for each in shown["attachments"]]


def check_asked(shown: Result, asked: Result) -> None:
    """The review says what was asked for, as far as everything of it can be seen."""
    assert [*shown["to"], *shown["cc"], *shown["bcc"]] == [*asked["to"], *asked["cc"], *asked["bcc"]]
    files = [hashlib.sha256(base64.b64decode(each["data_base64"])).hexdigest() for each in asked["attachments"]]
    assert [each["sha256"] for each in shown["attachments"]] == files
    if "invisible_characters" not in " ".join(shown["warnings"]):
        assert shown["subject"] == asked["subject"]
        wanted = asked["text"].replace("\r\n", "\n").replace("\r", "\n")
        assert shown["text"] == wanted.removesuffix("\n")
        assert [each["filename"] for each in shown["attachments"]] == [
            each["filename"] for each in asked["attachments"]
        ]


async def sent(box: Deployment, message: Result) -> Result:
    """Prepared and confirmed; the review."""
    shown = await box.ok("mail_prepare_send", {"message": message})
    arguments = {"prepared_id": shown["prepared_id"], "confirmed_digest": shown["digest"], "append_sent": False}
    assert (await box.ok("mail_send_confirmed", arguments))["status"] == "accepted"
    return shown


@pytest.mark.requirement("SC1", "SP1", "SP2", "SP5")
@pytest.mark.parametrize("seed", range(100, 110))
async def test_what_arrives_is_what_was_reviewed(seed: int, tmp_path: Path) -> None:
    random_ = random.Random(seed)
    asked = [message_of(composition_of(random_), random_) for _ in range(EACH)]
    async with SmtpSink() as sink, demo_server(mailbox_with()) as (imap_port, _):
        settings = {
            "MAIL_ENABLE_SEND": "1",
            "MAIL_FROM": "The Ówner <owner@example.org>",
            "MAIL_SMTP_HOST": "127.0.0.1",
            "MAIL_SMTP_PORT": str(sink.port),
            "MAIL_SMTP_USERNAME": USERNAME,
            "MAIL_SMTP_PASSWORD": PASSWORD,
            "MAIL_TLS_CA_FILE": str(authority().ca_file),
            "MAIL_STORE": f"sqlite:{tmp_path / 'send.sqlite3'}",
        }
        async with deployed(imap_port, **settings) as box:
            shown = [await sent(box, message) for message in asked]
    assert len(sink.taken) == EACH
    for taken, review, message in zip(sink.taken, shown, asked, strict=True):
        check_form(taken, message)
        check_review(taken, review)
        check_asked(review, message)
