"""Ids, digests and what is stored of a message."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailgate.send.record import (
    Deployment,
    Digest,
    Envelope,
    Nonce,
    Outcome,
    Owner,
    PreparedId,
    PreparedMessage,
    SendStatus,
    digest_of,
    frame,
    unframe,
)

ENVELOPE = Envelope("me@example.org", ("a@example.org", "b@example.org"), ("c@example.org",), ("d@example.org",))
MESSAGE = PreparedMessage(PreparedId.new(), ENVELOPE, b"Subject: x\r\n\r\nbody\r\n", "<1@example.org>")


def test_ids_are_new_every_time_and_carry_128_bits_or_more() -> None:
    ids = {PreparedId.new().value for _ in range(1000)}
    assert len(ids) == 1000
    assert all(len(each) == 2 + 24 and each.startswith("p_") for each in ids)
    assert len({Nonce.new().value for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    "text",
    ["", "p_", "p_" + "a" * 23, "p_" + "a" * 25, "p_" + "a" * 24 + "\n", "P_" + "a" * 24, "p_" + "a" * 23 + "*",
     "p_../" + "a" * 21, "p_" + "é" * 24, "p_" + "a" * 1_000_000, "p_" + "a" * 23 + " "],
    ids=range(11),
)  # fmt: skip
def test_anything_else_is_no_id(text: str) -> None:
    with pytest.raises(ValueError, match="not a prepared_id"):
        PreparedId(text)


@pytest.mark.parametrize("text", ["", "0" * 63, "0" * 65, "A" * 64, "g" * 64, "0" * 64 + "\n", "sha256:" + "0" * 64])
def test_only_lower_case_hex_is_a_digest(text: str) -> None:
    with pytest.raises(ValueError, match="not a sha256"):
        Digest(text)


def test_the_digest_is_the_documented_encoding() -> None:
    """Written out once, so that a change of the encoding cannot pass unnoticed."""

    def part(octets: bytes) -> bytes:
        return len(octets).to_bytes(8, "big") + octets

    to = part(b"a@example.org") + part(b"b@example.org")
    roles = part(to) + part(part(b"c@example.org")) + part(part(b"d@example.org"))
    whole = part(b"mailgate send 1") + part(b"me@example.org") + roles + part(MESSAGE.message)
    assert MESSAGE.digest.value == hashlib.sha256(whole).hexdigest()


@pytest.mark.parametrize(
    "envelope",
    [
        replace(ENVELOPE, sender="you@example.org"),
        replace(ENVELOPE, to=("b@example.org", "a@example.org")),
        replace(ENVELOPE, to=("a@example.org",), cc=("b@example.org", "c@example.org")),
        replace(ENVELOPE, cc=(), bcc=("c@example.org", "d@example.org")),
        replace(ENVELOPE, bcc=()),
        replace(ENVELOPE, to=("a@example.orgb@example.org",)),
    ],
    ids=["sender", "order", "role", "another role", "one less", "run together"],
)
def test_whoever_is_written_to_otherwise_has_another_digest(envelope: Envelope) -> None:
    assert digest_of(envelope, MESSAGE.message) != MESSAGE.digest
    assert not replace(MESSAGE, envelope=envelope).verify(MESSAGE.digest)


def test_one_octet_more_is_another_digest() -> None:
    assert not replace(MESSAGE, message=MESSAGE.message + b" ").verify(MESSAGE.digest)
    assert MESSAGE.verify(MESSAGE.digest)


@given(st.lists(st.binary(max_size=40), max_size=6), st.lists(st.binary(max_size=40), max_size=6))
def test_no_two_lists_have_one_frame(one: list[bytes], other: list[bytes]) -> None:
    assert unframe(frame(*one)) == one
    assert (frame(*one) == frame(*other)) == (one == other)


@given(st.binary(max_size=60))
def test_unframing_takes_only_what_framing_makes(data: bytes) -> None:
    try:
        parts = unframe(data)
    except ValueError:
        return
    assert frame(*parts) == data


def test_a_message_comes_back_as_it_was_stored() -> None:
    data = MESSAGE.to_bytes()
    assert PreparedMessage.of_bytes(MESSAGE.prepared_id, data) == MESSAGE
    for broken in (data[:-1], data + b"\0", data[1:], b"", frame(b"prepared2", *unframe(data)[1:])):
        with pytest.raises(ValueError, match=r"part|prepared"):
            PreparedMessage.of_bytes(MESSAGE.prepared_id, broken)


@pytest.mark.parametrize("address", ["", "a b@example.org", "é@example.org", "<a@example.org>", "a@example.org\r\n"])
def test_an_envelope_takes_only_bare_ascii_addresses(address: str) -> None:
    with pytest.raises(ValueError, match="bare ASCII"):
        Envelope("me@example.org", (address,))
    with pytest.raises(ValueError, match="bare ASCII"):
        Envelope(address, ("me@example.org",))


def test_an_envelope_needs_a_recipient_and_bcc_is_enough() -> None:
    with pytest.raises(ValueError, match="needs a recipient"):
        Envelope("me@example.org")
    assert Envelope("me@example.org", bcc=("a@example.org",)).recipients == ("a@example.org",)


def test_recipients_come_by_role_in_order() -> None:
    assert ENVELOPE.recipients == ("a@example.org", "b@example.org", "c@example.org", "d@example.org")


def test_an_attempt_that_may_be_alive_reads_as_sending() -> None:
    assert {status: status.public for status in SendStatus} == {
        SendStatus.PREPARED: "prepared",
        SendStatus.CLAIMED: "sending",
        SendStatus.SUBMITTING: "sending",
        SendStatus.ACCEPTED: "accepted",
        SendStatus.REJECTED: "rejected",
        SendStatus.NOT_SENT: "not_sent",
        SendStatus.UNKNOWN: "unknown",
    }


@pytest.mark.parametrize("status", [SendStatus.PREPARED, SendStatus.CLAIMED, SendStatus.SUBMITTING])
def test_only_an_end_is_an_outcome(status: SendStatus) -> None:
    with pytest.raises(ValueError, match="an outcome is"):
        Outcome(status)


@pytest.mark.parametrize("reason", ["", "550 5.1.1 a@example.org", "Upstream", "a" * 41])
def test_a_reason_is_a_code_and_nothing_a_server_said(reason: str) -> None:
    with pytest.raises(ValueError, match="a reason is a code"):
        Outcome(SendStatus.NOT_SENT, reason)


def test_tags_tell_deployments_and_owners_apart_and_name_nobody() -> None:
    logins = (Deployment("me", "https://a"), Deployment("me", "https://b"), Deployment("you", "https://a"))
    assert len({each.tag for each in logins}) == 3
    owners = (Owner("i", "s"), Owner("is", ""), Owner("i", "t"))
    assert len({each.owner_tag(owner) for each in logins for owner in owners}) == 9
    assert "me@" not in repr(Deployment("me@example.org"))


def test_nothing_that_identifies_a_person_is_in_a_repr() -> None:
    assert "example.org" not in repr(MESSAGE)
    assert "body" not in repr(MESSAGE)
    assert Nonce("0" * 32).value not in repr(Nonce("0" * 32))
