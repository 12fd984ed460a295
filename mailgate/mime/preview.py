"""A short extract of a message's text for one row of a list, from its first octets or from the server's own words."""

from __future__ import annotations

import re
from typing import Final

from mailgate.limits import PREVIEW_CHARS
from mailgate.mime.clean import clean
from mailgate.mime.model import Clean, RawMessage, TextFormat
from mailgate.mime.parse import parse_message
from mailgate.mime.quotes import fold_quotes
from mailgate.mime.structure import Deadline

_LINK: Final = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,2000}\)")
_URL: Final = re.compile(r"<?\bhttps?://[^\s<>]+>?")
_MARKS: Final = re.compile(r"^[ \t]*(?:#{1,6}[ \t]+|[-*_=|~]{3,}[ \t]*$|[*+-][ \t]+|\|)|\*\*|\|[ \t]*$", re.MULTILINE)
_QUOTED: Final = re.compile(r"^(?:>.*|\[quoted: .*\])$", re.MULTILINE)
_EXAMINED: Final = 16 * PREVIEW_CHARS
"""Characters of text that an extract is looked for in."""
_ELLIPSIS: Final = "\N{HORIZONTAL ELLIPSIS}"


def preview_of(header: bytes, text: bytes, *, cut: bool, deadline: Deadline | None = None) -> Clean | None:
    """The extract from the beginning of a message, or None where that holds no readable words.

    `header`: at least Content-Type and Content-Transfer-Encoding as sent, whatever ends it; `text`: the first octets of
    what follows the header; `cut`: there are more.
    """
    source = header.rstrip(b"\r\n") + b"\r\n\r\n" + text if header.strip() else b"\r\n" + text
    parsed = parse_message(RawMessage(source, truncated=cut), deadline=deadline).text
    shown = parsed.text
    if shown and not (deadline is not None and deadline()):
        shown = fold_quotes(shown, parsed.format).text
    shown = shown[:_EXAMINED]
    if parsed.format is TextFormat.MARKDOWN:
        shown = _MARKS.sub(" ", _LINK.sub(r"\1", shown))
    return _extract(_URL.sub(" ", _QUOTED.sub(" ", shown)), parsed.sanitized)


def _extract(text: str, sanitized: bool) -> Clean | None:
    words = " ".join(text.split())
    safe = clean(words)
    if not safe.text:
        return None
    shown = safe.text
    if len(shown) > PREVIEW_CHARS:
        shown = shown[: PREVIEW_CHARS - 1]
        # The end of the last whole word, if there is one near.
        head, blank, _ = shown.rpartition(" ")
        shown = (head if blank and len(head) > PREVIEW_CHARS // 2 else shown).rstrip() + _ELLIPSIS
    return Clean(shown, sanitized or safe.changed)
