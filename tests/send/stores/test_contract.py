"""What every store promises, checked on every store."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

import pytest

from mailgate.errors import DigestMismatch, PreparedNotFound, SendLimitReached, StoreUnavailable
from mailgate.limits import COMPOSED_BYTES_MAX
from mailgate.send.record import Digest, Nonce, PreparedId, SendStatus, SentCopy
from mailgate.send.store import StoredClaim, StoredOutcome, StoredRecord
from tests.send.stores.harness import CONTENT, DEADLINE, KEPT, LIFETIME, OWNER, Subject, a_message

HOUR = 3600.0
WEEK = 7 * 24 * HOUR
ACCEPTED = StoredOutcome(SendStatus.ACCEPTED)
FINISHED = [SendStatus.ACCEPTED, SendStatus.REJECTED, SendStatus.NOT_SENT, SendStatus.UNKNOWN]
OTHER_DIGEST = Digest("0" * 64)


# --- preparing -------------------------------------------------------------------------------------------------


async def test_what_was_prepared_is_claimed_octet_for_octet(subject: Subject) -> None:
    message = await subject.prepared()
    assert await subject.claim(message) == StoredClaim(CONTENT)


async def test_the_largest_message_fits(subject: Subject) -> None:
    large = a_message(bytes(range(256)) * ((COMPOSED_BYTES_MAX + 8192) // 256))
    await subject.store.prepare(large, expires_seconds=LIFETIME)
    assert await subject.claim(large) == StoredClaim(large.content)


async def test_a_message_expires_a_quarter_of_an_hour_later_by_the_clock_of_the_store(subject: Subject) -> None:
    expires = await subject.store.prepare(a_message(), expires_seconds=LIFETIME)
    assert abs((expires - datetime.now(UTC)).total_seconds() - LIFETIME) < 30


async def test_preparing_never_writes_over_a_record(subject: Subject) -> None:
    message = await subject.prepared()
    with pytest.raises(StoreUnavailable):
        await subject.store.prepare(message, expires_seconds=LIFETIME)
    nonce = Nonce.new()
    await subject.claim(message, nonce)
    with pytest.raises(StoreUnavailable):
        await subject.store.prepare(message, expires_seconds=LIFETIME)
    assert await subject.store.begin(message.prepared_id, nonce)


# --- not found: one answer -------------------------------------------------------------------------------------


async def test_an_unknown_id_is_not_found(subject: Subject) -> None:
    with pytest.raises(PreparedNotFound):
        await subject.claim(a_message())


async def test_somebody_elses_message_is_not_found_and_not_consumed(subject: Subject) -> None:
    message = await subject.prepared()
    with pytest.raises(PreparedNotFound):
        await subject.claim(message, owner="b" * 64)
    assert isinstance(await subject.claim(message), StoredClaim)
    with pytest.raises(PreparedNotFound):
        await subject.claim(message, owner="b" * 64)


async def test_another_deployments_message_is_not_found(subject: Subject) -> None:
    message = await subject.prepared()
    with pytest.raises(PreparedNotFound):
        await subject.claim(message, store=subject.another("0" * 32))


async def test_a_message_can_be_claimed_until_it_expires_and_no_longer(subject: Subject) -> None:
    message = await subject.prepared()
    subject.backdoor.age(LIFETIME - 5)
    late = await subject.prepared()
    assert isinstance(await subject.claim(message), StoredClaim)
    subject.backdoor.age(LIFETIME + 1)
    with pytest.raises(PreparedNotFound):
        await subject.claim(late)
    assert subject.backdoor.inside(late.prepared_id) is None


@pytest.mark.parametrize("state", ["prepared", "claimed", "begun", "finished"])
async def test_an_evicted_record_is_not_found(subject: Subject, state: str) -> None:
    nonce = Nonce.new()
    message = await (subject.prepared() if state == "prepared" else getattr(subject, state)(nonce))
    subject.backdoor.forget(message.prepared_id)
    with pytest.raises(PreparedNotFound):
        await subject.claim(message)
    assert not await subject.store.begin(message.prepared_id, nonce)
    assert await subject.store.settle(message.prepared_id, nonce, ACCEPTED) is None


# --- the digest ------------------------------------------------------------------------------------------------


async def test_another_digest_consumes_nothing(subject: Subject) -> None:
    message = await subject.prepared()
    with pytest.raises(DigestMismatch):
        await subject.claim(message, digest=OTHER_DIGEST)
    assert isinstance(await subject.claim(message), StoredClaim)


async def test_another_digest_learns_nothing_from_a_finished_record(subject: Subject) -> None:
    message = await subject.finished(Nonce.new())
    with pytest.raises(DigestMismatch):
        await subject.claim(message, digest=OTHER_DIGEST)
    assert (await subject.recorded(message)).status is SendStatus.ACCEPTED


# --- one claim -------------------------------------------------------------------------------------------------


async def test_of_a_hundred_claims_at_once_one_wins(subject: Subject) -> None:
    message = await subject.prepared()
    other = subject.another()
    answers = await asyncio.gather(*(subject.claim(message, store=other if turn % 2 else None) for turn in range(100)))
    assert sum(isinstance(answer, StoredClaim) for answer in answers) == 1
    assert {answer.status for answer in answers if isinstance(answer, StoredRecord)} == {SendStatus.CLAIMED}


async def test_the_same_attempt_may_ask_again(subject: Subject) -> None:
    nonce = Nonce.new()
    message = await subject.claimed(nonce)
    assert await subject.claim(message, nonce) == StoredClaim(CONTENT)
    assert await subject.store.begin(message.prepared_id, nonce)
    assert await subject.store.begin(message.prepared_id, nonce)
    first = await subject.store.settle(message.prepared_id, nonce, ACCEPTED)
    assert first == await subject.store.settle(message.prepared_id, nonce, StoredOutcome(SendStatus.UNKNOWN))
    assert first is not None
    assert first.status is SendStatus.ACCEPTED


async def test_a_late_claim_of_the_same_attempt_takes_nothing_back(subject: Subject) -> None:
    nonce = Nonce.new()
    message = await subject.begun(nonce)
    answer = await subject.claim(message, nonce)
    assert isinstance(answer, StoredRecord)
    assert answer.status is SendStatus.SUBMITTING


@pytest.mark.parametrize("status", FINISHED)
async def test_a_repeat_is_told_the_outcome(subject: Subject, status: SendStatus) -> None:
    message = await subject.finished(Nonce.new(), status)
    answer = await subject.recorded(message)
    assert (answer.status, answer.kept, answer.sent_copy) == (status, KEPT, SentCopy.NONE)
    assert abs((answer.at - datetime.now(UTC)).total_seconds()) < 30


async def test_reason_and_refused_recipients_are_kept(subject: Subject) -> None:
    nonce = Nonce.new()
    message = await subject.claimed(nonce)
    outcome = StoredOutcome(SendStatus.REJECTED, "upstream_refused", b"\x00sealed\xff")
    told = await subject.store.settle(message.prepared_id, nonce, outcome)
    assert told == await subject.recorded(message)
    assert (told.status, told.reason, told.refused) == (outcome.status, outcome.reason, outcome.refused)


# --- the fence before DATA -------------------------------------------------------------------------------------


async def test_only_the_attempt_that_claimed_may_begin(subject: Subject) -> None:
    nonce = Nonce.new()
    message = await subject.prepared()
    assert not await subject.store.begin(message.prepared_id, nonce)
    assert isinstance(await subject.claim(message, nonce), StoredClaim)
    assert not await subject.store.begin(message.prepared_id, Nonce.new())
    assert await subject.store.begin(message.prepared_id, nonce)
    assert not await subject.store.begin(message.prepared_id, Nonce.new())


@pytest.mark.parametrize("status", FINISHED)
async def test_nothing_begins_after_an_outcome(subject: Subject, status: SendStatus) -> None:
    nonce = Nonce.new()
    message = await subject.finished(nonce, status)
    assert not await subject.store.begin(message.prepared_id, nonce)
    assert (await subject.recorded(message)).status is status


async def test_a_claim_past_its_deadline_is_abandoned_for_good(subject: Subject) -> None:
    nonce = Nonce.new()
    message = await subject.claimed(nonce)
    subject.backdoor.age(DEADLINE - 5)
    assert (await subject.recorded(message)).status is SendStatus.CLAIMED
    subject.backdoor.age(6)
    assert (await subject.recorded(message)).status is SendStatus.NOT_SENT
    assert not await subject.store.begin(message.prepared_id, nonce)
    told = await subject.store.settle(message.prepared_id, nonce, ACCEPTED)
    assert told is not None
    assert told.status is SendStatus.NOT_SENT


async def test_an_attempt_past_its_deadline_cannot_begin(subject: Subject) -> None:
    nonce = Nonce.new()
    message = await subject.claimed(nonce)
    subject.backdoor.age(DEADLINE + 1)
    assert not await subject.store.begin(message.prepared_id, nonce)
    assert (await subject.recorded(message)).status is SendStatus.NOT_SENT


async def test_a_submission_past_its_deadline_reads_as_unknown_until_its_attempt_says_more(subject: Subject) -> None:
    nonce = Nonce.new()
    message = await subject.begun(nonce)
    assert (await subject.recorded(message)).status is SendStatus.SUBMITTING
    subject.backdoor.age(DEADLINE + 1)
    assert (await subject.recorded(message)).status is SendStatus.UNKNOWN
    assert not await subject.store.begin(message.prepared_id, nonce)
    assert await subject.store.settle(message.prepared_id, nonce, ACCEPTED)
    assert (await subject.recorded(message)).status is SendStatus.ACCEPTED


# --- the outcome -----------------------------------------------------------------------------------------------


async def test_another_attempt_cannot_settle(subject: Subject) -> None:
    message = await subject.begun(Nonce.new())
    told = await subject.store.settle(message.prepared_id, Nonce.new(), StoredOutcome(SendStatus.NOT_SENT))
    assert told is not None
    assert told.status is SendStatus.SUBMITTING


async def test_a_prepared_message_has_no_outcome(subject: Subject) -> None:
    message = await subject.prepared()
    assert await subject.store.settle(message.prepared_id, Nonce.new(), ACCEPTED) is None
    assert isinstance(await subject.claim(message), StoredClaim)


async def test_what_became_of_the_sent_copy_is_added_by_the_attempt_that_sent(subject: Subject) -> None:
    nonce = Nonce.new()
    message = await subject.begun(nonce)
    note = subject.store.note_copy
    assert not await note(message.prepared_id, nonce, SentCopy.SAVED)
    await subject.store.settle(message.prepared_id, nonce, ACCEPTED)
    assert not await note(message.prepared_id, Nonce.new(), SentCopy.FAILED)
    assert await note(message.prepared_id, nonce, SentCopy.SAVED)
    assert (await subject.recorded(message)).sent_copy is SentCopy.SAVED
    assert not await note(PreparedId.new(), nonce, SentCopy.SAVED)


# --- what stays, and for how long ------------------------------------------------------------------------------


async def test_the_content_is_there_while_it_may_be_needed_and_no_longer(subject: Subject) -> None:
    def content_of(prepared_id: PreparedId) -> bytes:
        inside = subject.backdoor.inside(prepared_id)
        assert inside is not None
        return inside.content

    nonce = Nonce.new()
    prepared = await subject.prepared()
    assert content_of(prepared.prepared_id)
    claimed = await subject.claimed(nonce)
    assert content_of(claimed.prepared_id)
    await subject.store.settle(claimed.prepared_id, nonce, StoredOutcome(SendStatus.NOT_SENT))
    assert not content_of(claimed.prepared_id)
    assert not content_of((await subject.begun(nonce)).prepared_id)


async def test_an_abandoned_claim_leaves_no_content(subject: Subject) -> None:
    message = await subject.claimed(Nonce.new())
    subject.backdoor.age(DEADLINE + 1)
    await subject.recorded(message)
    inside = subject.backdoor.inside(message.prepared_id)
    assert inside is not None
    assert (inside.status, inside.content) == ("not_sent", b"")


@pytest.mark.parametrize("state", ["claimed", "begun", "finished"])
async def test_a_record_is_forgotten_after_a_week(subject: Subject, state: str) -> None:
    message = await getattr(subject, state)(Nonce.new())
    subject.backdoor.age(WEEK - 60)
    assert isinstance(await subject.claim(message), StoredRecord)
    subject.backdoor.age(WEEK + 1)
    with pytest.raises(PreparedNotFound):
        await subject.claim(message)


async def test_a_finished_record_is_kept_for_a_week_from_its_outcome_and_asking_does_not_prolong_it(
    subject: Subject,
) -> None:
    def about(seconds: float) -> bool:
        # A second more, because the store's clock and ours need not tick together.
        return seconds - 60 < subject.backdoor.lifetime(message.prepared_id) <= seconds + 1

    nonce = Nonce.new()
    message = await subject.prepared()
    assert about(LIFETIME)
    await subject.claim(message, nonce)
    assert about(WEEK)
    subject.backdoor.age(DEADLINE - 30)
    assert await subject.store.begin(message.prepared_id, nonce)
    assert about(WEEK)
    subject.backdoor.age(HOUR)
    await subject.store.settle(message.prepared_id, nonce, ACCEPTED)
    assert about(WEEK)
    subject.backdoor.age(HOUR)
    assert await subject.store.note_copy(message.prepared_id, nonce, SentCopy.SAVED)
    await subject.store.settle(message.prepared_id, nonce, ACCEPTED)
    assert isinstance(await subject.claim(message), StoredRecord)
    assert about(WEEK - HOUR)


# --- the hourly limit ------------------------------------------------------------------------------------------


async def test_the_limit_refuses_without_consuming_and_looks_back_on_one_hour(subject: Subject) -> None:
    for _ in range(2):
        assert isinstance(await subject.claim(await subject.prepared(), limit=2), StoredClaim)
    third = await subject.prepared()
    with pytest.raises(SendLimitReached):
        await subject.claim(third, limit=2)
    subject.backdoor.age(LIFETIME - 5)
    with pytest.raises(SendLimitReached):
        await subject.claim(third, limit=2)
    subject.backdoor.age(HOUR)
    assert isinstance(await subject.claim(await subject.prepared(), limit=2), StoredClaim)


async def test_every_claim_counts_whatever_came_of_it_and_a_repeat_does_not(subject: Subject) -> None:
    nonce = Nonce.new()
    message = await subject.claimed(nonce)
    await subject.claim(message, nonce)
    await subject.store.settle(message.prepared_id, nonce, StoredOutcome(SendStatus.NOT_SENT))
    assert (await subject.recorded(message)).status is SendStatus.NOT_SENT
    assert isinstance(await subject.claim(await subject.prepared(), limit=2), StoredClaim)
    with pytest.raises(SendLimitReached):
        await subject.claim(await subject.prepared(), limit=2)


async def test_the_limit_holds_for_claims_at_once(subject: Subject) -> None:
    messages = [await subject.prepared() for _ in range(8)]
    answers = await asyncio.gather(*(subject.claim(each, limit=3) for each in messages), return_exceptions=True)
    assert sum(isinstance(answer, StoredClaim) for answer in answers) == 3
    assert sum(isinstance(answer, SendLimitReached) for answer in answers) == 5


async def test_a_repeat_is_answered_also_at_the_limit(subject: Subject) -> None:
    message = await subject.finished(Nonce.new())
    assert isinstance(await subject.claim(message, limit=1), StoredRecord)


async def test_deployments_do_not_share_a_limit(subject: Subject) -> None:
    await subject.claimed(Nonce.new())
    other = subject.another("0" * 32)
    assert isinstance(
        await subject.claim(await subject.prepared(store=other), store=other, limit=1_000_000), StoredClaim
    )
    assert isinstance(await subject.claim(await subject.prepared(), limit=2), StoredClaim)


# --- looking ---------------------------------------------------------------------------------------------------


async def test_looking_shows_the_owner_what_is_prepared_and_consumes_nothing(subject: Subject) -> None:
    message = await subject.prepared()
    look = subject.store.look
    assert await look(message.prepared_id, OWNER) == CONTENT
    assert await look(message.prepared_id, "b" * 64) is None
    assert await look(PreparedId.new(), OWNER) is None
    await subject.claim(message)
    assert await look(message.prepared_id, OWNER) is None
    expired = await subject.prepared()
    subject.backdoor.age(LIFETIME + 1)
    assert await look(expired.prepared_id, OWNER) is None


# --- clocks, loops, readiness ----------------------------------------------------------------------------------


async def test_a_process_whose_clock_is_wrong_does_no_harm(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + 24 * HOUR)
    message = await subject.claimed(Nonce.new())
    monkeypatch.setattr(time, "time", lambda: right() - 24 * HOUR)
    assert (await subject.recorded(message)).status is SendStatus.CLAIMED


async def test_a_usable_store_passes_its_check(subject: Subject) -> None:
    message = await subject.prepared()
    await subject.store.check()
    assert isinstance(await subject.claim(message), StoredClaim)


async def test_a_store_serves_more_than_one_event_loop(subject: Subject) -> None:
    nonce = Nonce.new()
    message = await subject.claimed(nonce)

    async def begin() -> bool:
        return await subject.store.begin(message.prepared_id, nonce)

    assert await asyncio.to_thread(lambda: asyncio.run(begin()))
    assert await begin()
