"""Octets that are not exactly what was asked do not leave, whatever made them so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mailgate.mime.composition import Composition
from mailgate.mime.folding import serialize_date
from mailgate.mime.verify import Identity, verify
from tests.mime.composing import DATE, MESSAGE_ID, OWNER, composed, upload

ASKED = Composition(
    to=("a@example.org", "b@example.org"),
    cc=("c@example.org",),
    bcc=("d@example.org",),
    subject="Lunch",
    text="Shall we?\n",
    attachments=(upload("menu.pdf"), upload("notes.txt", "text/plain", b"notes")),
    in_reply_to="<q@example.org>",
    references=("<p@example.org>", "<q@example.org>"),
)
IDENTITY = Identity("The Owner", OWNER, MESSAGE_ID, serialize_date(DATE))
GOOD = composed(ASKED).data


def refused(data: bytes, *, asked: Composition = ASKED, keep_bcc: bool = True) -> str:
    with pytest.raises(RuntimeError) as caught:
        verify(data, asked, IDENTITY, keep_bcc=keep_bcc)
    return str(caught.value).rpartition(": ")[2]


def test_what_was_asked_passes() -> None:
    verify(GOOD, ASKED, IDENTITY, keep_bcc=True)


@pytest.mark.parametrize(
    ("old", "new", "aspect"),
    [
        (b"\r\nTo:", b"\nTo:", "form"),
        (b"Lunch", b"Lunch\rx", "form"),
        (b"Lunch", "Lünch".encode(), "form"),
        (b"Lunch", b"Lun\0ch", "form"),
        (b"Lunch", b"L" * 991, "form"),
        (b"Shall", b".hall", "form"),
        (b"Shall", b"From ", "form"),
        (b"\r\nCc:", b"\r\nX-Other: x\r\nCc:", "fields"),
        (b"\r\nDate:", b"\r\nSubject: Lunch\r\nDate:", "fields"),
        (b"\r\nDate:", b"\r\nBcc: x@example.org\r\nDate:", "fields"),
        (b"The Owner", b"The Other", "from"),
        (b"<owner@", b"<other@", "from"),
        (b"b@example.org", b"b@example.org, x@example.org", "to"),
        (b"a@example.org, b@", b"b@example.org, a@", "to"),
        (b"c@example.org", b"x@example.org", "cc"),
        (b"c@example.org", b"C <c@example.org>", "cc"),
        (b"d@example.org", b"x@example.org", "bcc"),
        (b"Lunch", b"Lunch =?utf-8?q?x?=", "subject"),
        (b"23:59:58", b"23:59:59", "date"),
        (b"<0123456789abcdef@", b"<x@", "message-id"),
        (b"To: <q@", b"To: <x@", "in-reply-to"),
        (b"<p@example.org>", b"", "references"),
        (b"Shall we", b"Shall I", "text"),
        (b"utf-8", b"utf-7", "text"),
        (b"text/plain; charset", b"text/html; charset", "text"),
        (b"menu.pdf", b"menu.exe", "attachment"),
        (b"application/pdf", b"application/zip", "attachment"),
        (b"ZGF0YQ==", b"ZGF0YR8=", "attachment"),
        (b"ZGF0YQ==", b"ZGF0YQ==!", "attachment"),
        (b"Disposition: attachment; filename=\"menu", b"Disposition: inline; filename=\"menu", "attachment"),
        (b"--\r\n", b"\r\n", "structure"),
    ],
)  # fmt: skip
def test_one_difference_is_enough(old: bytes, new: bytes, aspect: str) -> None:
    assert old in GOOD
    head, _, tail = GOOD.partition(old) if old != b"--\r\n" else GOOD.rpartition(old)
    assert refused(head + new + tail) == aspect


def test_a_missing_last_line_end_is_refused() -> None:
    assert refused(GOOD[:-2]) == "form"


def test_a_missing_or_added_attachment_is_refused() -> None:
    assert refused(GOOD, asked=replace(ASKED, attachments=ASKED.attachments[:1])) == "attachments"
    assert refused(GOOD, asked=replace(ASKED, attachments=(*ASKED.attachments, upload()))) == "attachments"


def test_a_bcc_field_in_what_is_sent_is_refused() -> None:
    assert refused(GOOD, keep_bcc=False) == "fields"
    assert refused(composed(ASKED, keep_bcc=False).data) == "fields"
