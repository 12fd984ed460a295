"""Every exception as the two lines a caller may read, and nothing else.

What is not one of ours becomes `internal_error` with an incident id. Its class and the id are logged; its text is not,
because nobody knows what it holds.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from mailgate.errors import InternalError, MailgateError
from mailgate.server import telemetry


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call: `text` is the whole answer, `code` goes to the log."""

    code: str
    text: str


def failure_of(error: Exception) -> Failure:
    """The answer to a call that raised `error`."""
    shown = error_shown(error)
    return Failure(shown.code, shown.render())


def error_shown(error: Exception) -> MailgateError:
    """The error itself if it is one of ours, else `internal_error` with an incident that is logged now."""
    return error if isinstance(error, MailgateError) else _internal(error)


def _internal(error: Exception) -> InternalError:
    incident = secrets.token_hex(8)
    telemetry.log_incident(incident, error)
    return InternalError(incident)
