"""The way that every client goes, and what it has to bring back from it.

A client lists the tools and makes the `CALLS`. Each brings the same report: the tools and answers as it hands them to
its own caller, so that whatever it loses or changes on the way shows.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import jsonschema
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from mailgate.server.catalog import BY_NAME, TOOLS
from tests.clients.demo import STDIO, Demo
from tests.clients.installed import ROOT, SECONDS

Json = dict[str, Any]

FIRST_FOUND = "$reference"
"""Stands for the reference of the first message that the search before found."""
NOBODY = {"folder": "INBOX", "uid_validity": 1, "uid": 1}
CALLS: tuple[tuple[str, Json], ...] = (
    ("mail_capabilities", {}),
    ("mail_list_folders", {"include_counts": True}),
    ("mail_search", {"from": "e", "limit": 3}),
    ("mail_read", {"reference": FIRST_FOUND}),
    ("mail_read", {"reference": NOBODY}),
    ("mail_delete_permanently", {"reference": FIRST_FOUND}),
)
REFUSED = {4: "stale_reference", 5: "gate_closed"}
FAILURE = re.compile(r"error ([a-z_]+): [^\n]+\nnext: [^\n]+")


@dataclass(frozen=True)
class Report:
    """What a client brings back."""

    protocol: str
    server: str
    tools: Sequence[Json]
    answers: Sequence[Json]
    errors: Sequence[str] = ()
    exchanges: Sequence[Sequence[Any]] = ()
    """Method and status of each HTTP request, where the client lets somebody watch."""
    refused: bool | None = None
    """Whether it refused a result that does not match the tool's output schema; None where it was not asked."""
    raised: str | None = None
    """The words of the exception that a refused call becomes, where the client makes one of it."""

    @property
    def line(self) -> str:
        """The figures."""
        failed = len([answer for answer in self.answers if answer.get("isError")])
        return f"{len(self.tools)} tools, {len(self.answers) - failed} calls answered, {failed} refused"


def of_call(name: str, answer: Json) -> Json:
    """Where the next calls find the reference, once `name` is the search."""
    return dict(answer["structuredContent"]["messages"][0]["reference"]) if name == "mail_search" else {}


def filled(arguments: Json, reference: Json) -> Json:
    """The arguments, with the reference where it is asked for."""
    return {name: reference if value == FIRST_FOUND else value for name, value in arguments.items()}


def bare(thing: Json) -> Json:
    """A tool or an answer without what only the newer era says: that it is complete, and whose it is."""
    return {name: value for name, value in thing.items() if name not in ("_meta", "resultType") and value is not None}


def check(report: Report, *, expected: Report | None = None) -> None:
    """What holds for every client; `expected` is what another one got from the same server."""
    assert report.server == "mailgate"
    assert list(report.errors) == []
    assert [tool["name"] for tool in report.tools] == [tool.name for tool in TOOLS]
    for tool in report.tools:
        assert tool["inputSchema"] == BY_NAME[tool["name"]].input_schema
        assert tool["outputSchema"] == BY_NAME[tool["name"]].output_schema
    for number, ((name, _), answer) in enumerate(zip(CALLS, report.answers, strict=True)):
        (block,) = answer["content"]
        if number in REFUSED:
            found = FAILURE.fullmatch(block["text"])
            assert found, block["text"]
            assert found[1] == REFUSED[number]
            assert answer["isError"] is True
            assert answer.get("structuredContent") is None
        else:
            assert not answer.get("isError"), block["text"]
            assert block["text"].strip()
            jsonschema.validate(answer["structuredContent"], BY_NAME[name].output_schema)
    if report.raised is not None:
        assert report.raised == report.answers[min(REFUSED)]["content"][0]["text"]
    if expected is not None:
        assert [bare(tool) for tool in report.tools] == [bare(tool) for tool in expected.tools]
        assert [bare(answer) for answer in report.answers] == [bare(answer) for answer in expected.answers]


# --- the official Python client -----------------------------------------------------------------------------------


@dataclass
class WatchedTransport(httpx2.AsyncBaseTransport):
    """HTTP that notes each exchange; while `breaking`, takes everything out of the structured half of a result."""

    inner: httpx2.AsyncHTTPTransport = field(default_factory=httpx2.AsyncHTTPTransport)
    exchanges: list[Sequence[Any]] = field(default_factory=list)
    breaking: bool = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self.inner.handle_async_request(request)
        self.exchanges.append((request.method, response.status_code))
        if not self.breaking or response.status_code != 200:
            return response
        await response.aread()
        message = response.json()
        message["result"]["structuredContent"] = {}
        return httpx2.Response(200, json=message, request=request)

    async def aclose(self) -> None:
        await self.inner.aclose()


@asynccontextmanager
async def over_http(demo: Demo, mode: str) -> AsyncIterator[tuple[Client, WatchedTransport]]:
    """The official client at the demo's endpoint."""
    transport = WatchedTransport()
    headers = {"Authorization": f"Bearer {demo.token}"}
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers, timeout=SECONDS) as http,
        Client(streamable_http_client(demo.url, http_client=http), mode=mode, read_timeout_seconds=SECONDS) as client,
    ):
        yield client, transport


def started(command: Sequence[str], environment: dict[str, str] | None = None) -> StdioServerParameters:
    """A server that the official client starts."""
    return StdioServerParameters(
        command=command[0], args=list(command[1:]), env={"PYTHONPATH": str(ROOT), **(environment or {})}
    )


def over_stdio(mode: str, command: Sequence[str] = STDIO, environment: dict[str, str] | None = None) -> Client:
    """The official client with a server of its own."""
    return Client(started(command, environment), mode=mode, read_timeout_seconds=SECONDS)


def answer_of(result: CallToolResult) -> Json:
    """The answer as it travelled: a null inside it stays, one of the model around it goes."""
    answer = result.model_dump(by_alias=True, exclude_none=True, exclude={"structured_content"})
    return answer if result.is_error else {**answer, "structuredContent": result.structured_content}


async def walk(client: Client) -> Report:
    """The way of the official client, which has been connected."""
    tools = [tool.model_dump(by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools]
    answers: list[Json] = []
    reference: Json = {}
    for name, arguments in CALLS:
        answers.append(answer_of(await client.call_tool(name, filled(arguments, reference))))
        reference = of_call(name, answers[-1]) or reference
    return Report(client.protocol_version, client.server_info.name, tools, answers)
