"""Takes capabilities, special-use attributes and response codes out of what an IMAP server says, and renames folders.

Dovecot's own imap_capability changes only the advertisement after its parser; LIST keeps its `\\Trash`, and EXAMINE its
UIDNEXT. This edits the stream by lines and steps over literals, so the text of a message is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_LITERAL = re.compile(rb"\{(\d+)\+?\}\r\n\Z")
_CAPABILITY = re.compile(rb"(?i)(\* CAPABILITY |\[CAPABILITY )([^\]\r\n]*)")
_FOLDER = re.compile(rb"(?i)\* (?:LIST|LSUB|STATUS) ")
_LIST = re.compile(rb"(?i)(\* (?:LIST|LSUB) \()([^)]*)\)")


@dataclass(frozen=True, slots=True)
class ImapEdit:
    """What is missing. `capabilities` and `attributes` go wherever they stand; a code takes its `* OK [...]` along.

    `renames`: the server's wire name of a folder to the one that clients see, for names no server would create.
    """

    capabilities: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    renames: Mapping[str, str] = field(default_factory=dict)

    def upward(self, data: bytes) -> bytes:
        """Octets of a client, with quoted folder names as the server knows them. Clients send a command at a time."""
        for real, shown in self.renames.items():
            data = data.replace(b'"%s"' % shown.encode(), b'"%s"' % real.encode())
        return data

    def editor(self) -> ImapEditor:
        """The state for one connection."""
        return ImapEditor(self)


def _without(words: bytes, gone: frozenset[str]) -> bytes:
    lower = {word.lower().encode() for word in gone}
    return b" ".join(word for word in words.split() if word.lower() not in lower)


class ImapEditor:
    """Octets in, edited octets out; an incomplete line waits for its end."""

    def __init__(self, edit: ImapEdit) -> None:
        self._edit = edit
        self._pending = b""
        self._literal = 0
        self._continues = False

    def upward(self, data: bytes) -> bytes:
        """The next octets of the client's stream."""
        return self._edit.upward(data)

    def feed(self, data: bytes) -> bytes:
        """The next octets of the server's stream."""
        self._pending += data
        done = bytearray()
        while self._pending:
            if self._literal:
                taken = self._pending[: self._literal]
                self._literal -= len(taken)
                self._pending = self._pending[len(taken) :]
                done += taken
                continue
            end = self._pending.find(b"\r\n")
            if end < 0:
                break
            line, self._pending = self._pending[: end + 2], self._pending[end + 2 :]
            done += self._line(line)
        return bytes(done)

    def _line(self, line: bytes) -> bytes:
        first, literal = not self._continues, _LITERAL.search(line)
        status = first and line[:2] == b"* " and line[2:].split(None, 1)[0].upper() in {b"OK", b"NO", b"BAD", b"BYE"}
        if literal is not None and not status:
            self._literal = int(literal.group(1))
        self._continues = literal is not None and not status
        if not first:
            return line
        return b"" if self._dropped(line) else self._edited(line)

    def _dropped(self, line: bytes) -> bool:
        return any(line.upper().startswith(b"* OK [" + code.upper().encode()) for code in self._edit.codes)

    def _edited(self, line: bytes) -> bytes:
        if _FOLDER.match(line):
            for real, shown in self._edit.renames.items():
                line = re.sub(rb"(?<= )\"?%s\"?(?=[ \r])" % re.escape(real.encode()), b'"%s"' % shown.encode(), line)
        line = _CAPABILITY.sub(lambda found: found[1] + _without(found[2], self._edit.capabilities), line, count=1)
        return _LIST.sub(lambda found: found[1] + _without(found[2], self._edit.attributes) + b")", line, count=1)
