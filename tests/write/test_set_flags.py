"""mail_set_flags: conditional where it can be, and truthful about what the server kept."""

from __future__ import annotations

import pytest

from mailgate.errors import (
    CapabilityMissing,
    FlagNotPermitted,
    MessageNotFound,
    ModifiedConflict,
    OutcomeUnknown,
    StaleReference,
    UpstreamRefused,
    UpstreamUnavailable,
)
from mailgate.imap.values import FlagDelta, FlagOperation, ModSeq, PermanentFlags, Uid
from mailgate.imap.writable import MessageState, StoreOutcome
from mailgate.write.change import Change
from mailgate.write.results import FlagsSet
from mailgate.write.set_flags import set_flags
from tests.read.fakes import FakeMessage
from tests.write.fakes import WritableFakeMailbox, mailbox, raising, reference

ADD_SEEN = FlagDelta(FlagOperation.ADD, ("\\Seen",))
WORK = FlagDelta(FlagOperation.ADD, ("work",))


def warned(result: FlagsSet) -> list[str]:
    return [warning.code for warning in result.warnings]


async def run(
    box: WritableFakeMailbox, delta: FlagDelta = ADD_SEEN, *, since: int | None = None, change: Change | None = None
) -> FlagsSet:
    condition = None if since is None else ModSeq(since)
    return await set_flags(box, reference(), delta, unchanged_since=condition, change=change or Change())


async def test_a_flag_is_added_and_the_answer_is_what_the_message_has_now() -> None:
    box = mailbox(FakeMessage(flags={"\\Flagged", "other"}))
    result = await run(box)
    assert result.reference == reference()
    assert set(result.flags) == {"\\Flagged", "\\Seen", "other"} == box.inbox.content[1].flags
    assert box.changes() == ["store"]


async def test_a_flag_is_removed_and_the_others_stay() -> None:
    box = mailbox(FakeMessage(flags={"\\Seen", "work"}))
    result = await run(box, FlagDelta(FlagOperation.REMOVE, ("\\Seen",)))
    assert result.flags == ("work",)


async def test_without_condstore_it_goes_on_with_a_warning() -> None:
    box = mailbox()
    result = await run(box)
    assert warned(result) == ["not_conditional"]
    assert result.mod_seq is None
    assert box.inbox.changes() == [("store", (1, ADD_SEEN, None))]


async def test_without_condstore_a_condition_is_refused_before_the_folder_is_opened() -> None:
    box = mailbox()
    with pytest.raises(CapabilityMissing):
        await run(box, since=5)
    assert box.selected == []


async def test_with_condstore_it_holds_the_server_to_the_modseq_read_in_the_same_call() -> None:
    box = mailbox().with_condstore()
    result = await run(box)
    assert box.inbox.changes() == [("store", (1, ADD_SEEN, 1000))]
    assert result.mod_seq == 1001
    assert warned(result) == []


async def test_a_given_condition_is_the_one_that_counts() -> None:
    box = mailbox().with_condstore()
    await run(box, since=2000)
    assert box.inbox.changes() == [("store", (1, ADD_SEEN, 2000))]


async def test_a_message_changed_since_then_is_a_conflict_and_stays_as_it_is() -> None:
    box = mailbox().with_condstore()
    with pytest.raises(ModifiedConflict):
        await run(box, since=999)
    assert box.inbox.content[1].flags == set()
    assert box.changes() == ["store"]


async def test_a_folder_without_mod_sequences_cannot_take_a_condition() -> None:
    box = mailbox().with_condstore()
    box.inbox.highest_modseq = None
    with pytest.raises(CapabilityMissing):
        await run(box, since=5)
    assert box.changes() == []
    assert warned(await run(box)) == ["not_conditional"]


async def test_a_flag_that_the_folder_does_not_keep_is_refused_before_anything_is_stored() -> None:
    box = mailbox()
    box.inbox.permanent_flags = PermanentFlags(("\\Seen", "\\Flagged"))
    for delta in (WORK, FlagDelta(FlagOperation.ADD, ("\\Seen", "\\Draft")), FlagDelta(FlagOperation.REMOVE, ("x",))):
        with pytest.raises(FlagNotPermitted):
            await run(box, delta)
    assert box.changes() == []


async def test_a_keyword_that_silently_did_not_stick_is_said_so() -> None:
    box = mailbox()
    box.inbox.dropped = frozenset({"work"})
    result = await run(box, FlagDelta(FlagOperation.ADD, ("work", "\\Seen")))
    assert result.flags == ("\\Seen",)
    assert "flag_not_kept" in warned(result)
    assert box.changes() == ["store"]


async def test_a_store_without_a_row_is_settled_by_another_look() -> None:
    box = mailbox().with_condstore()
    box.inbox.outcome = StoreOutcome()
    box.inbox.before = lambda command: box.inbox.content[1].flags.add("\\Seen") if command == "store" else None
    result = await run(box)
    assert result.flags == ("\\Seen",)
    assert [name for name, _ in box.inbox.calls] == ["state", "store", "state"]


async def test_a_condition_that_failed_without_a_word_is_a_conflict() -> None:
    box = mailbox().with_condstore()
    box.inbox.outcome = StoreOutcome()

    def overtaken(command: str) -> None:
        if command == "store":
            box.inbox.content[1].mod_seq = ModSeq(1007)

    box.inbox.before = overtaken
    with pytest.raises(ModifiedConflict):
        await run(box)


async def test_a_store_without_a_row_and_without_an_effect_is_not_called_a_success() -> None:
    box = mailbox().with_condstore()
    box.inbox.outcome = StoreOutcome()
    assert "flag_not_kept" in warned(await run(box))


async def test_a_row_that_does_not_show_the_change_is_not_believed() -> None:
    box = mailbox()
    box.inbox.outcome = StoreOutcome(False, MessageState(Uid(1), ("\\Answered",)))
    box.inbox.before = lambda command: box.inbox.content[1].flags.add("\\Seen") if command == "store" else None
    result = await run(box)
    assert result.flags == ("\\Seen",)
    assert "flag_not_kept" not in warned(result)


async def test_a_message_that_vanished_meanwhile_is_not_found() -> None:
    for outcome in (StoreOutcome(), StoreOutcome(modified=True)):
        box = mailbox().with_condstore()
        box.inbox.outcome = outcome
        box.inbox.before = lambda command, box=box: box.inbox.expunge_now(1) if command == "store" else None
        with pytest.raises(MessageNotFound):
            await run(box)


async def test_a_look_that_fails_leaves_the_outcome_unknown() -> None:
    box = mailbox()
    box.inbox.outcome = StoreOutcome()
    seen: list[str] = []

    def second_look_fails(command: str) -> None:
        seen.append(command)
        if seen.count("state") == 2:
            raise UpstreamUnavailable

    box.inbox.before = second_look_fails
    with pytest.raises(OutcomeUnknown) as caught:
        await run(box)
    assert "mail_read" in caught.value.next_step


async def test_a_lost_answer_is_unknown_and_says_how_to_look() -> None:
    box = mailbox()
    box.inbox.after = raising("store", OutcomeUnknown())
    change = Change()
    with pytest.raises(OutcomeUnknown) as caught:
        await run(box, change=change)
    assert "mail_read" in caught.value.next_step
    assert box.changes() == ["store"]
    assert change.in_doubt is not None


async def test_a_refusal_leaves_nothing_in_doubt() -> None:
    box = mailbox()
    box.inbox.before = raising("store", UpstreamRefused())
    change = Change()
    with pytest.raises(UpstreamRefused):
        await run(box, change=change)
    assert change.in_doubt is None
    assert box.changes() == ["store"]


async def test_what_is_wrong_beforehand_sends_no_command_that_changes() -> None:
    box = mailbox()
    with pytest.raises(MessageNotFound):
        await set_flags(box, reference(9), ADD_SEEN, change=Change())
    with pytest.raises(StaleReference):
        await set_flags(box, reference(uid_validity=8), ADD_SEEN, change=Change())
    box.inbox.read_only = True
    with pytest.raises(UpstreamRefused):
        await run(box)
    assert box.changes() == []
