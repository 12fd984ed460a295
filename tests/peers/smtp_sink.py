"""A real SMTP server (aiosmtpd) that takes mail and keeps it: implicit TLS or STARTTLS, AUTH PLAIN and LOGIN."""

from __future__ import annotations

import asyncio
import ssl
import warnings
from dataclasses import dataclass, field
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from mailgate.imap.endpoint import Security
from tests.peers.authority import authority

USERNAME = "owner@example.com"
PASSWORD = "let me in"


@dataclass(frozen=True)
class TakenMail:
    """One message as it arrived: `data` un-stuffed, `recipients` in the order of RCPT."""

    sender: str
    recipients: tuple[str, ...]
    data: bytes


@dataclass
class SmtpSink:
    """The server; `async with` starts and stops it. Takes mail only from who has logged in, once per connection."""

    security: Security = Security.TLS
    context: ssl.SSLContext | None = None
    taken: list[TakenMail] = field(default_factory=list)
    logins: int = 0
    port: int = 0

    async def __aenter__(self) -> SmtpSink:
        context = self.context or authority().certificate().server_context()
        implicit = self.security is Security.TLS
        self._upgrade = context if self.security is Security.STARTTLS else None
        self._server = await asyncio.get_running_loop().create_server(
            self._protocol, "127.0.0.1", 0, ssl=context if implicit else None
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    def _protocol(self) -> SMTP:
        with warnings.catch_warnings():
            # aiosmtpd knows of no TLS but its own, and warns of a login inside implicit TLS.
            warnings.simplefilter("ignore", UserWarning)
            return SMTP(
                self,
                hostname="sink.example.org",
                tls_context=self._upgrade,
                require_starttls=self._upgrade is not None,
                auth_required=True,
                auth_require_tls=self._upgrade is not None,
                authenticator=self._authenticate,
                data_size_limit=33_554_432,
                loop=asyncio.get_running_loop(),
            )

    def _authenticate(self, _server: SMTP, _session: Session, _envelope: Envelope, _how: str, data: Any) -> AuthResult:
        self.logins += 1
        known = isinstance(data, LoginPassword) and data == LoginPassword(USERNAME.encode(), PASSWORD.encode())
        return AuthResult(success=known, handled=known)

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:
        assert isinstance(envelope.content, bytes)
        self.taken.append(TakenMail(envelope.mail_from or "", tuple(envelope.rcpt_tos), envelope.content))
        return "250 2.0.0 taken"
