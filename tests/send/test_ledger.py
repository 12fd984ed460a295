"""The ledger: sealed on the way in, verified on the way out, truthful about what it cannot use."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mailgate.errors import DigestMismatch, PreparedNotFound, SendLimitReached
from mailgate.limits import PREPARED_SECONDS
from mailgate.send.ledger import AlreadyConsumed, Claimed, SendLedger
from mailgate.send.record import (
    Deployment,
    Digest,
    Envelope,
    Nonce,
    Outcome,
    Owner,
    PreparedId,
    PreparedMessage,
    RefusedRecipient,
    SendStatus,
    SentCopy,
)
from mailgate.send.sealing import KeyRing
from mailgate.send.sqlite_store import SqliteStore

HERE = Deployment("me@example.org", "https://mail.example.org/mcp")
OWNER = Owner("static", "0123")
OLD, NEW = b"o" * 32, b"n" * 32
ENVELOPE = Envelope("me@example.org", ("a@example.org",), (), ("secret@example.org",))


class Desk:
    """A ledger over a file, and the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = SqliteStore(path, HERE.tag)
        self.ledger = self.opened()

    def opened(self, *keys: bytes, deployment: Deployment = HERE, limit: int | None = None) -> SendLedger:
        """Another process' ledger over the same file."""
        return SendLedger(
            self.store, KeyRing(keys or (OLD,), deployment), deployment, limit_per_hour=limit, deadline_seconds=120.0
        )

    async def prepared(self) -> PreparedMessage:
        """A message that is prepared."""
        message = PreparedMessage(PreparedId.new(), ENVELOPE, b"Subject: private\r\n\r\nbody\r\n", "<1@example.org>")
        await self.ledger.prepare(message, OWNER)
        return message

    def change(self, statement: str, *values: object) -> None:
        """Behind the ledger's back."""
        with sqlite3.connect(self.path) as connection:
            connection.execute(statement, values)
        connection.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path / "store.sqlite3")
    yield desk
    await desk.ledger.aclose()


async def test_a_claim_gives_back_the_very_message(desk: Desk) -> None:
    message = await desk.prepared()
    assert await desk.ledger.claim(message.prepared_id, OWNER, message.digest, Nonce.new()) == Claimed(message)


async def test_nothing_of_the_message_can_be_read_in_the_store(desk: Desk) -> None:
    message = await desk.prepared()
    nonce = Nonce.new()
    stored = b"".join(file.read_bytes() for file in desk.path.parent.iterdir())
    assert HERE.tag.encode() in stored
    await desk.ledger.claim(message.prepared_id, OWNER, message.digest, nonce)
    refused = (RefusedRecipient("secret@example.org", 550),)
    await desk.ledger.settle(message.prepared_id, OWNER, nonce, Outcome(SendStatus.REJECTED, None, refused))
    stored += b"".join(file.read_bytes() for file in desk.path.parent.iterdir())
    for secret in (b"example.org", b"private", b"body"):
        assert secret not in stored


async def test_a_repeat_learns_the_message_id_and_the_refused_recipients(desk: Desk) -> None:
    message, nonce = await desk.prepared(), Nonce.new()
    await desk.ledger.claim(message.prepared_id, OWNER, message.digest, nonce)
    refused = (RefusedRecipient("a@example.org", 550), RefusedRecipient("secret@example.org", 451))
    outcome = Outcome(SendStatus.REJECTED, "upstream_refused", refused)
    told = await desk.ledger.settle(message.prepared_id, OWNER, nonce, outcome)
    assert told is not None
    assert (told.status, told.reason, told.refused, told.message_id) == (
        SendStatus.REJECTED,
        "upstream_refused",
        refused,
        "<1@example.org>",
    )
    again = await desk.opened().claim(message.prepared_id, OWNER, message.digest, Nonce.new())
    assert again == AlreadyConsumed(told)


async def test_the_sent_copy_becomes_part_of_the_record(desk: Desk) -> None:
    message, nonce = await desk.prepared(), Nonce.new()
    await desk.ledger.claim(message.prepared_id, OWNER, message.digest, nonce)
    assert await desk.ledger.begin(message.prepared_id, nonce)
    await desk.ledger.settle(message.prepared_id, OWNER, nonce, Outcome(SendStatus.ACCEPTED))
    assert await desk.ledger.note_copy(message.prepared_id, nonce, SentCopy.SAVED)
    again = await desk.ledger.claim(message.prepared_id, OWNER, message.digest, Nonce.new())
    assert isinstance(again, AlreadyConsumed)
    assert (again.record.status, again.record.sent_copy) == (SendStatus.ACCEPTED, SentCopy.SAVED)


@pytest.mark.parametrize("owner", [Owner("static", "4567"), Owner("local", "0123")])
async def test_only_the_very_owner_finds_it(desk: Desk, owner: Owner) -> None:
    message = await desk.prepared()
    with pytest.raises(PreparedNotFound):
        await desk.ledger.claim(message.prepared_id, owner, message.digest, Nonce.new())
    assert await desk.ledger.look(message.prepared_id, owner) is None


async def test_it_is_not_found_under_another_public_url(desk: Desk) -> None:
    message = await desk.prepared()
    moved = desk.opened(deployment=Deployment(HERE.login, "https://other.example.org/mcp"))
    with pytest.raises(PreparedNotFound):
        await moved.claim(message.prepared_id, OWNER, message.digest, Nonce.new())


async def test_a_wrong_digest_and_the_limit_consume_nothing(desk: Desk) -> None:
    message, other = await desk.prepared(), await desk.prepared()
    with pytest.raises(DigestMismatch):
        await desk.ledger.claim(message.prepared_id, OWNER, Digest("0" * 64), Nonce.new())
    limited = desk.opened(limit=1)
    assert isinstance(await limited.claim(message.prepared_id, OWNER, message.digest, Nonce.new()), Claimed)
    with pytest.raises(SendLimitReached):
        await limited.claim(other.prepared_id, OWNER, other.digest, Nonce.new())
    assert isinstance(await desk.ledger.claim(other.prepared_id, OWNER, other.digest, Nonce.new()), Claimed)


async def test_looking_tells_the_envelope_and_consumes_nothing(desk: Desk) -> None:
    message = await desk.prepared()
    assert await desk.ledger.look(message.prepared_id, OWNER) == ENVELOPE
    assert isinstance(await desk.ledger.claim(message.prepared_id, OWNER, message.digest, Nonce.new()), Claimed)
    assert await desk.ledger.look(message.prepared_id, OWNER) is None


async def test_it_expires_a_quarter_of_an_hour_later(desk: Desk) -> None:
    message = await desk.prepared()
    desk.change("UPDATE send SET ends = ends - ?", round(PREPARED_SECONDS * 1000))
    with pytest.raises(PreparedNotFound):
        await desk.ledger.claim(message.prepared_id, OWNER, message.digest, Nonce.new())


# --- a store that was tampered with ----------------------------------------------------------------------------


async def test_content_that_was_altered_is_never_sent_and_so_recorded(desk: Desk) -> None:
    message = await desk.prepared()
    desk.change("UPDATE send SET content = x'00'")
    await _ends_as(desk, message, SendStatus.NOT_SENT, "store_unavailable")


async def test_content_of_another_record_is_never_sent(desk: Desk) -> None:
    message, other = await desk.prepared(), await desk.prepared()
    desk.change(
        "UPDATE send SET content = (SELECT content FROM send WHERE id = ?) WHERE id = ?",
        other.prepared_id.value,
        message.prepared_id.value,
    )
    await _ends_as(desk, message, SendStatus.NOT_SENT, "store_unavailable")


async def test_a_digest_that_was_exchanged_does_not_match_the_message(desk: Desk) -> None:
    message = await desk.prepared()
    wanted = Digest("0" * 64)
    desk.change("UPDATE send SET digest = ?", wanted.value)
    with pytest.raises(DigestMismatch):
        await desk.ledger.claim(message.prepared_id, OWNER, message.digest, Nonce.new())
    answer = await desk.ledger.claim(message.prepared_id, OWNER, wanted, Nonce.new())
    assert isinstance(answer, AlreadyConsumed)
    assert (answer.record.status, answer.record.reason) == (SendStatus.NOT_SENT, "digest_mismatch")


async def test_a_message_sealed_with_a_key_that_is_gone_is_not_sent(desk: Desk) -> None:
    message = await desk.prepared()
    ledger = desk.opened(NEW)
    assert await ledger.look(message.prepared_id, OWNER) is None
    answer = await ledger.claim(message.prepared_id, OWNER, message.digest, Nonce.new())
    assert isinstance(answer, AlreadyConsumed)
    assert (answer.record.status, answer.record.message_id) == (SendStatus.NOT_SENT, None)


async def test_a_message_sealed_with_the_older_key_of_the_ring_is_sent(desk: Desk) -> None:
    message = await desk.prepared()
    ledger = desk.opened(NEW, OLD)
    assert await ledger.claim(message.prepared_id, OWNER, message.digest, Nonce.new()) == Claimed(message)


async def test_refused_recipients_that_do_not_open_are_left_out(desk: Desk) -> None:
    message, nonce = await desk.prepared(), Nonce.new()
    await desk.ledger.claim(message.prepared_id, OWNER, message.digest, nonce)
    outcome = Outcome(SendStatus.REJECTED, None, (RefusedRecipient("a@example.org", 550),))
    await desk.ledger.settle(message.prepared_id, OWNER, nonce, outcome)
    desk.change("UPDATE send SET refused = x'0102'")
    answer = await desk.ledger.claim(message.prepared_id, OWNER, message.digest, Nonce.new())
    assert isinstance(answer, AlreadyConsumed)
    assert answer.record == replace(answer.record, status=SendStatus.REJECTED, refused=())


async def test_a_store_that_was_rolled_back_gives_nothing_out_twice_in_one_process(desk: Desk) -> None:
    message = await desk.prepared()
    with closing(sqlite3.connect(desk.path)) as connection:
        before = connection.execute("SELECT content FROM send").fetchone()[0]
    assert isinstance(await desk.ledger.claim(message.prepared_id, OWNER, message.digest, Nonce.new()), Claimed)
    desk.change("UPDATE send SET status = 'prepared', nonce = NULL, content = ?", before)
    await _ends_as(desk, message, SendStatus.UNKNOWN, None)


async def _ends_as(desk: Desk, message: PreparedMessage, status: SendStatus, reason: str | None) -> None:
    for _ in range(2):
        answer = await desk.ledger.claim(message.prepared_id, OWNER, message.digest, Nonce.new())
        assert isinstance(answer, AlreadyConsumed)
        assert (answer.record.status, answer.record.reason) == (status, reason)
