"""The sample mail in the demo server and in a Dovecot: the same searches find the same, the same parts are seen."""

from __future__ import annotations

import asyncio
import imaplib
import re
import socket
from typing import Any

import pytest

from mailgate.demo.seed import samples
from mailgate.demo.store import DemoMailbox
from tests.demo.raw_client import NOW, PASSWORD, USERNAME, serving
from tests.peers.dovecot import MailUser, dovecot_version

ALL = samples(NOW)
LETTERS = (
    "Grüße",
    "GRÜSSE",
    "über",
    "réunion",
    "Reunion",
    "Re",
    "mañana",
    "ΠΑΡΆΔΟΣΗ",
    "РАСПИСАНИЕ",
    "會",
    "東京",
    "회의록",
    "الاجتماع",
)
SHAPES = (
    "“quoted”",
    "5 €",
    "Ωmega",
    "ＲＯＢＩＮ",
    "́",
    "=?utf-8?",
    "übergröße",
    "Ünter",
    "写真",
    "desrever",
    "softly, so a reader",
)
WORDS = (
    "aurora",
    "sample",
    "<b>",
    "5.1.1",
    "mulch",
    "month,visitors",
    "Content-Type",
    "budget-q3.pdf",
    "End of the log",
    "contract",
)
PEOPLE = (
    "Raman, Priya",
    'May "Aunt" Parker',
    "佐藤",
    "王芳",
    "Олена",
    "Guest 07",
    "robin@example.com",
    "ŁUKASZ",
    "boss77",
    "@",
)
SEARCHES = [
    *(("TEXT", term) for term in (*LETTERS, *SHAPES, *WORDS, *PEOPLE)),
    *(("BODY", term) for term in (*LETTERS, *WORDS[:6])),
    *(("SUBJECT", term) for term in (*LETTERS, *SHAPES[:6], "folded over three lines and keeps going")),
    *((key, term) for key in ("FROM", "TO", "CC") for term in PEOPLE),
    *(("HEADER List-Id", term) for term in ("garden", "nobody", "")),
    *(("HEADER Message-ID", term) for term in ("<lunch-1@example.org>", "odd")),
]
PLAIN_SEARCHES = [
    "ALL",
    "SEEN",
    "UNSEEN",
    "FLAGGED",
    "UNFLAGGED",
    "DELETED",
    "KEYWORD $Junk",
    "NOT SEEN",
    "OR FLAGGED DRAFT",
    "UID 5:20 UNSEEN",
    "LARGER 100000",
    "HEADER X-Loop garden",
]
SECTIONS = [
    *("BODYSTRUCTURE", "BODY", "RFC822.SIZE", "BODY.PEEK[]", "BODY.PEEK[HEADER]", "BODY.PEEK[TEXT]", "BODY.PEEK[1]"),
    *("BODY.PEEK[2]", "BODY.PEEK[1.MIME]", "BODY.PEEK[2.MIME]", "BODY.PEEK[2.HEADER]", "BODY.PEEK[2.TEXT]"),
    *("BODY.PEEK[HEADER.FIELDS (SUBJECT FROM X-LOOP)]", "BODY.PEEK[HEADER.FIELDS.NOT (SUBJECT FROM)]"),
    *("BODY.PEEK[]<10.100>", "BODY.PEEK[TEXT]<100000.50>"),
]


def fill(client: imaplib.IMAP4) -> None:
    # Without it each literal waits 40 ms for a delayed acknowledgement.
    client.socket().setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for sample in ALL:
        status, answer = client.append(
            "INBOX", f"({' '.join(sample.flags)})", imaplib.Time2Internaldate(sample.arrived), sample.raw
        )
        assert status == "OK", answer
    client.select("INBOX", readonly=True)


def search(client: imaplib.IMAP4, *arguments: str, term: str | None = None) -> list[bytes]:
    charset = []
    if term is not None:
        charset = ["CHARSET", "UTF-8"]
        client.literal = term.encode()  # type: ignore[assignment]
    status, rows = client.uid("SEARCH", *charset, *arguments)
    assert status == "OK", rows
    return (rows[0] or b"").split()


def compare_searches(demo: imaplib.IMAP4, dovecot: imaplib.IMAP4) -> list[tuple[str, str]]:
    different = [
        (key, term)
        for key, term in SEARCHES
        if search(demo, *key.split(), term=term) != search(dovecot, *key.split(), term=term)
    ]
    return different + [(keys, "") for keys in PLAIN_SEARCHES if search(demo, keys) != search(dovecot, keys)]


def compare_sections(demo: imaplib.IMAP4, dovecot: imaplib.IMAP4) -> list[str]:
    def fetched(client: imaplib.IMAP4, item: str) -> list[Any]:
        rows = client.uid("FETCH", "1:*", f"({item})")[1]
        return [
            re.sub(rb"^\d+ \(UID ", b"(UID ", part)
            for row in rows
            for part in (row if isinstance(row, tuple) else (row,))
        ]

    # Dovecot 2.4 decodes RFC 2231 names in structures and sends them as literals; the demo is held to 2.3's form.
    new = dovecot_version() >= (2, 4)
    items = [item for item in SECTIONS if not (new and item in ("BODYSTRUCTURE", "BODY"))]
    return [item for item in items if fetched(demo, item) != fetched(dovecot, item)]


@pytest.mark.parametrize("compare", [compare_searches, compare_sections])
async def test_demo_and_dovecot_agree_about_the_sample_mail(mail_user: MailUser, compare: Any) -> None:
    def run(port: int) -> list[Any]:
        with imaplib.IMAP4("127.0.0.1", port, timeout=20) as demo, mail_user.client() as dovecot:
            demo.login(USERNAME, PASSWORD)
            for client in (demo, dovecot):
                fill(client)
            return list(compare(demo, dovecot))

    async with serving(DemoMailbox()) as peer:
        assert await asyncio.to_thread(run, peer.port) == []
