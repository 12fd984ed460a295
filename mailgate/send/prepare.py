"""`mail_prepare_send`, and the end of `mail_prepare_reply` and `mail_prepare_forward`: compose, read back, store.

What the owner is shown is read from the very octets that are stored, and the digest stands for these and the envelope.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from mailgate.imap.values import MessageRef
from mailgate.limits import PREPARED_SECONDS
from mailgate.mime.compose import ComposedMessage, SenderLike, compose, make_message_id
from mailgate.mime.composition import Composition
from mailgate.mime.model import ReadWarning
from mailgate.mime.review import Reviewed, review
from mailgate.read.ports import Mailbox
from mailgate.send.desk import SendDesk
from mailgate.send.record import Digest, Envelope, Owner, PreparedId, PreparedMessage
from mailgate.send.replying import Answering, forward, reply, require_recipient
from mailgate.send.warnings import HAS_INVISIBLE

_TOKEN_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Review:
    """All that the owner has to look at. `size`: octets of the message; `message_id` with brackets."""

    prepared_id: PreparedId
    digest: Digest
    envelope: Envelope = field(repr=False)
    content: Reviewed = field(repr=False)
    message_id: str = field(repr=False)
    size: int
    expires_at: datetime
    warnings: tuple[ReadWarning, ...] = ()


ShowAll: TypeAlias = Callable[[Review], object]
"""Raises `LimitExceeded` for a review that the owner could not be shown whole; asked before anything is stored."""


def _always(_review: Review) -> None:
    return


async def prepare_send(
    desk: SendDesk, composition: Composition, owner: Owner, *, show_all: ShowAll = _always
) -> Review:
    """Store the message for fifteen minutes, for this owner to confirm.

    Raises `InvalidArgument` without a recipient, `LimitExceeded`, `RecipientNotAllowed`, `StoreUnavailable`.
    """
    _check(desk, composition)
    return await _prepare(desk, Answering(composition), owner, show_all)


async def prepare_reply(
    desk: SendDesk,
    mailbox: Mailbox,
    reference: MessageRef,
    composition: Composition,
    owner: Owner,
    *,
    show_all: ShowAll = _always,
) -> Review:
    """As `prepare_send`, in the thread of the message that `reference` names."""
    _check(desk, composition)
    return await _prepare(desk, await reply(mailbox, reference, composition), owner, show_all)


async def prepare_forward(
    desk: SendDesk,
    mailbox: Mailbox,
    reference: MessageRef,
    composition: Composition,
    owner: Owner,
    *,
    show_all: ShowAll = _always,
) -> Review:
    """As `prepare_send`, with the text of the message that `reference` names below the caller's."""
    _check(desk, composition)
    return await _prepare(desk, await forward(mailbox, reference, composition), owner, show_all)


def _check(desk: SendDesk, composition: Composition) -> None:
    """Before anything is asked of anybody."""
    require_recipient(composition)
    desk.allowed.check((*composition.to, *composition.cc, *composition.bcc))


async def _prepare(desk: SendDesk, answering: Answering, owner: Owner, show_all: ShowAll) -> Review:
    now = desk.clock()
    composed, reviewed = await asyncio.to_thread(_composed, answering.composition, desk.sender, now)
    # The header names To and Cc; only the envelope knows Bcc.
    envelope = Envelope(desk.sender.address, reviewed.to, reviewed.cc, answering.composition.bcc)
    prepared = PreparedMessage(PreparedId.new(), envelope, composed.data, composed.message_id)
    invisible = (HAS_INVISIBLE,) if reviewed.has_invisible else ()
    shown = Review(
        prepared_id=prepared.prepared_id,
        digest=prepared.digest,
        envelope=envelope,
        content=reviewed,
        message_id=composed.message_id,
        size=composed.size,
        expires_at=now + timedelta(seconds=PREPARED_SECONDS),
        warnings=tuple(dict.fromkeys((*composed.warnings, *answering.warnings, *invisible))),
    )
    show_all(shown)
    # Only the store's clock counts; what stood there until now has the same length.
    return replace(shown, expires_at=await desk.ledger.prepare(prepared, owner))


def _composed(composition: Composition, sender: SenderLike, now: datetime) -> tuple[ComposedMessage, Reviewed]:
    message_id = make_message_id(sender.address, secrets.token_hex(_TOKEN_BYTES))
    composed = compose(composition, sender=sender, message_id=message_id, date=now, keep_bcc=False, warn_empty=True)
    return composed, review(composed.data)
