"""Logs that hold codes, names of ours and durations, at every level; never what a caller or a message said.

Other libraries' log lines are another matter: they quote values (a URL, a header, an exception's text). Of those only
the logger's name, the level and the exception's class get through.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Final, Literal, TextIO

from mailgate.policy import Principal

REQUEST_ID: ContextVar[str] = ContextVar("mailgate_request_id", default="-")
"""The id of the HTTP request or stdio call at hand; it names log lines that belong together."""

OWN: Final = "mailgate"
FIELDS: Final = "mailgate_fields"
TRUSTED_MESSAGES: Final = frozenset({"uvicorn.error"})
"""Loggers whose messages may be shown: uvicorn tells host, port and signals."""

_log = logging.getLogger(OWN + ".server")
_PRINCIPAL_CHARS: Final = 8


def log_call(*, tool: str, code: str, seconds: float, principal: Principal) -> None:
    """One finished call. `tool` is a name from the catalog, `code` an error code or `ok`."""
    level = logging.ERROR if code == "internal_error" else logging.INFO
    fields = {"tool": tool, "code": code, "duration_ms": round(seconds * 1000), "principal": fingerprint(principal)}
    _emit(level, "call", fields)


def log_refusal(*, status: int, code: str, reason: str | None = None) -> None:
    """One HTTP request that was refused before it reached a tool. `reason`: a word of ours that the caller is not told.

    Trouble with the issuer's keys is the operator's affair, and shut out everybody.
    """
    level = logging.WARNING if code == "keys_unavailable" else logging.INFO
    _emit(level, "refused", {"status": status, "code": code, **({"reason": reason} if reason else {})})


def log_incident(incident: str, error: BaseException) -> None:
    """A fault of ours: its id and the exception's class."""
    _emit(logging.ERROR, "incident", {"incident": incident, "exception": type(error).__name__})


def fingerprint(principal: Principal) -> str:
    """A short hash that tells callers apart without naming them."""
    digest = hashlib.sha256(f"{principal.issuer}\0{principal.subject}".encode()).hexdigest()
    return digest[:_PRINCIPAL_CHARS]


def _emit(level: int, event: str, fields: dict[str, Any]) -> None:
    _log.log(level, event, extra={FIELDS: {**fields, "request_id": REQUEST_ID.get()}})


# --- where they go -----------------------------------------------------------------------------------------------


def configure_logging(
    level: str = "info", log_format: Literal["json", "console"] = "json", stream: TextIO | None = None
) -> None:
    """Send this process's logs to stderr (or `stream`), and only in our form. stdout belongs to the stdio transport."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if log_format == "json" else ConsoleFormatter())
    handler.addFilter(SeldomFromLibraries())
    root = logging.getLogger()
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(level.upper())


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line for `record`."""
        entry = {"time": _time(record), "level": record.levelname.lower(), **_content(record)}
        return json.dumps(entry, ensure_ascii=True, default=str)


class ConsoleFormatter(logging.Formatter):
    """One readable line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line for `record`."""
        content = _content(record)
        event = content.pop("event")
        details = " ".join(f"{name}={value}" for name, value in content.items())
        return f"{_time(record)} {record.levelname.lower():7} {event} {details}".rstrip()


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def _content(record: logging.LogRecord) -> dict[str, Any]:
    own = _is_own(record)
    content: dict[str, Any] = {"event": record.getMessage() if own or record.name in TRUSTED_MESSAGES else "library"}
    if own:
        content |= getattr(record, FIELDS, {})
    else:
        content["logger"] = record.name
    if record.exc_info and record.exc_info[0] is not None:
        content["exception"] = record.exc_info[0].__name__
    return content


def _is_own(record: logging.LogRecord) -> bool:
    return record.name == OWN or record.name.startswith(OWN + ".")


class SeldomFromLibraries(logging.Filter):
    """Lets a library's logger say a thing once a second. What gets through of it is its name and no more, and asyncio
    repeats itself thousands of times a second where connections cannot be accepted."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[tuple[str, int], float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the line is written."""
        if _is_own(record) or record.name in TRUSTED_MESSAGES:
            return True
        said = self._said.get((record.name, record.levelno))
        if said is not None and 0 <= record.created - said < 1.0:
            return False
        self._said[record.name, record.levelno] = record.created
        return True


# --- other people's loggers --------------------------------------------------------------------------------------


class WithoutValues(logging.Filter):
    """Replaces a library's message by its logger's name, and drops the traceback, whatever handler comes after."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the record, emptied."""
        exception = record.exc_info[0] if record.exc_info else None
        record.msg = f"library event ({exception.__name__})" if exception else "library event"
        record.args = ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


def silence(prefix: str) -> None:
    """Empty the records of every logger that exists below `prefix`, and let only warnings and worse through."""
    logging.getLogger(prefix).setLevel(logging.WARNING)
    for name in list(logging.root.manager.loggerDict):
        if name == prefix or name.startswith(prefix + "."):
            logger = logging.getLogger(name)
            if not any(isinstance(old, WithoutValues) for old in logger.filters):
                logger.addFilter(WithoutValues())
