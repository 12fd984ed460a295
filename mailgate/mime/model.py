"""What reading a message yields: values only, no parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mailgate.mime.sender import SenderFacts
    from mailgate.mime.skeleton import Skeleton


@dataclass(frozen=True, slots=True)
class RawMessage:
    """The first octets of a message as the server sent them.

    `prefix`: at most `limits.SOURCE_BYTES_MAX` octets. `truncated`: more exists than is here, decided by what
    was returned against what was asked for, never by RFC822.SIZE, which some servers get wrong. `skeleton`: the parts,
    where they are known otherwise than by walking over `prefix`; bodies that nobody needs are then not in it.
    """

    prefix: bytes
    truncated: bool = False
    skeleton: Skeleton | None = None


@dataclass(frozen=True, slots=True)
class Clean:
    """A string made safe to show: valid UTF-8 without control, bidi, zero-width and tag characters.

    `changed` is true when something was removed or escaped.
    """

    text: str
    changed: bool = False


class TextFormat(StrEnum):
    """How the extracted text reads."""

    PLAIN = "plain"
    MARKDOWN = "markdown"


class TextSource(StrEnum):
    """Which alternative the text was taken from."""

    PLAIN = "plain"
    HTML = "html"


class Truncation(StrEnum):
    """What made the text incomplete, hardest last."""

    NONE = "none"
    MAX_CHARS = "max_chars"
    SHARED_BUDGET = "shared_budget"
    RESULT_LIMIT = "result_limit"
    TEXT_LIMIT = "text_limit"
    SOURCE_LIMIT = "source_limit"


@dataclass(frozen=True, slots=True)
class ReadWarning:
    """`code: sentence` once rendered; the codes are documented in docs/tools.md."""

    code: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class MessageHeaders:
    """The header fields a reader needs, decoded, cleaned and bounded.

    Addresses are `Name <addr@host>` or `addr@host`. `date` is ISO 8601 with offset, or None with the raw field in
    `date_raw`. Ids keep their angle brackets.
    """

    subject: str | None = None
    from_: tuple[str, ...] = ()
    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    reply_to: tuple[str, ...] = ()
    sender: str | None = None
    date: str | None = None
    date_raw: str | None = None
    message_id: str | None = None
    in_reply_to: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    list_id: str | None = None
    list_unsubscribe: str | None = None
    list_unsubscribe_post: str | None = None
    list_post: str | None = None
    sanitized: bool = False
    warnings: tuple[ReadWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class AttachmentInfo:
    """One leaf that is not part of the text. `index` is one-based, in order of appearance.

    `size`: decoded octets, None where the part does not lie whole within the examined source; `estimated`: worked out
    from what the server says of a part that was not fetched. `filename`: a bare name, safe to show, or None;
    `filename_changed` when it is not what the message says. `disposition`: `attachment`, `inline` or None.
    `referenced`: the body refers to it (an inline picture), so it is no attachment to a reader. `sanitized`: something
    unsafe was taken out of `filename` or `content_id`.
    """

    index: int
    filename: str | None
    filename_changed: bool
    content_type: str
    size: int | None
    disposition: str | None = None
    content_id: str | None = None
    referenced: bool = False
    sanitized: bool = False
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class MessageText:
    """The text a reader sees, whole, at most `limits.TEXT_BYTES_MAX` octets of UTF-8.

    `alternative`: the other form that exists beside the chosen one, or None. `odd_within`: in the HTML, text within a
    quotation looks other than the rest of it.
    """

    text: str
    format: TextFormat = TextFormat.PLAIN
    source: TextSource = TextSource.PLAIN
    alternative: TextSource | None = None
    truncation: Truncation = Truncation.NONE
    sanitized: bool = False
    odd_within: bool = False


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """All of it: headers, text, attachments, and what had to be said about them."""

    headers: MessageHeaders
    text: MessageText
    attachments: tuple[AttachmentInfo, ...] = ()
    warnings: tuple[ReadWarning, ...] = field(default_factory=tuple)
    sender: SenderFacts | None = None
    """None only where the header was not read."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """One attachment with its decoded octets (at most `limits.ATTACHMENT_BYTES_MAX`)."""

    info: AttachmentInfo
    data: bytes
