"""`mail_send_confirmed`: claim, submit once, settle, and perhaps file a copy.

    look -> recipients, Sent folder -> claim -> connect ... RCPT -> begin -> DATA ... reply -> settle -> copy

Everything before the claim refuses without consuming. What is no longer prepared can only be told about: it needs no
folder and no list, and a repeat is answered whatever has become of them. From the claim on nothing is tried twice, and
the answer is what is recorded. Why no message is ever submitted twice: docs/safety.md.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from mailgate.errors import MailgateError, SpecialUseAmbiguous, SpecialUseMissing, StoreUnavailable, UpstreamTimeout
from mailgate.imap.values import FolderName
from mailgate.mime.model import ReadWarning
from mailgate.send import warnings
from mailgate.send.desk import SendDesk
from mailgate.send.filing import COPY_IN_DOUBT, FiledCopy, FilingMailbox, file_sent, sent_folder
from mailgate.send.ledger import AlreadyConsumed
from mailgate.send.record import (
    Digest,
    Nonce,
    Outcome,
    Owner,
    PreparedId,
    PreparedMessage,
    RefusedRecipient,
    SendRecord,
    SendStatus,
    SentCopy,
)
from mailgate.send.submission import Accepted, NotSent, Rejected, Submission, SubmissionStage, Unknown

GRACE_SECONDS: Final = 1.0
"""After the deadline, for a transport that is just ending itself."""
NO_SENT_NEXT: Final = (
    "Call again with append_sent false, or ask the operator to set sent in MAIL_FOLDER_ROLES. Nothing was consumed."
)
_BEFORE_RECIPIENTS: Final = frozenset({SubmissionStage.CONNECT, SubmissionStage.AUTH, SubmissionStage.MAIL})


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What the owner confirmed: this message, with this digest, and whether a copy goes to Sent."""

    prepared_id: PreparedId
    digest: Digest
    append_sent: bool


@dataclass(frozen=True, slots=True)
class SendReport:
    """What is recorded about a message, and what there is to say about it."""

    record: SendRecord
    warnings: tuple[ReadWarning, ...] = ()


async def send_confirmed(
    desk: SendDesk, mailbox: FilingMailbox, confirmation: Confirmation, owner: Owner
) -> SendReport:
    """Send the message now, at most once ever; a repeat returns the record.

    Raises without having consumed anything: `SpecialUseMissing`, `SpecialUseAmbiguous` and what the mailbox raises,
    `RecipientNotAllowed`, `PreparedNotFound`, `DigestMismatch`, `SendLimitReached`. `StoreUnavailable`: this call sent
    nothing, and the message may count as consumed.
    """
    folder = None
    if confirmation.append_sent or desk.allowed.entries:
        envelope = await desk.ledger.look(confirmation.prepared_id, owner)
        if envelope is not None:
            desk.allowed.check(envelope.recipients)
            folder = await _sent_folder(desk, mailbox) if confirmation.append_sent else None
    attempt = _Attempt(desk, mailbox, folder, confirmation, owner)
    report = await desk.see_through(attempt.run())
    return report or _told(SendRecord(SendStatus.CLAIMED, desk.clock()))


async def _sent_folder(desk: SendDesk, mailbox: FilingMailbox) -> FolderName:
    try:
        async with asyncio.timeout(desk.upstream_seconds):
            return await sent_folder(mailbox)
    except (SpecialUseMissing, SpecialUseAmbiguous) as error:
        # The tool takes no folder: the usual advice would lead nowhere.
        raise type(error)(error.sentence, next_step=NO_SENT_NEXT) from None
    except TimeoutError:
        raise UpstreamTimeout from None


@dataclass(slots=True)
class _Attempt:
    """One attempt with its own nonce.

    `begun`: DATA may have been sent; `denied`: the store gave no leave for it though there was time.
    """

    desk: SendDesk
    mailbox: FilingMailbox
    folder: FolderName | None
    confirmation: Confirmation
    owner: Owner
    begun: bool = False
    denied: bool = False

    async def run(self) -> SendReport:
        """From the claim to the answer."""
        nonce = Nonce.new()
        deadline = asyncio.get_running_loop().time() + self.desk.deadline_seconds
        asked = self.confirmation
        claim = await self.desk.ledger.claim(asked.prepared_id, self.owner, asked.digest, nonce)
        if isinstance(claim, AlreadyConsumed):
            return _told(claim.record)
        if asked.append_sent and self.folder is None:
            # It was not prepared a moment ago, and nothing leads back: such a store cannot be relied on.
            return await self._settled(claim.message, nonce, Outcome(SendStatus.NOT_SENT, StoreUnavailable.code))
        outcome = await self._submitted(claim.message, nonce, deadline)
        report = await self._settled(claim.message, nonce, outcome)
        if self.folder is None or report.record.status is not SendStatus.ACCEPTED:
            return report
        return await self._filed(report, claim.message, nonce, self.folder)

    # --- the submission -----------------------------------------------------------------------------------------

    async def _submitted(self, message: PreparedMessage, nonce: Nonce, deadline: float) -> Outcome:
        async def begin() -> bool:
            # Later than this, another caller may say "not sent" at any moment.
            if asyncio.get_running_loop().time() >= deadline:
                return False
            self.begun = await self.desk.ledger.begin(message.prepared_id, nonce)
            self.denied = not self.begun
            return self.begun

        try:
            async with asyncio.timeout_at(deadline + GRACE_SECONDS):
                outcome = outcome_of(
                    await self.desk.submitter.submit(message.envelope, message.message, begin=begin, deadline=deadline)
                )
        except Exception as error:
            return self._ended_by(error)
        # Time was left: it is the store that no longer knows of this attempt. If somebody else ended it, their record
        # is what is told.
        return replace(outcome, reason=StoreUnavailable.code) if self.denied else outcome

    def _ended_by(self, error: Exception) -> Outcome:
        """What an exception amounts to: certainly nothing sent only where DATA had no leave yet."""
        if isinstance(error, MailgateError):
            reason = error.code
        elif isinstance(error, TimeoutError):
            reason = UpstreamTimeout.code
        else:
            self.desk.on_fault(error)
            reason = MailgateError.code
        return Outcome(SendStatus.UNKNOWN if self.begun else SendStatus.NOT_SENT, reason)

    # --- the record ---------------------------------------------------------------------------------------------

    async def _settled(self, message: PreparedMessage, nonce: Nonce, outcome: Outcome) -> SendReport:
        """The record; where there is none, the own outcome with a warning. Never another attempt."""
        own = SendRecord(outcome.status, self.desk.clock(), message.message_id, outcome.reason, outcome.refused)
        try:
            record = await self._settle(message.prepared_id, nonce, outcome)
        except StoreUnavailable:
            return _told(own, warnings.RECORD_NOT_SAVED)
        if record is None:
            return _told(own, warnings.RECORD_LOST)
        return _told(replace(record, message_id=record.message_id or message.message_id))

    async def _settle(self, prepared_id: PreparedId, nonce: Nonce, outcome: Outcome) -> SendRecord | None:
        """Twice where the store does not answer: it compares state and nonce, so a repeat is harmless."""
        settle = self.desk.ledger.settle
        try:
            return await settle(prepared_id, self.owner, nonce, outcome)
        except StoreUnavailable:
            return await settle(prepared_id, self.owner, nonce, outcome)

    # --- the copy -----------------------------------------------------------------------------------------------

    async def _filed(
        self, report: SendReport, message: PreparedMessage, nonce: Nonce, folder: FolderName
    ) -> SendReport:
        """The message has been accepted, and whatever happens here is a warning at most."""
        filed = await self._copy(message, folder)
        told = [ReadWarning(*warning.split(": ", 1)) for warning in filed.warnings]
        noted = await self._noted(message.prepared_id, nonce, filed.copy)
        if not noted and not report.warnings:  # a record that is not there at all has been warned of
            told.append(warnings.COPY_NOT_RECORDED)
        return SendReport(replace(report.record, sent_copy=filed.copy), (*report.warnings, *told))

    async def _noted(self, prepared_id: PreparedId, nonce: Nonce, copy: SentCopy) -> bool:
        try:
            return await self.desk.ledger.note_copy(prepared_id, nonce, copy)
        except StoreUnavailable:
            return False

    async def _copy(self, message: PreparedMessage, folder: FolderName) -> FiledCopy:
        try:
            async with asyncio.timeout(self.desk.upstream_seconds):
                return await file_sent(self.mailbox, folder, message.message, message.message_id)
        except TimeoutError:
            return FiledCopy(SentCopy.FAILED, (COPY_IN_DOUBT,))
        except Exception as error:
            self.desk.on_fault(error)
            return FiledCopy(SentCopy.FAILED, (COPY_IN_DOUBT,))


def outcome_of(submission: Submission) -> Outcome:
    """What is recorded about a submission. A server that refuses us or our sender has not been asked to send."""
    match submission:
        case Accepted():
            return Outcome(SendStatus.ACCEPTED)
        case Rejected(stage, _, refused):
            status = SendStatus.NOT_SENT if stage in _BEFORE_RECIPIENTS else SendStatus.REJECTED
            listed = tuple(RefusedRecipient(each.address, each.code) for each in refused)
            return Outcome(status, "upstream_refused", listed)
        case NotSent(_, reason):
            return Outcome(SendStatus.NOT_SENT, reason)
        case Unknown(_, reason):
            return Outcome(SendStatus.UNKNOWN, reason)


def _told(record: SendRecord, *more: ReadWarning) -> SendReport:
    """The record with the advice that its status calls for."""
    advice: tuple[ReadWarning, ...] = ()
    if record.status is SendStatus.UNKNOWN:
        advice = (warnings.SEND_UNKNOWN,)
    elif not record.status.finished:
        advice = (warnings.SEND_UNDER_WAY,)
    return SendReport(record, (*advice, *more))
