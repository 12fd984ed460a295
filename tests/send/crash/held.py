"""`mailgate serve` in a process that can be held inside a step of its SQLite store: `python -m tests.send.crash.held`.

Arguments: the plan as JSON, then those of mailgate. The product has no hooks; what is wrapped is the one function
through which every transaction of the SQLite store goes, and it runs in the store's own thread, so that a held step
holds nothing else.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.send.crash.points import Moment, Plan, Rules, Then

GO, LOSE = b"go\n", b"lose\n"


class Lost(OSError):
    """What a store's thread raises when the step, or its answer, is lost."""


def apply(plan: Plan) -> None:
    """Change this process as planned; to be called before mailgate is used."""
    if plan.clock_ahead:
        _shift_clock(plan.clock_ahead)
    if plan.rules:
        _hold_steps(Rules(plan.rules), plan.control)
    if plan.broken:
        _BROKEN[plan.broken]()


def main() -> int:
    plan, *arguments = sys.argv[1:]
    apply(Plan.of_json(json.loads(plan)))
    from mailgate.cli import main as mailgate

    return mailgate(arguments)


# --- held steps ------------------------------------------------------------------------------------------------------


class _Probe:
    """Stands in for `Steps` to learn which one a transaction is about to take."""

    name = ""

    def __getattr__(self, name: str) -> Callable[..., None]:
        self.name = name
        return lambda *_, **__: None


def _hold_steps(rules: Rules, control: int) -> None:
    from mailgate.send.sqlite_store import SqliteStore

    transaction = SqliteStore._transaction

    def meet(name: str, moment: Moment) -> None:
        then = rules.meet(name, moment)
        if then is Then.LOSE or (then is Then.HOLD and _word(control, name, moment) != GO):
            raise Lost

    def held(self: SqliteStore, step: Callable[[Any], Any]) -> Any:
        probe = _Probe()
        step(probe)

        def inside(steps: Any) -> Any:
            result = step(steps)
            meet(probe.name, Moment.INSIDE)
            return result

        meet(probe.name, Moment.BEFORE)
        result = transaction(self, inside)
        meet(probe.name, Moment.AFTER)
        return result

    SqliteStore._transaction = held  # type: ignore[method-assign]


def _word(control: int, name: str, moment: Moment) -> bytes:
    """Tell the harness where this thread is, and wait for what it says."""
    with socket.create_connection(("127.0.0.1", control)) as connection:
        connection.sendall(f"{os.getpid()} {name} {moment}\n".encode())
        return connection.recv(16)


# --- a wrong clock ---------------------------------------------------------------------------------------------------


def _shift_clock(seconds: float) -> None:
    """Everything in this process that asks Python for the time of day gets another one. SQLite asks the system."""
    import datetime
    import time

    real, real_ns, true = time.time, time.time_ns, datetime.datetime

    class Shifted(true):  # type: ignore[misc,valid-type]
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return cls.fromtimestamp(real() + seconds, tz)

    time.time = lambda: real() + seconds
    time.time_ns = lambda: real_ns() + round(seconds * 1e9)
    datetime.datetime = Shifted  # type: ignore[misc]
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("mailgate.") and getattr(module, "datetime", None) is true:
            module.datetime = Shifted  # type: ignore[attr-defined]


# --- faults put in on purpose ----------------------------------------------------------------------------------------


def _forgetful() -> None:
    """Whoever comes is given the message again, whatever became of the attempt before."""
    from mailgate.send import sqlite_steps

    kept = sqlite_steps._BEGIN.replace("content = NULL, ", "")
    assert kept != sqlite_steps._BEGIN
    sqlite_steps._BEGIN = kept
    claim = sqlite_steps.Steps.claim

    def claim_again(self: sqlite_steps.Steps, *arguments: Any) -> Any:
        self._sql("UPDATE send SET status = 'prepared' WHERE status IN ('claimed', 'submitting')")
        return claim(self, *arguments)

    sqlite_steps.Steps.claim = claim_again  # type: ignore[method-assign,assignment]


def _hopeful() -> None:
    """What was being submitted when its process died is told as never sent."""
    from mailgate.send import sqlite_steps
    from mailgate.send.record import SendStatus

    told = sqlite_steps.Steps._record

    def hoping(self: sqlite_steps.Steps, row: Any) -> Any:
        record = told(self, row)
        return replace(record, status=SendStatus.NOT_SENT) if record.status is SendStatus.UNKNOWN else record

    sqlite_steps.Steps._record = hoping  # type: ignore[method-assign]


_BROKEN: dict[str, Callable[[], None]] = {"forgetful": _forgetful, "hopeful": _hopeful}


if __name__ == "__main__":
    sys.exit(main())
