r"""An SMTP server that plays a script, so that one behaviour of one server can be shown as a file of lines.

A dialogue file begins with `#` lines: first sentences for people, then data as `# key: JSON`:

    # given: {"to": ["a@example.org"], "seconds": 1}     how the submission is set up (optional)
    # expect: {"outcome": "rejected", "stage": "final"}  what must come of it; "dots": 0 when no message arrived whole

Then the script of the one connection, with the verbs of `scripted_imap` (`C:`, `S:`, `S-raw:`, `S-drip:`, `S-close`,
`S-cut`, `S-stall`, `S-starttls`, `C-gone`) and these:

    C-message       the client must send the whole message and the final dot; un-stuffed it must be the one handed in
    C-part 100      take that many octets of the message and no more
    S-wait 0.5      let that many seconds pass
    S-hang 0.5      the same without taking anything from the client, and then close
    @hello WORDS    greeting, EHLO, and a reply that names each word (`AUTH=A+B` stands for `AUTH A B`); `-` names none
    @login          AUTH PLAIN and 235
    @mail @rcpt     MAIL, or RCPT of one address, answered with 250
    @data           DATA, answered with 354

After the last step the client may say RSET and QUIT; both are answered, and `said` lists them.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.peers.scripted_imap import ScriptedImap, Step, _Off, _Player

HELLO = "SIZE=104857600 8BITMIME AUTH=PLAIN+LOGIN"


@dataclass(frozen=True)
class SmtpDialogue:
    """A file: the sentence, the data of its head, and the steps."""

    title: str
    given: dict[str, Any]
    expected: dict[str, Any]
    steps: tuple[Step, ...]


def parse_smtp_dialogue(text: str, title: str = "") -> SmtpDialogue:
    """Read the format above; `ValueError` for a line that is none of it."""
    head: dict[str, Any] = {}
    steps: list[Step] = []
    for line in text.splitlines():
        if line.startswith("#"):
            key, colon, value = line[1:].strip().partition(": ")
            if colon and key in ("given", "expect"):
                head[key] = json.loads(value)
        elif line.strip():
            steps.extend(_steps(line))
    return SmtpDialogue(title, head.get("given", {}), head["expect"], tuple(steps))


def load_smtp_dialogue(path: Path) -> SmtpDialogue:
    """The dialogue in a file; its title is the file's name as a sentence."""
    return parse_smtp_dialogue(path.read_text(encoding="utf-8"), path.stem.replace("_", " "))


_VERBS = {"S-close", "S-cut", "S-stall", "S-starttls", "C-gone", "C-message"}
_PREFIXES = ("C: ", "S: ", "S-raw: ", "S-drip: ", "C-part ", "S-wait ", "S-hang ")


def _steps(line: str) -> Iterator[Step]:
    word, _, rest = line.strip().partition(" ")
    match word:
        case "@hello":
            yield from hello_steps(rest or HELLO)
        case "@login":
            yield from (Step("C:", "AUTH PLAIN ..."), Step("S:", "235 2.7.0 welcome"))
        case "@mail":
            yield from (Step("C:", "MAIL FROM:<..."), Step("S:", "250 2.1.0 ok"))
        case "@rcpt":
            yield from (Step("C:", "RCPT TO:<...>"), Step("S:", "250 2.1.5 ok"))
        case "@data":
            yield from (Step("C:", "DATA"), Step("S:", "354 go ahead"))
        case _ if line.strip() in _VERBS:
            yield Step(line.strip())
        case _:
            prefix = next((prefix for prefix in _PREFIXES if line.startswith(prefix)), None)
            if prefix is None:
                raise ValueError(f"not a line of a dialogue: {line!r}")
            yield Step(prefix.strip(), line.removeprefix(prefix))


def hello_steps(words: str) -> tuple[Step, ...]:
    """Greeting and EHLO, with these extensions."""
    return (Step("S:", "220 mx.example.org ESMTP"), Step("C:", "EHLO ..."), *ehlo_reply(words))


def ehlo_reply(words: str) -> tuple[Step, ...]:
    """The reply to EHLO."""
    lines = ["mx.example.org", *(word.replace("=", " ", 1).replace("+", " ") for word in words.split() if word != "-")]
    return tuple(Step("S:", f"250{' ' if line is lines[-1] else '-'}{line}") for line in lines)


@dataclass
class ScriptedSmtp(ScriptedImap):
    """The server; `async with` starts and stops it. `said`: RSET and QUIT at the end. `dots`: messages taken whole."""

    message: bytes = b""
    said: list[bytes] = field(default_factory=list)
    dots: int = 0
    bodies: list[bytes] = field(default_factory=list)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        try:
            if self.accepted > len(self.connections):
                self.problems.append("one connection more than the script has")
            else:
                await _SmtpPlayer(self, reader, writer).play(self.connections[self.accepted - 1])
        except (_Off, ConnectionError, ssl.SSLError, asyncio.IncompleteReadError) as error:
            self.problems.append(f"connection {self.accepted}: {error}")
        finally:
            self.finished += 1
            self._changed.set()
            writer.transport.abort()


class _SmtpPlayer(_Player):
    peer: ScriptedSmtp

    async def _act(self, step: Step) -> bool:
        match step.verb:
            case "C-message":
                data = bytearray()
                while not data.endswith(b"\r\n.\r\n"):
                    data += await self.reader.read(1 << 20)
                    if self.reader.at_eof():
                        raise _Off("the client went before the final dot")
                body = unstuffed(bytes(data).removesuffix(b".\r\n"))
                self.peer.dots += 1
                self.peer.bodies.append(body)
                if self.peer.message and body != self.peer.message:
                    raise _Off("the message is not the one handed in")
                return False
            case "C-part":
                await self.reader.readexactly(int(step.text))
                return False
            case "S-wait":
                await asyncio.sleep(float(step.text))
                return False
            case "S-hang":
                await self.writer.drain()
                await asyncio.sleep(float(step.text))
                return True
            case _:
                return await super()._act(step)

    async def _farewell(self) -> None:
        while True:
            try:
                line = (await self.reader.readline()).removesuffix(b"\r\n")
            except (ConnectionError, ssl.SSLError):
                return
            if not line:
                return
            if line not in (b"RSET", b"QUIT"):
                raise _Off(f"after the last step the client sent {line[:200]!r}")
            self.peer.said.append(line)
            self.writer.write(b"221 bye\r\n" if line == b"QUIT" else b"250 ok\r\n")
            await self.writer.drain()


def unstuffed(data: bytes) -> bytes:
    """Without the dot that RFC 5321, 4.5.2 puts before a line that begins with one."""
    return (b"\r\n" + data).replace(b"\r\n.", b"\r\n").removeprefix(b"\r\n")
