"""The demo's SMTP server: takes mail from the one account, whoever it is for, and puts it into the demo's own INBOX.

Nothing is ever relayed, so a message that the demo "sends" can be read a moment later. As the IMAP server beside it, it
speaks no TLS and is only ever bound where its caller says.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final

from mailgate.demo.store import DemoMailbox, MailboxFull

NAME: Final = "demo.mailgate.invalid"
LINE_MAX: Final = 16_384
"""Octets of one command; a login fits (RFC 4954, 4), and any line of a message."""
MESSAGE_MAX: Final = 8 * 1024 * 1024
RECIPIENTS_MAX: Final = 100
IDLE_SECONDS: Final = 300.0

_PATH: Final = re.compile(r"<([^<>\s]{0,254})>(?: .*)?", re.DOTALL)


class DemoSmtpServer:
    """Listens for one account; what it takes is delivered to `mailbox`. `now` gives the time with its offset."""

    def __init__(
        self,
        mailbox: DemoMailbox,
        *,
        username: str,
        password: str,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._mailbox = mailbox
        self._account = (username.encode(), password.encode())
        self._now = now
        self._listener: asyncio.Server | None = None
        self._sessions: set[asyncio.Task[None]] = set()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> tuple[str, int]:
        """Listens, and answers the host and port it listens on."""
        self._listener = await asyncio.start_server(self._accept, host, port, limit=LINE_MAX)
        bound = self._listener.sockets[0].getsockname()
        return bound[0], bound[1]

    async def stop(self) -> None:
        """Closes the listener and every session. Harmless when not started."""
        if self._listener is None:
            return
        self._listener.close()
        for task in self._sessions:
            task.cancel()
        await asyncio.gather(*self._sessions, return_exceptions=True)
        await self._listener.wait_closed()
        self._listener = None

    def is_account(self, username: bytes, password: bytes) -> bool:
        """Compared in constant time."""
        return all(map(hmac.compare_digest, (username, password), self._account))

    def deliver(self, sender: str, message: bytes) -> None:
        """Put a message into INBOX, behind the trace fields of RFC 5321, 4.4. `MailboxFull`."""
        moment = self._now()
        trace = f"Return-Path: <{sender}>\r\nReceived: by {NAME} with ESMTPA; {format_datetime(moment)}\r\n"
        self._mailbox.append("INBOX", trace.encode("ascii") + message, (), moment)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._sessions.add(task)
        try:
            await _Session(self, reader, writer).run()
        except (ConnectionError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            # The client has gone, sleeps, or does not speak SMTP: nobody is owed an answer.
            pass
        except asyncio.CancelledError:
            pass  # only `stop` cancels, and it waits
        finally:
            self._sessions.discard(task)
            writer.transport.abort()


class _Session:
    """One connection. A command is answered with one reply, in order."""

    def __init__(self, server: DemoSmtpServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server, self._reader, self._writer = server, reader, writer
        self._logged_in = False
        self._sender: str | None = None
        self._recipients = 0

    async def run(self) -> None:
        """Until QUIT, or until the client goes."""
        await self._reply(f"220 {NAME} ESMTP: nothing leaves this machine")
        while True:
            verb, _, rest = (await self._line()).decode("latin-1").partition(" ")
            verb = verb.upper()
            if verb == "QUIT":
                await self._reply("221 2.0.0 bye")
                return
            await self._reply(await self._answer(verb, rest))

    async def _answer(self, verb: str, rest: str) -> str:
        match verb:
            case "EHLO":
                self._reset()
                return f"250-{NAME}\r\n250-SIZE {MESSAGE_MAX}\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN"
            case "HELO" | "RSET" | "NOOP":
                self._reset() if verb != "NOOP" else None
                return "250 2.0.0 ok"
            case "AUTH":
                return await self._log_in(rest)
            case "MAIL" | "RCPT" | "DATA" if not self._logged_in:
                return "530 5.7.0 log in first"
            case "MAIL":
                return self._mail(rest)
            case "RCPT":
                return self._rcpt(rest)
            case "DATA":
                return await self._data()
            case _:
                return "502 5.5.1 not known here"

    def _reset(self) -> None:
        self._sender, self._recipients = None, 0

    async def _log_in(self, rest: str) -> str:
        """AUTH PLAIN (RFC 4616) and LOGIN, with or without an initial response."""
        mechanism, _, initial = rest.partition(" ")
        try:
            match mechanism.upper():
                case "PLAIN":
                    _, user, password = (await self._response("", initial)).split(b"\0")
                case "LOGIN":
                    user = await self._response("VXNlcm5hbWU6", initial)
                    password = await self._response("UGFzc3dvcmQ6", "")
                case _:
                    return "504 5.5.4 not known here"
        except (ValueError, binascii.Error):
            return "501 5.5.2 malformed"
        if not self._server.is_account(user, password):
            return "535 5.7.8 wrong user name or password"
        self._logged_in = True
        return "235 2.7.0 welcome"

    async def _response(self, challenge: str, initial: str) -> bytes:
        if not initial:
            await self._reply(f"334 {challenge}")
            return base64.b64decode(await self._line(), validate=True)
        return base64.b64decode(initial, validate=True)

    def _mail(self, rest: str) -> str:
        path = _PATH.fullmatch(rest[5:].strip()) if rest[:5].upper() == "FROM:" else None
        if path is None or not rest.isascii():
            return "501 5.5.4 malformed"
        self._sender, self._recipients = path[1], 0
        return "250 2.1.0 ok"

    def _rcpt(self, rest: str) -> str:
        if self._sender is None:
            return "503 5.5.1 MAIL first"
        path = _PATH.fullmatch(rest[3:].strip()) if rest[:3].upper() == "TO:" else None
        if path is None or "@" not in path[1]:
            return "501 5.5.4 malformed"
        if self._recipients >= RECIPIENTS_MAX:
            return "452 4.5.3 too many recipients"
        self._recipients += 1
        return "250 2.1.5 ok"

    async def _data(self) -> str:
        if self._sender is None or not self._recipients:
            return "503 5.5.1 MAIL and RCPT first"
        await self._reply("354 go ahead")
        sender, lines, size = self._sender, [], 0
        self._reset()
        while (line := await self._reader.readuntil(b"\r\n")) != b".\r\n":
            size += len(line)
            if size <= MESSAGE_MAX:
                lines.append(line.removeprefix(b"."))
        if size > MESSAGE_MAX:
            return "552 5.3.4 too large"
        try:
            self._server.deliver(sender, b"".join(lines))
        except MailboxFull:
            return "452 4.2.2 the demo mailbox is full"
        return "250 2.0.0 taken, and delivered to INBOX here"

    async def _line(self) -> bytes:
        async with asyncio.timeout(IDLE_SECONDS):
            return (await self._reader.readuntil(b"\r\n")).removesuffix(b"\r\n")

    async def _reply(self, text: str) -> None:
        self._writer.write(text.encode("ascii") + b"\r\n")
        await self._writer.drain()
