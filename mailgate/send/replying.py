"""What `mail_prepare_reply` and `mail_prepare_forward` take from the message they answer, and what they never take.

Mail content selects nobody and nothing: recipients are the caller's, attachments are not copied, and a forward has no
Bcc of its source. A source that is not here whole is refused, since nobody could tell what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from mailgate.errors import InvalidArgument, SourceTruncated
from mailgate.imap.values import MessageRef
from mailgate.limits import PARSE_SECONDS
from mailgate.mime.clean import clean
from mailgate.mime.composition import Composition
from mailgate.mime.model import MessageHeaders, ParsedMessage, RawMessage, ReadWarning, Truncation
from mailgate.mime.parse import parse_message
from mailgate.mime.threading import TakenSubject, Thread, forward_subject, reply_subject, thread_of
from mailgate.mime.warnings import WarningCode
from mailgate.read.offload import Deadline, OutOfTime, off_loop
from mailgate.read.ports import Mailbox
from mailgate.read.source import fetch_message
from mailgate.send import warnings

FORWARDED: Final = "---------- Forwarded message ----------"
_INCOMPLETE: Final = frozenset({WarningCode.TIME_LIMIT, WarningCode.SOURCE_TRUNCATED})


@dataclass(frozen=True, slots=True)
class Answering:
    """A composition made from the caller's and a source, and what there is to say about that."""

    composition: Composition
    warnings: tuple[ReadWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class _Source:
    """A whole message: what is shown of it, and its thread in its own words."""

    parsed: ParsedMessage
    thread: Thread


def require_recipient(composition: Composition) -> None:
    """`InvalidArgument` for a message to nobody."""
    if not (composition.to or composition.cc or composition.bcc):
        raise InvalidArgument("`message` needs at least one recipient in `to`, `cc` or `bcc`.")


async def reply(mailbox: Mailbox, reference: MessageRef, asked: Composition) -> Answering:
    """`asked` in the thread of the source; its subject, where there is none, is the source's with `Re:` once.

    Raises `SourceTruncated` and what fetching a message raises.
    """
    source = await _source(mailbox, reference)
    taken = reply_subject(source.parsed.headers.subject or "")
    thread = source.thread
    composition = replace(
        asked,
        subject=asked.subject or taken.text,
        in_reply_to=thread.in_reply_to,
        references=thread.references,
    )
    return Answering(composition, tuple(_about_reply(asked, thread, taken)))


def _about_reply(asked: Composition, thread: Thread, taken: TakenSubject) -> list[ReadWarning]:
    own = asked.in_reply_to not in (None, thread.in_reply_to) or asked.references not in ((), thread.references)
    said = {
        warnings.THREAD_REPLACED: own,
        warnings.THREAD_INCOMPLETE: thread.incomplete,
        warnings.SUBJECT_CUT: taken.cut and not asked.subject,
    }
    return [warning for warning, holds in said.items() if holds]


async def forward(mailbox: Mailbox, reference: MessageRef, asked: Composition) -> Answering:
    """`asked` with the source's text below its own; its subject, where there is none, is the source's with `Fwd:` once.

    As `reply`; also `SourceTruncated` for a source whose text is too long to be taken over whole.
    """
    source = await _source(mailbox, reference)
    parsed = source.parsed
    cut = parsed.text.truncation is not Truncation.NONE
    if cut or any(warning.code in _INCOMPLETE for warning in parsed.warnings):
        raise SourceTruncated
    taken = forward_subject(parsed.headers.subject or "")
    parts = (asked.text.rstrip("\n"), f"{_head(parsed.headers)}\n\n{parsed.text.text}")
    # Cleaned already; once more, since a composition takes nothing that a mail program could stumble over.
    text = "\n\n".join((*filter(None, parts[:1]), clean(parts[1], multiline=True).text))
    composition = replace(asked, subject=asked.subject or taken.text, text=text)
    return Answering(composition, (*_about_forward(parsed, taken, asked), *parsed.warnings))


def _head(headers: MessageHeaders) -> str:
    """Who wrote what when, to whom; never the source's Bcc."""
    fields = {
        "From": ", ".join(headers.from_),
        "Date": headers.date or headers.date_raw or "",
        "Subject": headers.subject or "",
        "To": ", ".join(headers.to),
        "Cc": ", ".join(headers.cc),
    }
    return "\n".join([FORWARDED, *(f"{name}: {' '.join(value.split())}" for name, value in fields.items() if value)])


def _about_forward(parsed: ParsedMessage, taken: TakenSubject, asked: Composition) -> list[ReadWarning]:
    found = []
    if taken.cut and not asked.subject:
        found.append(warnings.SUBJECT_CUT)
    count = len(parsed.attachments)
    if count:
        sentence = f"The source's attachments ({count}) are not copied; attach what is meant to go along."
        found.append(ReadWarning("attachments_not_copied", sentence))
    return found


async def _source(mailbox: Mailbox, reference: MessageRef) -> _Source:
    raw = (await fetch_message(mailbox, reference)).raw
    if raw.truncated:
        raise SourceTruncated
    try:
        return await off_loop(lambda expired: _read(raw, expired), seconds=PARSE_SECONDS)
    except OutOfTime:
        raise SourceTruncated("The source message takes too long to be read whole.") from None


def _read(raw: RawMessage, expired: Deadline) -> _Source:
    return _Source(parse_message(raw, deadline=expired), thread_of(raw.prefix))
