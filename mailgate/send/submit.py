"""One message handed to the submission server, at most once: the order of the commands, and what each reply means.

    connect, TLS -> EHLO -> AUTH -> MAIL, RCPT of each -> begin() -> DATA -> 354 -> message -> dot -> reply

Everybody is accepted before anything is sent: one refused recipient ends it. Nothing is tried twice, nothing is tried
in another way. Until 354 every failure is `NotSent`; from the first octet of the message on, only a complete reply says
what happened.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from mailgate.errors import (
    UpstreamAuthFailed,
    UpstreamError,
    UpstreamProtocolError,
    UpstreamRefused,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mailgate.faults import Fault
from mailgate.imap.endpoint import Credentials, Security
from mailgate.imap.reaching import GREETING_FAULTS, unless_told
from mailgate.imap.refusals import no_login_fault
from mailgate.imap.tls import Validity
from mailgate.limits import SMTP_FAREWELL_SECONDS, UPSTREAM_TIMEOUT_DEFAULT
from mailgate.send.record import Envelope, RefusedRecipient
from mailgate.send.smtp import SmtpConnection, SmtpEndpoint
from mailgate.send.smtp_reply import auth_fault
from mailgate.send.submission import (
    Accepted,
    Begin,
    NotSent,
    Rejected,
    SmtpReply,
    Submission,
    SubmissionStage,
    Unknown,
)

# RFC 5321, 4.1.3 has an address literal for a client without a name of its own. The machine's own name or address is
# nobody's business: it would stand in the message's Received field.
EHLO: Final = b"EHLO [127.0.0.1]"

_STARTTLS_FAULTS: Final = {UpstreamProtocolError: Fault.STARTTLS_INJECTED, UpstreamTimeout: Fault.TLS_SILENT}
_CANONICAL: Final = re.compile(rb"(?:[^\r\n\0]*+\r\n)++")


_Ask = Callable[[bytes], Awaitable[SmtpReply]]
"""From a command to its reply."""


class SmtpSubmitter:
    """Hands messages to one server, each on a connection of its own.

    `command_seconds`: how long each reply may take before the message itself, whose reply may take until the deadline.
    `farewell_seconds`: for RSET and QUIT, after the outcome stands.
    """

    def __init__(
        self,
        endpoint: SmtpEndpoint,
        credentials: Credentials,
        *,
        command_seconds: float = UPSTREAM_TIMEOUT_DEFAULT,
        farewell_seconds: float = SMTP_FAREWELL_SECONDS,
    ) -> None:
        self._endpoint = endpoint
        self._credentials = credentials
        self._seconds = command_seconds
        self._farewell_seconds = farewell_seconds
        self._farewells: set[asyncio.Task[None]] = set()

    async def submit(self, envelope: Envelope, message: bytes, *, begin: Begin, deadline: float) -> Submission:
        """See `submission.Submitter`. `ValueError` for a message that is not made of lines ended by CRLF."""
        if not _CANONICAL.fullmatch(message):
            raise ValueError("a message has to be made of lines that end with CRLF")
        attempt = _Attempt(_Patience(self._seconds, deadline))
        try:
            await attempt.connect(self._endpoint)
            await attempt.log_in(self._credentials, may_go_without=self._endpoint.security is Security.PLAINTEXT)
            return await attempt.hand_in(envelope, message, begin)
        except UpstreamError as error:
            # Nothing raises one after the first octet of the message: `deliver` makes an outcome of it.
            return NotSent(attempt.stage, error.code)
        finally:
            self._take_leave(attempt)

    async def rehearse(self, *, deadline: float, log_in: bool = True) -> Rehearsal:
        """Everything that comes before MAIL, once, and QUIT: no sender, no recipient, no message.

        `log_in`: whether AUTH is part of it.
        """
        attempt = _Attempt(_Patience(self._seconds, deadline))
        failure: UpstreamError | None = None
        try:
            await attempt.connect(self._endpoint)
            if log_in:
                await attempt.log_in(self._credentials, may_go_without=self._endpoint.security is Security.PLAINTEXT)
        except UpstreamError as error:
            failure = error
        finally:
            self._take_leave(attempt)
        return Rehearsal(attempt.greeting, attempt.features, attempt.validity, failure)

    async def aclose(self) -> None:
        """Wait for the leave-takings that are still under way in this event loop; each is bounded."""
        loop = asyncio.get_running_loop()
        under_way = {task for task in self._farewells if task.get_loop() is loop}
        if under_way:
            await asyncio.wait(under_way)

    def _take_leave(self, attempt: _Attempt) -> None:
        """In a task of its own: no outcome waits for QUIT, and none is changed by it."""
        if not attempt.connected:
            return
        task = asyncio.ensure_future(attempt.leave(seconds=self._farewell_seconds))
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)


@dataclass(frozen=True, slots=True)
class _Patience:
    """How long the next reply may take: `seconds` each, and nothing beyond the deadline."""

    seconds: float
    deadline: float

    @property
    def remaining(self) -> float:
        """Seconds to the deadline. Raises `UpstreamTimeout` when there are none."""
        left = self.deadline - asyncio.get_running_loop().time()
        if left <= 0:
            raise UpstreamTimeout
        return left

    @property
    def for_one(self) -> float:
        """Seconds for one reply."""
        return min(self.seconds, self.remaining)


@dataclass(frozen=True, slots=True)
class Features:
    """What the server said in its reply to EHLO. `size`: the largest message in octets, None when not said."""

    size_known: bool = False
    size: int | None = None
    mechanisms: frozenset[str] = frozenset()
    starttls: bool = False
    pipelining: bool = False

    @classmethod
    def of(cls, reply: SmtpReply) -> Features:
        """Keywords in any case (RFC 5321, 4.1.1.1); `AUTH=PLAIN` is how some old servers spell it."""
        words = [line.decode("latin-1").upper().replace("AUTH=", "AUTH ", 1).split() for line in reply.text[1:]]
        said = {line[0]: line[1:] for line in words if line}
        mechanisms = [word for line in words if line[:1] == ["AUTH"] for word in line[1:]]
        size = said.get("SIZE", [])
        # RFC 1870, 3: zero means that no fixed maximum is in force.
        largest = int(size[0]) if size and size[0].isascii() and size[0].isdigit() and len(size[0]) <= 20 else 0
        known = frozenset(said)
        return cls("SIZE" in known, largest or None, frozenset(mechanisms), "STARTTLS" in known, "PIPELINING" in known)


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """How far a rehearsal came: `failure` is None when the next command would have been MAIL.

    `greeting` and `features` are what the server said: untrusted, never rendered and never logged.
    """

    greeting: SmtpReply | None
    features: Features
    validity: Validity | None
    failure: UpstreamError | None


class _Attempt:
    """One attempt, and how far it has come."""

    def __init__(self, patience: _Patience) -> None:
        self.stage = SubmissionStage.CONNECT
        self.greeting: SmtpReply | None = None
        self._patience = patience
        self.features = Features()
        self._link: SmtpConnection | None = None
        self._in_transaction = False

    @property
    def connected(self) -> bool:
        """Was there ever a server that greeted?"""
        return self._link is not None

    @property
    def validity(self) -> Validity | None:
        """When the server's certificate is valid; None in clear text."""
        return None if self._link is None else self._link.validity

    # --- before the message -------------------------------------------------------------------------------------

    async def connect(self, endpoint: SmtpEndpoint) -> None:
        """Up to an EHLO inside TLS, or in clear text towards a loopback host."""
        self._link, self.greeting = await SmtpConnection.open(endpoint, seconds=self._patience.for_one)
        with unless_told(Fault.GREETING_CLOSED, GREETING_FAULTS):
            _require(self.greeting, 220)
            await self._ehlo()
        if endpoint.security is Security.STARTTLS:
            with unless_told(Fault.TLS_FAILED, _STARTTLS_FAULTS):
                await self._upgrade(self._link, endpoint)

    async def _upgrade(self, link: SmtpConnection, endpoint: SmtpEndpoint) -> None:
        if not self.features.starttls:
            raise UpstreamUnavailable("The mail server does not offer STARTTLS, which the settings require.").because(
                Fault.STARTTLS_MISSING
            )
        reply = await link.start_tls(endpoint, seconds=self._patience.for_one)
        if reply.code != 220:
            raise UpstreamUnavailable("The mail server refused STARTTLS, which the settings require.").because(
                Fault.STARTTLS_REFUSED
            )
        # RFC 3207, 4.2: "The client MUST discard any knowledge obtained from the server" before TLS.
        await self._ehlo()

    async def _ehlo(self) -> None:
        reply = await self._say(EHLO)
        _require(reply, 250)
        self.features = Features.of(reply)

    async def log_in(self, credentials: Credentials, *, may_go_without: bool) -> None:
        """AUTH (RFC 4954), one attempt: PLAIN where offered, else LOGIN.

        `may_go_without`: a server on this very machine that offers no AUTH takes mail without it.
        """
        self.stage = SubmissionStage.AUTH
        with unless_told(Fault.LOGIN_UNANSWERED):
            await self._log_in(credentials, may_go_without=may_go_without)

    async def _log_in(self, credentials: Credentials, *, may_go_without: bool) -> None:
        offered = self.features.mechanisms
        user, password = credentials.username.encode(), credentials.password.encode()
        if "PLAIN" in offered:
            reply = await self._say(b"AUTH PLAIN " + base64.b64encode(b"\0" + user + b"\0" + password))
        elif "LOGIN" in offered:
            reply = await self._say(b"AUTH LOGIN")
            for answer in (user, password):
                if reply.code == 334:
                    reply = await self._say(base64.b64encode(answer))
        elif may_go_without and not offered:
            return
        else:
            raise UpstreamAuthFailed("The mail server offers no kind of login that can be used.").because(
                no_login_fault(offered)
            )
        if reply.code != 235:
            raise _login_refusal(reply).because(auth_fault(reply))

    # --- the message --------------------------------------------------------------------------------------------

    async def hand_in(self, envelope: Envelope, message: bytes, begin: Begin) -> Submission:
        """The transaction (RFC 5321, 3.3)."""
        self.stage = SubmissionStage.MAIL
        mail = self._mail(envelope.sender, len(message))
        recipients = [b"RCPT TO:<" + address.encode("ascii") + b">" for address in envelope.recipients]
        self._in_transaction = True
        ask = await self._together(mail, *recipients) if self.features.pipelining else self._say
        _require_sender(await ask(mail))
        rejected = await self._recipients(envelope.recipients, recipients, ask)
        if rejected is not None:
            return rejected
        self.stage = SubmissionStage.BEGIN
        if not await begin():
            # Somebody else has found this attempt too old and ended it.
            return NotSent(self.stage, UpstreamTimeout.code)
        remaining = self._patience.for_one
        self.stage = SubmissionStage.DATA
        reply = await self._say(b"DATA", seconds=remaining)
        if reply.is_negative:
            return Rejected(self.stage, reply)
        if reply.code != 354:
            self.abort()
            raise UpstreamProtocolError
        return await self._deliver(message)

    def _mail(self, sender: str, size: int) -> bytes:
        """MAIL, with SIZE where the server knows it (RFC 1870, 6.1)."""
        if self.features.size is not None and size > self.features.size:
            raise UpstreamRefused("The message is larger than the mail server takes.")
        declared = b" SIZE=%d" % size if self.features.size_known else b""
        return b"MAIL FROM:<" + sender.encode("ascii") + b">" + declared

    async def _together(self, *lines: bytes) -> _Ask:
        """Send all of them now (RFC 2920, 3.1); who asks for a line then hears what it was answered.

        DATA is never among them: nothing may leave behind RCPT before this attempt has begun.
        """
        assert self._link is not None
        flight = await self._link.commands(lines, seconds=lambda: self._patience.for_one)
        replies = iter(flight.replies)

        async def heard(_line: bytes) -> SmtpReply:
            reply = next(replies, None)
            if reply is None:
                raise flight.failure or UpstreamProtocolError()
            return reply

        return heard

    async def _recipients(self, addresses: tuple[str, ...], lines: list[bytes], ask: _Ask) -> Rejected | None:
        """RCPT for each, in order; every refusal is told, unless the server closes before the last one."""
        self.stage = SubmissionStage.RCPT
        first: SmtpReply | None = None
        refused: list[RefusedRecipient] = []
        for address, line in zip(addresses, lines, strict=True):
            try:
                reply = await ask(line)
                if not reply.is_positive and not reply.is_negative:
                    raise UpstreamProtocolError
            except UpstreamError:
                if first is None:
                    raise
                break  # it is refused already, whatever the others would have been told
            if reply.is_negative:
                first = first or reply
                refused.append(RefusedRecipient(address, reply.code))
            if reply.is_closing:
                break
        return Rejected(self.stage, first, tuple(refused)) if first else None

    async def _deliver(self, message: bytes) -> Submission:
        assert self._link is not None
        done = await self._link.deliver(message, seconds=self._patience.remaining)
        self.stage = SubmissionStage.FINAL if done.dot_sent else SubmissionStage.BODY
        self._in_transaction = False
        if done.failure is not None:
            return Unknown(self.stage, done.failure.code)
        reply = done.reply
        if reply is not None and reply.is_negative:
            return Rejected(self.stage, reply)
        if reply is not None and reply.is_positive and done.dot_sent:
            return Accepted(reply)
        # 3xx, or a yes to a message that was not complete: nothing to rely on.
        self.abort()
        return Unknown(self.stage, UpstreamProtocolError.code)

    # --- afterwards ---------------------------------------------------------------------------------------------

    async def leave(self, *, seconds: float) -> None:
        """RSET if a transaction is open, and QUIT: best effort."""
        if self._link is not None:
            words = (b"RSET", b"QUIT") if self._in_transaction else (b"QUIT",)
            await self._link.leave(*words, seconds=seconds)

    def abort(self) -> None:
        """Drop the connection."""
        if self._link is not None:
            self._link.abort()

    async def _say(self, line: bytes, *, seconds: float | None = None) -> SmtpReply:
        assert self._link is not None
        return await self._link.command(line, seconds=self._patience.for_one if seconds is None else seconds)


def _require_sender(reply: SmtpReply) -> None:
    if reply.code in (530, 535):
        raise UpstreamAuthFailed
    if not reply.is_positive:
        raise _refusal(reply)


def _require(reply: SmtpReply, code: int) -> None:
    if reply.code != code:
        raise _refusal(reply)


def _login_refusal(reply: SmtpReply) -> UpstreamError:
    if reply.code >= 500:
        return UpstreamAuthFailed()
    # RFC 4954, 6: 454 is a temporary failure, which says nothing about the password.
    return UpstreamUnavailable() if reply.is_negative else UpstreamProtocolError()


def _refusal(reply: SmtpReply) -> UpstreamError:
    """What a reply other than the wanted one means, before anything was sent."""
    if reply.is_closing:
        return UpstreamUnavailable("The mail server ended the session.")
    return UpstreamRefused() if reply.is_negative else UpstreamProtocolError()
