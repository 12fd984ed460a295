"""What came of handing one message to the SMTP server, once: four outcomes and no fifth.

Accepted   the server answered the final dot with 2xx: it took responsibility, nothing more
Rejected   the server said no, to a recipient, to DATA or to the message: it is not accepted and never will be
NotSent    it ended before DATA was answered: no octet of the message left
Unknown    octets of the message left and no answer that can be relied on came back; never to be sent again
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from mailgate.send.record import Envelope, RefusedRecipient


class SubmissionStage(StrEnum):
    """How far an attempt had come when it ended, in the order of the work."""

    CONNECT = "connect"
    """Connecting, TLS, greeting, EHLO."""
    AUTH = "auth"
    MAIL = "mail"
    RCPT = "rcpt"
    BEGIN = "begin"
    """Every recipient is accepted; the store is asked for the leave to go on."""
    DATA = "data"
    """DATA has left; its 354 has not come."""
    BODY = "body"
    """Octets of the message have left, the final dot has not."""
    FINAL = "final"
    """The final dot has left."""


@dataclass(frozen=True, slots=True)
class SmtpReply:
    """One complete reply (RFC 5321, 4.2).

    `enhanced` is the status code of RFC 3463 such as `5.7.1`, None where there is none. `text` holds the lines as the
    server wrote them: untrusted, never rendered and never logged.
    """

    code: int
    enhanced: str | None = None
    text: tuple[bytes, ...] = field(default=(), repr=False)

    @property
    def is_positive(self) -> bool:
        """2xx: done as asked."""
        return 200 <= self.code <= 299

    @property
    def is_negative(self) -> bool:
        """4xx and 5xx: not done."""
        return 400 <= self.code <= 599

    @property
    def is_closing(self) -> bool:
        """421: "the server is about to close the transmission channel" (RFC 5321, 3.8)."""
        return self.code == 421


@dataclass(frozen=True, slots=True)
class Accepted:
    """The server took responsibility for delivering to every recipient, or for reporting that it could not."""

    reply: SmtpReply


@dataclass(frozen=True, slots=True)
class Rejected:
    """The server said no. `refused` lists recipients when `stage` is RCPT; `reply` is the first refusal."""

    stage: SubmissionStage
    reply: SmtpReply
    refused: tuple[RefusedRecipient, ...] = ()


@dataclass(frozen=True, slots=True)
class NotSent:
    """Stopped before any octet of the message left. `reason` is a code of `errors.py`."""

    stage: SubmissionStage
    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Octets of the message left and it cannot be known what became of them. `reason` is a code of `errors.py`."""

    stage: SubmissionStage
    reason: str


Submission: TypeAlias = Accepted | Rejected | NotSent | Unknown

Begin: TypeAlias = Callable[[], Awaitable[bool]]
"""Asked once, right before DATA: True gives leave, False means that the claim is another's or over."""


class Submitter(Protocol):
    """Who can hand in a message. `send/smtp.py` has the one that does."""

    async def submit(self, envelope: Envelope, message: bytes, *, begin: Begin, deadline: float) -> Submission:
        """One attempt, which ends at `deadline` at the latest (seconds on the running event loop's clock).

        Failures are outcomes and not exceptions. What `begin` raises is raised on, after the transaction was dropped
        without DATA: nothing was sent then. Returns as soon as the outcome stands; taking leave of the server
        happens afterwards and changes nothing.
        """
        ...

    async def aclose(self) -> None:
        """Wait for the leave-takings that are still under way, for a moment."""
        ...
