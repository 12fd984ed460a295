"""Files written into a text in uuencoding (POSIX uuencode), and parts encoded with it.

Only what has a header, lines that are as long as their first character says, and an end is taken for a file: a sentence
that begins with `begin 644` is none. Work is linear in the text.
"""

from __future__ import annotations

import binascii
import re
from dataclasses import dataclass
from typing import Final

from mailgate.mime.filenames import safe_filename

_HEADER: Final = re.compile(r"^begin(?:-base64)? [0-7]{3,4} {1,4}(\S[^\r\n]{0,400}?)[ \t]*\r?$", re.MULTILINE)
_HEADER_OCTETS: Final = re.compile(rb"begin [0-7]{3,4} ")
_LINES_MIN: Final = 3
"""Data lines after which a file counts as one although its end is missing (the text was cut)."""


@dataclass(frozen=True, slots=True)
class CutText:
    """The text without its files, and how many there were."""

    text: str
    files: int = 0


def cut_uuencoded(text: str) -> CutText:
    """Each file becomes one line with its name and its size in octets. Line ends are LF."""
    if "begin" not in text:
        return CutText(text)
    pieces: list[str] = []
    files = at = 0
    for header in _HEADER.finditer(text):
        if header.start() < at:
            continue
        found = _file_after(text, header.end() + 1, "-base64" in header[0][:12])
        if found is None:
            continue
        end, size = found
        name = safe_filename(header[1]).name or "unnamed"
        pieces += [text[at : header.start()], f"[uuencoded file cut out: {name}, {size:,} bytes]"]
        at = end
        files += 1
    return CutText("".join([*pieces, text[at:]]), files)


def _file_after(text: str, start: int, is_base64: bool) -> tuple[int, int] | None:
    """Where the file ends and how many octets it has, or None where there is no file."""
    at, size, lines = start, 0, 0
    while at < len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at : min(stop, at + 400)].rstrip("\r")
        if line.rstrip() == ("====" if is_base64 else "end"):
            return (stop, size) if lines else None
        octets = _base64_octets(line) if is_base64 else _octets_in(line)
        if octets is None:
            break
        size += octets
        lines += octets > 0
        at = stop + 1
    if lines < _LINES_MIN:
        return None
    # The end was cut off with the text, perhaps within a line; or damage ends the file, and what follows stays text.
    return (len(text) if text.find("\n", at) < 0 else at - 1), size


def _octets_in(line: str) -> int | None:
    """How many octets a data line holds, or None for a line that is none."""
    if line in ("`", " "):
        return 0
    octets = (ord(line[0]) - 32) & 63 if line and " " < line[0] <= "`" else 0
    needed = (octets + 2) // 3 * 4
    # Blanks at the end are zeros, which may be lost on the way; some encoders add a check character.
    fits = len(line) - 1 <= needed + 2
    return octets if octets and fits and all(" " <= character <= "`" for character in line) else None


def _base64_octets(line: str) -> int | None:
    return len(line) // 4 * 3 - line.count("=") if re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", line) else None


class UuDecoder:
    """The octets between `begin` and `end`, taken block by block; blocks end with a line."""

    def __init__(self) -> None:
        self.done = False
        self.damaged = False
        self._begun = False

    def feed(self, block: bytes) -> bytes:
        """What the next block holds. What stands before `begin` and after `end` is nothing."""
        return b"".join(map(self._line, block.splitlines()))

    def _line(self, line: bytes) -> bytes:
        if self.done or not line:
            return b""
        if not self._begun:
            self._begun = _HEADER_OCTETS.match(line) is not None
            return b""
        if line.strip() == b"end":
            self.done = True
            return b""
        octets = _line_octets(line)
        self.damaged = self.damaged or octets is None
        return octets or b""


def _line_octets(line: bytes) -> bytes | None:
    octets = (line[0] - 32) & 63
    needed = (octets + 2) // 3 * 4 + 1
    try:
        # What was cut at the end of a line was blanks.
        return binascii.a2b_uu(line[:needed].ljust(needed, b" "))
    except (binascii.Error, ValueError):
        return None
