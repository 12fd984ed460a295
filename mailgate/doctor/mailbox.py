"""The IMAP server: reached through the same door as by a call, one login, one LIST, LOGOUT."""

from __future__ import annotations

import functools
import time
from dataclasses import replace

from mailgate.doctor.causes import Subject, tell, tell_stages
from mailgate.doctor.checks import checks_of
from mailgate.doctor.features import judge_features
from mailgate.doctor.folders import judge_roles
from mailgate.doctor.lines import ORDERS, resolve, sharpened
from mailgate.doctor.notes import ClockWindow, Notes, Patience, Patient
from mailgate.errors import MailgateError, UpstreamError
from mailgate.faults import Fault, Stage
from mailgate.imap.connection import ImapConnection
from mailgate.imap.endpoint import Credentials, ImapEndpoint, Security
from mailgate.imap.hidden import HiddenFolders
from mailgate.imap.listing import list_folders
from mailgate.imap.login import open_session
from mailgate.imap.pool import ConnectionPool, Lease
from mailgate.imap.tls import client_context
from mailgate.settings import Settings

AREA = "imap"


async def examine(patient: Patient, notes: Notes) -> None:
    """Every check of the IMAP server, and of the roles of folders."""
    settings = patient.settings
    if settings.missing or settings.imap_host is None or settings.username is None or settings.password is None:
        for check in checks_of(AREA, "role"):
            notes.skip(check, "No mailbox is configured: see settings.")
        return
    endpoint = ImapEndpoint(
        settings.imap_host,
        settings.imap_port,
        settings.imap_security,
        settings.tls_ca_file,
        patient.patience.connect,
    )
    credentials = Credentials(settings.username, settings.password.get_secret_value())
    unresolved = await resolve(endpoint.host, endpoint.port, seconds=patient.patience.connect)
    if unresolved is not None:
        _tell(notes, endpoint, unresolved)
        return
    await _connect(patient, notes, endpoint, credentials)


async def _connect(patient: Patient, notes: Notes, endpoint: ImapEndpoint, credentials: Credentials) -> None:
    context = functools.cache(functools.partial(client_context, endpoint.ca_file))
    seconds = min(patient.patience.command, patient.settings.upstream_timeout_seconds)
    connect = functools.partial(open_session, endpoint, credentials, context, seconds=seconds)
    pool = ConnectionPool(connect, size=1, clock=time.monotonic)
    try:
        # One lending from beginning to end: a connection that dies is not replaced, so there is never a second login.
        async with pool.lend() as lease:
            _tell(notes, endpoint, None)
            await _look_around(patient.settings, notes, endpoint, lease, seconds=seconds)
    except UpstreamError as error:
        fault = error.fault or Fault.SESSION_FAILED
        probe = functools.partial(_greet_in_tls, endpoint, patient.patience)
        _tell(notes, endpoint, await sharpened(fault, endpoint.security, probe))
    finally:
        await pool.aclose()


async def _look_around(
    settings: Settings, notes: Notes, endpoint: ImapEndpoint, lease: Lease, *, seconds: float
) -> None:
    validity = lease.connection.validity
    if validity is not None:
        notes.windows.append(ClockWindow("IMAP server", validity))
    judge_features(notes, lease.connection.capabilities, settings)
    try:
        found = await list_folders(lease, HiddenFolders(settings.hidden_folders), counts=False, seconds=seconds)
    except MailgateError:
        tell(notes, "imap.session", Fault.SESSION_FAILED, _subject(endpoint))
        return
    notes.ok("imap.session")
    judge_roles(notes, found.folders, settings)


async def _greet_in_tls(endpoint: ImapEndpoint, patience: Patience) -> None:
    secure = replace(endpoint, security=Security.TLS)
    connection, _ = await ImapConnection.open(secure, client_context(endpoint.ca_file), seconds=patience.connect)
    connection.abort()


def _tell(notes: Notes, endpoint: ImapEndpoint, fault: Fault | None) -> None:
    """The stages up to the login, and what comes of it for everything behind."""
    subject, order = _subject(endpoint), ORDERS[endpoint.security]
    if Stage.TLS not in order:
        notes.skip("imap.tls", "The settings say plaintext, which only a server on this machine may have.")
    if fault is None:
        tell_stages(notes, AREA, order, None, subject)
        return
    notes.faults[AREA] = fault
    if fault.stage is Stage.SESSION:
        tell_stages(notes, AREA, order, None, subject)
        tell(notes, "imap.session", fault, subject)
    else:
        tell_stages(notes, AREA, order, fault, subject)


def _subject(endpoint: ImapEndpoint) -> Subject:
    return Subject(
        "IMAP server",
        endpoint.host,
        endpoint.port,
        "MAIL_IMAP_HOST",
        "MAIL_IMAP_PORT",
        "MAIL_IMAP_SECURITY",
        "MAIL_USERNAME",
        "MAIL_PASSWORD",
        tls_port=993,
        clear_port=143,
    )
