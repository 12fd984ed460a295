"""`mail_set_flags`: adds flags to one message or takes them away, and never replaces the set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mailgate.errors import CapabilityMissing, FlagNotPermitted, MessageNotFound, ModifiedConflict
from mailgate.imap.values import FlagDelta, MessageRef, ModSeq, PermanentFlags
from mailgate.mime.model import ReadWarning
from mailgate.read.flags import shown_flags
from mailgate.write.change import Change
from mailgate.write.opened import OpenedMessage, opened_message, require
from mailgate.write.ports import Mailbox
from mailgate.write.results import FlagsSet
from mailgate.write.warnings import FLAG_NOT_KEPT, NOT_CONDITIONAL

if TYPE_CHECKING:
    from mailgate.imap.writable import MessageState, StoreOutcome

NO_CONDSTORE: Final = "The mail server lacks CONDSTORE, so `unchanged_since` cannot be honoured."
NO_MODSEQ: Final = "The mail server keeps no mod-sequences in this folder, so `unchanged_since` cannot be honoured."
MAY_HAVE: Final = "The mail server's answer did not arrive; the flags may have been changed."
LOOK: Final = "Look at the message's flags with mail_read before changing anything again."


async def set_flags(
    mailbox: Mailbox,
    reference: MessageRef,
    delta: FlagDelta,
    *,
    unchanged_since: ModSeq | None = None,
    change: Change,
) -> FlagsSet:
    """Carry out `delta`, on the condition that nobody changed the message since `unchanged_since`, or since just now.

    Raises `FlagNotPermitted` before anything is stored, `CapabilityMissing` for a condition that cannot be set,
    `ModifiedConflict` when another client was faster, `OutcomeUnknown`, and what opening the message raises.
    """
    if unchanged_since is not None:
        await require(mailbox, "condstore", NO_CONDSTORE)
    async with opened_message(mailbox, reference) as message:
        _check_kept(message.folder.permanent_flags, delta)
        since = _condition(message, unchanged_since)
        with change.under_way(MAY_HAVE, look=LOOK):
            outcome = await message.folder.store(message.reference.uid, delta, since)
        with change.settling():
            state = await _settled(message, delta, since, outcome)
    flags = shown_flags(state.flags)
    warnings = (
        *_said(NOT_CONDITIONAL, when=since is None),
        *_said(FLAG_NOT_KEPT, when=not delta.is_done_by(state.flags)),
        *flags.warnings,
    )
    return FlagsSet(message.reference, flags.flags, state.mod_seq, warnings)


def _check_kept(permanent: PermanentFlags, delta: FlagDelta) -> None:
    """RFC 9051, 7.1: flags outside PERMANENTFLAGS are forgotten or ignored, so they are not even sent."""
    if permanent.not_kept(delta.flags):
        raise FlagNotPermitted("This folder does not keep one of the flags; nothing was changed.")


def _condition(message: OpenedMessage, unchanged_since: ModSeq | None) -> ModSeq | None:
    """The mod-sequence to hold the server to; None where there is none for this message (RFC 7162, 3.1.2.2)."""
    if not message.folder.keeps_mod_seqs:
        if unchanged_since is not None:
            raise CapabilityMissing(NO_MODSEQ)
        return None
    return unchanged_since or message.state.mod_seq


async def _settled(
    message: OpenedMessage, delta: FlagDelta, since: ModSeq | None, outcome: StoreOutcome
) -> MessageState:
    """What became of the message. Only a row that shows the change is believed without another look."""
    if not outcome.modified and outcome.state is not None and delta.is_done_by(outcome.state.flags):
        return outcome.state
    try:
        state = await message.folder.fetch_state(message.reference.uid)
    except MessageNotFound:
        raise MessageNotFound("The message was removed by another client before its flags could be changed.") from None
    if outcome.modified or _was_overtaken(message.state, state, delta, since, outcome):
        raise ModifiedConflict
    return state


def _was_overtaken(
    before: MessageState, now: MessageState, delta: FlagDelta, since: ModSeq | None, outcome: StoreOutcome
) -> bool:
    """Whether a condition failed without a word: no row for us, nothing of ours done, and a newer mod-sequence."""
    if since is None or outcome.state is not None or now.mod_seq is None or delta.is_done_by(now.flags):
        return False
    return now.mod_seq > since


def _said(warning: ReadWarning, *, when: bool) -> tuple[ReadWarning, ...]:
    return (warning,) if when else ()
