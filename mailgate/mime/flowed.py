"""format=flowed (RFC 3676): lines that a sender broke only for transport are joined again."""

from __future__ import annotations

import re
from typing import Final

_QUOTED: Final = re.compile(r"(>*)( ?)(.*)", re.DOTALL)
_SIGNATURE: Final = "-- "


def unflow(text: str, *, delete_space: bool = False) -> str:
    """The text with its paragraphs whole. Line ends are LF. `delete_space`: DelSp=yes, for scripts without blanks.

    A quoted line keeps its marks, one blank after them. Work is linear in the text.
    """
    written: list[str] = []
    paragraph: list[str] = []
    depth = 0
    for line in text.split("\n"):
        marks, content = _split(line)
        # RFC 3676, 4.3: the signature line ends a paragraph and is none; 4.5: so does another depth.
        is_signature = content == _SIGNATURE
        # An empty line was meant as one, whatever blank the line before it ends with.
        if paragraph and (marks != depth or is_signature or not content):
            written.append(_line(depth, paragraph))
            paragraph = []
        depth = marks
        if is_signature or not content.endswith(" "):
            written.append(_line(depth, [*paragraph, content]))
            paragraph = []
        else:
            paragraph.append(content[:-1] if delete_space else content)
    if paragraph:
        written.append(_line(depth, paragraph))
    return "\n".join(written)


def _split(line: str) -> tuple[int, str]:
    """Depth and content (RFC 3676, 4.4 and 4.5: one blank after the marks is stuffing)."""
    match = _QUOTED.match(line)
    assert match is not None  # the pattern matches any text
    return len(match[1]), match[3]


def _line(depth: int, pieces: list[str]) -> str:
    content = "".join(pieces)
    if content != _SIGNATURE:
        content = content.rstrip(" ")
        # Of a line that only begins like a quotation the stuffing stays, or it would be taken for one.
        content = f" {content}" if content.startswith(">") or (depth and content) else content
    return ">" * depth + content
