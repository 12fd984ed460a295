"""The connection to the SMTP server. aiosmtplib's protocol carries commands, TLS and flow; replies are read by us.

aiosmtplib's own reading takes the last line of a reply for all of it, drops what nobody waited for, keeps what came
too early for the next command, and cannot tell a lost connection before the message from one after it.
"""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aiosmtplib import SMTPException, SMTPResponse, SMTPResponseException, SMTPTimeoutError
from aiosmtplib.protocol import SMTPProtocol

from mailgate.errors import UpstreamError, UpstreamProtocolError, UpstreamTimeout, UpstreamUnavailable
from mailgate.faults import Fault
from mailgate.imap.endpoint import Security, check_endpoint
from mailgate.imap.reaching import GREETING_FAULTS, Progress, unless_told
from mailgate.imap.tls import Validity, client_context, tls_failure, validity_of
from mailgate.limits import CONNECT_SECONDS
from mailgate.send.smtp_reply import MalformedReply, ReplyReader, reply_of
from mailgate.send.submission import SmtpReply

FINAL_DOT: Final = b".\r\n"
PIECE: Final = 65_536
"""Octets of a message written at a time."""


@dataclass(frozen=True, slots=True)
class SmtpEndpoint:
    """One submission server (RFC 6409). As `ImapEndpoint`, in fields and in what it refuses."""

    host: str
    port: int
    security: Security = Security.TLS
    ca_file: Path | None = None
    connect_seconds: float = CONNECT_SECONDS

    def __post_init__(self) -> None:
        check_endpoint("SMTP", self.host, self.port, self.security)


@dataclass(frozen=True, slots=True)
class Delivery:
    """What happened once octets of a message had left.

    `dot_sent`: the final dot was written before the answer, or the failure, came. One of `reply` and `failure` is set.
    """

    dot_sent: bool
    reply: SmtpReply | None = None
    failure: UpstreamError | None = None


@dataclass(frozen=True, slots=True)
class Flight:
    """What several commands sent at once were answered; `failure`: why there are fewer replies than commands."""

    replies: tuple[SmtpReply, ...]
    failure: UpstreamError | None = None


class _Protocol(SMTPProtocol):
    """aiosmtplib's protocol, whose receiving is ours."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self.replies = ReplyReader()
        self.sealing = False
        """While STARTTLS is answered: nothing may come behind the reply."""

    def data_received(self, data: bytes) -> None:
        self.replies.feed(data)
        self._answer()

    async def read_response(self, timeout: float | None = None) -> SMTPResponse:  # noqa: ASYNC109
        # What came before the connection was lost has been said, too.
        response = self._next_response()
        if response is None:
            self._response_pending = True
            response = await super().read_response(timeout)
        if self.sealing and not self.replies.is_empty:
            raise SMTPResponseException(-1, "octets behind the reply to STARTTLS")
        return response

    def _answer(self) -> None:
        """Give the next reply to whoever waits for one. What comes unasked stays, and is found out later."""
        waiter = self._response_waiter
        if waiter is None or waiter.done() or not self._response_pending:
            return
        try:
            response = self._next_response()
        except SMTPResponseException as error:
            self._set_response_exception(waiter, error)
            return
        if response is not None:
            waiter.set_result(response)

    def _next_response(self) -> SMTPResponse | None:
        """The next reply that has come whole; None while there is none."""
        try:
            reply = self.replies.next_reply()
        except MalformedReply as error:
            raise SMTPResponseException(-1, str(error)) from None
        return None if reply is None else SMTPResponse(reply.code, b"\n".join(reply.text).decode("latin-1"))

    async def send(self, data: bytes) -> None:
        """Write all of it, each piece once the one before has been handed to the operating system.

        In one piece, TLS would take it whole at once, and nobody could tell how much has left. Raises
        `ConnectionError` when it cannot be sent.
        """
        for start in range(0, len(data), PIECE):
            self.write(data[start : start + PIECE])
            await self._drain_helper()


class SmtpConnection:
    """One connection, for one message. Whatever goes wrong on it ends it; it is never used again then."""

    def __init__(self, protocol: _Protocol) -> None:
        self._protocol = protocol

    @classmethod
    async def open(cls, endpoint: SmtpEndpoint, *, seconds: float) -> tuple[SmtpConnection, SmtpReply]:
        """Connect, with TLS from the first octet where the endpoint says so, and read the greeting.

        Raises `UpstreamUnavailable`, `UpstreamTimeout`, `UpstreamProtocolError`, as every method here.
        """
        loop = asyncio.get_running_loop()
        protocol = _Protocol(loop)
        implicit = _context(endpoint.ca_file) if endpoint.security is Security.TLS else None
        progress = Progress()

        def arrived() -> _Protocol:
            progress.arrived = True
            return protocol

        try:
            async with asyncio.timeout(min(seconds, endpoint.connect_seconds)):
                await loop.create_connection(
                    arrived,
                    endpoint.host,
                    endpoint.port,
                    ssl=implicit,
                    server_hostname=endpoint.host if implicit else None,
                )
        except (OSError, UnicodeError) as error:
            raise _failure(error).because(progress.fault(error, implicit_tls=implicit is not None)) from None
        connection = cls(protocol)
        with unless_told(Fault.GREETING_CLOSED, GREETING_FAULTS):
            return connection, await connection._answer(protocol.read_response(timeout=seconds))

    @property
    def validity(self) -> Validity | None:
        """When the server's certificate is valid; None in clear text."""
        return validity_of(self._protocol.transport)

    async def command(self, line: bytes, *, seconds: float) -> SmtpReply:
        """Send one line (without CRLF) and wait for its reply. `ValueError` for a line that is more than one."""
        self._refuse_unasked()
        return await self._answer(self._protocol.execute_command(line, timeout=seconds))

    async def commands(self, lines: Sequence[bytes], *, seconds: Callable[[], float]) -> Flight:
        """Send several lines at once (RFC 2920) and wait for the reply to each, in order.

        `seconds`: for each reply; may raise as the methods here do. A failure after the lines have left is part of the
        result, beside the replies that came before it.
        """
        self._refuse_unasked()
        replies: list[SmtpReply] = []
        try:
            self._protocol.write(b"".join(line + b"\r\n" for line in lines))
        except SMTPException as error:
            self.abort()
            raise _failure(error) from None
        try:
            for _ in lines:
                replies.append(await self._answer(self._protocol.read_response(timeout=seconds())))
        except UpstreamError as failure:
            self.abort()
            return Flight(tuple(replies), failure)
        return Flight(tuple(replies))

    async def start_tls(self, endpoint: SmtpEndpoint, *, seconds: float) -> SmtpReply:
        """STARTTLS and the handshake (RFC 3207), where the reply is 220; any other is returned, without TLS."""
        self._refuse_unasked()
        context = _context(endpoint.ca_file)
        # RFC 3207, 6: what comes in clear text behind the reply is not the server's word, and no accident either. It
        # ends the session before the handshake; what arrives in the moment between, after it.
        self._protocol.sealing = True
        reply = await self._answer(self._protocol.start_tls(context, server_hostname=endpoint.host, timeout=seconds))
        self._protocol.sealing = False
        self._refuse_unasked()
        return reply

    async def deliver(self, message: bytes, *, seconds: float) -> Delivery:
        """Send the message, stuffed, and the final dot, and wait for the reply. To be called after 354.

        The dot is a write of its own, so that an answer that came before it is known as one. Raises only while no
        octet has left; from the first one on a failure is part of the result.
        """
        self._refuse_unasked()
        protocol = self._protocol
        if protocol.transport is None or protocol.transport.is_closing():
            raise UpstreamUnavailable
        # Not 0: asyncio's TLS would then find its empty buffer too full, and wait for ever.
        protocol.transport.set_write_buffer_limits(high=1, low=0)  # type: ignore[attr-defined]
        reading = asyncio.ensure_future(self._answer(protocol.read_response(timeout=seconds)))
        sending = asyncio.ensure_future(protocol.send(stuffed(message)))
        dot_sent = False
        try:
            await asyncio.wait({reading, sending}, return_when=asyncio.FIRST_COMPLETED)
            dot_sent = not reading.done() and self._finish(sending)
            return Delivery(dot_sent, reply=await reading)
        except UpstreamError as failure:
            return Delivery(dot_sent, failure=failure)
        finally:
            for task in (reading, sending):
                task.cancel()
            await asyncio.gather(reading, sending, return_exceptions=True)

    def _finish(self, sending: asyncio.Future[None]) -> bool:
        """Write the final dot if everything before it has left."""
        if sending.exception() is not None:
            return False
        try:
            self._protocol.write(FINAL_DOT)
        except SMTPException:
            return False
        return True

    async def leave(self, *commands: bytes, seconds: float) -> None:
        """Say the last words, as far as there is anyone to hear them, and close. Never raises a failure."""
        try:
            async with asyncio.timeout(seconds):
                for line in commands:
                    await self.command(line, seconds=seconds)
        except (UpstreamError, TimeoutError):
            pass
        finally:
            self.abort()

    def abort(self) -> None:
        """Close at once, without a word; what was not yet sent is dropped."""
        transport = self._protocol.transport
        if transport is not None:
            transport.abort()  # type: ignore[attr-defined]

    def _refuse_unasked(self) -> None:
        """A server that speaks unasked is out of step, unless it only says that it closes (RFC 5321, 3.8)."""
        replies = self._protocol.replies
        if replies.is_empty:
            return
        self.abort()
        try:
            reply = replies.next_reply()
        except MalformedReply:
            reply = None
        if reply is not None and reply.is_closing:
            raise UpstreamUnavailable("The mail server ended the session.")
        raise UpstreamProtocolError("The mail server answered a command that was not sent.")

    async def _answer(self, waiting: Awaitable[SMTPResponse]) -> SmtpReply:
        try:
            response = await waiting
        except SMTPResponseException as error:
            if error.code > 0:
                return _reply(error.code, error.message)
            self.abort()
            raise UpstreamProtocolError from None
        except (SMTPException, OSError) as error:
            self.abort()
            raise _failure(error) from None
        except BaseException:
            self.abort()
            raise
        return _reply(response.code, response.message)


@functools.cache
def _context(ca_file: Path | None) -> ssl.SSLContext:
    return client_context(ca_file)


def stuffed(message: bytes) -> bytes:
    """A dot before each line that begins with one (RFC 5321, 4.5.2). Lines end with CRLF, the last one too."""
    dotted = message.replace(b"\r\n.", b"\r\n..")
    return b"." + dotted if dotted.startswith(b".") else dotted


def _reply(code: int, message: str) -> SmtpReply:
    return reply_of(code, tuple(message.encode("latin-1").split(b"\n")))


def _failure(error: Exception) -> UpstreamError:
    """What went wrong, as an error a caller may see."""
    if isinstance(error, TimeoutError | SMTPTimeoutError):
        return UpstreamTimeout()
    if isinstance(error, ssl.SSLError):
        return tls_failure(error)
    return UpstreamUnavailable()
