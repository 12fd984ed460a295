"""What arrives on a connection, on aioimaplib's protocol class with a receive path of mailgate's own.

Taken from aioimaplib: the protocol that asyncio connects, and its tags. Replaced: everything about receiving, sending,
time-outs and failure, because upstream's parser changes values, loses responses and has no bounds;
tests/imap/test_aioimaplib_seam.py pins what is relied on.
"""

from __future__ import annotations

import asyncio
import logging

from aioimaplib.aioimaplib import IMAP4ClientProtocol

from mailgate.errors import UpstreamError, UpstreamProtocolError, UpstreamUnavailable
from mailgate.faults import Fault
from mailgate.imap.commands import CommandKind
from mailgate.imap.exchange import Exchange, Line
from mailgate.imap.framing import Frame, FramingError, ResponseFramer
from mailgate.imap.responses import (
    Condition,
    Continuation,
    Exists,
    Expunge,
    Malformed,
    Response,
    Status,
    Tagged,
    Vanished,
    parse_response,
)

# aioimaplib logs every octet it sees at DEBUG and a password at ERROR (a tag mismatch during LOGIN). None of its
# logging code is reached any more; a filter stays on a logger whatever level or handlers are configured later.
for _name in ("aioimaplib", "aioimaplib.aioimaplib"):
    logging.getLogger(_name).addFilter(lambda record: False)


class ImapProtocol(IMAP4ClientProtocol):  # type: ignore[misc]
    """aioimaplib's protocol with everything behind `connection_made` and `new_tag` replaced."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.framer = ResponseFramer()
        self.greeting: asyncio.Future[Response | None] = loop.create_future()
        self.lost: asyncio.Future[None] = loop.create_future()
        self.line = Line(self._expect)
        self.disordered = False
        self.failure: UpstreamError | None = None
        self.answered = False
        self.moved = False
        """Messages have come or gone since the folder was opened with EXAMINE."""
        self.sealed = False
        """After the OK to STARTTLS nothing may come before TLS: it was not sent by the server we will verify."""

    @property
    def exchange(self) -> Exchange | None:
        """The command whose answer is arriving; the last one, when all have been answered."""
        return self.line.current

    def data_received(self, data: bytes) -> None:
        """Frame, parse and hand on; whatever goes wrong here ends the connection, never the loop."""
        if self.failure is not None:
            return
        try:
            self._receive(data)
        except FramingError:
            self.fail(UpstreamProtocolError())
        except Exception:
            # An exception that left here would be logged by asyncio together with what it was about.
            self.fail(UpstreamProtocolError())

    def connection_lost(self, exc: Exception | None) -> None:
        """Wake whoever waits."""
        self.fail(UpstreamUnavailable("The mail server closed the connection."))
        if not self.lost.done():
            self.lost.set_result(None)

    def _receive(self, data: bytes) -> None:
        self.framer.feed(data)
        while self.failure is None and (frame := self.framer.next_frame()) is not None:
            if self.sealed:
                break
            response = parse_response(frame)
            if isinstance(response, Malformed) and not _is_untagged(frame):
                # Perhaps the end of the command in flight; one lost row can be lived with, a lost end cannot.
                raise FramingError("a line that is no untagged response cannot be read")
            self._accept(response)
        if self.sealed and (frame is not None or self.framer.pending):
            # RFC 9051, 6.2.1: no octets of the clear-text session may be taken for ones of the TLS session.
            injected = UpstreamProtocolError("The mail server sent data between STARTTLS and TLS.")
            self.fail(injected.because(Fault.STARTTLS_INJECTED))

    def _accept(self, response: Response) -> None:
        if not self.greeting.done():
            self.greeting.set_result(response)
            return
        match response:
            case Tagged():
                self._accept_tagged(response)
            case Continuation():
                if self.exchange is None or not self.exchange.proceed(True):
                    self.fail(UpstreamProtocolError())
            case Condition(status=Status.BYE):
                self._accept_bye(response)
            case _:
                self._accept_untagged(response)

    def _accept_untagged(self, response: Response) -> None:
        exchange = self.exchange
        under_way = exchange is not None and not exchange.tagged.done()
        if isinstance(response, Exists | Expunge | Vanished):
            self.moved = not under_way or exchange is None or exchange.command.kind is not CommandKind.EXAMINE
        if under_way and exchange is not None:
            self.answered = True
            exchange.add(response)
        # News between commands are nobody's answer; every lending asks anew.

    def _accept_tagged(self, tagged: Tagged) -> None:
        exchange = self.exchange
        if exchange is None or tagged.tag != exchange.tag or exchange.tagged.done():
            self.disordered = self.line.has_later(tagged.tag)
            self.fail(UpstreamProtocolError("The mail server answered a command that was not sent."))
            return
        self.answered = True
        self.sealed = exchange.command.kind is CommandKind.STARTTLS and tagged.status is Status.OK
        if self.sealed:
            self.transport.pause_reading()
        exchange.end(tagged)
        self.line.advance()

    def _expect(self, exchange: Exchange) -> None:
        self.framer.reset_counters()
        self.framer.keep_literal = exchange.request.keep_literal

    def _accept_bye(self, bye: Condition) -> None:
        if self.exchange is not None and self.exchange.command.kind is CommandKind.LOGOUT:
            self.exchange.add(bye)
        else:
            self.fail(UpstreamUnavailable("The mail server ended the session."))

    def fail(self, error: UpstreamError) -> None:
        """Make the connection unusable and wake whoever waits; the first error is the one that counts."""
        if self.failure is None:
            self.failure = error
        if not self.greeting.done():
            self.greeting.set_result(None)
        self.line.break_off()
        if self.transport is not None:
            self.transport.abort()

    async def execute(self, command: object, scrub: str | None = None) -> None:
        """Upstream's way of running commands, closed: `ImapConnection.run` is the only one."""
        raise NotImplementedError

    def send(self, line: str, scrub: str | None = None) -> None:
        """Upstream's way of sending, closed: it logs what it sends."""
        raise NotImplementedError

    async def welcome(self, command: bytes) -> None:
        """Upstream's reading of the greeting, closed: it takes any line with the letters OK in it for one."""
        raise NotImplementedError


def _is_untagged(frame: Frame) -> bool:
    return isinstance(frame[0], bytes) and frame[0].startswith(b"*")
