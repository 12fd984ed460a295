"""The SMTP server: everything up to the login through the door that sends, then QUIT. MAIL is never said."""

from __future__ import annotations

import asyncio
import functools
import re
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Final

from mailgate.doctor.causes import Subject, tell_stages
from mailgate.doctor.checks import checks_of
from mailgate.doctor.lines import ORDERS, resolve, sharpened
from mailgate.doctor.notes import ClockReading, ClockWindow, Notes, Patience, Patient
from mailgate.faults import Fault, Stage
from mailgate.imap.endpoint import Credentials, Security
from mailgate.limits import COMPOSED_BYTES_MAX, MIB
from mailgate.policy import Gate
from mailgate.send.smtp import SmtpConnection, SmtpEndpoint
from mailgate.send.submission import SmtpReply
from mailgate.send.submit import Rehearsal, SmtpSubmitter
from mailgate.settings import Settings

AREA: Final = "smtp"
# RFC 5321, 4.2: the text of a greeting is free; Exim, Exchange and sendmail put the time there (RFC 5322, 3.3).
_DATE: Final = re.compile(rb"[A-Z][a-z]{2}, [0-9]{1,2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} [+-][0-9]{4}")
# After these the IMAP server has seen the password and said no.
_JUDGED: Final = frozenset(
    {Fault.PASSWORD_WRONG, Fault.LOGIN_REFUSED, Fault.PASSWORD_EXPIRED, Fault.PASSWORD_NOT_FOR_PROGRAMS}
    | {Fault.PASSWORD_LOGIN_OFF, Fault.LOGIN_NEEDS_BROWSER}
)
_SIZE_NEXT: Final = "Nothing to set here: send smaller messages, or use a provider that takes larger ones."


async def examine(patient: Patient, notes: Notes) -> None:
    """Every check of the SMTP server. To be called after the IMAP server was looked at."""
    settings = patient.settings
    why = _why_not(settings)
    if settings.smtp_host is None or settings.smtp_username is None or settings.smtp_password is None or why:
        for check in checks_of(AREA):
            notes.skip(check, why or "No SMTP server is configured; without one nothing can be sent.")
        return
    endpoint = SmtpEndpoint(
        settings.smtp_host, settings.smtp_port, settings.smtp_security, settings.tls_ca_file, patient.patience.connect
    )
    unresolved = await resolve(endpoint.host, endpoint.port, seconds=patient.patience.connect)
    if unresolved is not None:
        _tell(notes, endpoint, unresolved)
        return
    credentials = Credentials(settings.smtp_username, settings.smtp_password.get_secret_value())
    await _rehearse(patient, notes, endpoint, credentials)


def _why_not(settings: Settings) -> str | None:
    """Why nobody wants this server looked at: a preset names one, and sending is off."""
    by_preset = settings.sources.get("MAIL_SMTP_HOST", "").startswith("preset:")
    if by_preset and Gate.SEND not in settings.gates:
        return "Sending is switched off, and only MAIL_PROVIDER names an SMTP server."
    return None


async def _rehearse(patient: Patient, notes: Notes, endpoint: SmtpEndpoint, credentials: Credentials) -> None:
    settings, patience = patient.settings, patient.patience
    submitter = SmtpSubmitter(
        endpoint, credentials, command_seconds=min(patience.command, settings.upstream_timeout_seconds)
    )
    may_log_in = not _was_refused_already(settings, notes)
    deadline = asyncio.get_running_loop().time() + patience.total
    began = patient.now()
    done = await submitter.rehearse(deadline=deadline, log_in=may_log_in)
    ended = patient.now()
    await submitter.aclose()
    fault = None if done.failure is None else done.failure.fault or Fault.GREETING_ODD
    if fault is not None:
        fault = await sharpened(fault, endpoint.security, functools.partial(_greet_in_tls, endpoint, patience))
    _tell(notes, endpoint, fault)
    if fault is None and not may_log_in:
        notes.skip("smtp.login", "Not tried: the IMAP server has just refused the same user and password.")
    _judge_size(notes, done, fault)
    _note_clock(notes, done, began, ended)


def _was_refused_already(settings: Settings, notes: Notes) -> bool:
    """The same user and password, just refused: another refusal could lock the account, and tells nothing new."""
    same = settings.smtp_username == settings.username and settings.smtp_password == settings.password
    return same and notes.faults.get("imap") in _JUDGED


def _judge_size(notes: Notes, done: Rehearsal, fault: Fault | None) -> None:
    size = done.features.size
    if fault is not None and fault.stage is not Stage.LOGIN:
        notes.skip("smtp.size", f"Not reached: see smtp.{fault.stage}.")
    elif size is not None and size < COMPOSED_BYTES_MAX:
        told = f"The SMTP server takes messages up to {size} octets; mailgate composes up to {COMPOSED_BYTES_MAX}."
        notes.warn("smtp.size", told, _SIZE_NEXT)
    else:
        notes.ok("smtp.size", f"Up to {size // MIB} MiB." if size is not None else "The server names no limit.")


def _note_clock(notes: Notes, done: Rehearsal, began: float, ended: float) -> None:
    if done.validity is not None:
        notes.windows.append(ClockWindow("SMTP server", done.validity))
    said = _time_in(done.greeting)
    if said is not None:
        notes.readings.append(ClockReading.between("SMTP server", said, began, ended))


def _time_in(greeting: SmtpReply | None) -> float | None:
    found = _DATE.search(b" ".join(greeting.text)) if greeting is not None else None
    if found is None:
        return None
    try:
        return parsedate_to_datetime(found[0].decode("ascii")).timestamp()
    except (ValueError, OverflowError):
        return None


async def _greet_in_tls(endpoint: SmtpEndpoint, patience: Patience) -> None:
    connection, _ = await SmtpConnection.open(replace(endpoint, security=Security.TLS), seconds=patience.connect)
    connection.abort()


def _tell(notes: Notes, endpoint: SmtpEndpoint, fault: Fault | None) -> None:
    order = ORDERS[endpoint.security]
    if Stage.TLS not in order:
        notes.skip("smtp.tls", "The settings say plaintext, which only a server on this machine may have.")
    if fault is not None:
        notes.faults[AREA] = fault
    tell_stages(notes, AREA, order, fault, _subject(endpoint))


def _subject(endpoint: SmtpEndpoint) -> Subject:
    return Subject(
        "SMTP server",
        endpoint.host,
        endpoint.port,
        "MAIL_SMTP_HOST",
        "MAIL_SMTP_PORT",
        "MAIL_SMTP_SECURITY",
        "MAIL_SMTP_USERNAME (MAIL_USERNAME when unset)",
        "MAIL_SMTP_PASSWORD (MAIL_PASSWORD when unset)",
        tls_port=465,
        clear_port=587,
    )
