"""`mail_read`: one message as text, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from mailgate.errors import InvalidArgument
from mailgate.imap.values import MessageRef, ModSeq
from mailgate.limits import HEADER_BYTES_MAX, PARSE_SECONDS, READ_CHARS_DEFAULT, READ_CHARS_MAX
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
from mailgate.mime.parse import parse_headers, parse_message
from mailgate.mime.warnings import WarningCode, read_warning
from mailgate.read.offload import OutOfTime, off_loop
from mailgate.read.paging import page_end
from mailgate.read.ports import Mailbox
from mailgate.read.source import FetchedMessage, fetch_message

_HEADER_SECONDS: Final = 1.0
"""For the header alone, after the whole message took too long."""
_TIME_LIMIT: Final = read_warning(WarningCode.TIME_LIMIT)
_HARDNESS: Final = tuple(Truncation)


@dataclass(frozen=True, slots=True)
class MessageContent:
    """Everything that came from the message itself: untrusted, cleaned and bounded. `text` is this page's part."""

    headers: MessageHeaders
    text: str
    attachments: tuple[AttachmentInfo, ...] = ()
    sanitized: bool = False


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """One page of one message. `text_chars` counts the whole text, `next_offset` is None on its last page.

    `alternative`: the form of the text that exists beside the chosen one. `offset`: where this page begins.
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

    def shortened(self, chars: int) -> ReadMessage:
        """The same page with at most `chars` characters (at least 0): what is left when the result is too large."""
        length = page_end(self.content.text, 0, chars) if chars > 0 else 0
        if length == len(self.content.text):
            return self
        return replace(
            self,
            content=replace(self.content, text=self.content.text[:length]),
            next_offset=self.offset + length,
            truncated_by=hardest(self.truncated_by, Truncation.RESULT_LIMIT),
        )


async def read_message(
    mailbox: Mailbox, reference: MessageRef, *, max_chars: int = READ_CHARS_DEFAULT, offset: int = 0
) -> ReadMessage:
    """The message's headers, attachments, and at most `max_chars` characters of its text from `offset`.

    Raises `InvalidArgument` for a range that cannot be, an offset beyond the end included, and what `fetch_message`
    raises. A message that cannot be parsed in time is an answer with a `time_limit` warning, not an error.
    """
    _check_range(max_chars, offset)
    fetched = await fetch_message(mailbox, reference)
    parsed = await _parsed(fetched.raw)
    if offset > len(parsed.text.text):
        if _TIME_LIMIT not in parsed.warnings:
            raise InvalidArgument("`offset` lies beyond the end of the text; `text_chars` tells its length.")
        # The page before may have had more time; how long the text is cannot be told now.
        offset = len(parsed.text.text)
    return _page(fetched, parsed, max_chars, offset)


def hardest(*limits: Truncation) -> Truncation:
    """The limit that says most about what is missing: a cut source above a cut text above a short page."""
    return max(limits, key=_HARDNESS.index)


def _check_range(max_chars: int, offset: int) -> None:
    if not 1 <= max_chars <= READ_CHARS_MAX:
        raise InvalidArgument(f"`max_chars` is a number from 1 to {READ_CHARS_MAX}.")
    if offset < 0:
        raise InvalidArgument("`offset` is a number from 0.")


async def _parsed(raw: RawMessage) -> ParsedMessage:
    """The message parsed off the event loop, or at least its headers."""
    try:
        return await off_loop(lambda expired: parse_message(raw, deadline=expired), seconds=PARSE_SECONDS)
    except OutOfTime:
        headers = await _headers_only(raw)
        return ParsedMessage(headers, MessageText("", truncation=Truncation.TEXT_LIMIT), warnings=(_TIME_LIMIT,))


async def _headers_only(raw: RawMessage) -> MessageHeaders:
    block = raw.prefix[:HEADER_BYTES_MAX].partition(b"\r\n\r\n")[0]
    try:
        return await off_loop(lambda _: parse_headers(block), seconds=_HEADER_SECONDS)
    except OutOfTime:
        return MessageHeaders()


def _page(fetched: FetchedMessage, parsed: ParsedMessage, max_chars: int, offset: int) -> ReadMessage:
    whole = parsed.text
    end = page_end(whole.text, offset, max_chars)
    more = end < len(whole.text)
    return ReadMessage(
        reference=fetched.reference,
        flags=fetched.flags,
        internal_date=fetched.internal_date,
        size=fetched.size,
        mod_seq=fetched.mod_seq,
        text_format=whole.format,
        text_source=whole.source,
        alternative=whole.alternative,
        text_chars=len(whole.text),
        offset=offset,
        next_offset=end if more else None,
        truncated_by=hardest(
            whole.truncation,
            Truncation.SOURCE_LIMIT if fetched.raw.truncated else Truncation.NONE,
            Truncation.MAX_CHARS if more else Truncation.NONE,
        ),
        content=MessageContent(
            headers=parsed.headers,
            text=whole.text[offset:end],
            attachments=parsed.attachments,
            sanitized=whole.sanitized or parsed.headers.sanitized or any(info.sanitized for info in parsed.attachments),
        ),
        warnings=_unique(fetched.warnings, parsed.headers.warnings, parsed.warnings),
    )


def _unique(*groups: tuple[ReadWarning, ...]) -> tuple[ReadWarning, ...]:
    return tuple(dict.fromkeys(warning for group in groups for warning in group))
