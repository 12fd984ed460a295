"""The words that the harness and a held server process share: which step of the store, which moment, and what then."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Step(StrEnum):
    """The steps of a record, by the names of `SendStore`."""

    PREPARE = "prepare"
    CLAIM = "claim"
    BEGIN = "begin"
    SETTLE = "settle"
    NOTE_COPY = "note_copy"


class Moment(StrEnum):
    """When, seen from the step. INSIDE is done and not committed, which only SQLite has."""

    BEFORE = "before"
    INSIDE = "inside"
    AFTER = "after"


class Then(StrEnum):
    """HOLD until told otherwise; LOSE the request (BEFORE) or its answer (AFTER)."""

    HOLD = "hold"
    LOSE = "lose"


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens at one moment of one step, the first `times` times."""

    step: Step
    moment: Moment
    then: Then = Then.HOLD
    times: int = 1


class Rules:
    """Rules, each used up once it has applied as often as it says."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._left = [rule for rule in rules for _ in range(rule.times)]

    def meet(self, step: str, moment: Moment) -> Then | None:
        """What happens here now."""
        for rule in self._left:
            if rule.step == step and rule.moment is moment:
                self._left.remove(rule)
                return rule.then
        return None


@dataclass(frozen=True)
class Plan:
    """How one server process differs from an untouched one.

    `rules`: for SQLite, whose steps run inside the process. `control`: the loopback port where a held step waits for
    the word. `clock_ahead`: seconds by which the process' idea of the time is wrong. `broken`: a fault put in on
    purpose, which the harness has to find.
    """

    rules: tuple[Rule, ...] = ()
    control: int = 0
    clock_ahead: float = 0.0
    broken: str = ""

    @property
    def changes_nothing(self) -> bool:
        """Is this an ordinary server?"""
        return not (self.rules or self.clock_ahead or self.broken)

    def to_json(self) -> dict[str, object]:
        """For another process."""
        rules = [[rule.step, rule.moment, rule.then, rule.times] for rule in self.rules]
        return {"rules": rules, "control": self.control, "clock_ahead": self.clock_ahead, "broken": self.broken}

    @classmethod
    def of_json(cls, data: dict[str, object]) -> Plan:
        """The inverse."""
        rules = tuple(
            Rule(Step(step), Moment(moment), Then(then), times)
            for step, moment, then, times in data["rules"]  # type: ignore[attr-defined]
        )
        return cls(rules, int(data["control"]), float(data["clock_ahead"]), str(data["broken"]))  # type: ignore[call-overload,arg-type]
