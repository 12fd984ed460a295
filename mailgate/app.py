"""The composition root: settings in, a service or an ASGI application out. Nobody else builds a mailbox.

What only some deployments use (a store, submission, JWTs) is loaded where it is built: a start costs what it needs.
"""

from __future__ import annotations

import importlib
import secrets
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from mailgate.errors import MailgateError
from mailgate.imap.endpoint import Credentials, ImapEndpoint
from mailgate.policy import Gate
from mailgate.server.auth import Callers, JwtCheck, TokenTable
from mailgate.server.backend import Backend, Connected
from mailgate.server.catalog import TOOLS
from mailgate.server.dispatch import Dispatcher
from mailgate.server.http import HttpSurface
from mailgate.server.mcp import McpEndpoint
from mailgate.server.origins import AllowedOrigins
from mailgate.server.telemetry import configure_logging, log_incident
from mailgate.settings import Settings, SettingsError, StoreKind, check_http, read_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mailgate.imap.mailbox import Mailbox
    from mailgate.read.cursor import CursorCodec
    from mailgate.send.desk import SendDesk
    from mailgate.send.record import Deployment
    from mailgate.send.sealing import KeyRing
    from mailgate.send.store import SendStore
    from mailgate.send.submission import Submitter
    from mailgate.write import ports


_READING: Final = (
    "mailgate.imap.mailbox",
    "mailgate.read.search",
    "mailgate.read.message",
    "mailgate.read.batch",
    "mailgate.read.folders",
    "mailgate.server.validation",
)
"""What nearly every first call needs, and no start."""


@dataclass(frozen=True, slots=True)
class Service:
    """A deployment, ready to be called. `dispatcher` carries calls out; the mailbox connects when first needed."""

    settings: Settings
    dispatcher: Dispatcher
    desk: SendDesk | None = None

    @property
    def mailbox(self) -> ports.Mailbox | None:
        """The mailbox, which is made now if no call has needed it yet; None while settings are missing."""
        connected = self.dispatcher.backend.connected
        return None if connected is None else connected.mailbox

    def warm_up(self) -> None:
        """Load what the first call would otherwise wait for. Nothing is connected to.

        For a process that stays: a start that only lists the tools is quicker without.
        """
        if self.dispatcher.backend.connected is not None:
            _load(self.settings.tls_ca_file)

    async def aclose(self) -> None:
        """Wait for sends that are under way, then close what is open.

        Leaving it out costs the mail server a time-out, and a send that is under way its outcome.
        """
        if self.desk is not None:
            await self.desk.aclose()
        connected = self.dispatcher.backend.connected
        close = None if connected is None else getattr(connected.used, "aclose", None)
        if close is not None:
            await close()


def _load(ca_file: Path | None) -> None:
    for name in _READING:
        importlib.import_module(name)
    for tool in TOOLS:
        tool.load()
    from mailgate.imap.tls import session_context

    with suppress(MailgateError):  # a call will say so
        session_context(ca_file)


def build_service(
    settings: Settings,
    *,
    mailbox: ports.Mailbox | None = None,
    store: SendStore | None = None,
    submitter: Submitter | None = None,
) -> Service:
    """The service that `settings` describe; `mailbox`, `store` and `submitter` stand in for those that they name."""
    connected = _connected(settings, mailbox)
    desk = None if connected is None else build_desk(settings, connected, store=store, submitter=submitter)
    return Service(settings, Dispatcher(Backend(settings, connected, desk)), desk)


def _connected(settings: Settings, mailbox: ports.Mailbox | None) -> Connected | None:
    make: Callable[[], ports.Mailbox] | None = build_mailbox(settings) if mailbox is None else lambda: mailbox
    return None if make is None else Connected(make, partial(_cursors, settings))


def build_app(settings: Settings, *, service: Service | None = None) -> HttpSurface:
    """The ASGI application. `SettingsError` when nobody could be recognised as a caller."""
    problems = check_http(settings)
    if problems:
        raise SettingsError(problems)
    service = service or build_service(settings)
    return HttpSurface(
        service.dispatcher,
        McpEndpoint(service.dispatcher),
        callers=Callers(TokenTable(settings.tokens), build_jwts(settings)),
        origins=AllowedOrigins(settings.public_url, settings.allowed_origins),
        opened=service.warm_up,
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


def build_jwts(settings: Settings) -> JwtCheck | None:
    """What checks the issuer's tokens; None without an issuer. Nothing is fetched before a token asks for it."""
    if settings.oauth_issuer is None or settings.oauth_audience is None:
        return None
    # Loaded here: what it needs would cost every start with static tokens its time.
    from mailgate.keys.cache import IssuerKeys
    from mailgate.keys.fetching import HttpDocuments
    from mailgate.server.jwt_claims import TokenRules
    from mailgate.server.jwt_tokens import JwtVerifier

    rules = TokenRules(settings.oauth_issuer, settings.oauth_audience, frozenset(settings.owner_subjects))
    documents = HttpDocuments(settings.tls_ca_file)
    return JwtVerifier(rules, IssuerKeys(settings.oauth_issuer, settings.oauth_jwks_url, documents))


def build_mailbox(settings: Settings) -> Callable[[], Mailbox] | None:
    """What makes the mailbox that `settings` name, not connected yet; None while variables are missing."""
    if settings.missing or settings.imap_host is None or settings.username is None or settings.password is None:
        return None
    endpoint = ImapEndpoint(settings.imap_host, settings.imap_port, settings.imap_security, settings.tls_ca_file)
    credentials = Credentials(settings.username, settings.password.get_secret_value())

    def make() -> Mailbox:
        from mailgate.imap.mailbox import Mailbox

        return Mailbox(
            endpoint,
            credentials,
            connections=settings.imap_connections,
            command_seconds=settings.upstream_timeout_seconds,
            roles=settings.folder_roles,
            hidden=settings.hidden_folders,
        )

    return make


def build_desk(
    settings: Settings, connected: Connected, *, store: SendStore | None = None, submitter: Submitter | None = None
) -> SendDesk | None:
    """What sending needs, nothing of it opened yet; None while sending is closed, or something for it is missing.

    What is prepared belongs to this login behind this public URL: another host or port of the same mailbox (a move, a
    proxy) changes nothing. The mailbox's identity stands in where there is no login.
    """
    if Gate.SEND not in settings.gates or settings.mail_from is None:
        return None
    from mailgate.send.desk import SendDesk
    from mailgate.send.ledger import SendLedger
    from mailgate.send.recipients import AllowedRecipients
    from mailgate.send.record import Deployment

    deployment = Deployment(settings.username or connected.mailbox.identity, settings.public_url or "")
    store = store or build_store(settings, deployment)
    submitter = submitter or build_submitter(settings)
    if store is None or submitter is None:
        return None
    ledger = SendLedger(
        store,
        _keys(settings, deployment),
        deployment,
        limit_per_hour=settings.send_limit_per_hour,
        deadline_seconds=settings.send_deadline_seconds,
    )
    return SendDesk(
        ledger,
        submitter,
        settings.mail_from,
        AllowedRecipients(settings.allowed_recipients),
        kind=settings.store.kind.value,
        deadline_seconds=settings.send_deadline_seconds,
        upstream_seconds=settings.upstream_timeout_seconds,
        on_fault=lambda error: log_incident(secrets.token_hex(8), error),
    )


def build_store(settings: Settings, deployment: Deployment) -> SendStore | None:
    """The store that `settings` name, not opened yet."""
    named = settings.store
    if named.kind is StoreKind.SQLITE:
        from mailgate.send.sqlite_store import SqliteStore

        return None if named.path is None else SqliteStore(named.path, deployment.tag)
    if named.url is None:
        return None
    url = named.url.get_secret_value()
    if named.kind is StoreKind.REDIS:
        from mailgate.send.redis_store import RedisStore

        return RedisStore(url, deployment.tag, ca_file=settings.tls_ca_file)
    from mailgate.send.upstash_store import UpstashStore

    token = named.token.get_secret_value() if named.token else ""
    return UpstashStore(url, token, deployment.tag, ca_file=settings.tls_ca_file)


def build_submitter(settings: Settings) -> Submitter | None:
    """The way to the SMTP server, which is connected to for each message anew."""
    if settings.smtp_host is None or settings.smtp_username is None or settings.smtp_password is None:
        return None
    from mailgate.send.smtp import SmtpEndpoint
    from mailgate.send.submit import SmtpSubmitter

    return SmtpSubmitter(
        SmtpEndpoint(settings.smtp_host, settings.smtp_port, settings.smtp_security, settings.tls_ca_file),
        Credentials(settings.smtp_username, settings.smtp_password.get_secret_value()),
        command_seconds=settings.upstream_timeout_seconds,
    )


def _keys(settings: Settings, deployment: Deployment) -> KeyRing:
    """The operator's keys; with a local store and none of them, one that is made beside the database."""
    from mailgate.send.local_ring import LocalKeyRing
    from mailgate.send.sealing import KeyRing

    given = [key.get_secret_value() for key in settings.store_key]
    if given or settings.store.path is None:
        return KeyRing(given, deployment)
    return LocalKeyRing(settings.store.path, deployment)


def _cursors(settings: Settings, identity: str) -> CursorCodec:
    """A codec whose key every process of this deployment derives alike, and only when a cursor is first needed."""
    if settings.store_key:
        secret, stretch = settings.store_key[0].get_secret_value(), False
    else:
        secret, stretch = (settings.password.get_secret_value().encode() if settings.password else b""), True
    from mailgate.read.cursor import CursorCodec, derive_cursor_key

    return CursorCodec(lambda: derive_cursor_key(secret, identity=identity, stretch=stretch), identity)
