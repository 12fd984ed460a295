"""What the rows are made of: the registry, and the story that most of those with SIGKILL share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.send.crash.points import Moment, Rule, Step, Then
from tests.send.crash.run import Row, Run, Story
from tests.send.crash.smtp import Stage

ROWS: list[Row] = []
STALE_NEG, STALE_UNK = "RUN>NEG", "RUN>UNK"


def row(number: str, place: str, **expected: Any) -> Callable[[Story], Story]:
    """Register a story; see `Row` for what can be expected."""

    def register(story: Story) -> Story:
        ROWS.append(Row(number, place, story, **expected))
        return story

    return register


def before(step: Step) -> Rule:
    """Hold this step before it takes effect."""
    return Rule(step, Moment.BEFORE)


def inside(step: Step) -> Rule:
    """Hold this step when it is done and not committed."""
    return Rule(step, Moment.INSIDE)


def after(step: Step) -> Rule:
    """Hold this step when it has taken effect and nobody has been told."""
    return Rule(step, Moment.AFTER)


def lost(step: Step, moment: Moment, times: int = 1) -> Rule:
    """Lose the request (before), or the answer (after)."""
    return Rule(step, moment, Then.LOSE, times)


def killed(
    number: str,
    place: str,
    at: Stage | Rule,
    *more: Rule,
    setting: Callable[[Run], Any] | None = None,
    message: dict[str, Any] | None = None,
    append_sent: bool = False,
    **expected: Any,
) -> None:
    """Prepare, confirm, SIGKILL exactly `at` that place, restart, repeat.

    `more`: rules besides; `setting` sets the SMTP server up.
    """

    async def story(run: Run) -> None:
        if setting is not None:
            setting(run)
        rules = (at, *more) if isinstance(at, Rule) else more
        if isinstance(at, Stage):
            run.smtp.hold = at
        server = await run.start(*rules)
        await run.prepare(server, **(message or {}))
        attempt = run.confirming(server, append_sent=append_sent)
        await (run.smtp.reached() if isinstance(at, Stage) else run.place.gate.reached())
        await server.kill()
        run.first = await attempt
        await run.see_out(await run.start())

    row(number, place, kill=True, **expected)(story)


def said(run: Run, stage: Stage, say: Any) -> None:
    """At this stage the SMTP server says this."""
    run.smtp.answers = {**run.smtp.answers, stage: say}
