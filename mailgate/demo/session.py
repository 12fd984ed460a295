"""One client's session: its state, and the loop that answers commands one after the other (RFC 9051, 3)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from mailgate.demo.extensions import Extension, Extensions
from mailgate.demo.grammar import BadCommand, CommandText, Refused, Scanner
from mailgate.demo.reading import CommandReader, LiteralRefused, StreamLost
from mailgate.demo.store import DemoFolder, DemoMailbox, MailboxFull, NoSuchFolder
from mailgate.demo.view import FolderView
from mailgate.imap.mutf7 import of_wire

IDLE_SECONDS = 30 * 60
"""RFC 9051, 5.4: an inactivity timer is at least 30 minutes."""
BAD_COMMANDS_MAX = 50
"""A client that is not understood that often in one session is sent away."""


class State(Enum):
    """RFC 9051, 3; the selected state is told by `Session.view`."""

    NOT_AUTHENTICATED = auto()
    AUTHENTICATED = auto()
    LOGOUT = auto()


@dataclass(frozen=True, slots=True)
class Account:
    """The one login of a demo server."""

    username: str
    password: str

    def __repr__(self) -> str:
        return "Account()"


@dataclass(frozen=True, slots=True)
class Done:
    """A command's tagged OK: its text, and a response code where there is one."""

    text: str = "done"
    code: bytes = b""


Handler = Callable[["Session", Scanner], Awaitable[Done]]


@dataclass(frozen=True, slots=True)
class CommandRow:
    """A row of the command table: who answers, when it is allowed, and the extension it belongs to."""

    handler: Handler
    login: bool | None = True
    """True: only after login. False: only before. None: any time."""
    selected: bool = False
    extension: Extension | None = None
    renumbers: bool = True
    """Whether EXPUNGE may be told at its end (RFC 9051, 7.5.1)."""


class Session:
    """State and output of one connection. Handlers read the command from a `Scanner` and write rows here."""

    def __init__(
        self,
        mailbox: DemoMailbox,
        account: Account,
        extensions: Extensions,
        commands: Mapping[str, CommandRow],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        on_command: Callable[[bytes], None] | None = None,
    ) -> None:
        self.mailbox = mailbox
        self.account = account
        self.extensions = extensions
        self.state = State.NOT_AUTHENTICATED
        self.view: FolderView | None = None
        self.condstore = False
        """Whether the client has shown that it knows CONDSTORE (RFC 7162, 3.1)."""
        self.failed_logins = 0
        self.tag = b""
        """Of the command being answered; ESEARCH repeats it."""
        self._commands = commands
        self._writer = writer
        self._on_command = on_command
        self._reader = CommandReader(reader, self.proceed, literal_plus=Extension.LITERAL_PLUS in extensions)

    # --- output

    def untagged(self, row: bytes) -> None:
        """Writes an untagged response."""
        self._writer.write(b"* %b\r\n" % row)

    async def proceed(self, text: bytes = b"OK") -> None:
        """Writes a continuation: the client may go on."""
        self._writer.write(b"+ %b\r\n" % text)
        await self.flush()

    async def flush(self) -> None:
        """Waits while the client is slower than the answer."""
        await self._writer.drain()

    def _tagged(self, tag: bytes, status: bytes, text: str, code: bytes = b"") -> None:
        shown = b"[%b] " % code if code else b""
        self._writer.write(b"%b %b %b%b\r\n" % (tag, status, shown, text.encode("ascii", "replace")))

    def bye(self, text: bytes) -> None:
        """Says why the session ends; no further command is read."""
        self.untagged(b"BYE " + text)
        self.state = State.LOGOUT

    # --- what handlers need

    async def continuation_line(self) -> bytes | None:
        """The line that answers a continuation; `None` when the client has gone away."""
        async with asyncio.timeout(IDLE_SECONDS):
            return await self._reader.line()

    @property
    def selected(self) -> FolderView:
        """The view of the selected folder; the table lets no handler come here without one."""
        assert self.view is not None
        return self.view

    def writable(self) -> FolderView:
        """The view, unless the folder was opened by EXAMINE (RFC 9051, 6.3.3: no change is permitted)."""
        if self.selected.read_only:
            raise Refused("the folder is open read-only", "READ-ONLY")
        return self.selected

    def folder_at(self, wire: bytes, *, code: str = "NONEXISTENT") -> DemoFolder:
        """The folder of a wire name that can hold messages; refused with `code` where there is none."""
        try:
            folder = self.mailbox.folder(name_of(wire))
        except NoSuchFolder:
            raise Refused("no such folder", code) from None
        if not folder.selectable:
            raise Refused("that name holds no messages", "CANNOT")
        return folder

    def use_condstore(self) -> None:
        """Some command told that the client knows mod-sequences: from now on it is told them (RFC 7162, 3.1)."""
        self.condstore = True

    # --- the loop

    async def run(self) -> None:
        """Greets, then answers until LOGOUT, BYE or the end of the stream."""
        if self.state is not State.LOGOUT:
            self.untagged(b"OK [CAPABILITY %b] mailgate demo mailbox" % self.extensions.advertised(logged_in=False))
        bad = 0
        with contextlib.suppress(ConnectionError):
            while self.state is not State.LOGOUT:
                await self.flush()
                text = await self._next()
                if text is not None and not await self._answer(text):
                    bad += 1
                    if bad >= BAD_COMMANDS_MAX:
                        self.bye(b"too many bad commands")
            await self.flush()

    async def _next(self) -> CommandText | None:
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                text = await self._reader.command()
        except LiteralRefused as refusal:
            self._tagged(refusal.line.partition(b" ")[0] or b"*", b"NO", "literal too large", b"TOOBIG")
            return None
        except StreamLost as lost:
            self.bye(str(lost).encode("ascii"))
            return None
        except TimeoutError:
            self.bye(b"idle for too long")
            return None
        if text is None:
            self.state = State.LOGOUT
        return text

    async def _answer(self, text: CommandText) -> bool:
        """Answers one command; false when it was not understood."""
        if self._on_command is not None:
            self._on_command(text.raw)
        scanner = Scanner(text)
        self.tag = b"*"
        try:
            self.tag = scanner.tag()
            scanner.space()
            row = self._row(scanner)
            done = await row.handler(self, scanner)
            self._tell_news(renumbers=row.renumbers)
            self._tagged(self.tag, b"OK", done.text, done.code)
        except BadCommand as problem:
            self._tagged(self.tag, b"BAD", str(problem))
            return False
        except Refused as refusal:
            self._tell_news(renumbers=False)
            self._tagged(self.tag, b"NO", str(refusal), refusal.code.encode("ascii"))
        except NoSuchFolder:
            self._tagged(self.tag, b"NO", "no such folder", b"NONEXISTENT")
        except (StreamLost, TimeoutError):
            self.bye(b"nothing that could be followed")
        except MailboxFull:
            self._tagged(self.tag, b"NO", "the mailbox is full", b"OVERQUOTA")
        return True

    def _row(self, scanner: Scanner) -> CommandRow:
        name = scanner.word()
        if name == "UID":
            scanner.space()
            name = f"UID {scanner.word()}"
        row = self._commands.get(name)
        if row is None or (row.extension is not None and row.extension not in self.extensions):
            raise BadCommand("unknown command")
        if row.login is not None and row.login != (self.state is State.AUTHENTICATED):
            raise BadCommand("not allowed in this state")
        if row.selected and self.view is None:
            raise BadCommand("no folder is selected")
        return row

    def _tell_news(self, *, renumbers: bool) -> None:
        if self.view is None:
            return
        if self.view.folder.gone:
            self.view = None
            self.bye(b"the selected folder is gone")
            return
        for row in self.view.news(expunged=renumbers, mod_seqs=self.condstore):
            self.untagged(row)


def name_of(wire: bytes) -> str:
    """The decoded name that a wire name stands for. Raises `BadCommand` where it cannot be one."""
    try:
        return str(of_wire(wire))
    except ValueError:
        raise BadCommand("not a folder name") from None
