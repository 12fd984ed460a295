"""G1 to G5: what mail_get_attachment hands out."""

from __future__ import annotations

import base64
import hashlib
import random

import pytest

from mailgate.demo.store import DemoMailbox
from tests.contract.deployment import WHEN, Deployment, mailbox_with, multipart, on_demo

MIB = 1024 * 1024
OCTETS = bytes(range(256)) * 5 + b"\r\n\n\r\0 end"
HEAD = "Content-Type: application/x-test\nContent-Disposition: attachment; filename={0}\n"
TEXT = "Content-Type: text/plain\n\nwords"


@pytest.mark.requirement("G1")
async def test_an_attachment_comes_with_its_metadata_and_its_hash() -> None:
    message = multipart(
        TEXT,
        'Content-Type: image/png\nContent-Disposition: inline; filename="../a.png"\nContent-ID: <pic@example.org>\n'
        f"Content-Transfer-Encoding: base64\n\n{base64.b64encode(OCTETS).decode()}",
    )
    async with on_demo(mailbox_with(message)) as box:
        reference = await box.reference()
        answer = await box.attachment(reference, 1)
        (listed,) = (await box.read(reference))["untrusted"]["attachments"]
    data = answer["untrusted"].pop("data_base64")
    assert base64.b64decode(data, validate=True) == OCTETS
    assert answer == {
        "reference": reference,
        "index": 1,
        "size": len(OCTETS),
        "sha256": hashlib.sha256(OCTETS).hexdigest(),
        "warnings": [],
        "untrusted": {
            "filename": "a.png",
            "filename_changed": True,
            "content_type": "image/png",
            "disposition": "inline",
            "content_id": "<pic@example.org>",
        },
    }
    assert answer["untrusted"].items() <= listed.items()
    assert listed["size"] == answer["size"]


@pytest.mark.requirement("G1")
async def test_what_is_not_given_is_null_or_left_out() -> None:
    async with on_demo(mailbox_with(multipart(TEXT, "Content-Type: application/pdf\n\nx"))) as box:
        answer = await box.attachment(await box.reference(), 1)
    assert answer["untrusted"] == {
        "filename": None,
        "filename_changed": False,
        "content_type": "application/pdf",
        "data_base64": base64.b64encode(b"x").decode(),
    }


ENCODED = {
    "base64": base64.encodebytes(OCTETS).decode(),
    "quoted-printable": "".join(f"={octet:02X}" + "=\n" * (at % 20 == 19) for at, octet in enumerate(OCTETS)),
    "7bit": "line one\nline two",
    "8bit": "Grüße",
    "x-unknown": "as it is",
    "BASE64": "".join(base64.b64encode(OCTETS[at : at + 57]).decode() + " \n" for at in range(0, len(OCTETS), 57)),
}


@pytest.mark.requirement("G1")
@pytest.mark.parametrize("encoding", list(ENCODED))
async def test_octets_are_decoded_exactly(encoding: str) -> None:
    body = ENCODED[encoding]
    message = multipart(TEXT, f"{HEAD.format('x')}Content-Transfer-Encoding: {encoding}\n\n{body}")
    async with on_demo(mailbox_with(message)) as box:
        answer = await box.attachment(await box.reference(), 1)
    expected = OCTETS if encoding.lower() in ("base64", "quoted-printable") else body.replace("\n", "\r\n").encode()
    assert base64.b64decode(answer["untrusted"]["data_base64"]) == expected


@pytest.mark.requirement("G1", "G2")
async def test_every_attachment_of_the_sample_mail_has_the_listed_size(seeded: Deployment) -> None:
    count = 0
    for row in (await seeded.search(limit=100))["messages"]:
        for entry in (await seeded.read(row["reference"]))["untrusted"]["attachments"]:
            answer = await seeded.attachment(row["reference"], entry["index"])
            data = base64.b64decode(answer["untrusted"]["data_base64"])
            assert len(data) == answer["size"] == (entry["size"] if entry["size"] is not None else len(data))
            assert hashlib.sha256(data).hexdigest() == answer["sha256"]
            count += 1
    assert count >= 10


# --- G2 ----------------------------------------------------------------------------------------------------------


def three() -> DemoMailbox:
    return mailbox_with(multipart(TEXT, *(f"{HEAD.format(name)}\n{name}" for name in ("one", "two", "three"))))


@pytest.mark.requirement("G2")
async def test_an_index_counts_from_one_in_the_order_of_mail_read() -> None:
    async with on_demo(three()) as box:
        reference = await box.reference()
        for entry in (await box.read(reference))["untrusted"]["attachments"]:
            answer = await box.attachment(reference, entry["index"])
            data = base64.b64decode(answer["untrusted"]["data_base64"]).decode()
            assert data == entry["filename"] == answer["untrusted"]["filename"]
        assert [await found(box, reference, index) for index in (1, 2, 3)] == ["one", "two", "three"]


async def found(box: Deployment, reference: dict[str, object], index: int) -> str:
    answer = await box.attachment(reference, index)
    return str(answer["untrusted"]["filename"])


@pytest.mark.requirement("G2")
@pytest.mark.parametrize(("index", "code"), [(4, "attachment_not_found"), (100, "attachment_not_found")])
async def test_another_index_is_not_found(index: int, code: str) -> None:
    async with on_demo(three()) as box:
        await box.fails(code, "mail_get_attachment", {"reference": await box.reference(), "index": index})


@pytest.mark.requirement("G2")
@pytest.mark.parametrize("index", [0, -1, True, "one", 1.5])
async def test_what_is_no_index_is_an_invalid_argument(index: object) -> None:
    async with on_demo(three()) as box:
        reference = await box.reference()
        before = len(box.sent)
        await box.fails("invalid_argument", "mail_get_attachment", {"reference": reference, "index": index})
        assert len(box.sent) == before


@pytest.mark.requirement("G2")
async def test_an_index_above_what_any_message_can_have_is_not_found_either() -> None:
    async with on_demo(three()) as box:
        reference = await box.reference()
        for index in (101, 10_000):
            await box.fails("attachment_not_found", "mail_get_attachment", {"reference": reference, "index": index})


# --- G3 ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("G3")
@pytest.mark.parametrize("encoding", ["base64", "8bit"])
async def test_two_mebibytes_are_handed_out_and_not_one_octet_more(encoding: str) -> None:
    octets = random.Random(1).randbytes(2 * MIB + 1) if encoding == "base64" else b"x" * (2 * MIB + 1)
    mailbox = mailbox_with()
    async with on_demo(mailbox) as box:
        for size in (2 * MIB, 2 * MIB + 1):
            sent = base64.encodebytes(octets[:size]) if encoding == "base64" else octets[:size]
            head = f"{HEAD.format('big.bin')}Content-Transfer-Encoding: {encoding}\n\n"
            mailbox.append("INBOX", multipart(TEXT, head + sent.decode(), subject=str(size)), (), WHEN)
        whole, over = [await box.reference(subject=str(size)) for size in (2 * MIB, 2 * MIB + 1)]
        answer = await box.attachment(whole, 1)
        assert (answer["size"], answer["sha256"]) == (2 * MIB, hashlib.sha256(octets[: 2 * MIB]).hexdigest())
        assert base64.b64decode(answer["untrusted"]["data_base64"]) == octets[: 2 * MIB]
        text = await box.fails("attachment_too_large", "mail_get_attachment", {"reference": over, "index": 1})
        assert len(text) < 1000
        assert [entry["size"] for entry in (await box.read(over))["untrusted"]["attachments"]] == [2 * MIB + 1]


# --- G4, G5 ------------------------------------------------------------------------------------------------------

CSV = "a;b\r\nGr\u00fc\u00dfe;2\r\n"
READABLE = {
    "text": ("text/plain; charset=utf-8", "words \u202ehere".encode(), "plain", "words here", True),
    "csv": ("text/csv; charset=iso-8859-1", CSV.encode("latin-1"), "plain", CSV.replace("\r\n", "\n").rstrip(), False),
    "calendar": ("text/calendar; method=REQUEST", b"BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\n", "plain", None, False),
    "html": ("text/html", b"<p>some <b>words</b><p style='display:none'>hidden", "markdown", "some **words**", False),
    "message": (
        "message/rfc822",
        b"From: Ann <ann@example.org>\r\nSubject: inner\r\n\r\ninner words",
        "plain",
        "From: Ann <ann@example.org>\nSubject: inner\n\ninner words",
        False,
    ),
    "empty": ("text/plain; charset=utf-8", b"", "plain", "", False),
}


def attached(content_type: str, octets: bytes) -> bytes:
    encoded = base64.encodebytes(octets).decode()
    head = f"Content-Type: {content_type}\nContent-Disposition: attachment; filename=file\n"
    return multipart(TEXT, f"{head}Content-Transfer-Encoding: base64\n\n{encoded}")


@pytest.mark.requirement("G4")
@pytest.mark.parametrize("kind", list(READABLE))
async def test_an_attachment_that_can_be_read_is_given_as_text(kind: str) -> None:
    content_type, octets, text_format, text, sanitized = READABLE[kind]
    async with on_demo(mailbox_with(attached(content_type, octets))) as box:
        reference = await box.reference()
        answer = await box.ok("mail_get_attachment", {"reference": reference, "index": 1, "as": "text"})
        plain = await box.attachment(reference, 1)
    shown = answer["untrusted"]["text"]
    assert shown == text if text is not None else "METHOD:REQUEST" in shown
    assert answer["text_format"] == text_format
    assert answer["text_chars"] == len(shown)
    assert answer["truncated"] is False
    assert ("sanitized" in answer["untrusted"]) is sanitized
    assert "data_base64" not in answer["untrusted"]
    same = {"reference", "index", "size", "sha256"}
    assert {name: answer[name] for name in same} == {name: plain[name] for name in same}
    assert base64.b64decode(plain["untrusted"]["data_base64"]) == octets
    assert {"text", "text_chars", "truncated"} & {*plain, *plain["untrusted"]} == set()


@pytest.mark.requirement("G4", "A16")
async def test_a_long_text_is_cut_by_its_bound_and_to_what_a_result_holds() -> None:
    octets = b"some words\n" * 40_000
    arguments = {"index": 1, "as": "text"}
    for variables, most in (({}, 262_144), ({"MAIL_MAX_RESULT_BYTES": "30000"}, 15_000)):
        async with on_demo(mailbox_with(attached("text/plain; charset=utf-8", octets)), **variables) as box:
            answer = await box.ok("mail_get_attachment", {"reference": await box.reference(), **arguments})
        assert answer["truncated"] is True
        assert answer["text_chars"] == 262_144
        assert most // 2 < len(answer["untrusted"]["text"]) <= most
        assert answer["size"] == len(octets)


@pytest.mark.requirement("G3", "G4")
async def test_bounds_hold_for_text_as_for_octets() -> None:
    async with on_demo(mailbox_with(attached("text/plain", b"x" * (2 * MIB + 1)))) as box:
        reference = await box.reference()
        for index, code in ((1, "attachment_too_large"), (2, "attachment_not_found")):
            await box.fails(code, "mail_get_attachment", {"reference": reference, "index": index, "as": "text"})


@pytest.mark.requirement("G5")
@pytest.mark.parametrize("content_type", ["application/pdf", "image/png", "application/x-zq7canary"])
async def test_what_is_no_text_is_refused_as_text(content_type: str) -> None:
    async with on_demo(mailbox_with(attached(content_type, b"%PDF words"))) as box:
        arguments = {"reference": await box.reference(), "index": 1}
        said = await box.fails("invalid_argument", "mail_get_attachment", {**arguments, "as": "text"})
        assert "`as`" in said
        assert content_type.partition("/")[2] not in said
        await box.fails("invalid_argument", "mail_get_attachment", {**arguments, "as": "words"})
        await box.ok("mail_get_attachment", {**arguments, "as": "bytes"})


@pytest.mark.requirement("A11", "G4")
async def test_the_text_half_holds_the_text() -> None:
    async with on_demo(mailbox_with(attached("text/plain; charset=utf-8", b"all the words"))) as box:
        arguments = {"reference": await box.reference(), "index": 1, "as": "text"}
        facts, foreign = (await box.call("mail_get_attachment", arguments)).text.split("\nAll that follows")
    assert "Its text: plain, 13 characters." in facts
    assert foreign.endswith("\n\nall the words")
