"""Log lines: our fields, and nobody's values."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from mailgate.policy import Principal
from mailgate.server import telemetry

CANARY = "canary-61fd"
CALLER = Principal("static", "0f" * 16)


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield io.StringIO()
    root.handlers[:] = before
    root.setLevel(level)


def test_a_call_is_one_line_of_json(stream: io.StringIO) -> None:
    telemetry.configure_logging("info", "json", stream)
    telemetry.log_call(tool="mail_read", code="ok", seconds=0.0125, principal=CALLER)
    line = json.loads(stream.getvalue())
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "info",
        "event": "call",
        "tool": "mail_read",
        "code": "ok",
        "duration_ms": 12,
        "principal": telemetry.fingerprint(CALLER),
        "request_id": "-",
    }


def test_a_line_for_people_says_the_same(stream: io.StringIO) -> None:
    telemetry.configure_logging("info", "console", stream)
    telemetry.log_call(tool="mail_read", code="ok", seconds=0.0125, principal=CALLER)
    assert " info    call tool=mail_read code=ok duration_ms=12 " in stream.getvalue()


def test_the_level_decides(stream: io.StringIO) -> None:
    telemetry.configure_logging("error", "json", stream)
    telemetry.log_call(tool="mail_read", code="ok", seconds=0, principal=CALLER)
    telemetry.log_call(tool="mail_read", code="internal_error", seconds=0, principal=CALLER)
    assert [json.loads(line)["code"] for line in stream.getvalue().splitlines()] == ["internal_error"]


def test_a_fingerprint_tells_callers_apart_and_names_none() -> None:
    other = Principal("local", CALLER.subject)
    assert telemetry.fingerprint(CALLER) != telemetry.fingerprint(other)
    assert telemetry.fingerprint(CALLER) not in CALLER.subject
    assert len(telemetry.fingerprint(CALLER)) == 8


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_other_libraries_are_heard_without_what_they_say(stream: io.StringIO, log_format: str) -> None:
    telemetry.configure_logging("debug", log_format, stream)  # type: ignore[arg-type]
    logger = logging.getLogger("somebody.else")
    try:
        raise ValueError(CANARY)
    except ValueError:
        logger.exception("failed on %s", CANARY)
    logger.debug(f"got {CANARY}")
    text = stream.getvalue()
    assert CANARY not in text
    assert "Traceback" not in text
    assert text.count("somebody.else") == 2
    assert "ValueError" in text


def test_a_silenced_library_is_empty_whatever_handler_listens(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("mailgate_test_library.part")
    telemetry.silence("mailgate_test_library")
    telemetry.silence("mailgate_test_library")
    caplog.set_level("DEBUG")
    try:
        raise ValueError(CANARY)
    except ValueError:
        logger.exception("failed on %s", CANARY, stack_info=True)
    logger.info(CANARY)
    assert CANARY not in caplog.text
    assert [record.getMessage() for record in caplog.records] == ["library event (ValueError)"]
    assert len(logger.filters) == 1


def test_the_server_program_may_say_where_it_listens(stream: io.StringIO) -> None:
    telemetry.configure_logging("info", "json", stream)
    logging.getLogger("uvicorn.error").info("Uvicorn running on %s", "http://127.0.0.1:8000")
    assert "http://127.0.0.1:8000" in stream.getvalue()


def test_configuring_twice_logs_once(stream: io.StringIO) -> None:
    telemetry.configure_logging("info", "json", stream)
    telemetry.configure_logging("info", "json", stream)
    telemetry.log_refusal(status=401, code="unauthorized")
    assert len(stream.getvalue().splitlines()) == 1


def test_a_library_that_repeats_itself_gets_one_line_a_second(stream: io.StringIO) -> None:
    """asyncio reports every connection that it cannot accept, thousands of times a second."""
    telemetry.configure_logging("info", "json", stream)
    handler = logging.getLogger().handlers[0]

    def line(name: str, at: float) -> None:
        record = logging.LogRecord(name, logging.ERROR, "", 0, "x", (), None)
        record.created = at
        handler.handle(record)

    for at in (100.0, 100.2, 100.9, 101.1, 50.0):
        line("asyncio", at)
        line("mailgate.server", at)
    said = [json.loads(text) for text in stream.getvalue().splitlines()]
    assert [entry.get("logger") for entry in said].count("asyncio") == 3
    assert len(said) == 8
