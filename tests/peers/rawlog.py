"""What a client sent, read back from Dovecot's raw logs.

One `.in` file holds everything a session sent after its login, each line behind a time stamp; a literal's lines carry
stamps as well. Dovecot writes it before it answers, so what a test was answered is in the file.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_STAMP = re.compile(rb"^\d+\.\d+ ", re.MULTILINE)
_TAG = re.compile(rb"([A-Za-z]+)(\d+) ")
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
        if literal is None or literal.end() != end or _was_refused(data, start, end):
            return end
        position = end + int(literal.group(1))


def _was_refused(data: bytes, start: int, end: int) -> bool:
    """Whether the client's next tag follows in place of the literal: the server answered NO instead of `+`.

    Clients count their tags up behind a prefix of their own, so that no message has this by chance.
    """
    tag = _TAG.match(data, start)
    following = b"%s%d " % (tag[1], int(tag[2]) + 1) if tag else b""
    return bool(following) and data.startswith(following, end)


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


def sent_since(before: list[SentCommand], now: list[SentCommand]) -> list[SentCommand]:
    """What came in addition, session by session: sessions that overlap are not one list that only grows at its end."""
    known = Counter(before)
    new = []
    for command in now:
        if known[command]:
            known[command] -= 1
        else:
            new.append(command)
    return new
