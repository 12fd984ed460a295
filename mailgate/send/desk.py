"""What sending has at hand in one deployment, and the attempts that are under way in this process.

An attempt, once it has begun to claim, belongs to nobody's request: a caller who leaves, or is told to, changes
nothing about it. Whoever ends the process in an orderly way waits for it first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from mailgate.limits import SEND_DEADLINE_DEFAULT, STORE_SECONDS, UPSTREAM_TIMEOUT_DEFAULT
from mailgate.mime.compose import SenderLike
from mailgate.send.ledger import SendLedger
from mailgate.send.recipients import AllowedRecipients
from mailgate.send.submission import Submitter

T = TypeVar("T")

STORE_CALLS: Final = 5
"""Of one attempt at most: claim, begin, settle twice, the note about the copy."""


def _ignore(_error: Exception) -> None:
    return


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class SendDesk:
    """One deployment's ledger, SMTP server and sender.

    `kind` and `durable`: of the store, as mail_capabilities tells them. `deadline_seconds`: one attempt from claim to
    outcome. `upstream_seconds`: for anything asked of the mailbox. `on_fault` hears of exceptions that became part of
    an outcome.
    """

    ledger: SendLedger
    submitter: Submitter
    sender: SenderLike
    allowed: AllowedRecipients = field(default_factory=AllowedRecipients)
    kind: str = "sqlite"
    durable: bool = True
    deadline_seconds: float = SEND_DEADLINE_DEFAULT
    upstream_seconds: float = UPSTREAM_TIMEOUT_DEFAULT
    on_fault: Callable[[Exception], None] = _ignore
    clock: Callable[[], datetime] = _now
    attempts: set[asyncio.Task[Any]] = field(default_factory=set, repr=False)

    @property
    def patience_seconds(self) -> float:
        """How long an attempt can take in all: nothing in it waits without a bound of its own."""
        return self.deadline_seconds + STORE_CALLS * STORE_SECONDS + self.upstream_seconds + STORE_SECONDS

    async def see_through(self, attempt: Coroutine[Any, Any, T]) -> T | None:
        """What the attempt comes to; None when it takes longer than it can, and it goes on even then.

        Cancelling the caller does not cancel the attempt.
        """
        task = asyncio.get_running_loop().create_task(attempt)
        self.attempts.add(task)
        task.add_done_callback(self._over)
        # Unlike wait_for, this neither cancels the task in the end nor when it is cancelled itself.
        done, _ = await asyncio.wait({task}, timeout=self.patience_seconds)
        return task.result() if done else None

    def _over(self, task: asyncio.Task[Any]) -> None:
        self.attempts.discard(task)
        if not task.cancelled():
            task.exception()  # or asyncio would complain when the caller has left

    async def aclose(self) -> None:
        """Wait for what is under way in this loop, then let go of everything."""
        loop = asyncio.get_running_loop()
        under_way = {task for task in self.attempts if task.get_loop() is loop}
        if under_way:
            await asyncio.wait(under_way, timeout=self.patience_seconds)
        await self.submitter.aclose()
        await self.ledger.aclose()
