"""The sending tools: arguments to a use case, and nothing else. Each loads its use case when it is first called."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mailgate.errors import LimitExceeded
from mailgate.server.backend import Call
from mailgate.settings import Settings

if TYPE_CHECKING:
    from mailgate.send.confirm import SendReport
    from mailgate.send.prepare import Review
    from mailgate.send.record import Owner
    from mailgate.server.send_arguments import PrepareAnswerArguments, PrepareSendArguments, SendConfirmedArguments


async def mail_prepare_send(call: Call, arguments: PrepareSendArguments) -> Review:
    """A new message, stored for the owner to confirm."""
    from mailgate.send.prepare import prepare_send

    return await prepare_send(
        call.desk, arguments.message.to_composition(), _owner(call), show_all=partial(_show_all, call)
    )


async def mail_prepare_reply(call: Call, arguments: PrepareAnswerArguments) -> Review:
    """A reply, likewise."""
    from mailgate.send.prepare import prepare_reply

    reference, asked = arguments.reference.to_reference(), arguments.message.to_composition()
    mailbox, show_all = call.connected.mailbox, partial(_show_all, call)
    return await prepare_reply(call.desk, mailbox, reference, asked, _owner(call), show_all=show_all)


async def mail_prepare_forward(call: Call, arguments: PrepareAnswerArguments) -> Review:
    """A forward, likewise."""
    from mailgate.send.prepare import prepare_forward

    reference, asked = arguments.reference.to_reference(), arguments.message.to_composition()
    mailbox, show_all = call.connected.mailbox, partial(_show_all, call)
    return await prepare_forward(call.desk, mailbox, reference, asked, _owner(call), show_all=show_all)


async def mail_send_confirmed(call: Call, arguments: SendConfirmedArguments) -> SendReport:
    """The one attempt to send, or what is recorded about it."""
    from mailgate.send.confirm import Confirmation, send_confirmed

    confirmation = Confirmation(arguments.named, arguments.digest, arguments.append_sent)
    return await send_confirmed(call.desk, call.connected.mailbox, confirmation, _owner(call))


def sending_seconds(settings: Settings) -> float:
    """How long mail_send_confirmed may take: more than all its steps, each of which has a deadline of its own.

    Finding the Sent folder, the attempt, and filing the copy; the rest is for the store.
    """
    return 2 * settings.upstream_timeout_seconds + settings.send_deadline_seconds + 60.0


def _show_all(call: Call, review: Review) -> None:
    """Nothing may be stored that its owner cannot look at; and nothing of a review is ever cut."""
    try:
        call.require_fit(review)
    except LimitExceeded:
        raise LimitExceeded(
            "The review of this message would pass this deployment's MAIL_MAX_RESULT_BYTES; nothing was stored.",
            next_step="Shorten `message.text` and prepare again; the operator can raise the limit.",
        ) from None


def _owner(call: Call) -> Owner:
    """Scopes are no part of who somebody is: they may change between the two calls."""
    from mailgate.send.record import Owner

    return Owner(call.principal.issuer, call.principal.subject)
