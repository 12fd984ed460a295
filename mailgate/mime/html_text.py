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
from mailgate.mime.html_overlap import may_overlap
from mailgate.mime.html_scan import ScannedHtml, scan
from mailgate.mime.html_styles import StyleSheet
from mailgate.mime.html_tree import (
    AMPERSAND,
    CELL,
    CLOSE_BRACKET,
    IMAGE,
    IMAGE_END,
    LESS,
    OPEN_BRACKET,
    PIPE,
    ROW,
    RULE,
    CleanHtml,
    serialize,
)

_CELL_SEPARATOR: Final = " | "
_RESTORED: Final = str.maketrans(
    {
        LESS: "<",
        AMPERSAND: "&",
        OPEN_BRACKET: "\\[",
        CLOSE_BRACKET: "\\]",
        PIPE: "\\|",
        IMAGE: "![",
        IMAGE_END: "]",
    }
)


@dataclass(frozen=True, slots=True)
class HtmlText:
    """Markdown, and what happened: `limited` (a bound was met), `hidden_chars` (characters of unseen text left out),
    `differs` (a link's text names another host than its target), `sanitized` (unsafe characters taken out), `failed`
    (no text could be had), `tokens` taken from the budget."""

    text: str = ""
    limited: bool = False
    hidden_chars: int = 0
    differs: bool = False
    sanitized: bool = False
    failed: bool = False
    tokens: int = 0
    odd: bool = False
    """Text within a quotation looks other than the rest of it: that is how answers are marked."""

    @property
    def hidden(self) -> bool:
        """Whether unseen text was left out."""
        return self.hidden_chars > 0


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
        return HtmlText(failed=True, limited=scanned.limited, hidden_chars=scanned.hidden_chars, tokens=scanned.tokens)
    safe = clean(text, multiline=True)
    return HtmlText(
        text=safe.text,
        limited=scanned.limited or cleaned.limited or len(bounded) < len(html),
        hidden_chars=scanned.hidden_chars + cleaned.hidden_chars,
        differs=cleaned.differs,
        sanitized=cleaned.sanitized or safe.changed,
        tokens=scanned.tokens,
        odd=cleaned.odd,
    )


def _clean_document(scanned: ScannedHtml) -> CleanHtml:
    inline = "var(" in scanned.markup.lower() if "--" in scanned.markup else False
    styles = StyleSheet(scanned.css, quirks=scanned.quirks, inline=inline)
    body = LexborHTMLParser(scanned.markup.encode("utf-8", "replace")).body
    return (
        serialize(body, styles, overlapping=may_overlap(scanned.markup, scanned.css))
        if body is not None
        else CleanHtml()
    )


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
    """Without blanks at its end; a row of data, or separators between its cells, where it has several."""
    if ROW in line:
        return _row(*line.split(ROW, 1))
    if CELL not in line:
        return line.rstrip()
    cells = (cell.strip() for cell in line.split(CELL))
    return _CELL_SEPARATOR.join(cell for cell in cells if cell)


def _row(prefix: str, cells: str) -> str:
    """One line of a table (GitHub Flavored Markdown, 4.10); before it what marks a quotation or a list."""
    if cells.startswith(RULE):
        return prefix + "|---" * cells.count(RULE) + "|"
    texts = [cell.strip() for cell in cells.replace(ROW, "").split(CELL)]
    return f"{prefix}| {_CELL_SEPARATOR.join(texts[:-1])} |"


def _without_gaps(lines: Iterable[str]) -> str:
    """Not more than one empty line in a row, none at either end; the same for the empty lines of a quotation."""
    kept: list[str] = []
    for line in lines:
        bare = not line.strip("> ")
        while kept and kept[-1] and not kept[-1].strip("> ") and (bare or not line.startswith(">")):
            kept.pop()
        if line if not bare else (kept and kept[-1] != line):
            kept.append(line)
    while kept and not kept[-1].strip("> "):
        kept.pop()
    return "\n".join(kept)
