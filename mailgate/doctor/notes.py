"""What the areas write down while they look, and what they are given to look with."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from mailgate.doctor.verdicts import Outcome, Verdict
from mailgate.faults import Fault
from mailgate.imap.tls import Validity
from mailgate.settings import Settings


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: `connect` for TCP, TLS and greeting of one server; `command` for one answer; `total` for all areas."""

    connect: float = 10.0
    command: float = 15.0
    total: float = 75.0


@dataclass(frozen=True, slots=True)
class Patient:
    """A deployment to be looked at. `now`: seconds since 1970 by this machine's clock."""

    settings: Settings
    patience: Patience = field(default_factory=Patience)
    now: Callable[[], float] = time.time


@dataclass(frozen=True, slots=True)
class ClockReading:
    """Another machine's clock: `ahead` is how many seconds this machine was ahead of it when it told the time."""

    source: str
    ahead: float

    @classmethod
    def between(cls, source: str, told: float, began: float, ended: float) -> ClockReading:
        """From a time that was told at some moment between two of this machine's; the benefit of the doubt is given."""
        return cls(source, max(0.0, began - told) + min(0.0, ended - told))


@dataclass(frozen=True, slots=True)
class ClockWindow:
    """A certificate that was accepted: this machine's clock should be inside its validity."""

    source: str
    validity: Validity


@dataclass(slots=True)
class Notes:
    """Outcomes by check, evidence about the clock, and what the doors told."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    readings: list[ClockReading] = field(default_factory=list)
    windows: list[ClockWindow] = field(default_factory=list)
    faults: dict[str, Fault] = field(default_factory=dict)
    """By area."""

    def ok(self, check: str, cause: str | None = None) -> None:
        """All is well; `cause` says on what ground where that is not plain."""
        self.outcomes[check] = Outcome(Verdict.OK, cause)

    def warn(self, check: str, cause: str, next_step: str) -> None:
        """It works, and costs something."""
        self.outcomes[check] = Outcome(Verdict.WARN, cause, next_step)

    def fail(self, check: str, cause: str, next_step: str) -> None:
        """It does not work."""
        self.outcomes[check] = Outcome(Verdict.FAIL, cause, next_step)

    def skip(self, check: str, cause: str) -> None:
        """It was not looked at."""
        self.outcomes[check] = Outcome(Verdict.SKIPPED, cause)

    def judge(self, check: str, cause: str, next_step: str, *, fails: bool) -> None:
        """`fail` where something that is switched on cannot work, else `warn`."""
        (self.fail if fails else self.warn)(check, cause, next_step)

    def failed(self, *checks: str) -> list[str]:
        """Those of the checks that failed."""
        return [name for name in checks if name in self.outcomes and self.outcomes[name].verdict is Verdict.FAIL]
