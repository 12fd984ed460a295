"""What mail costs a client's context: octets of the tool list, of a page, and of ten typical messages, with ceilings.

The figures are printed; the ceilings are what they were when they were last looked at, and a little room.
"""

from __future__ import annotations

import json
from email.message import EmailMessage
from email.policy import SMTP
from typing import Any

import pytest

from mailgate.server.dispatch import Answer
from mailgate.server.mcp import build_server
from tests.read.fakes import FakeMessage
from tests.server.fakes import inbox, mailbox, principal, service
from tests.server.listing import published

LISTING = 23_800
"""Octets of the whole `tools/list`: 1,400 a tool."""
PAGE, PAGE_WITH_PREVIEWS = 9_500, 11_000
"""Octets of 25 rows of ordinary mail, without and with previews."""
READS = 13_000
"""Octets of ten typical messages, read one by one."""
BATCH = 13_100
"""The same in one call: no more than an entry's braces on top."""
HEADS = 4_500
"""The same with `headers_only`."""
UID_VALIDITY = 1700000000

PARAGRAPH = "We have looked at the figures again and they are much the same as in the month before. "
HISTORY = "".join(f"> {PARAGRAPH}\n" for _ in range(30))


def size(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":")).encode())


def letter(subject: str, text: str, html: str | None = None, attachment: bytes | None = None) -> bytes:
    """A message as a mail program composes it."""
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"] = "Ada Lovelace <ada@example.com>", "owner@example.org"
    message["Subject"], message["Message-ID"] = subject, f"<{abs(len(text))}.{len(subject)}@mail.example.com>"
    message["Date"] = "Thu, 01 Feb 2024 11:59:58 +0000"
    message.set_content(text)
    if html is not None:
        message.add_alternative(html, subtype="html")
    if attachment is not None:
        message.add_attachment(attachment, maintype="application", subtype="pdf", filename="plan.pdf")
    return bytes(message)


def newsletter(sections: int) -> str:
    """Layout tables, styles and a preheader, as newsletters have them."""
    cell = (
        '<table role="presentation" width="600" style="border-collapse:collapse;margin:0 auto"><tr>'
        '<td style="padding:24px;font-family:Arial,Helvetica,sans-serif;font-size:16px;line-height:24px;color:#333">'
        f"<h2 style='margin:0'>Section</h2><p style='margin:0'>{PARAGRAPH}</p>"
        '<a href="https://news.example.com/read?id=1&utm_source=mail&utm_campaign=spring">Read on</a></td></tr></table>'
    )
    hidden = f"<div style='display:none;max-height:0'>{PARAGRAPH}</div>"
    return f"<html><head><style>{'.a{color:red}' * 400}</style></head><body>{hidden}{cell * sections}</body></html>"


QUOTED = f"Agreed.\n\nOn Thu, 1 Feb 2024 at 11:00, Owner <owner@example.org> wrote:\n{HISTORY}"
TYPICAL = {
    "one line": letter("Lunch", "At noon, as always?\n"),
    "a letter": letter("Figures", PARAGRAPH * 8),
    "a letter with a file": letter("The plan", PARAGRAPH * 4, attachment=b"%PDF-1.7" + bytes(20_000)),
    "a reply over a long thread": letter("Re: Figures", QUOTED),
    "another one": letter("Re: Re: Figures", QUOTED.replace("Agreed", "Thank you, I shall")),
    "plain and HTML": letter("Both", PARAGRAPH * 5, f"<p>{PARAGRAPH * 5}</p>"),
    "a newsletter": letter("Spring", "", newsletter(8)),
    "a newsletter with a stub": letter("Summer", "View in your browser: https://news.example.com/\n", newsletter(8)),
    "a notice": letter("Your order", "Order 12345 has been sent.\n" * 3, "<p>Order 12345 has been sent.</p>" * 3),
    "another alphabet": letter("Grüße", "Привет! Посмотрите, пожалуйста, таблицу.\n" * 10),
}


async def call(name: str, arguments: dict[str, Any], *sources: bytes) -> Answer:
    folder = inbox(0)
    for source in sources:
        folder.append(FakeMessage(source=source, mod_seq=None))
    answer = await service(box=mailbox(folder)).dispatcher.call(name, arguments, principal())
    assert not answer.failed, answer.text
    return answer


def references() -> list[dict[str, object]]:
    return [{"folder": "INBOX", "uid_validity": UID_VALIDITY, "uid": uid} for uid in range(1, len(TYPICAL) + 1)]


async def test_the_tool_list() -> None:
    octets = size(await published(build_server(service().dispatcher)))
    print(f"tools/list {octets}")
    assert octets <= LISTING


@pytest.mark.parametrize(("previews", "ceiling"), [(False, PAGE), (True, PAGE_WITH_PREVIEWS)])
async def test_a_page_of_25_rows(previews: bool, ceiling: int) -> None:
    deployment = service(box=mailbox(inbox(40)))
    answer = await deployment.dispatcher.call("mail_search", {"previews": previews}, principal())
    assert answer.structured is not None
    rows = answer.structured["messages"]
    assert len(rows) == 25
    assert all("preview" in row["untrusted"] for row in rows) is previews
    print(
        f"25 rows{' with previews' if previews else ''} {size(answer.structured)}, as text {len(answer.text.encode())}"
    )
    assert size(answer.structured) <= ceiling


async def test_ten_typical_messages() -> None:
    total = 0
    for reference, (kind, source) in zip(references(), TYPICAL.items(), strict=True):
        answer = await call("mail_read", {"reference": reference}, *TYPICAL.values())
        octets = size(answer.structured)
        print(f"{kind}: {len(source)} of source, {octets} read, {len(answer.text.encode())} as text")
        total += octets
    print(f"ten messages {total} of {sum(map(len, TYPICAL.values()))}")
    assert total <= READS


@pytest.mark.parametrize(("headers_only", "ceiling"), [(False, BATCH), (True, HEADS)])
async def test_ten_typical_messages_at_once(headers_only: bool, ceiling: int) -> None:
    arguments = {"references": references(), "headers_only": headers_only}
    answer = await call("mail_read", arguments, *TYPICAL.values())
    octets = size(answer.structured)
    print(f"ten at once{', headers only' if headers_only else ''} {octets}, as text {len(answer.text.encode())}")
    assert octets <= ceiling


async def test_folding_pays() -> None:
    sizes = {}
    for quoted in ("fold", "full"):
        arguments = {"reference": references()[0], "quoted": quoted}
        answer = await call("mail_read", arguments, TYPICAL["a reply over a long thread"])
        sizes[quoted] = size(answer.structured)
    print(f"a reply: folded {sizes['fold']}, full {sizes['full']}")
    assert sizes["fold"] * 3 < sizes["full"]
