r"""An IMAP server that plays a script, so that one behaviour of one real server can be shown as a file of lines.

A dialogue file begins with `#` lines: first sentences for people, then data as `# key: JSON`:

    # mailbox: {"hidden": ["Secret"]}          how the mailbox is set up (optional)
    # call: {"do": "search", "subject": "x"}   what is asked of it; several are made one after the other
    # expect: {"uids": [4, 5]}                 what the call before must give, or {"error": CODE}
    # changes: ["UID STORE"]                   permission to write: exactly these changing commands, in this order

Then one script per connection, separated by `--- connection`:

    C: $ UID SEARCH ... UNSEEN     the client must send this line; `...` stands for anything, `$` for the tag
    S: $ OK done                   sent with CRLF; `$` is the last tag the client used, `$-1` the one before
    S-raw: no line end here\r\n    sent as it is, with the escapes
    S-repeat: 1..1200 * {n} FETCH (UID {n} FLAGS ())
    S-drip: x                      the same bytes again and again, slowly, until the client goes
    S-close / S-cut / S-stall      close; reset; say nothing until the client goes
    S-starttls                     become a TLS server
    C-gone                         the client must close now
    @login CAPABILITIES            greeting, LOGIN, OK with the capabilities
    @examine exists=3 uidvalidity=7 uidnext=10     EXAMINE of any folder and a plain answer
    @select uidvalidity=7 modseq=90 access=READ-WRITE      SELECT of any folder; every flag is kept, new keywords too

`\xNN` and, in `S-raw`, `\r`, `\n` are escapes; everything else is literal. Consecutive `S` lines leave in one write.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import ssl
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.peers.authority import authority

DRIP_SECONDS = 0.01
LINE_LIMIT = 1 << 20


@dataclass(frozen=True)
class Step:
    """One line of a script: `verb` is `C:`, `S:`, `S-cut` and so on."""

    verb: str
    text: str = ""


@dataclass(frozen=True)
class Dialogue:
    """A file: the sentence, the data of its head, and the steps of each connection."""

    title: str
    mailbox: dict[str, Any]
    calls: tuple[dict[str, Any], ...]
    expectations: tuple[dict[str, Any], ...]
    connections: tuple[tuple[Step, ...], ...]
    changes: tuple[str, ...] | None = None
    """The changing commands that the client must send, all of them and no other; None when it may only read."""


def parse_dialogue(text: str, title: str = "") -> Dialogue:
    """Read the format above; raises `ValueError` for a line that is none of it."""
    head: dict[str, list[Any]] = {"mailbox": [], "call": [], "expect": [], "changes": []}
    connections: list[list[Step]] = [[]]
    for line in text.splitlines():
        if line.startswith("#"):
            key, colon, value = line[1:].strip().partition(": ")
            if colon and key in head:
                head[key].append(json.loads(value))
        elif line.startswith("--- connection"):
            connections.append([])
        elif line.strip():
            connections[-1].extend(_steps(line))
    if len(head["call"]) != len(head["expect"]):
        raise ValueError(f"{title}: every call needs its expectation")
    return Dialogue(
        title,
        head["mailbox"][0] if head["mailbox"] else {},
        tuple(head["call"]),
        tuple(head["expect"]),
        tuple(tuple(steps) for steps in connections),
        tuple(head["changes"][0]) if head["changes"] else None,
    )


def load_dialogue(path: Path) -> Dialogue:
    """The dialogue in a file; its title is the file's name as a sentence."""
    return parse_dialogue(path.read_text(encoding="utf-8"), path.stem.replace("_", " "))


_VERBS = {"S-close", "S-cut", "S-stall", "S-starttls", "C-gone"}
_PREFIXES = ("C: ", "S: ", "S-raw: ", "S-repeat: ", "S-drip: ")


def _steps(line: str) -> Iterator[Step]:
    if line.startswith("@login"):
        yield from login_steps(line.removeprefix("@login").strip())
    elif line.startswith("@examine"):
        yield from examine_steps(**dict(pair.split("=") for pair in line.split()[1:]))
    elif line.startswith("@select"):
        yield from select_steps(**dict(pair.split("=") for pair in line.split()[1:]))
    elif line.strip() in _VERBS:
        yield Step(line.strip())
    else:
        prefix = next((prefix for prefix in _PREFIXES if line.startswith(prefix)), None)
        if prefix is None and line.strip() not in ("S:", "C:"):
            raise ValueError(f"not a line of a dialogue: {line!r}")
        yield Step((prefix or line).strip(), line.removeprefix(prefix) if prefix else "")


def login_steps(capabilities: str = "IMAP4rev1") -> tuple[Step, ...]:
    """A greeting that says little, LOGIN, and the true capabilities with the OK."""
    return (
        Step("S:", "* OK [CAPABILITY IMAP4rev1] ready"),
        Step("C:", "$ LOGIN ..."),
        Step("S:", f"$ OK [CAPABILITY {capabilities}] logged in"),
    )


def examine_steps(exists: str = "3", uidvalidity: str = "7", uidnext: str = "10") -> tuple[Step, ...]:
    """EXAMINE of any folder, answered with what RFC 9051 requires."""
    return (
        Step("C:", "$ EXAMINE ..."),
        Step("S:", f"* {exists} EXISTS"),
        Step("S:", f"* OK [UIDVALIDITY {uidvalidity}] valid"),
        Step("S:", f"* OK [UIDNEXT {uidnext}] next"),
        Step("S:", "$ OK [READ-ONLY] done"),
    )


def select_steps(uidvalidity: str = "7", modseq: str = "", access: str = "READ-WRITE") -> tuple[Step, ...]:
    """SELECT of any folder; with `modseq` the folder takes part in CONDSTORE."""
    return (
        Step("C:", "$ SELECT ..."),
        Step("S:", "* 3 EXISTS"),
        Step("S:", f"* OK [UIDVALIDITY {uidvalidity}] valid"),
        Step("S:", r"* OK [PERMANENTFLAGS (\Answered \Flagged \Deleted \Seen \Draft \*)] kept"),
        *([Step("S:", f"* OK [HIGHESTMODSEQ {modseq}] highest")] if modseq else []),
        Step("S:", f"$ OK [{access}] done"),
    )


def script(text: str) -> tuple[Step, ...]:
    """The steps of one connection, written inline in a test."""
    return parse_dialogue(text).connections[0]


def _unescape(text: str, *, raw: bool = False) -> bytes:
    data = text.encode()
    data = re.sub(rb"\\x([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), data)
    return data.replace(rb"\r", b"\r").replace(rb"\n", b"\n") if raw else data


class _Off(Exception):
    """The client did not follow the script."""


@dataclass
class ScriptedImap:
    """The server; `async with` starts and stops it.

    `received` holds every line from every client, `commands` those with a tag (without it), `problems` every departure
    from the script. A LOGOUT after the
    last step is answered and is no departure.
    """

    connections: Sequence[Sequence[Step]]
    tls: bool = False
    context: ssl.SSLContext | None = None
    received: list[bytes] = field(default_factory=list)
    commands: list[bytes] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    accepted: int = 0
    finished: int = 0
    port: int = 0

    async def __aenter__(self) -> ScriptedImap:
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self.context = self.context or authority().certificate().server_context()
        self._server = await asyncio.start_server(
            self._accept, "127.0.0.1", 0, ssl=self.context if self.tls else None, limit=LINE_LIMIT
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def done(self, seconds: float = 2.0) -> None:
        """Wait until every connection's script has been played or broken off."""
        async with asyncio.timeout(seconds):
            while self.finished < len(self.connections):
                self._changed.clear()
                await self._changed.wait()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = self.accepted
        self.accepted += 1
        steps = self.connections[number] if number < len(self.connections) else None
        player = _Player(self, reader, writer)
        try:
            if steps is None:
                self.problems.append("one connection more than the script has")
            else:
                await player.play(steps)
        except (_Off, ConnectionError, ssl.SSLError, asyncio.IncompleteReadError) as error:
            self.problems.append(f"connection {number + 1}: {error}")
        finally:
            self.finished += 1
            self._changed.set()
            writer.transport.abort()


class _Player:
    """One connection."""

    def __init__(self, peer: ScriptedImap, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.peer, self.reader, self.writer = peer, reader, writer
        self.tags: list[bytes] = []

    async def play(self, steps: Sequence[Step]) -> None:
        out = bytearray()
        for step in steps:
            if step.verb in ("S:", "S-raw:", "S-repeat:"):
                out += self._bytes(step)
                continue
            if out:
                self.writer.write(bytes(out))
                out.clear()
            if await self._act(step):
                return
        self.writer.write(bytes(out))
        await self._farewell()

    def _bytes(self, step: Step) -> bytes:
        if step.verb == "S-repeat:":
            span, _, text = step.text.partition(" ")
            low, high = (int(number) for number in span.split(".."))
            return b"".join(
                self._tagged(_unescape(text.replace("{n}", str(n)))) + b"\r\n" for n in range(low, high + 1)
            )
        raw = step.verb == "S-raw:"
        return self._tagged(_unescape(step.text, raw=raw)) + (b"" if raw else b"\r\n")

    def _tagged(self, line: bytes) -> bytes:
        found = re.match(rb"\$(-\d+)?(?= |\r)", line)
        if found is None:
            return line
        back = int(found[1] or b"0")
        return self.tags[back - 1] + line[found.end() :]

    async def _act(self, step: Step) -> bool:
        """Carry out one step that is no sending; True ends the connection."""
        match step.verb:
            case "C:":
                await self._expect(step.text)
            case "S-starttls":
                assert self.peer.context is not None
                await self.writer.start_tls(self.peer.context)
            case "S-stall":
                await self.reader.read(-1)
                return True
            case "S-drip:":
                await self._drip(_unescape(step.text))
                return True
            case "S-cut":
                await self._reset()
                return True
            case "S-close":
                self.writer.close()
                return True
            case "C-gone":
                await self._gone()
                return True
            case _:
                raise AssertionError(step.verb)
        return False

    async def _expect(self, pattern: str) -> None:
        line = (await self.reader.readline()).removesuffix(b"\r\n")
        self.peer.received.append(line)
        if pattern.startswith("$ "):
            tag, _, line = line.partition(b" ")
            self.tags.append(tag)
            self.peer.commands.append(line)
            pattern = pattern[2:]
        wanted = b".*".join(re.escape(_unescape(piece)) for piece in pattern.split("..."))
        if re.fullmatch(wanted, line, re.DOTALL) is None:
            raise _Off(f"expected {pattern!r}, got {line[:200]!r}")

    async def _drip(self, data: bytes) -> None:
        gone = asyncio.ensure_future(self.reader.read(-1))
        try:
            while not (await asyncio.wait({gone}, timeout=DRIP_SECONDS))[0]:
                self.writer.write(data)
        finally:
            gone.cancel()

    async def _reset(self) -> None:
        # What was written before is delivered first: an empty SO_LINGER makes the close a reset (RFC 9293, 3.10.4).
        await self.writer.drain()
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    async def _gone(self) -> None:
        rest = await self.reader.read(-1)
        if rest:
            self.peer.received.extend(rest.splitlines())
            raise _Off(f"the client should have closed, it sent {rest[:200]!r}")

    async def _farewell(self) -> None:
        """After the last step only LOGOUT or the end may come; an end without LOGOUT is one too."""
        try:
            line = await self.reader.readline()
        except (ConnectionError, ssl.SSLError):
            return
        if not line:
            return
        tag, _, rest = line.removesuffix(b"\r\n").partition(b" ")
        if rest != b"LOGOUT":
            self.peer.received.append(line)
            raise _Off(f"after the last step the client sent {line[:200]!r}")
        self.writer.write(b"* BYE\r\n" + tag + b" OK bye\r\n")
        await self.writer.drain()
