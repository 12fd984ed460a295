"""HTML to readable text: bounded (`html_scan`), parsed as a browser would (lexbor), pruned (`html_tree`), written.

html2text only ever sees the small clean document that `html_tree` writes: balanced, without attributes but link
targets and list numbers, without entities, at most `limits.TEXT_BYTES_MAX` characters of text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import html2text
from selectolax.lexbor import LexborHTMLParser

from mailgate.limits import HTML_BYTES_MAX, HTML_TOKENS_MAX
from mailgate.mime.clean import clean
from mailgate.mime.html_scan import ScannedHtml, scan
from mailgate.mime.html_styles import parse_styles
from mailgate.mime.html_tree import AMPERSAND, CELL, CLOSE_BRACKET, LESS, OPEN_BRACKET, CleanHtml, serialize

_CELL_SEPARATOR: Final = " | "
_RESTORED: Final = str.maketrans({LESS: "<", AMPERSAND: "&", OPEN_BRACKET: "\\[", CLOSE_BRACKET: "\\]"})


@dataclass(frozen=True, slots=True)
class HtmlText:
    """Markdown, and what happened: `limited` (a bound was met), `hidden` (unseen text left out), `sanitized` (unsafe
    characters taken out), `failed` (no text could be had), `tokens` taken from the budget."""

    text: str = ""
    limited: bool = False
    hidden: bool = False
    sanitized: bool = False
    failed: bool = False
    tokens: int = 0


def html_to_text(html: str, *, tokens: int = HTML_TOKENS_MAX) -> HtmlText:
    """Markdown of what a reader of the HTML sees. Never raises; work is linear in the (bounded) input."""
    # Characters, not octets: what was decoded from bounded octets has no more characters than octets.
    bounded = html[:HTML_BYTES_MAX]
    scanned = scan(bounded, tokens)
    try:
        cleaned = _clean_document(scanned)
        text = _markdown(cleaned.markup)
    except Exception:
        # Two foreign libraries on a stranger's input: whatever they raise costs the HTML, never the message.
        return HtmlText(failed=True, limited=scanned.limited, hidden=scanned.hidden, tokens=scanned.tokens)
    safe = clean(text, multiline=True)
    return HtmlText(
        text=safe.text,
        limited=scanned.limited or cleaned.limited or len(bounded) < len(html),
        hidden=scanned.hidden or cleaned.hidden,
        sanitized=cleaned.sanitized or safe.changed,
        tokens=scanned.tokens,
    )


def _clean_document(scanned: ScannedHtml) -> CleanHtml:
    body = LexborHTMLParser(scanned.markup.encode("utf-8", "replace")).body
    return serialize(body, parse_styles(scanned.css)) if body is not None else CleanHtml("", False, False, False)


def _markdown(markup: str) -> str:
    writer = html2text.HTML2Text(bodywidth=0)
    # Without it accents are flattened to ASCII.
    writer.unicode_snob = True
    writer.ignore_images = True
    # The tree has none left; this keeps the writer from looking for them.
    writer.ignore_tables = True
    writer.single_line_break = False
    written = writer.handle(markup)
    lines = (_line(line) for line in written.split("\n"))
    return _without_gaps(lines).translate(_RESTORED)


def _line(line: str) -> str:
    """Without blanks at its end; with a separator between its cells, where it has several."""
    if CELL not in line:
        return line.rstrip()
    cells = (cell.strip() for cell in line.split(CELL))
    return _CELL_SEPARATOR.join(cell for cell in cells if cell)


def _without_gaps(lines: Iterable[str]) -> str:
    """Not more than one empty line in a row, none at either end."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    return "\n".join(kept).rstrip("\n")
