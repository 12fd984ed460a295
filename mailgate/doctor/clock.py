"""This machine's clock, against the clocks of the servers it talks to anyway. No time server is asked.

Tokens, certificates and the dates of mail go by it; the store's own times do not.
"""

from __future__ import annotations

from typing import Final

from mailgate.doctor.notes import ClockReading, Notes, Patient
from mailgate.faults import Fault

FAR_SECONDS: Final = 300.0
"""Beyond this, tokens are refused and certificates judged wrongly."""
NEAR_SECONDS: Final = 60.0
SET_IT: Final = "Set this machine's clock and keep it right with NTP."
_DATED: Final = frozenset({Fault.CERTIFICATE_EXPIRED, Fault.CERTIFICATE_NOT_YET})


def judge_clock(patient: Patient, notes: Notes) -> None:
    """One line: exact readings decide where there are any, certificates else."""
    if notes.readings:
        _judge_readings(notes)
    elif _judge_windows(notes, patient.now()):
        return
    elif any(fault in _DATED for fault in notes.faults.values()):
        told = "A certificate seems to be out of its time, and no other server told the time: the clock may be wrong."
        notes.warn("clock", told, SET_IT)
    elif notes.windows:
        names = " and ".join(window.source for window in notes.windows)
        notes.ok("clock", f"Roughly: it is within the validity of the certificate of the {names}.")
    else:
        notes.skip("clock", "No server that was reached tells the time.")


def _judge_readings(notes: Notes) -> None:
    nearest = min(notes.readings, key=lambda reading: abs(reading.ahead))
    if abs(nearest.ahead) > FAR_SECONDS:
        notes.fail("clock", _difference(nearest), SET_IT)
    elif abs(nearest.ahead) > NEAR_SECONDS:
        notes.warn("clock", _difference(nearest), SET_IT)
    else:
        notes.ok("clock", f"Compared with the clock of the {nearest.source}: {abs(nearest.ahead):.0f} s apart.")


def _judge_windows(notes: Notes, now: float) -> bool:
    """Whether a certificate says that the clock is wrong: it was accepted, so it is not the certificate."""
    for window in notes.windows:
        if not window.validity.begins <= now <= window.validity.ends:
            told = f"This machine's clock is outside the validity of the certificate of the {window.source}."
            notes.fail("clock", told, SET_IT)
            return True
    return False


def _difference(reading: ClockReading) -> str:
    way = "ahead of" if reading.ahead > 0 else "behind"
    amount = abs(reading.ahead)
    span = f"{amount:.0f} s" if amount < 3600 else f"{amount / 3600:.1f} hours"
    return f"This machine's clock is {span} {way} the clock of the {reading.source}."
