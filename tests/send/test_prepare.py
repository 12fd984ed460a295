"""mail_prepare_send: what is shown is what is stored, whole; and nothing is stored that may not be sent."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest

from mailgate.errors import InvalidArgument, LimitExceeded, RecipientNotAllowed, StoreUnavailable
from mailgate.mime.composition import AttachmentUpload, Composition
from mailgate.mime.model import RawMessage
from mailgate.mime.parse import parse_message
from mailgate.mime.review import review
from mailgate.send.prepare import Review, prepare_send
from mailgate.send.record import PreparedMessage, digest_of
from tests.send.fakes import NOW, OWNER, Flow, failing, flow

LETTER = Composition(
    to=("a@example.com", "A@example.com"),
    cc=("c@example.com",),
    bcc=("b@example.com",),
    subject="Grüße  aus =?x?=",
    text="Hello\n\n.\nFrom here\täöü  \n",
    attachments=(
        AttachmentUpload("Zahlen 2026.csv", "text/csv", b"a,b\r\n1,2\n"),
        AttachmentUpload("empty.bin", "application/octet-stream", b""),
    ),
)


def codes(result: Review) -> list[str]:
    return [warning.code for warning in result.warnings]


async def stored(at: Flow, result: Review) -> PreparedMessage:
    """What is really in the store."""
    ledger = at.desk.ledger
    content = ledger._keys.open(at.store.only.content, "content", result.prepared_id, OWNER)
    return PreparedMessage.of_bytes(result.prepared_id, content)


async def test_the_review_shows_everything_and_the_digest_stands_for_it() -> None:
    at = flow()
    result = await prepare_send(at.desk, LETTER, OWNER)
    kept = await stored(at, result)
    content, envelope = result.content, result.envelope
    assert content.from_ == "The Owner <owner@example.org>"
    assert (envelope.to, envelope.cc, envelope.bcc) == (LETTER.to, LETTER.cc, LETTER.bcc)
    assert (content.subject, content.text) == (LETTER.subject, LETTER.text.removesuffix("\n"))
    assert [(each.filename, each.content_type, each.size, each.sha256) for each in content.attachments] == [
        (each.filename, each.content_type, len(each.data), hashlib.sha256(each.data).hexdigest())
        for each in LETTER.attachments
    ]
    assert (result.size, result.message_id) == (len(kept.message), kept.message_id)
    assert result.digest == digest_of(kept.envelope, kept.message)
    assert kept.envelope == envelope
    assert result.expires_at == NOW + timedelta(minutes=15)
    assert result.warnings == ()
    assert result.message_id.endswith("@example.org>")


async def test_bcc_is_in_the_envelope_and_not_in_the_message() -> None:
    at = flow()
    result = await prepare_send(at.desk, Composition(bcc=("b@example.com",), subject="S", text="T"), OWNER)
    kept = await stored(at, result)
    assert kept.envelope.recipients == ("b@example.com",)
    assert parse_message(RawMessage(kept.message)).headers.bcc == ()
    assert b"b@example.com" not in kept.message


async def test_the_same_letter_twice_is_two_messages() -> None:
    at = flow()
    first, second = [await prepare_send(at.desk, LETTER, OWNER) for _ in range(2)]
    assert first.prepared_id != second.prepared_id
    assert first.message_id != second.message_id
    assert first.digest != second.digest


@pytest.mark.parametrize("composition", [Composition(), Composition(subject="S", text="T")])
async def test_a_message_to_nobody_is_refused(composition: Composition) -> None:
    at = flow()
    with pytest.raises(InvalidArgument):
        await prepare_send(at.desk, composition, OWNER)
    assert at.store.calls == []


async def test_what_may_not_be_meant_is_said() -> None:
    at = flow()
    twice = Composition(to=("a@example.com",), bcc=("a@EXAMPLE.com",))
    result = await prepare_send(at.desk, twice, OWNER)
    assert codes(result) == ["recipient_repeated", "subject_empty", "text_empty"]
    assert (result.envelope.to, result.envelope.bcc) == (("a@example.com",), ())
    assert (result.content.subject, result.content.text) == ("", "")


async def test_what_nobody_sees_stands_in_its_place_in_the_review_and_is_said() -> None:
    at = flow()
    hidden = Composition(to=("a@example.com",), subject="pay \u202eme", text="a\u200bb\U000e0041c")
    result = await prepare_send(at.desk, hidden, OWNER)
    assert (result.content.subject, result.content.text) == ("pay [U+202E]me", "a[U+200B]b[U+E0041]c")
    assert codes(result) == ["invisible_characters"]
    assert "\u202e".encode() not in repr(result).encode()


async def test_a_joiner_that_a_script_needs_is_shown_as_itself_and_without_a_warning() -> None:
    text = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    result = await prepare_send(flow().desk, Composition(to=("a@example.com",), subject="S", text=text), OWNER)
    assert (result.content.text, codes(result)) == (text, [])


async def test_a_long_text_is_shown_whole() -> None:
    text = "\n".join(f"line {number} äöü" for number in range(40_000))
    result = await prepare_send(flow().desk, Composition(to=("a@example.com",), subject="S", text=text), OWNER)
    assert len(text.encode()) > 600_000
    assert result.content.text == text


ALLOWED = ("Ann@example.com", "@example.org")


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("Ann@example.com", True),
        ("Ann@EXAMPLE.com", True),
        ("ann@example.com", False),
        ("bob@example.com", False),
        ("anybody@example.org", True),
        ("anybody@Example.ORG", True),
        ("anybody@sub.example.org", False),
        ("anybody@notexample.org", False),
        ("anybody@example.org.evil.example", False),
    ],
)
@pytest.mark.parametrize("role", ["to", "cc", "bcc"])
async def test_only_allowed_recipients_can_be_prepared_for(address: str, allowed: bool, role: str) -> None:
    at = flow(allowed=ALLOWED)
    composition = Composition(**{"to": ("x@example.org",), role: (address,)}, subject="S")  # type: ignore[arg-type]
    if allowed:
        await prepare_send(at.desk, composition, OWNER)
        return
    with pytest.raises(RecipientNotAllowed) as caught:
        await prepare_send(at.desk, composition, OWNER)
    assert address not in caught.value.render()
    assert at.store.calls == []


@pytest.mark.parametrize("moment", ["before", "after"])
async def test_a_store_in_doubt_gives_no_id(moment: str) -> None:
    at = flow()
    setattr(at.store, moment, failing("prepare"))
    with pytest.raises(StoreUnavailable):
        await prepare_send(at.desk, LETTER, OWNER)


async def test_what_is_too_large_is_not_stored() -> None:
    at = flow()
    large = Composition(
        to=("a@example.com",),
        text="\u4e2d" * 340_000,
        attachments=tuple(AttachmentUpload(f"{n}", "a/b", b"x" * 990_000) for n in range(3)),
    )
    with pytest.raises(LimitExceeded):
        await prepare_send(at.desk, large, OWNER)
    assert at.store.calls == []


def test_only_what_was_composed_is_reviewed() -> None:
    for octets in (b"", b"Subject: x\r\n\r\nbody\r\n", b"From: a@x.org, b@x.org\r\n\r\nbody\r\n"):
        with pytest.raises(RuntimeError):
            review(octets)
