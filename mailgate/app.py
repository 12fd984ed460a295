"""The composition root: settings in, a service or an ASGI application out. Nobody else builds a mailbox."""

from __future__ import annotations

from dataclasses import dataclass

from mailgate.imap.endpoint import Credentials, ImapEndpoint
from mailgate.imap.mailbox import Mailbox
from mailgate.read.cursor import CursorCodec, derive_cursor_key
from mailgate.server.auth import TokenTable
from mailgate.server.backend import Backend, Connected
from mailgate.server.dispatch import Dispatcher
from mailgate.server.http import HttpSurface
from mailgate.server.mcp import McpEndpoint
from mailgate.server.origins import AllowedOrigins
from mailgate.server.telemetry import configure_logging
from mailgate.settings import Settings, SettingsError, check_http, read_settings
from mailgate.write import ports


@dataclass(frozen=True, slots=True)
class Service:
    """A deployment, ready to be called. `dispatcher` carries calls out; the mailbox connects when first needed."""

    settings: Settings
    dispatcher: Dispatcher
    mailbox: ports.Mailbox | None = None

    async def aclose(self) -> None:
        """Close what is open. Leaving it out costs the mail server a time-out, nothing else."""
        if isinstance(self.mailbox, Mailbox):
            await self.mailbox.aclose()


def build_service(settings: Settings, *, mailbox: ports.Mailbox | None = None) -> Service:
    """The service that `settings` describe; `mailbox` stands in for the one that they name."""
    mailbox = mailbox or build_mailbox(settings)
    connected = None if mailbox is None else Connected(mailbox, _cursors(settings, mailbox.identity))
    return Service(settings, Dispatcher(Backend(settings, connected)), mailbox)


def build_app(settings: Settings, *, service: Service | None = None) -> HttpSurface:
    """The ASGI application. `SettingsError` when nobody could be recognised as a caller."""
    problems = check_http(settings)
    if problems:
        raise SettingsError(problems)
    service = service or build_service(settings)
    return HttpSurface(
        service.dispatcher,
        McpEndpoint(service.dispatcher),
        tokens=TokenTable(settings.tokens),
        origins=AllowedOrigins(settings.public_url, settings.allowed_origins),
        close=service.aclose,
    )


def application() -> HttpSurface:
    """The ASGI application of this process's environment, with its logging. Ends the process when refused a start."""
    try:
        settings = read_settings(http=True)
    except SettingsError as refused:
        # A traceback would bury the list of problems, and the list is all there is to say.
        raise SystemExit(str(refused)) from None
    configure_logging(settings.log_level, settings.log_format)
    return build_app(settings)


def build_mailbox(settings: Settings) -> Mailbox | None:
    """The mailbox that `settings` name, not connected yet; None while variables are missing."""
    if settings.missing or settings.imap_host is None or settings.username is None or settings.password is None:
        return None
    return Mailbox(
        ImapEndpoint(settings.imap_host, settings.imap_port, settings.imap_security, settings.tls_ca_file),
        Credentials(settings.username, settings.password.get_secret_value()),
        connections=settings.imap_connections,
        command_seconds=settings.upstream_timeout_seconds,
        roles=settings.folder_roles,
        hidden=settings.hidden_folders,
    )


def _cursors(settings: Settings, identity: str) -> CursorCodec:
    """A codec whose key every process of this deployment derives alike, and only when a cursor is first needed."""
    if settings.store_key:
        secret, stretch = settings.store_key[0].get_secret_value(), False
    else:
        secret, stretch = (settings.password.get_secret_value().encode() if settings.password else b""), True
    return CursorCodec(lambda: derive_cursor_key(secret, identity=identity, stretch=stretch), identity)
