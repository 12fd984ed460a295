"""What a call has set in motion, for whoever must answer when it is cut short.

A refusal means that nothing happened. From the moment a changing command may have left, that can no longer be said
without an answer, whatever ends the waiting: a lost connection, or the deadline of the whole call.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mailgate.errors import MailgateError, OutcomeUnknown, UpstreamError


class Change:
    """The one change of one call."""

    def __init__(self) -> None:
        self.in_doubt: OutcomeUnknown | None = None
        """What to answer if the call ended now; None while, or because, nothing has happened."""

    @contextmanager
    def under_way(self, sentence: str, *, look: str) -> Iterator[None]:
        """Around the command that changes something. `sentence` tells what may have happened, `look` how to find out.

        Only the doubt outlives a command that was not refused: see `settling`.
        """
        earlier, self.in_doubt = self.in_doubt, OutcomeUnknown(sentence, next_step=look)
        try:
            yield
        except OutcomeUnknown as unknown:
            # One that already says more than that no answer came keeps its sentence.
            told = unknown.sentence if unknown.sentence != OutcomeUnknown.default_sentence else sentence
            raise OutcomeUnknown(told, next_step=look) from None
        except MailgateError:
            self.in_doubt = earlier
            raise

    @contextmanager
    def settling(self) -> Iterator[None]:
        """Around a look at what became of it: a look that fails leaves the outcome unknown."""
        try:
            yield
        except OutcomeUnknown:
            raise
        except UpstreamError:
            raise self.in_doubt or OutcomeUnknown() from None
