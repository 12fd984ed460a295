"""The order of steps of a call, its deadline, its budget, and that nothing but an answer comes out."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest

from mailgate.errors import InternalError
from mailgate.imap.values import FolderName
from mailgate.policy import Gate, Requirement, Scope
from mailgate.read.folders import FolderListing, ListedFolder
from mailgate.server.backend import Backend
from mailgate.server.catalog import BY_NAME, TOOLS, Tool
from mailgate.server.dispatch import Answer, Dispatcher, UnknownTool, encoded_size, fitted
from mailgate.server.shapes import Result
from tests.read.fakes import FakeMessage
from tests.server.fakes import inbox, mailbox, principal, service, settings, unconfigured

REFERENCE = {"folder": "INBOX", "uid_validity": 1700000000, "uid": 1}
CANARY = "canary-3e5a"


class Echo(Result[Any]):
    """A result of one field."""

    value: Any

    @classmethod
    def of(cls, value: Any) -> Echo:
        return cls(value=value)


class EchoTool(Tool):
    """A tool whose result is of the tests."""

    @property
    def result(self) -> type[Result[Any]]:
        return Echo

    @property
    def render(self) -> Callable[[Any], str]:
        return lambda result: str(result.value)


def tool(handler: Any, requirement: Requirement | None = None, **more: Any) -> Tool:
    return EchoTool(
        name="mail_test",
        title="Test",
        description="A tool of the tests.",
        takes="arguments.NoArguments",
        gives="Echo",
        shows="echo",
        handler=handler,
        requirement=requirement or Requirement(),
        **more,
    )


async def run(row: Tool, *scopes: Scope, **changes: str) -> Answer:
    backend = service(settings(**changes)).dispatcher.backend
    return await Dispatcher(backend, (row,)).call(row.name, {}, principal(*scopes))


async def done(_call: Any, _arguments: Any) -> str:
    return "done"


async def test_an_unknown_tool_is_the_only_thing_raised() -> None:
    with pytest.raises(UnknownTool) as caught:
        await service().dispatcher.call(CANARY, {}, principal())
    assert CANARY not in str(caught.value)


WRITE = Requirement(frozenset({Scope.READ, Scope.WRITE}), frozenset({Gate.WRITES}))


@pytest.mark.parametrize(
    ("scopes", "gates", "code"),
    [
        ((Scope.READ, Scope.WRITE), {"MAIL_ENABLE_WRITES": "1"}, None),
        ((Scope.READ, Scope.WRITE), {}, "gate_closed"),
        ((Scope.READ,), {}, "gate_closed"),
        ((Scope.READ,), {"MAIL_ENABLE_WRITES": "1"}, "scope_missing"),
        ((Scope.WRITE,), {"MAIL_ENABLE_WRITES": "1"}, "scope_missing"),
    ],
)
async def test_a_closed_gate_wins_over_a_missing_scope(
    scopes: tuple[Scope, ...], gates: dict[str, str], code: str | None
) -> None:
    answer = await run(tool(done, WRITE), *scopes, **gates)
    assert answer.failed is (code is not None)
    assert answer.text.startswith(f"error {code}: " if code else "done")


@pytest.mark.parametrize("name", [row.name for row in TOOLS if row.hints.read_only])
@pytest.mark.parametrize("scopes", [(Scope.WRITE,), (Scope.SEND,), (Scope.WRITE, Scope.SEND)])
async def test_every_read_tool_needs_mail_read_before_the_mailbox_is_touched(
    name: str, scopes: tuple[Scope, ...]
) -> None:
    box = mailbox()
    answer = await service(box=box).dispatcher.call(name, {CANARY: 1}, principal(*scopes))
    assert answer.text.startswith("error scope_missing: The token lacks mail.read")
    assert box.examined == []


OPEN = {
    **dict.fromkeys(("MAIL_ENABLE_WRITES", "MAIL_ENABLE_DELETE", "MAIL_ENABLE_SEND"), "1"),
    "MAIL_FROM": "owner@example.org",
    "MAIL_SMTP_HOST": "smtp.example.net",
    "MAIL_SMTP_USERNAME": "owner",
    "MAIL_SMTP_PASSWORD": "canary",
    "MAIL_STORE": "sqlite:/nonexistent/store",
}


@pytest.mark.parametrize("name", [row.name for row in TOOLS if row.needs_mailbox])
async def test_without_a_mailbox_every_call_says_what_is_missing_whatever_its_arguments(name: str) -> None:
    dispatcher = Dispatcher(Backend(unconfigured(**OPEN)))
    answer = await dispatcher.call(name, {CANARY: 1}, principal())
    assert answer.text.startswith("error not_configured: ")
    assert "MAIL_IMAP_HOST" in answer.text


async def test_arguments_are_checked_before_the_mailbox_is_touched() -> None:
    box = mailbox()
    answer = await service(box=box).dispatcher.call("mail_read", {"reference": REFERENCE, "offset": -1}, principal())
    assert answer.text.startswith("error invalid_argument: ")
    assert box.examined == []


async def test_the_deadline_ends_a_call_that_hangs() -> None:
    async def hang(_call: Any, _arguments: Any) -> None:
        await asyncio.Event().wait()

    answer = await run(tool(hang), MAIL_UPSTREAM_TIMEOUT_SECONDS="0.1")
    assert answer.text.startswith("error upstream_timeout: ")


@pytest.mark.parametrize("error", [TimeoutError(CANARY), ValueError(CANARY), KeyError(CANARY), AssertionError(CANARY)])
async def test_a_fault_of_ours_is_an_incident_and_nothing_else(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_call: Any, _arguments: Any) -> None:
        raise error

    caplog.set_level("DEBUG")
    answer = await run(tool(fail))
    incident = answer.text.split("incident ")[1].split(")")[0]
    assert answer.text == InternalError(incident).render()
    assert CANARY not in answer.text
    assert CANARY not in caplog.text
    fields = [record.mailgate_fields for record in caplog.records if record.message == "incident"]
    assert fields == [{"incident": incident, "exception": type(error).__name__, "request_id": "-"}]


async def test_cancelling_a_call_is_not_swallowed() -> None:
    async def hang(_call: Any, _arguments: Any) -> None:
        await asyncio.Event().wait()

    task = asyncio.ensure_future(run(tool(hang)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}])
async def test_what_json_cannot_carry_never_leaves(value: Any) -> None:
    async def odd(_call: Any, _arguments: Any) -> Any:
        return value

    assert (await run(tool(odd))).text.startswith("error internal_error: ")


async def test_half_a_surrogate_pair_is_replaced_in_both_halves() -> None:
    async def odd(_call: Any, _arguments: Any) -> str:
        return "a\ud800b"

    answer = await run(tool(odd))
    assert answer.text == "a\N{REPLACEMENT CHARACTER}b"
    assert answer.structured == {"value": "a\N{REPLACEMENT CHARACTER}b"}


# --- the budget --------------------------------------------------------------------------------------------------


def long_message(text: str) -> FakeMessage:
    head = "From: ada@example.com\r\nSubject: long\r\nContent-Type: text/plain; charset=utf-8\r\n"
    return FakeMessage(source=f"{head}Content-Transfer-Encoding: 8bit\r\n\r\n{text}".encode())


@pytest.mark.parametrize("character", ["x", "é", "漢", "😀", '"'])
async def test_a_text_that_does_not_fit_is_cut_and_the_rest_can_be_had(character: str) -> None:
    folder = inbox(0)
    folder.append(long_message((character * 60 + "\n") * 300))
    dispatcher = service(settings(MAIL_MAX_RESULT_BYTES="20000"), mailbox(folder)).dispatcher
    collected, offset, pages = "", 0, 0
    while offset is not None:
        answer = await dispatcher.call("mail_read", {"reference": REFERENCE, "offset": offset}, principal())
        assert answer.structured is not None, answer.text
        assert encoded_size(answer) <= 20000
        collected += answer.structured["untrusted"]["text"]
        pages += 1
        offset = answer.structured.get("next_offset")
        assert answer.structured["truncated_by"] == ("none" if offset is None else "result_limit")
    assert pages > 1
    assert collected.split() == [character * 60] * 300


async def test_both_halves_count_in_their_escaped_form() -> None:
    answer = Answer("é", {"text": "é"})
    assert encoded_size(answer) == len('"\\u00e9"') + len('{"text":"\\u00e9"}')


async def test_folders_that_do_not_fit_are_cut_and_it_is_said() -> None:
    rows = tuple(ListedFolder(FolderName(f"folder {n}"), "/", (), None, True, None) for n in range(500))
    answer = fitted(BY_NAME["mail_list_folders"], FolderListing(rows, False), 8000)
    assert answer.structured is not None
    assert answer.structured["truncated"] is True
    assert 50 < len(answer.structured["folders"]) < 500
    assert 7000 < encoded_size(answer) <= 8000


async def test_a_page_that_does_not_fit_is_refused_because_cutting_would_lose_its_cursor() -> None:
    dispatcher = service(settings(MAIL_MAX_RESULT_BYTES="16384"), mailbox(inbox(99))).dispatcher
    answer = await dispatcher.call("mail_search", {"limit": 100}, principal())
    assert answer.text.startswith("error limit_exceeded: ")
    assert "MAIL_MAX_RESULT_BYTES" in answer.text
    assert not (await dispatcher.call("mail_search", {"limit": 3}, principal())).failed


async def test_the_answer_of_mail_capabilities_fits_the_smallest_budget() -> None:
    answer = await service(settings(MAIL_MAX_RESULT_BYTES="16384")).dispatcher.call(
        "mail_capabilities", {}, principal()
    )
    assert not answer.failed, answer.text


async def test_a_row_of_the_table_can_be_replaced_without_touching_the_dispatcher() -> None:
    fields = {f.name: getattr(BY_NAME["mail_search"], f.name) for f in dataclasses.fields(Tool) if f.init}
    row = EchoTool(**{**fields, "handler": done})
    answer = await Dispatcher(service().dispatcher.backend, (row,)).call("mail_search", {}, principal())
    assert json.dumps(answer.structured) == '{"value": "done"}'
