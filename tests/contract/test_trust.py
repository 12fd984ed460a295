"""T1 to T3: what mailgate established and what other people wrote stay apart, and the latter is safe to show."""

from __future__ import annotations

import io
import json
import logging
import unicodedata
from collections.abc import Iterator
from typing import Any

import pytest

from mailgate.demo.seed import seed_mailbox
from mailgate.server.telemetry import configure_logging
from tests.contract.deployment import (
    READ_TOOLS,
    WHEN,
    Deployment,
    Result,
    html,
    mailbox_with,
    multipart,
    on_demo,
    raw,
    strings,
)
from tests.server.fakes import ERAS, OWNER_TOKEN, Post, http_client

CANARY = "zq7canary"

PLANTED = raw(
    "\n".join(
        [
            "--b\nContent-Type: text/plain\n\nzq7canary text",
            "--b\nContent-Type: application/zq7canary; name=zq7canary.txt\nContent-ID: <zq7canary@example.org>\n"
            "Content-Disposition: attachment; filename=zq7canary.txt\n\nzq7canary octets",
            "--b--",
        ]
    ),
    from_="zq7canary <zq7canary@example.org>",
    to="zq7canary@example.org",
    cc="zq7canary@example.org",
    bcc="zq7canary@example.org",
    reply_to="zq7canary@example.org",
    sender="zq7canary@example.org",
    subject="zq7canary =?utf-8?Q?=E2=80=AE?=",
    date="zq7canary",
    message_id="<zq7canary@example.org>",
    in_reply_to="<zq7canary@example.org>",
    references="<zq7canary@example.org> <zq7canary2@example.org>",
    list_id="zq7canary <zq7canary.example.org>",
    list_unsubscribe="<https://zq7canary.example.org/>",
    x_zq7canary="zq7canary",
    mime_version="1.0",
    content_type='multipart/mixed; boundary="b"',
)


def without_untrusted(value: Any) -> Any:
    """The value with every object named `untrusted` taken out."""
    if isinstance(value, dict):
        return {key: without_untrusted(inner) for key, inner in value.items() if key != "untrusted"}
    return [without_untrusted(inner) for inner in value] if isinstance(value, list) else value


async def all_about(box: Deployment) -> list[Result]:
    """What every tool says about the first message of INBOX and its first attachment."""
    page = await box.search(limit=1, order="oldest")
    reference = page["messages"][0]["reference"]
    read = await box.read(reference)
    found = [await box.ok("mail_capabilities"), await box.ok("mail_list_folders", {"include_counts": True}), page, read]
    if read["untrusted"]["attachments"]:
        found.append(await box.attachment(reference, 1))
    return found


@pytest.mark.requirement("T1")
async def test_everything_from_a_message_is_under_untrusted() -> None:
    async with on_demo(mailbox_with(PLANTED)) as box:
        answers = await all_about(box)
    assert len(answers) == len(READ_TOOLS)
    for answer in answers:
        assert CANARY not in json.dumps(without_untrusted(answer))
    _, _, page, read, attachment = answers
    assert {"subject", "from", "to", "date_raw", "message_id"} <= set(page["messages"][0]["untrusted"])
    assert json.dumps(read["untrusted"]).count(CANARY) >= 14
    assert attachment["untrusted"]["filename"] == "zq7canary.txt"
    assert attachment["untrusted"]["data_base64"]


@pytest.mark.requirement("T1")
async def test_there_is_one_untrusted_object_for_a_message_and_facts_are_outside() -> None:
    async with on_demo(mailbox_with(PLANTED)) as box:
        _, _, page, read, attachment = await all_about(box)
    for each in (page["messages"][0], read, attachment):
        assert json.dumps(each).count('"untrusted":') == 1
        assert each["reference"]["uid"] == 1
        assert isinstance(each["size"], int)
    for each in (page["messages"][0], read):
        assert each["internal_date"]
        assert "warnings" in each
        assert not {"reference", "size", "flags", "warnings", "internal_date"} & set(each["untrusted"])


# --- T2 ----------------------------------------------------------------------------------------------------------

UNSAFE = {
    "control": "\x07",
    "escape": "\x1b",
    "C1": "\x9b",
    "override": "\u202e",
    "embedding": "\u202a",
    "isolate": "\u2066",
    "mark": "\u200f",
    "zero width space": "\u200b",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\xad",
    "tag": "\U000e0041",
    "cancel tag": "\U000e007f",
    "variation": "\U000e0101",
    "Arabic mark": "\u061c",
}


def is_unsafe(char: str) -> bool:
    """Control, bidi, zero-width or tag, by Unicode's own categories and not by a list of ours; line breaks aside."""
    hidden = unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") or 0xE0000 <= ord(char) <= 0xE0FFF
    return hidden and char not in "\n\t"


def word(text: str) -> str:
    """As an encoded word, so that any character arrives."""
    return "=?utf-8?Q?" + "".join(f"={octet:02X}" for octet in text.encode()) + "?="


def percent(text: str) -> str:
    return "".join(f"%{octet:02X}" for octet in text.encode())


PLACES = {
    "subject": lambda bad: raw(subject=word(f"a{bad}b")),
    "sender": lambda bad: raw(from_=f"{word(f'a{bad}b')} <a@example.org>"),
    "recipient": lambda bad: raw(to=f"{word(f'a{bad}b')} <a@example.org>"),
    "list": lambda bad: raw(list_id=word(f"a{bad}b") + " <l.example.org>"),
    "text": lambda bad: raw(f"a{bad}b", mime_version="1.0", content_type="text/plain; charset=utf-8"),
    "html": lambda bad: html(f"<p>a{bad}b</p>"),
    "entity": lambda bad: html("<p>a" + "".join(f"&#{ord(char)};" for char in bad) + "b</p>"),
    "link": lambda bad: html(f'<a href="https://example.org/a{bad}b">here</a>'),
    "file name": lambda bad: multipart(
        "Content-Type: text/plain\n\nwords",
        f"Content-Type: image/png\nContent-Disposition: attachment; filename*=utf-8''a{percent(bad)}b.png\n\nx",
    ),
    "content id": lambda bad: multipart(
        "Content-Type: text/plain\n\nwords", f"Content-Type: image/png\nContent-ID: <a{bad}b@example.org>\n\nx"
    ),
}


@pytest.mark.requirement("T2")
@pytest.mark.parametrize("place", list(PLACES))
async def test_unsafe_characters_are_taken_out_and_it_is_said(place: str) -> None:
    # HTML reads a reference to a C1 character as one of windows-1252, so there is nothing unsafe in it.
    kinds = {kind: bad for kind, bad in UNSAFE.items() if (place, kind) != ("entity", "C1")}
    async with on_demo(mailbox_with(*(PLACES[place](bad) for bad in kinds.values()))) as box:
        for kind, row in zip(kinds, (await box.search(order="oldest"))["messages"], strict=True):
            answers = await all_about_one(box, row)
            for answer in answers:
                shown = strings(answer["untrusted"])
                assert [text for text in shown if any(map(is_unsafe, text))] == [], kind
                assert "".join(shown).encode()
            assert answers[1]["untrusted"].get("sanitized") is True, kind
            if place in ("subject", "sender", "recipient"):
                assert row["untrusted"].get("sanitized") is True, kind
            if place in ("file name", "content id"):
                assert answers[2]["untrusted"].get("sanitized") is True, kind


@pytest.mark.requirement("T2")
@pytest.mark.parametrize("place", list(PLACES))
async def test_what_is_safe_stays_and_nothing_is_said(place: str) -> None:
    harmless = ["", "é", "東京", "\N{GRINNING FACE}", "ب", "&"]
    async with on_demo(mailbox_with(*map(PLACES[place], harmless))) as box:
        for good, row in zip(harmless, (await box.search(order="oldest"))["messages"], strict=True):
            answers = await all_about_one(box, row)
            assert [answer for answer in answers if "sanitized" in answer["untrusted"]] == [], good
            shown = "".join(strings(answers[1]["untrusted"]))
            assert f"a{good}b" in shown or place in ("link", "content id")


async def all_about_one(box: Deployment, row: Result) -> list[Result]:
    """A row, its message, and its first attachment if it has one."""
    read = await box.read(row["reference"])
    files = [await box.attachment(row["reference"], 1)] if read["untrusted"]["attachments"] else []
    return [row, read, *files]


@pytest.mark.requirement("T2")
async def test_octets_that_are_no_text_become_valid_utf8() -> None:
    hostile = bytes(range(128, 256)) + b"\xed\xa0\x80 \xf4\x90\x80\x80 \xc0\xaf"
    message = (
        b"From: " + hostile + b" <a@example.org>\r\nSubject: " + hostile + b"\r\nMIME-Version: 1.0\r\n"
        b"Content-Type: text/plain; charset=utf-8\r\n\r\n" + hostile + b"\r\n"
    )
    utf16 = raw(
        "a=00=00=D8b=00",
        mime_version="1.0",
        content_type="text/plain; charset=utf-16le",
        content_transfer_encoding="quoted-printable",
    )
    for each in (message, utf16, message.replace(b"utf-8", b"utf-7"), message.replace(b"utf-8", b"unicode_escape")):
        async with on_demo(mailbox_with(each)) as box:
            for answer in await all_about(box):
                assert [text for text in strings(answer) if any(map(is_unsafe, text))] == []
                json.dumps(answer, ensure_ascii=False).encode()


@pytest.mark.requirement("T2")
async def test_everything_in_the_sample_mail_is_safe_to_show(seeded: Deployment) -> None:
    for folder in ("INBOX", "Junk", "Archive"):
        for row in (await seeded.search(folder=folder, limit=100))["messages"]:
            for answer in (row, await seeded.read(row["reference"])):
                bad = [char for text in strings(answer["untrusted"]) for char in text if is_unsafe(char)]
                # Joiners within words and pictures are part of what is written.
                assert set(bad) <= {"\u200c", "\u200d"}


# --- T3 ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that this process logs, at debug level, in the form an operator gets."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    stream = io.StringIO()
    configure_logging("debug", "json", stream)
    try:
        yield stream
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@pytest.mark.requirement("T3")
@pytest.mark.parametrize("era", ERAS)
async def test_nothing_from_a_message_reaches_a_log_a_header_a_description_or_an_error(
    era: str, log: io.StringIO
) -> None:
    mailbox = seed_mailbox(WHEN)
    uid = mailbox.append("INBOX", PLANTED, ("zq7canary",), WHEN)
    mailbox.create("zq7canary")
    reference = {"folder": "INBOX", "uid_validity": mailbox.folder("INBOX").uid_validity, "uid": uid}
    calls: list[tuple[str, dict[str, Any], bool]] = [
        ("mail_search", {"limit": 1}, True),
        ("mail_list_folders", {"include_counts": True}, True),
        ("mail_read", {"reference": reference}, True),
        ("mail_get_attachment", {"reference": reference, "index": 1}, True),
        ("mail_get_attachment", {"reference": reference, "index": 7}, False),
        ("mail_read", {"reference": reference, "offset": 1000}, False),
        ("mail_read", {"reference": {**reference, "folder": "zq7canary"}}, False),
    ]
    async with on_demo(mailbox) as box:
        app = box.app
        for name, arguments, succeeds in calls:
            response = await Post.call(name, arguments, era=era).to(app)
            result = response.json()["result"]
            assert result["isError"] is not succeeds
            assert (CANARY in response.text) is succeeds
            assert CANARY not in str(response.headers)
        listed = await Post("tools/list", era=era).to(app)
        assert CANARY not in listed.text
        async with http_client(app, OWNER_TOKEN) as client:
            ready = await client.get("/readyz")
            assert CANARY not in ready.text
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [line["code"] for line in lines if line["event"] == "call"][:4] == ["ok"] * 4
    assert CANARY not in log.getvalue()
    assert "Aurora" not in log.getvalue()
