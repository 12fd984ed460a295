"""The examination: every area at the same time, all of it bounded, and every check of the table answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from mailgate.doctor import issuer, mailbox, store, submission
from mailgate.doctor.checks import CHECKS, checks_of
from mailgate.doctor.clock import judge_clock
from mailgate.doctor.configuration import examine_public_url, judge_gates, judge_refused, judge_settings
from mailgate.doctor.notes import Notes, Patient
from mailgate.doctor.verdicts import Outcome, Report, Verdict

Examination = Callable[[Patient, Notes], Awaitable[None]]

LATE: Final = (
    "The examination did not end in time.",
    "Run the doctor again; if it stays so, look at the checks above.",
)
FAULT: Final = ("The doctor itself failed here.", "Report it, with the version that `mailgate --version` prints.")


async def _mail_servers(patient: Patient, notes: Notes) -> None:
    """One after the other: what the IMAP server says of a password decides whether it is shown to the SMTP server."""
    await mailbox.examine(patient, notes)
    await submission.examine(patient, notes)


EXAMINATIONS: Final[tuple[tuple[Examination, tuple[str, ...]], ...]] = (
    (_mail_servers, checks_of("imap", "role", "smtp")),
    (store.examine, checks_of("store")),
    (issuer.examine, checks_of("issuer")),
    (examine_public_url, checks_of("public_url")),
)


async def examine(patient: Patient) -> Report:
    """Look at everything, within `patience.total` seconds. Changes nothing anywhere."""
    notes = Notes()
    judge_settings(patient, notes)
    await asyncio.gather(*(_bounded(run, checks, patient, notes) for run, checks in EXAMINATIONS))
    judge_clock(patient, notes)
    judge_gates(patient, notes)
    return report_of(notes)


def refused(problems: tuple[str, ...]) -> Report:
    """The report when the settings stop the start: nothing else can be looked at."""
    notes = Notes()
    judge_refused(notes, problems)
    return report_of(notes)


async def _bounded(run: Examination, checks: tuple[str, ...], patient: Patient, notes: Notes) -> None:
    try:
        async with asyncio.timeout(patient.patience.total):
            await run(patient, notes)
    except TimeoutError:
        _fail_next(notes, checks, *LATE)
    except Exception:
        # What it was about may be a secret; the check that is missing says where it was.
        _fail_next(notes, checks, *FAULT)


def _fail_next(notes: Notes, checks: tuple[str, ...], cause: str, step: str) -> None:
    """The first check without an outcome is the one that was being looked at."""
    check = next((check for check in checks if check not in notes.outcomes), checks[-1])
    notes.fail(check, cause, step)


def report_of(notes: Notes) -> Report:
    """Every check of the table in its order; what nobody came to was not reached."""
    unreached = Outcome(Verdict.SKIPPED, "Not reached: see what failed above.")
    return Report({check.id: notes.outcomes.get(check.id, unreached) for check in CHECKS})
