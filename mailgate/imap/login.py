"""From a greeting to a session that may be used: TLS, one login, capabilities, ID, UTF8=ACCEPT.

Before TLS nothing is sent but CAPABILITY and STARTTLS, and nothing learnt there survives. One attempt to log in is made
and no second, whatever the answer: a repeated wrong password locks accounts.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable

from mailgate import __version__
from mailgate.errors import UpstreamAuthFailed, UpstreamError, UpstreamProtocolError, UpstreamUnavailable
from mailgate.faults import Fault
from mailgate.imap import commands
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.commands import Command
from mailgate.imap.connection import ImapConnection
from mailgate.imap.endpoint import Credentials, ImapEndpoint, Security
from mailgate.imap.exchange import CommandResult, Request
from mailgate.imap.reaching import unless_told
from mailgate.imap.refusals import is_temporary, login_fault, no_login_fault
from mailgate.imap.responses import CapabilityData, Condition, Enabled, Response, ResponseCode, Status, Tagged

ContextSource = Callable[[], ssl.SSLContext]
"""Gives the TLS context; loading the system's trust anchors is worth doing once, and only when it is needed."""


async def open_session(
    endpoint: ImapEndpoint, credentials: Credentials, context: ContextSource, *, seconds: float
) -> ImapConnection:
    """A logged-in connection. `seconds` is for each command; connecting has the endpoint's own deadline.

    Raises `UpstreamAuthFailed`, `UpstreamUnavailable`, `UpstreamTimeout` or `UpstreamProtocolError`; the connection is
    then gone.
    """
    tls = None if endpoint.security is Security.PLAINTEXT else context()
    connection, greeting = await ImapConnection.open(endpoint, tls, seconds=endpoint.connect_seconds)
    try:
        authenticated = _greet(connection, greeting, encrypted=endpoint.security is Security.TLS)
        if endpoint.security is Security.STARTTLS:
            assert tls is not None
            with unless_told(Fault.TLS_FAILED):
                await _upgrade(connection, tls, endpoint)
        if not authenticated:
            with unless_told(Fault.LOGIN_UNANSWERED):
                await _log_in(connection, credentials, seconds=seconds)
        with unless_told(Fault.SESSION_FAILED):
            await _introduce(connection, seconds=seconds)
    except BaseException:
        connection.abort()
        raise
    return connection


def _greet(connection: ImapConnection, greeting: Response, *, encrypted: bool) -> bool:
    """Judge the greeting by its condition and nothing else; True when the server says we are logged in already."""
    match greeting:
        case Condition(status=Status.OK):
            connection.capabilities = _announced(greeting.code) or CapabilitySet()
            return False
        case Condition(status=Status.PREAUTH) if encrypted:
            return True
        case Condition(status=Status.PREAUTH):
            # RFC 9051, 11.3: a PREAUTH greeting in clear text keeps a client from ever asking for TLS.
            raise UpstreamProtocolError("The mail server skips the login on an unprotected connection.").because(
                Fault.GREETING_ODD
            )
        case Condition(status=Status.BYE):
            raise UpstreamUnavailable("The mail server does not take the connection now.").because(
                Fault.GREETING_REFUSED
            )
        case _:
            raise UpstreamProtocolError("The mail server did not greet as an IMAP server does.").because(
                Fault.GREETING_ODD
            )


async def _upgrade(connection: ImapConnection, context: ssl.SSLContext, endpoint: ImapEndpoint) -> None:
    seconds = endpoint.connect_seconds
    await _know_capabilities(connection, seconds=seconds)
    if "STARTTLS" not in connection.capabilities:
        raise UpstreamUnavailable(
            "The mail server does not offer STARTTLS, which the settings require.",
            next_step="The operator checks MAIL_IMAP_SECURITY and the port.",
        ).because(Fault.STARTTLS_MISSING)
    result = await connection.run(commands.starttls(), seconds=seconds)
    if not result.ok:
        raise UpstreamUnavailable("The mail server refused STARTTLS, which the settings require.").because(
            Fault.STARTTLS_REFUSED
        )
    await connection.start_tls(context, endpoint.host, seconds=seconds)


async def _log_in(connection: ImapConnection, credentials: Credentials, *, seconds: float) -> None:
    await _know_capabilities(connection, seconds=seconds)
    result = await connection.run(_login_command(connection.capabilities, credentials), seconds=seconds)
    if not result.ok:
        raise _refusal(result.tagged).because(login_fault(result.tagged, connection.capabilities))
    # RFC 9051, 6.2.2: what was announced before says nothing about the session after.
    connection.capabilities = _capabilities_in(result) or CapabilitySet()


def _login_command(offered: CapabilitySet, credentials: Credentials) -> Command:
    """AUTHENTICATE PLAIN (RFC 4616) where offered, else LOGIN unless that is disabled (RFC 9051, 6.2.3)."""
    if "AUTH=PLAIN" in offered:
        return commands.authenticate_plain(
            credentials.username, credentials.password, initial_response=offered.offers("SASL-IR")
        )
    if "LOGINDISABLED" in offered:
        raise UpstreamAuthFailed(
            "The mail server offers no kind of login that can be used over this connection.",
            next_step="The operator checks MAIL_IMAP_SECURITY and what the provider requires.",
        ).because(no_login_fault(offered.auth_mechanisms))
    return commands.login(credentials.username, credentials.password)


def _refusal(tagged: Tagged) -> UpstreamError:
    if is_temporary(tagged):
        return UpstreamUnavailable("The mail server takes no login at the moment.")
    return UpstreamAuthFailed()


async def _introduce(connection: ImapConnection, *, seconds: float) -> None:
    """Learn what the session offers, and prepare to say who we are and to switch UTF-8 on.

    That takes no round trip of its own: it leaves with the session's first command. RFC 9051, 6.3.1: "There are no
    limitations on pipelining ENABLE"; a folder's name that depends on it waits for its answer.
    """
    await _know_capabilities(connection, seconds=seconds)
    offered = connection.capabilities

    def enabled(result: CommandResult) -> None:
        connection.utf8 = result.ok and any("UTF8=ACCEPT" in row.capabilities for row in result.of(Enabled))

    # Some providers refuse to open a folder before ID (RFC 2971); its outcome is of no interest.
    name = (Request(commands.id_("mailgate", __version__)),) if "ID" in offered else ()
    utf8 = (Request(commands.enable("UTF8=ACCEPT"), heard=enabled),)
    connection.introduction = name + (utf8 if offered.offers("ENABLE") and "UTF8=ACCEPT" in offered else ())


async def _know_capabilities(connection: ImapConnection, *, seconds: float) -> None:
    """Ask, unless the server has said it in this state."""
    if connection.capabilities:
        return
    result = await connection.run(commands.capability(), seconds=seconds)
    found = _capabilities_in(result)
    if is_temporary(result.tagged):
        raise UpstreamUnavailable("The mail server accepted the login but not the session.")
    if not result.ok or found is None:
        raise UpstreamProtocolError("The mail server does not say what it can do.")
    connection.capabilities = found


def _capabilities_in(result: CommandResult) -> CapabilitySet | None:
    """Announced in the tagged OK, or in an untagged response; the last word counts."""
    announced = _announced(result.tagged.code)
    if announced is not None:
        return announced
    rows = result.of(CapabilityData)
    return rows[-1].capabilities if rows else None


def _announced(code: ResponseCode | None) -> CapabilitySet | None:
    return code.capabilities if code is not None else None
