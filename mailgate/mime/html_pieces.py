"""The text of CSS made easy to cut: comments out, strings harmless, and cuts only outside of brackets (CSS Syntax).

Everything is read in one pass with patterns that cannot go back, so work is linear in the text.
"""

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(
    r"/\*[^*]*+(?:\*+(?!/)[^*]*+)*+(?:\*+/|\Z)"
    r'|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+(?:"|\Z|(?=\n))'
    r"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+(?:'|\Z|(?=\n))"
    r"|\burl\([ \t\n]*+[^ \t\n\"'()]*+[ \t\n]*+\)"
    r"|\\.",
    re.DOTALL | re.IGNORECASE,
)
_SPECIAL: Final = re.compile(r"[{}()\[\];:,/*&!]|\s")
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-fA-F]{1,6})[ \t\n]?|(.))", re.DOTALL)
_WORD: Final = re.compile(r"[-\w]")
_BRACKETS: Final = re.compile(r"[()\[\]{}]")


def tidied(css: str) -> str:
    """CSS without comments, in which nothing within a string, an address or an escape looks like a mark of CSS."""
    if "/*" not in css and '"' not in css and "'" not in css and "(" not in css and "\\" not in css:
        return css
    return _TOKEN.sub(_tidy, css)


def _tidy(match: re.Match[str]) -> str:
    text = match[0]
    if text[0] == "/":
        # A comment parts two words, and nothing else.
        before, after = match.string[match.start() - 1 : match.start()], match.string[match.end() : match.end() + 1]
        return " " if _WORD.match(before) and _WORD.match(after) else ""
    if text[0] == "\\":
        return _coded(text[1]) if _SPECIAL.match(text[1]) else text
    if text[0] in "\"'":
        return text[0] + _SPECIAL.sub(lambda found: _coded(found[0]), text[1:].removesuffix(text[0])) + text[0]
    return "url()"


def _coded(character: str) -> str:
    return f"\\{ord(character):06x}"


def unescaped(text: str) -> str:
    """CSS Syntax, 4.3.7: up to six hexadecimal digits, or the character itself."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    if not match[1]:
        return match[2]
    code = int(match[1], 16)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code <= 0x10FFFF else "\ufffd"


def split_outside(text: str, mark: str) -> list[str]:
    """The text cut at each mark outside of brackets; at a blank, without empty pieces."""
    pieces = text.split(mark)
    if "(" in text or "[" in text or "{" in text:
        pieces = _joined(pieces, mark)
    return [piece for piece in pieces if piece] if mark == " " else pieces


def _joined(pieces: list[str], mark: str) -> list[str]:
    whole: list[str] = []
    parts: list[str] = []
    depth = 0
    for piece in pieces:
        parts.append(piece)
        for bracket in _BRACKETS.findall(piece):
            depth = depth + 1 if bracket in "([{" else max(depth - 1, 0)
        if not depth:
            whole.append(mark.join(parts))
            parts = []
    if parts:
        whole.append(mark.join(parts))
    return whole
