"""mail_delete_permanently: one UID, and an answer that says exactly how far it came."""

from __future__ import annotations

import pytest

from mailgate.errors import (
    CapabilityMissing,
    FlagNotPermitted,
    FolderNotFound,
    MailgateError,
    MessageNotFound,
    ModifiedConflict,
    OutcomeUnknown,
    StaleReference,
    UpstreamRefused,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.values import PermanentFlags
from mailgate.write.change import Change
from mailgate.write.delete_permanently import delete_permanently
from mailgate.write.results import MessageDeleted
from tests.read.fakes import FakeMessage
from tests.write.fakes import WritableFakeMailbox, mailbox, raising, reference


async def run(box: WritableFakeMailbox, change: Change | None = None) -> MessageDeleted:
    return await delete_permanently(box, reference(), change=change or Change())


async def failure(box: WritableFakeMailbox) -> MailgateError:
    with pytest.raises(MailgateError) as caught:
        await run(box)
    return caught.value


async def test_it_is_done_when_the_message_is_seen_to_be_gone() -> None:
    box = mailbox()
    result = await run(box)
    assert (result.reference, result.warnings) == (reference(), ())
    assert [name for name, _ in box.inbox.calls] == ["state", "mark_deleted", "expunge", "state"]
    assert box.inbox.content == {}


async def test_other_marked_messages_stay() -> None:
    box = mailbox(FakeMessage(), FakeMessage(flags={"\\Deleted"}), FakeMessage())
    await run(box)
    assert sorted(box.inbox.content) == [2, 3]


async def test_without_uidplus_nothing_is_marked() -> None:
    box = mailbox()
    box.announced = CapabilitySet.of(["IMAP4rev1", "MOVE"])
    assert isinstance(await failure(box), CapabilityMissing)
    assert (box.selected, box.changes()) == ([], [])


async def test_a_folder_that_keeps_no_mark_is_refused_before_anything_is_stored() -> None:
    box = mailbox()
    box.inbox.permanent_flags = PermanentFlags(("\\Seen",), accepts_new=True)
    assert isinstance(await failure(box), FlagNotPermitted)
    assert box.changes() == []


async def test_what_is_wrong_beforehand_marks_nothing() -> None:
    box = mailbox()
    with pytest.raises(MessageNotFound):
        await delete_permanently(box, reference(9), change=Change())
    with pytest.raises(StaleReference):
        await delete_permanently(box, reference(uid_validity=8), change=Change())
    assert box.changes() == []


async def test_a_refused_mark_is_a_refusal_and_nothing_is_expunged() -> None:
    box = mailbox()
    box.inbox.before = raising("mark_deleted", UpstreamRefused())
    error = await failure(box)
    assert isinstance(error, UpstreamRefused)
    assert "marked" not in error.sentence
    assert box.changes() == ["mark_deleted"]


async def test_a_lost_answer_to_the_mark_says_that_it_may_be_marked() -> None:
    box = mailbox()
    box.inbox.after = raising("mark_deleted", OutcomeUnknown())
    error = await failure(box)
    assert error.code == "outcome_unknown"
    assert "may be marked" in error.sentence
    assert "mail_read" in error.next_step
    assert box.changes() == ["mark_deleted"]


@pytest.mark.parametrize("refusal", [UpstreamRefused(), FolderNotFound(), MessageNotFound()], ids=lambda e: e.code)
async def test_a_refused_expunge_says_that_it_is_marked_and_not_removed(refusal: MailgateError) -> None:
    box = mailbox()
    box.inbox.before = raising("expunge", refusal)
    error = await failure(box)
    assert error.code == "upstream_refused"
    assert "marked as deleted and not removed" in error.sentence
    assert box.inbox.content[1].flags == {"\\Deleted"}
    assert box.changes() == ["mark_deleted", "expunge"]


@pytest.mark.parametrize("lost", [OutcomeUnknown(), UpstreamUnavailable(), UpstreamTimeout()], ids=lambda e: e.code)
async def test_an_interruption_after_the_mark_never_sounds_as_if_nothing_had_happened(lost: MailgateError) -> None:
    box = mailbox()
    box.inbox.before = raising("expunge", lost)
    error = await failure(box)
    assert error.code == "outcome_unknown"
    assert "is marked as deleted and may be removed" in error.sentence
    assert "mail_read" in error.next_step


async def test_a_message_that_is_still_there_is_not_called_done() -> None:
    box = mailbox()
    box.inbox.expunges = False
    error = await failure(box)
    assert error.code == "outcome_unknown"
    assert "still there, marked as deleted" in error.sentence


async def test_a_look_that_fails_leaves_the_outcome_unknown() -> None:
    box = mailbox()

    def no_more_looks(command: str) -> None:
        if command == "expunge":
            box.inbox.before = raising("state", UpstreamUnavailable())

    box.inbox.after = no_more_looks
    error = await failure(box)
    assert error.code == "outcome_unknown"
    assert "may be removed" in error.sentence


async def test_on_gmail_it_warns_that_a_label_is_no_message() -> None:
    box = mailbox()
    box.inbox.capabilities = CapabilitySet.of(["IMAP4rev1", "UIDPLUS", "X-GM-EXT-1"])
    assert [warning.code for warning in (await run(box)).warnings] == ["gmail_labels"]


@pytest.mark.requirement("WX7")
async def test_a_mark_that_another_client_took_away_in_between_is_a_conflict() -> None:
    box = mailbox()

    def keep(command: str) -> None:
        if command == "expunge":
            box.inbox.content[1].flags.discard("\\Deleted")

    box.inbox.before = keep
    error = await failure(box)
    assert isinstance(error, ModifiedConflict)
    assert "still there" in error.sentence
    assert sorted(box.inbox.content) == [1]
