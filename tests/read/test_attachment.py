from __future__ import annotations

import hashlib
from base64 import b64encode

import pytest

from mailgate.errors import AttachmentNotFound, AttachmentTooLarge, InvalidArgument, LimitExceeded
from mailgate.limits import ATTACHMENT_BYTES_MAX
from mailgate.read import attachment
from mailgate.read.attachment import get_attachment
from mailgate.read.message import read_message
from mailgate.read.offload import OutOfTime

from .test_message import mailbox_with, reference


def mail(data: bytes) -> bytes:
    lines = b64encode(data)
    folded = b"\r\n".join(lines[start : start + 76] for start in range(0, len(lines), 76))
    return (
        b"Subject: hello\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
        b"--b\r\nContent-Type: text/plain\r\n\r\nsee attached\r\n"
        b'--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="a.pdf"\r\n'
        b"Content-Transfer-Encoding: base64\r\n\r\n" + folded + b"\r\n--b--\r\n"
    )


async def test_an_attachment_comes_with_its_octets_and_their_hash() -> None:
    found = await get_attachment(mailbox_with(mail(b"\0\xff octets")), reference(), 1)
    assert found.reference == reference()
    assert found.data == b"\0\xff octets"
    assert (found.index, found.size) == (1, 9)
    assert found.sha256 == hashlib.sha256(b"\0\xff octets").hexdigest()
    assert (found.described.filename, found.described.content_type) == ("a.pdf", "application/pdf")


async def test_the_index_is_the_one_that_reading_lists() -> None:
    mailbox = mailbox_with(mail(b"octets"))
    listed = (await read_message(mailbox, reference())).content.attachments
    found = await get_attachment(mailbox, reference(), listed[0].index)
    assert found.described == listed[0]


@pytest.mark.parametrize("index", [2, 1000])
async def test_an_index_that_names_nothing_is_not_found(index: int) -> None:
    with pytest.raises(AttachmentNotFound):
        await get_attachment(mailbox_with(mail(b"octets")), reference(), index)


async def test_an_index_below_one_is_refused_before_anything_is_asked() -> None:
    mailbox = mailbox_with(mail(b"octets"))
    with pytest.raises(InvalidArgument, match="index"):
        await get_attachment(mailbox, reference(), 0)
    assert mailbox.examined == []


async def test_an_attachment_beyond_the_documented_size_is_too_large() -> None:
    with pytest.raises(AttachmentTooLarge):
        await get_attachment(mailbox_with(mail(bytes(ATTACHMENT_BYTES_MAX + 1))), reference(), 1)
    largest = await get_attachment(mailbox_with(mail(bytes(ATTACHMENT_BYTES_MAX))), reference(), 1)
    assert largest.size == ATTACHMENT_BYTES_MAX


async def test_a_message_that_takes_too_long_to_parse_passes_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    async def late(work: object, *, seconds: float) -> None:
        raise OutOfTime

    monkeypatch.setattr(attachment, "off_loop", late)
    with pytest.raises(LimitExceeded):
        await get_attachment(mailbox_with(mail(b"octets")), reference(), 1)
