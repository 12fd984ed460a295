"""`mail_read`: one message as text, a page at a time. `batch.py` reads several."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

from mailgate.errors import InvalidArgument
from mailgate.imap.values import MessageRef, ModSeq
from mailgate.limits import HEADER_BYTES_MAX, PARSE_SECONDS, QUOTED_BLOCKS_MAX, READ_CHARS_DEFAULT, READ_CHARS_MAX
from mailgate.mime.model import (
    AttachmentInfo,
    MessageHeaders,
    MessageText,
    ParsedMessage,
    RawMessage,
    ReadWarning,
    TextFormat,
    TextSource,
    Truncation,
)
from mailgate.mime.parse import parse_head, parse_message
from mailgate.mime.quotes import FoldedText, QuotedBlock, fold_quotes
from mailgate.mime.warnings import WarningCode, read_warning
from mailgate.read.attached import attachments_in
from mailgate.read.offload import Deadline, OutOfTime, off_loop
from mailgate.read.paging import page_end
from mailgate.read.ports import Mailbox
from mailgate.read.source import FetchedHead, FetchedMessage, fetch_head, fetch_readable

if TYPE_CHECKING:
    from mailgate.mime.sender import SenderFacts

_HEADER_SECONDS: Final = 1.0
"""For the header alone, after the whole message took too long."""
_TIME_LIMIT: Final = read_warning(WarningCode.TIME_LIMIT)
_HARDNESS: Final = tuple(Truncation)


@dataclass(frozen=True, slots=True)
class Reading:
    """How messages are to be read.

    `fold`: quoted history becomes a line for each block. `headers_only`: no text is fetched. `trusted_authserv_id`:
    whose Authentication-Results are believed, None for nobody's.
    """

    fold: bool = True
    headers_only: bool = False
    trusted_authserv_id: str | None = None


FOLDED: Final = Reading()


@dataclass(frozen=True, slots=True)
class MessageContent:
    """Everything that came from the message itself: untrusted, cleaned and bounded. `text` is this page's part.

    `attachments`: None where they are not known. `quoted_blocks`: what was folded in the whole text, in its order, at
    most `limits.QUOTED_BLOCKS_MAX`.
    """

    headers: MessageHeaders
    text: str
    attachments: tuple[AttachmentInfo, ...] | None = ()
    quoted_blocks: tuple[QuotedBlock, ...] = ()
    sanitized: bool = False


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """One page of one message. `text_chars` counts the whole text, `next_offset` is None on its last page.

    `alternative`: the form of the text that exists beside the chosen one. `offset`: where this page begins.
    `sender`: what is known of its author; the address and the domains in it are the author's own words.
    `interleaved`: answers stand between quoted lines, so nothing was folded. `headers_only`: there is no text here, and
    what is said of it means nothing.
    """

    reference: MessageRef
    flags: tuple[str, ...]
    internal_date: datetime | None
    size: int | None
    mod_seq: ModSeq | None
    text_format: TextFormat
    text_source: TextSource
    alternative: TextSource | None
    text_chars: int
    offset: int
    next_offset: int | None
    truncated_by: Truncation
    content: MessageContent
    warnings: tuple[ReadWarning, ...] = ()
    sender: SenderFacts | None = None
    interleaved: bool = False
    headers_only: bool = False

    def shortened(self, chars: int, why: Truncation = Truncation.RESULT_LIMIT) -> ReadMessage:
        """The same page with at most `chars` characters (at least 0), cut by `why`."""
        length = page_end(self.content.text, 0, chars) if chars > 0 else 0
        if length == len(self.content.text):
            return self
        return replace(
            self,
            content=replace(self.content, text=self.content.text[:length]),
            next_offset=self.offset + length,
            truncated_by=hardest(self.truncated_by, why),
        )


async def read_message(
    mailbox: Mailbox,
    reference: MessageRef,
    *,
    max_chars: int = READ_CHARS_DEFAULT,
    offset: int = 0,
    reading: Reading = FOLDED,
) -> ReadMessage:
    """The message's headers, attachments, and at most `max_chars` characters of its text from `offset`.

    Raises `InvalidArgument` for a range that cannot be, an offset beyond the end included, and what `fetch_readable`
    raises. A message that cannot be parsed in time is an answer with a `time_limit` warning, not an error.
    """
    check_range(max_chars, offset)
    if reading.headers_only:
        return await understood_head(await fetch_head(mailbox, reference), reading)
    whole = await understood(await fetch_readable(mailbox, reference), reading)
    if offset > whole.text_chars:
        if _TIME_LIMIT not in whole.warnings:
            raise InvalidArgument("`offset` lies beyond the end of the text; `text_chars` tells its length.")
        # The page before may have had more time; how long the text is cannot be told now.
        offset = whole.text_chars
    rest = replace(whole, offset=offset, content=replace(whole.content, text=whole.content.text[offset:]))
    return rest.shortened(max_chars, Truncation.MAX_CHARS)


def hardest(*limits: Truncation) -> Truncation:
    """The limit that says most about what is missing: a cut source above a cut text above a short page."""
    return max(limits, key=_HARDNESS.index)


def check_range(max_chars: int, offset: int = 0) -> None:
    """`InvalidArgument` for a range that cannot be."""
    if not 1 <= max_chars <= READ_CHARS_MAX:
        raise InvalidArgument(f"`max_chars` is a number from 1 to {READ_CHARS_MAX}.")
    if offset < 0:
        raise InvalidArgument("`offset` is a number from 0.")


# --- from octets to what is shown --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Understood:
    """A message parsed, and its text as it is shown."""

    parsed: ParsedMessage
    shown: FoldedText


async def understood(fetched: FetchedMessage, reading: Reading, *, seconds: float | None = None) -> ReadMessage:
    """The whole message with all of its text, parsed off the event loop, or at least its headers.

    `seconds`: what it may take, where that is less than `PARSE_SECONDS`.
    """
    raw = fetched.raw
    seconds = PARSE_SECONDS if seconds is None else min(seconds, PARSE_SECONDS)
    try:
        found = await off_loop(lambda expired: _understand(raw, reading, expired), seconds=seconds)
    except OutOfTime:
        block = raw.prefix[:HEADER_BYTES_MAX].partition(b"\r\n\r\n")[0]
        parsed = await _head(block, False, reading)
        text = MessageText("", truncation=Truncation.TEXT_LIMIT)
        parsed = replace(parsed, text=text, warnings=(*parsed.warnings, _TIME_LIMIT))
        found = _Understood(parsed, FoldedText(""))
    return _whole(fetched, found.parsed, found.shown)


async def understood_head(fetched: FetchedHead, reading: Reading) -> ReadMessage:
    """What header and structure say of a message."""
    parsed = await _head(fetched.header, fetched.truncated, reading)
    listed = attachments_in(fetched.outline, fetched.header)
    headers = replace(parsed, attachments=listed or ())
    shown = _whole(fetched.message, headers, FoldedText(""))
    content = replace(shown.content, attachments=listed)
    return replace(shown, content=content, headers_only=True)


def _understand(raw: RawMessage, reading: Reading, expired: Deadline) -> _Understood:
    parsed = parse_message(raw, deadline=expired, trusted_authserv_id=reading.trusted_authserv_id)
    text = parsed.text.text
    if not reading.fold or not text or expired():
        return _Understood(parsed, FoldedText(text))
    return _Understood(parsed, _folded(parsed.text, parsed.headers.subject))


def _folded(text: MessageText, subject: str | None) -> FoldedText:
    try:
        folded = fold_quotes(text.text, text.format, subject=subject)
    except Exception:
        # Whatever one text does to it, the text itself can be shown.
        return FoldedText(text.text)
    if folded.blocks and text.odd_within:
        # Answers in another colour, in the middle of somebody's sentences.
        return FoldedText(text.text, interleaved=True)
    # A line for a block says whose it is; where that is no shorter, the block itself is shown.
    return FoldedText(text.text) if len(folded.text) > len(text.text) else folded


async def _head(block: bytes, truncated: bool, reading: Reading) -> ParsedMessage:
    trusted = reading.trusted_authserv_id
    try:
        return await off_loop(
            lambda _: parse_head(block, truncated=truncated, trusted_authserv_id=trusted), seconds=_HEADER_SECONDS
        )
    except OutOfTime:
        return ParsedMessage(MessageHeaders(), MessageText(""), warnings=(_TIME_LIMIT,))


def _whole(fetched: FetchedMessage, parsed: ParsedMessage, shown: FoldedText) -> ReadMessage:
    whole = parsed.text
    return ReadMessage(
        reference=fetched.reference,
        flags=fetched.flags,
        internal_date=fetched.internal_date,
        size=fetched.size,
        mod_seq=fetched.mod_seq,
        text_format=whole.format,
        text_source=whole.source,
        alternative=whole.alternative,
        text_chars=len(shown.text),
        offset=0,
        next_offset=None,
        truncated_by=hardest(whole.truncation, Truncation.SOURCE_LIMIT if fetched.raw.truncated else Truncation.NONE),
        content=MessageContent(
            headers=parsed.headers,
            text=shown.text,
            attachments=parsed.attachments,
            quoted_blocks=shown.blocks[:QUOTED_BLOCKS_MAX],
            sanitized=whole.sanitized or parsed.headers.sanitized or any(info.sanitized for info in parsed.attachments),
        ),
        warnings=_unique(fetched.warnings, parsed.headers.warnings, parsed.warnings),
        sender=parsed.sender,
        interleaved=shown.interleaved,
    )


def _unique(*groups: tuple[ReadWarning, ...]) -> tuple[ReadWarning, ...]:
    return tuple(dict.fromkeys(warning for group in groups for warning in group))
