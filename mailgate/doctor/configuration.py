"""The settings themselves: what stops the start, what HTTP needs, and whether what is switched on can work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from mailgate.doctor.lines import resolve
from mailgate.doctor.notes import Notes, Patient
from mailgate.imap.endpoint import is_loopback
from mailgate.policy import Gate, Scope
from mailgate.settings import Settings, check_http

CORRECT: Final = "Correct the settings; docs/configuration.md has every variable, `mailgate config` shows the values."
_WANTED_BY: Final = {Gate.WRITES: Scope.WRITE, Gate.SEND: Scope.SEND}
_FOR_SENDING: Final = ("store.reach", "smtp.dns", "smtp.connect", "smtp.tls", "smtp.greeting", "smtp.login")


def judge_refused(notes: Notes, problems: tuple[str, ...]) -> None:
    """The settings stop the start: every problem at once."""
    notes.fail("settings", " ".join(problems), CORRECT)


def judge_settings(patient: Patient, notes: Notes) -> None:
    """Settings that could be read: what is missing for a mailbox, and what they warn of."""
    settings = patient.settings
    if settings.missing:
        notes.fail("settings", f"There is no mailbox yet; missing: {', '.join(settings.missing)}.", CORRECT)
    elif settings.warnings:
        notes.warn("settings", " ".join(settings.warnings), CORRECT)
    else:
        notes.ok("settings")
    _judge_http(notes, settings)


def _judge_http(notes: Notes, settings: Settings) -> None:
    problems = check_http(settings)
    if not problems:
        notes.ok("http")
        return
    # Somebody who names a public URL or an issuer wants HTTP; without either, stdio may be all that is wanted.
    wanted = settings.public_url is not None or settings.oauth_issuer is not None
    step = "Set what is named." if wanted else "Set it for `mailgate serve`; `mailgate stdio` needs nothing of it."
    notes.judge("http", " ".join(problems), step, fails=wanted)


# --- after everything else ---------------------------------------------------------------------------------------


def judge_gates(patient: Patient, notes: Notes) -> None:
    """Whether what is switched on can work, by what the other checks have found."""
    settings = patient.settings
    if not settings.gates:
        notes.ok("gates", "All are closed: mail can be read, and nothing else.")
        return
    broken = notes.failed(*_FOR_SENDING) if Gate.SEND in settings.gates else []
    if broken or settings.missing:
        where = ", ".join([*broken, *(["settings"] if settings.missing else [])])
        notes.fail("gates", "Something is switched on that cannot work now.", f"Put right what failed: see {where}.")
        return
    doubts = tuple(_doubts(settings))
    if doubts:
        notes.warn("gates", " ".join(doubts), "Set what is meant, or close the gate.")
    else:
        notes.ok("gates", f"Open: {', '.join(gate for gate in Gate if gate in settings.gates)}.")


def _doubts(settings: Settings) -> Iterator[str]:
    if Gate.DELETE in settings.gates and Gate.WRITES not in settings.gates:
        yield "MAIL_ENABLE_DELETE is 1 without MAIL_ENABLE_WRITES, so it opens nothing."
    if Gate.WRITES in settings.gates and settings.mail_from is None:
        yield "MAIL_ENABLE_WRITES is 1 without MAIL_FROM, so mail_save_draft is refused."
    if settings.tokens and settings.oauth_issuer is None:
        granted = {scope for token in settings.tokens for scope in token.scopes}
        for gate, scope in _WANTED_BY.items():
            if gate in settings.gates and scope not in granted:
                yield f"{gate.variable} is 1, but no entry of MAIL_TOKENS has {scope}: nobody can use it over HTTP."


async def examine_public_url(patient: Patient, notes: Notes) -> None:
    """The public URL: whether its name is known, and whether tokens are made out to it."""
    settings = patient.settings
    if settings.public_url is None:
        notes.skip("public_url", "MAIL_PUBLIC_URL is not set: only clients on this machine can use HTTP.")
        return
    parts = urlsplit(settings.public_url)
    host, port = parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)
    if settings.oauth_issuer is not None and settings.oauth_audience != settings.public_url:
        notes.warn(
            "public_url",
            "MAIL_OAUTH_AUDIENCE differs from MAIL_PUBLIC_URL, for which clients ask their tokens (RFC 8707).",
            "Unset MAIL_OAUTH_AUDIENCE, unless your issuer puts another audience into its tokens.",
        )
    elif not parts.path.endswith("/mcp"):
        notes.warn("public_url", "MAIL_PUBLIC_URL does not end in /mcp, where the endpoint is.", "Add /mcp to it.")
    elif is_loopback(host):
        notes.ok("public_url", "It is on this machine: no client elsewhere can use it.")
    elif await resolve(host, port, seconds=patient.patience.connect) is not None:
        notes.warn(
            "public_url",
            f"The name {host} in MAIL_PUBLIC_URL is not known to DNS here, so clients may not find it.",
            "Make the DNS entry, or correct MAIL_PUBLIC_URL; then try it from outside with deploy/smoke.",
        )
    else:
        notes.ok("public_url", "Its name is known; try it from outside with deploy/smoke.")
