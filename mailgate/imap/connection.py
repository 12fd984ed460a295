"""One connection to the IMAP server: from greeting to end, its commands and their deadlines.

Commands that only read may leave together, in one flight. They are answered in the order sent, and whatever comes
before the end of one belongs to that one and to none behind it.

The rule for failure is one: a connection in doubt is aborted and never used again. In doubt means a time-out, a
cancellation, a tag nobody waits for, a tagged line that cannot be read, a passed bound, BYE, or a lost connection.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from mailgate.errors import (
    OutcomeUnknown,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mailgate.faults import Fault
from mailgate.imap import commands
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.commands import Command
from mailgate.imap.endpoint import ImapEndpoint, Security
from mailgate.imap.exchange import CommandResult, Exchange, Request, parts_of
from mailgate.imap.reaching import GREETING_FAULTS, Progress
from mailgate.imap.receiving import ImapProtocol
from mailgate.imap.responses import (
    Response,
)
from mailgate.imap.tls import Validity, connect_failure, validity_of
from mailgate.limits import LIVENESS_SECONDS

if TYPE_CHECKING:
    from mailgate.imap.opening import OpenedFolder

_UPGRADING = Progress(arrived=True)
"""How far a connection has come when TLS begins in it."""


class ImapConnection:
    """A connection from greeting to end: one call at a time, each command with a deadline over the whole of it."""

    def __init__(self, protocol: ImapProtocol) -> None:
        self._protocol = protocol
        self._turn = asyncio.Lock()
        self.capabilities = CapabilitySet()
        """What the server offers in the present state; the login replaces it, nothing is ever united."""
        self.utf8 = False
        """Whether the server has confirmed ENABLE UTF8=ACCEPT (RFC 6855)."""
        self.examined: bytes | None = None
        """The folder that was last opened here, if it was opened read-only."""
        self.kept: OpenedFolder | None = None
        """How that folder was, if it was opened well."""
        self.introduction: tuple[Request, ...] = ()
        """What the server is still to be told before anything else; it leaves with the first command."""
        self._posted: Exchange | None = None

    @classmethod
    async def open(
        cls, endpoint: ImapEndpoint, context: ssl.SSLContext | None, *, seconds: float
    ) -> tuple[ImapConnection, Response]:
        """Connect (with TLS at once when the endpoint says `tls`) and wait for the greeting, which may be anything."""
        loop = asyncio.get_running_loop()
        implicit = endpoint.security is Security.TLS
        protocol = ImapProtocol(loop)
        progress = Progress()

        def arrived() -> ImapProtocol:
            progress.arrived = True
            return protocol

        try:
            async with asyncio.timeout(seconds):
                await loop.create_connection(
                    arrived,
                    endpoint.host,
                    endpoint.port,
                    ssl=context if implicit else None,
                    server_hostname=endpoint.host if implicit else None,
                )
                progress.established = True
                greeting = await protocol.greeting
        except BaseException as error:
            protocol.fail(UpstreamUnavailable())
            raise connect_failure(error, progress.fault(error, implicit_tls=implicit)) from None
        if greeting is None:
            failure = protocol.failure or UpstreamUnavailable()
            raise failure.because(GREETING_FAULTS.get(type(failure), Fault.GREETING_CLOSED))
        return cls(protocol), greeting

    @property
    def closed(self) -> bool:
        """Whether the connection can no longer be used."""
        transport = self._protocol.transport
        return self._protocol.failure is not None or transport is None or transport.is_closing()

    @property
    def validity(self) -> Validity | None:
        """When the server's certificate is valid; None in clear text."""
        return validity_of(self._protocol.transport)

    @property
    def answered(self) -> bool:
        """Whether the server has said anything since the last command began."""
        return self._protocol.answered

    @property
    def moved(self) -> bool:
        """Whether messages have come or gone since a folder was opened with EXAMINE, as far as the server has said."""
        return self._protocol.moved

    @property
    def busy(self) -> bool:
        """Whether somebody's command is in flight."""
        return self._protocol.exchange not in (None, self._posted)

    @property
    def disordered(self) -> bool:
        """Whether the connection ended because the server answered a later command before an earlier one."""
        return self._protocol.disordered

    def abort(self) -> None:
        """Close at once, without a word; whoever waits is told `upstream_unavailable`."""
        self._protocol.fail(UpstreamUnavailable())

    def discard(self) -> None:
        """Close from outside the connection's event loop, which no longer runs: awaiting it would hang for ever."""
        self._protocol.failure = self._protocol.failure or UpstreamUnavailable()
        raw = self._protocol.transport.get_extra_info("socket")
        with suppress(OSError, AttributeError):
            raw.shutdown(socket.SHUT_RDWR)
        if self._protocol.loop.is_closed():
            # Its transport will never close it. While a loop lives, closing under it could hit another socket that
            # was given the same number meanwhile; the end of the stream tells it all the same.
            with suppress(OSError, AttributeError):
                raw._sock.close()

    async def aclose(self) -> None:
        """Say LOGOUT if there is anyone to say it to, and close."""
        self.introduction = ()
        try:
            if not self.closed:
                await self.run(commands.logout(), seconds=LIVENESS_SECONDS)
        except UpstreamError:
            pass
        finally:
            self.abort()
        await asyncio.wait({self._protocol.lost}, timeout=LIVENESS_SECONDS)

    async def start_tls(self, context: ssl.SSLContext, host: str, *, seconds: float) -> None:
        """Go on in TLS after the server's OK to STARTTLS; what was known before is forgotten (RFC 9051, 6.2.1)."""
        protocol = self._protocol
        if protocol.failure is not None:
            raise protocol.failure
        try:
            async with asyncio.timeout(seconds):
                transport = await asyncio.get_running_loop().start_tls(
                    protocol.transport, protocol, context, server_hostname=host
                )
        except BaseException as error:
            self.abort()
            raise connect_failure(error, _UPGRADING.fault(error, implicit_tls=True)) from None
        if transport is None or protocol.failure is not None:
            self.abort()
            raise UpstreamUnavailable("TLS with the mail server could not be established.").because(Fault.TLS_FAILED)
        protocol.transport = transport
        protocol.sealed = False
        self.capabilities = CapabilitySet()

    async def run(
        self, command: Command, *, seconds: float, keep_literal: int | None = None, enough: int | None = None
    ) -> CommandResult:
        """Send one command and collect everything up to its tagged response, OK, NO or BAD.

        `seconds` is for the whole exchange: a server that sends an octet now and then gains nothing. `keep_literal`:
        octets kept of each literal. `enough`: how many untagged responses to wait for at most. Raises
        `UpstreamTimeout`, `UpstreamUnavailable`, `UpstreamProtocolError`; for a command that changes state and had
        left whole, `OutcomeUnknown`. Each of them ends the connection.
        """
        request = Request(command, keep_literal, enough)
        return (await self.run_all(request, seconds=seconds))[0]

    async def run_all(self, *requests: Request, seconds: float) -> tuple[CommandResult, ...]:
        """Send several reading commands at once, and collect the answer to each. As `run`; `seconds` is for each.

        RFC 9051, 5.5: the server carries them out in the order given where the outcome could depend on it. A later one
        is of no use when an earlier one was refused: whoever asks looks at the answers in order.
        """
        changing = any(request.command.changes_state for request in requests)
        if changing and len(requests) > 1:
            raise ValueError("a command that changes state is sent alone")
        async with self._turn:
            told, self.introduction = self.introduction, ()
            if changing and (told or self._posted):
                await self._fly(told, seconds)
                told = ()
            return (await self._fly((*told, *requests), seconds))[len(told) :]

    async def settle(self, *, seconds: float) -> None:
        """Tell the server now what it is still to be told."""
        if self.introduction:
            await self.run_all(seconds=seconds)

    def post(self, command: Command) -> None:
        """Send a command at once whose outcome is of no interest; its answer is waited for by the next flight."""
        exchange = Exchange(self._protocol.new_tag(), Request(command), asyncio.get_running_loop())
        if self.closed or self.busy or self._posted or command.changes_state or not exchange.complete:
            raise ValueError("a command cannot be posted now")
        self._posted = exchange
        self._protocol.line.begin((exchange,))
        self._protocol.transport.write(exchange.pieces[0])

    async def _fly(self, requests: Sequence[Request], seconds: float) -> tuple[CommandResult, ...]:
        protocol, posted = self._protocol, self._posted
        self._posted = None
        if self.closed:
            protocol.answered = False
            raise UpstreamUnavailable("The connection to the mail server is closed.")
        loop = asyncio.get_running_loop()
        flight = [Exchange(protocol.new_tag(), request, loop) for request in requests]
        protocol.answered = False
        try:
            results: list[CommandResult] = []
            for part in parts_of(flight):
                protocol.line.begin(part)
                # In one write: one segment, where it fits, and no answer in between.
                protocol.transport.write(b"".join(exchange.pieces[0] for exchange in part))
                await self._hear_out(posted)
                results += [await self._conclude(exchange, seconds) for exchange in part]
        except TimeoutError:
            raise self._in_doubt(flight, UpstreamTimeout()) from None
        except UpstreamError as error:
            raise self._in_doubt(flight, error) from None
        except BaseException:
            self.abort()
            raise
        finally:
            protocol.line.finish()
        if any(exchange.cut for exchange in flight):
            self.abort()
        return tuple(results)

    async def _hear_out(self, posted: Exchange | None) -> None:
        """Wait for the answer to a posted command. Who does not give it is as good as gone."""
        try:
            if posted is not None and not posted.tagged.done():
                await self._conclude(posted, LIVENESS_SECONDS)
        except TimeoutError:
            raise UpstreamUnavailable from None

    async def _conclude(self, exchange: Exchange, seconds: float) -> CommandResult:
        own = exchange.request.seconds
        async with asyncio.timeout(seconds if own is None else own):
            tagged = await exchange.converse(self._protocol.transport.write)
        if tagged is None:
            raise self._protocol.failure or UpstreamUnavailable()
        result = CommandResult(tagged, tuple(exchange.untagged), exchange.cut)
        if exchange.request.heard is not None:
            exchange.request.heard(result)
        return result

    def _in_doubt(self, flight: Iterable[Exchange], error: UpstreamError) -> UpstreamError:
        self.abort()
        return OutcomeUnknown() if any(each.command.changes_state and each.complete for each in flight) else error
