"""What the doctor says about one check, and all of it together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """`fail` ends the command with 1; `warn` works, but costs or endangers something."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIPPED = "skipped"
    """Not asked for by the settings, or not reached because of what failed before."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A verdict with its `cause` in plain words; `next_step` wherever something is to be done."""

    verdict: Verdict
    cause: str | None = None
    next_step: str | None = None

    def __post_init__(self) -> None:
        if self.verdict in (Verdict.WARN, Verdict.FAIL) and not (self.cause and self.next_step):
            raise ValueError("what is not well has a cause and a next step")


@dataclass(frozen=True, slots=True)
class Report:
    """Every check of the table in its order, each with an outcome."""

    outcomes: Mapping[str, Outcome]

    @property
    def ok(self) -> bool:
        """Did nothing fail?"""
        return all(outcome.verdict is not Verdict.FAIL for outcome in self.outcomes.values())

    def lines(self) -> list[str]:
        """A line for each check: verdict, id, and cause and next step where there are any."""
        width = max(map(len, self.outcomes))
        return [_line(check, outcome, width) for check, outcome in self.outcomes.items()]

    def as_json(self) -> dict[str, object]:
        """`{ok, checks: [{id, verdict, cause?, next?}]}`, a stable form for programs."""
        return {"ok": self.ok, "checks": [_row(check, outcome) for check, outcome in self.outcomes.items()]}


def _line(check: str, outcome: Outcome, width: int) -> str:
    # Only what fails is in capitals: it has to be found among thirty lines.
    verdict = "FAIL" if outcome.verdict is Verdict.FAIL else outcome.verdict.value
    step = f"next: {outcome.next_step}" if outcome.next_step else ""
    words = " ".join(part for part in (outcome.cause, step) if part)
    return f"{verdict:<7}  {check:<{width}}  {words}".rstrip()


def _row(check: str, outcome: Outcome) -> dict[str, str]:
    row = {"id": check, "verdict": outcome.verdict.value, "cause": outcome.cause, "next": outcome.next_step}
    return {name: value for name, value in row.items() if value is not None}
