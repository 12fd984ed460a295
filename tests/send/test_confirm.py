"""mail_send_confirmed: at most one dot, a truthful answer, and a record that a repeat is told.

Dots are counted where a server would see them, never by what the product says.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from mailgate.errors import (
    DigestMismatch,
    MailgateError,
    OutcomeUnknown,
    PreparedNotFound,
    RecipientNotAllowed,
    SendLimitReached,
    SpecialUseAmbiguous,
    SpecialUseMissing,
    StoreUnavailable,
    UpstreamBusy,
    UpstreamRefused,
)
from mailgate.imap.values import FolderName
from mailgate.mime.composition import Composition
from mailgate.send.confirm import Confirmation, SendReport, send_confirmed
from mailgate.send.prepare import Review, prepare_send
from mailgate.send.recipients import AllowedRecipients
from mailgate.send.record import Digest, Owner, PreparedId, SendStatus, SentCopy
from mailgate.send.submission import (
    Accepted,
    NotSent,
    RefusedRecipient,
    Rejected,
    SmtpReply,
    Submission,
    SubmissionStage,
    Unknown,
)
from tests.send.fakes import OWNER, FakeSubmitter, Flow, failing, flow, held
from tests.write.fakes import WritableFakeFolder, WritableFakeMailbox, raising

LETTER = Composition(to=("a@example.com",), cc=("c@example.com",), bcc=("b@example.com",), subject="S", text="Hello")


def box() -> WritableFakeMailbox:
    made = WritableFakeMailbox(WritableFakeFolder(), WritableFakeFolder("Sent"))
    made.role_names["sent"] = "Sent"
    return made


async def prepared(at: Flow) -> Review:
    return await prepare_send(at.desk, LETTER, OWNER)


async def confirm(
    at: Flow,
    review: Review,
    *,
    digest: Digest | None = None,
    owner: Owner = OWNER,
    append_sent: bool = False,
    mailbox: WritableFakeMailbox | None = None,
) -> SendReport:
    confirmation = Confirmation(review.prepared_id, digest or review.digest, append_sent)
    return await send_confirmed(at.desk, mailbox or box(), confirmation, owner)


def codes(report: SendReport) -> list[str]:
    return [warning.code for warning in report.warnings]


# --- the ordinary way --------------------------------------------------------------------------------------------


async def test_what_was_prepared_is_sent_once_and_to_everybody_in_order() -> None:
    at = flow()
    review = await prepared(at)
    stored = await at.desk.ledger.look(review.prepared_id, OWNER)
    report = await confirm(at, review)
    assert report.record.status is SendStatus.ACCEPTED
    assert report.record.message_id == review.message_id
    assert (report.record.reason, report.record.refused, report.warnings) == (None, (), ())
    ((recipients, message),) = at.submitter.dots
    assert recipients == ("a@example.com", "c@example.com", "b@example.com")
    assert stored is not None
    assert at.submitter.envelopes[0].sender == "owner@example.org"
    assert len(message) == review.size
    assert b"b@example.com" not in message
    assert at.store.calls[-3:] == ["claim", "begin", "settle"]


async def test_a_repeat_returns_the_record_and_never_reaches_smtp() -> None:
    at = flow()
    review = await prepared(at)
    first = await confirm(at, review)
    for append_sent in (False, True):
        mailbox = box()
        again = await confirm(at, review, append_sent=append_sent, mailbox=mailbox)
        assert again == first
        assert mailbox.appended == []
    assert at.submitter.attempts == 1


async def test_a_hundred_parallel_confirms_send_once() -> None:
    reached, go_on, step = held()
    at = flow(FakeSubmitter(at_dot=step))
    review = await prepared(at)
    calls = [asyncio.create_task(confirm(at, review)) for _ in range(100)]
    await reached.wait()
    while sum(call.done() for call in calls) < 99:
        await asyncio.sleep(0)
    go_on.set()
    reports = await asyncio.gather(*calls)
    statuses = sorted(report.record.status.public for report in reports)
    assert statuses == ["accepted"] + ["sending"] * 99
    assert len(at.submitter.dots) == at.submitter.attempts == 1
    assert codes(next(each for each in reports if each.record.status is SendStatus.SUBMITTING)) == ["send_under_way"]


# --- refused without consuming -----------------------------------------------------------------------------------


async def refusal(at: Flow, review: Review, error: type[MailgateError], **how: object) -> None:
    with pytest.raises(error):
        await confirm(at, review, **how)  # type: ignore[arg-type]
    assert at.submitter.attempts == 0


async def sends_now(at: Flow, review: Review) -> None:
    assert (await confirm(at, review)).record.status is SendStatus.ACCEPTED
    assert len(at.submitter.dots) == 1


async def test_a_wrong_digest_consumes_nothing() -> None:
    at = flow()
    review = await prepared(at)
    await refusal(at, review, DigestMismatch, digest=Digest("0" * 64))
    await sends_now(at, review)


@pytest.mark.parametrize("owner", [Owner("issuer", "other"), Owner("other", "subject")])
async def test_it_is_not_there_for_anybody_else(owner: Owner) -> None:
    at = flow()
    review = await prepared(at)
    await refusal(at, review, PreparedNotFound, owner=owner)
    await sends_now(at, review)


async def test_an_id_that_nobody_was_given_is_not_found() -> None:
    at = flow()
    review = await prepared(at)
    await refusal(at, replace(review, prepared_id=PreparedId.new()), PreparedNotFound)
    at.store.now += timedelta(minutes=15)
    await refusal(at, review, PreparedNotFound)


async def test_the_limit_consumes_nothing() -> None:
    at = flow(limit=1)
    first, second = await prepared(at), await prepared(at)
    await confirm(at, first)
    with pytest.raises(SendLimitReached):
        await confirm(at, second)
    at.store.claims = 0
    assert (await confirm(at, second)).record.status is SendStatus.ACCEPTED


async def test_a_list_that_was_narrowed_since_consumes_nothing() -> None:
    at = flow()
    review = await prepared(at)
    narrow = replace(at, desk=replace(at.desk, allowed=AllowedRecipients(("a@example.com", "c@example.com"))))
    await refusal(narrow, review, RecipientNotAllowed)
    await sends_now(at, review)
    # What has been sent has been sent: a repeat is told so.
    assert (await confirm(narrow, review)).record.status is SendStatus.ACCEPTED


@pytest.mark.parametrize("error", [SpecialUseMissing, UpstreamBusy])
async def test_without_the_one_sent_folder_a_copy_is_refused_before_the_claim(error: type[MailgateError]) -> None:
    at = flow()
    review = await prepared(at)
    mailbox = box()

    async def resolve(argument: str) -> FolderName:
        raise error

    mailbox.resolve = resolve  # type: ignore[method-assign]
    await refusal(at, review, error, append_sent=True, mailbox=mailbox)
    assert "claim" not in at.store.calls
    await sends_now(at, review)


@pytest.mark.parametrize("error", [SpecialUseMissing, SpecialUseAmbiguous])
async def test_without_the_one_sent_folder_the_advice_is_one_that_the_tool_can_take(error: type[MailgateError]) -> None:
    at = flow()
    review = await prepared(at)
    mailbox = box()

    async def resolve(argument: str) -> FolderName:
        raise error

    mailbox.resolve = resolve  # type: ignore[method-assign]
    with pytest.raises(error) as raised:
        await confirm(at, review, append_sent=True, mailbox=mailbox)
    assert "MAIL_FOLDER_ROLES" in raised.value.next_step
    assert "append_sent false" in raised.value.next_step
    assert "Name the folder" not in raised.value.next_step


@pytest.mark.parametrize("applied", [False, True])
async def test_a_claim_in_doubt_sends_nothing(applied: bool) -> None:
    at = flow()
    review = await prepared(at)
    setattr(at.store, "after" if applied else "before", failing("claim"))
    await refusal(at, review, StoreUnavailable)
    at.store.before = at.store.after = lambda step: None
    report = await confirm(at, review)
    assert report.record.status.public == ("sending" if applied else "accepted")
    if applied:
        at.store.now += timedelta(seconds=31)
        assert (await confirm(at, review)).record.status is SendStatus.NOT_SENT
        assert at.submitter.attempts == 0


# --- outcomes ----------------------------------------------------------------------------------------------------

NO = SmtpReply(550)


@pytest.mark.parametrize(
    ("submission", "status", "reason"),
    [
        (NotSent(SubmissionStage.CONNECT, "upstream_unavailable"), "not_sent", "upstream_unavailable"),
        (NotSent(SubmissionStage.AUTH, "upstream_auth_failed"), "not_sent", "upstream_auth_failed"),
        (Rejected(SubmissionStage.MAIL, NO), "not_sent", "upstream_refused"),
        (Rejected(SubmissionStage.RCPT, NO, (RefusedRecipient("b@example.com", 550),)), "rejected", "upstream_refused"),
    ],
    ids=str,
)
async def test_what_ends_before_data_is_told_truthfully(submission: Submission, status: str, reason: str) -> None:
    at = flow(FakeSubmitter(early=submission))
    review = await prepared(at)
    report = await confirm(at, review)
    assert (report.record.status.value, report.record.reason) == (status, reason)
    refused = [(each.address, each.code) for each in report.record.refused]
    assert refused == ([("b@example.com", 550)] if status == "rejected" else [])
    assert report.warnings == ()
    assert at.submitter.dots == []
    again = await confirm(at, review)
    assert again == report
    assert at.submitter.attempts == 1


@pytest.mark.parametrize(
    ("submission", "status"),
    [
        (Accepted(SmtpReply(251)), "accepted"),
        (Rejected(SubmissionStage.DATA, NO), "rejected"),
        (Rejected(SubmissionStage.FINAL, SmtpReply(421)), "rejected"),
        (NotSent(SubmissionStage.DATA, "upstream_unavailable"), "not_sent"),
        (Unknown(SubmissionStage.BODY, "upstream_timeout"), "unknown"),
        (Unknown(SubmissionStage.FINAL, "upstream_unavailable"), "unknown"),
    ],
    ids=str,
)
async def test_what_ends_after_data_is_told_truthfully(submission: Submission, status: str) -> None:
    at = flow(FakeSubmitter(late=submission))
    review = await prepared(at)
    report = await confirm(at, review)
    assert report.record.status.value == status
    assert codes(report) == (["look_first"] if status == "unknown" else [])
    assert await confirm(at, review) == report
    assert at.submitter.attempts == 1


async def test_a_fault_of_ours_is_not_sent_before_the_leave_and_unknown_after_it() -> None:
    for submitter, status in (
        (FakeSubmitter(early=KeyError("x")), "not_sent"),
        (FakeSubmitter(late=KeyError("x")), "unknown"),
    ):
        at = flow(submitter)
        report = await confirm(at, await prepared(at))
        assert (report.record.status.value, report.record.reason) == (status, "internal_error")
        assert len(at.faults) == 1


async def test_a_transport_that_ignores_its_deadline_is_ended() -> None:
    forever = asyncio.Event()
    for submitter, status in (
        (FakeSubmitter(at_connect=forever.wait), "not_sent"),
        (FakeSubmitter(at_dot=forever.wait), "unknown"),
    ):
        at = flow(submitter, deadline_seconds=-0.95)
        if status == "unknown":
            # The leave was given just in time.
            at = flow(submitter, deadline_seconds=0.05)
        report = await confirm(at, await prepared(at))
        assert (report.record.status.value, report.record.reason) == (status, "upstream_timeout")


async def test_past_the_deadline_there_is_no_leave_for_data() -> None:
    at = flow(deadline_seconds=-0.5)
    report = await confirm(at, await prepared(at))
    assert report.record.status is SendStatus.NOT_SENT
    assert (at.submitter.dots, at.submitter.refused_leave) == ([], 1)
    assert "begin" not in at.store.calls


# --- the store in between ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("applied", [False, True])
async def test_without_an_acknowledged_leave_there_is_no_data(applied: bool) -> None:
    at = flow()
    review = await prepared(at)
    setattr(at.store, "after" if applied else "before", failing("begin"))
    report = await confirm(at, review)
    assert (report.record.status, report.record.reason) == (SendStatus.NOT_SENT, "store_unavailable")
    assert at.submitter.dots == []


async def test_a_record_that_vanished_before_the_leave_is_the_stores_failure_and_no_timeout() -> None:
    reached, go_on, step = held()
    at = flow(FakeSubmitter(at_connect=step))
    slow = asyncio.create_task(confirm(at, await prepared(at)))
    await reached.wait()
    at.store.records.clear()
    go_on.set()
    report = await slow
    assert (report.record.status, report.record.reason) == (SendStatus.NOT_SENT, "store_unavailable")
    assert codes(report) == ["record_lost"]
    assert at.submitter.dots == []


async def test_a_slow_owner_whose_claim_was_given_up_sends_nothing() -> None:
    reached, go_on, step = held()
    at = flow(FakeSubmitter(at_connect=step))
    review = await prepared(at)
    slow = asyncio.create_task(confirm(at, review))
    await reached.wait()
    at.store.now += timedelta(seconds=31)
    assert (await confirm(at, review)).record.status is SendStatus.NOT_SENT
    go_on.set()
    assert (await slow).record.status is SendStatus.NOT_SENT
    assert (at.submitter.dots, at.submitter.refused_leave) == ([], 1)


async def test_an_outcome_that_cannot_be_stored_is_told_with_a_warning() -> None:
    at = flow()
    review = await prepared(at)
    at.store.before = failing("settle")
    report = await confirm(at, review)
    assert (report.record.status, codes(report)) == (SendStatus.ACCEPTED, ["record_not_saved"])
    at.store.before = lambda step: None
    assert (await confirm(at, review)).record.status.public == "sending"
    at.store.now += timedelta(seconds=31)
    late = await confirm(at, review)
    assert (late.record.status, codes(late)) == (SendStatus.UNKNOWN, ["look_first"])
    assert len(at.submitter.dots) == 1


async def test_an_outcome_whose_first_storing_got_no_answer_is_stored_by_the_second() -> None:
    at = flow()
    review = await prepared(at)
    at.store.after = failing("settle", times=1)
    report = await confirm(at, review)
    assert (report.record.status, report.warnings) == (SendStatus.ACCEPTED, ())


async def test_a_record_that_vanished_meanwhile_leaves_the_own_outcome_and_a_warning() -> None:
    async def evict() -> None:
        at.store.records.clear()

    at = flow(FakeSubmitter(at_dot=evict))
    review = await prepared(at)
    report = await confirm(at, review)
    assert (report.record.status, codes(report)) == (SendStatus.ACCEPTED, ["record_lost"])
    with pytest.raises(PreparedNotFound) as caught:
        await confirm(at, review)
    assert "not sent" not in caught.value.render()


async def test_a_store_that_was_rolled_back_does_not_send_again() -> None:
    at = flow()
    review = await prepared(at)
    before = replace(at.store.only)
    await confirm(at, review)
    at.store.records[review.prepared_id.value] = before
    report = await confirm(at, review)
    assert report.record.status is not SendStatus.ACCEPTED
    assert report.record.status is not SendStatus.REJECTED
    assert len(at.submitter.dots) == at.submitter.attempts == 1


async def test_altered_content_is_not_sent() -> None:
    at = flow()
    review = await prepared(at)
    content = at.store.only.content
    at.store.only.content = content[:-1] + bytes([content[-1] ^ 1])
    report = await confirm(at, review)
    assert report.record.status is SendStatus.NOT_SENT
    assert at.submitter.attempts == 0


# --- who leaves ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["at_connect", "at_dot"])
async def test_a_caller_who_leaves_changes_nothing_about_the_send(moment: str) -> None:
    reached, go_on, step = held()
    at = flow(FakeSubmitter(**{moment: step}))  # type: ignore[arg-type]
    review = await prepared(at)
    leaving = asyncio.create_task(confirm(at, review, append_sent=True))
    await reached.wait()
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    go_on.set()
    await at.desk.aclose()
    assert (at.submitter.closed, at.store.closed) == (True, True)
    report = await confirm(at, review)
    assert (report.record.status, report.record.sent_copy) == (SendStatus.ACCEPTED, SentCopy.SAVED)
    assert len(at.submitter.dots) == 1


async def test_closing_waits_for_what_is_under_way() -> None:
    reached, go_on, step = held()
    at = flow(FakeSubmitter(at_dot=step))
    review = await prepared(at)
    sending = asyncio.create_task(confirm(at, review))
    await reached.wait()
    closing = asyncio.create_task(at.desk.aclose())
    await asyncio.sleep(0)
    assert not closing.done()
    assert not at.store.closed
    go_on.set()
    await closing
    assert (await sending).record.status is SendStatus.ACCEPTED
    assert at.desk.attempts == set()


# --- the copy ------------------------------------------------------------------------------------------------------


async def test_the_copy_is_the_same_octets_in_the_one_sent_folder() -> None:
    at, mailbox = flow(), box()
    review = await prepared(at)
    report = await confirm(at, review, append_sent=True, mailbox=mailbox)
    assert report.record.sent_copy is SentCopy.SAVED
    ((folder, message, flags),) = mailbox.appended
    assert (folder, flags) == (FolderName("Sent"), ("\\Seen",))
    assert message == at.submitter.dots[0][1]
    assert (await confirm(at, review)).record.sent_copy is SentCopy.SAVED


async def test_without_being_asked_for_no_copy_is_made() -> None:
    at, mailbox = flow(), box()
    report = await confirm(at, await prepared(at), mailbox=mailbox)
    assert (report.record.sent_copy, mailbox.appended, mailbox.calls) == (SentCopy.NONE, [], [])


@pytest.mark.parametrize("submission", [Rejected(SubmissionStage.FINAL, NO), Unknown(SubmissionStage.FINAL, "x")])
async def test_what_was_not_accepted_is_not_filed(submission: Submission) -> None:
    at, mailbox = flow(FakeSubmitter(late=submission)), box()
    report = await confirm(at, await prepared(at), append_sent=True, mailbox=mailbox)
    assert (report.record.sent_copy, mailbox.appended) == (SentCopy.NONE, [])


@pytest.mark.parametrize(
    ("error", "warning"),
    [
        (UpstreamRefused(), "sent_copy_failed"),
        (OutcomeUnknown(), "sent_copy_in_doubt"),
        (KeyError("x"), "sent_copy_in_doubt"),
        (TimeoutError(), "sent_copy_in_doubt"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_copy_that_fails_is_a_warning(error: Exception, warning: str) -> None:
    at, mailbox = flow(), box()
    mailbox.before = raising("append", error)
    review = await prepared(at)
    report = await confirm(at, review, append_sent=True, mailbox=mailbox)
    assert (report.record.status, report.record.sent_copy) == (SendStatus.ACCEPTED, SentCopy.FAILED)
    assert codes(report) == [warning]
    again = await confirm(at, review, append_sent=True, mailbox=mailbox)
    assert (again.record.sent_copy, len(at.submitter.dots)) == (SentCopy.FAILED, 1)
    assert mailbox.calls == [("append", FolderName("Sent"))]


async def test_the_outcome_is_recorded_before_anything_is_filed() -> None:
    at, mailbox = flow(), box()
    review = await prepared(at)
    seen: list[SendStatus] = []
    mailbox.before = lambda _command: seen.append(at.store.only.status)
    await confirm(at, review, append_sent=True, mailbox=mailbox)
    assert seen == [SendStatus.ACCEPTED]
