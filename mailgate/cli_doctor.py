"""`mailgate doctor`: a line for each check on standard output, and the exit status."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from mailgate.doctor.notes import Patient
from mailgate.doctor.run import examine, refused
from mailgate.doctor.verdicts import Report
from mailgate.settings import SettingsError, read_settings


def doctor(dotenv: Path, *, as_json: bool) -> int:
    """Look at the deployment that the environment and `dotenv` describe; 1 when anything fails."""
    report = _report(dotenv)
    if as_json:
        print(json.dumps(report.as_json(), indent=2, ensure_ascii=False))
    else:
        print("\n".join(report.lines()))
    return 0 if report.ok else 1


def _report(dotenv: Path) -> Report:
    try:
        settings = read_settings(dotenv=dotenv)
    except SettingsError as error:
        return refused(error.problems)
    return asyncio.run(examine(Patient(settings)))
