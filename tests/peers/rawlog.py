"""What a client sent, read back from Dovecot's raw logs.

One `.in` file holds everything a session sent after its login, each line behind a time stamp; a literal's lines carry
stamps as well. Dovecot writes it before it answers, so what a test was answered is in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_STAMP = re.compile(rb"^\d+\.\d+ ", re.MULTILINE)
_LITERAL = re.compile(rb"\{(\d+)\+?\}\r\n")


@dataclass(frozen=True, slots=True)
class SentCommand:
    """One command as it went over the wire: `name` in capitals (`UID FETCH`), `line` whole, literals included."""

    name: str
    line: bytes


def _one_command(data: bytes, start: int) -> int:
    """The offset behind the command that begins at `start`, over as many literals as it has."""
    position = start
    while True:
        end = data.find(b"\r\n", position)
        if end < 0:
            return len(data)
        end += 2
        literal = _LITERAL.search(data, position, end)
        if literal is None or literal.end() != end:
            return end
        position = end + int(literal.group(1))


def _name(line: bytes) -> str:
    words = line.split(None, 3)[1:3]
    if not words:
        return ""
    first = words[0].upper()
    return b" ".join([first, words[1].upper()] if first == b"UID" and len(words) > 1 else [first]).decode("latin-1")


def parse_raw_log(content: bytes) -> list[SentCommand]:
    """The commands of one `.in` file, in order."""
    data = _STAMP.sub(b"", content)
    commands = []
    position = 0
    while position < len(data):
        end = _one_command(data, position)
        line = data[position:end]
        if line.strip():
            commands.append(SentCommand(_name(line), line.removesuffix(b"\r\n")))
        position = end
    return commands
