"""G1 to G3: what mail_get_attachment hands out."""

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
