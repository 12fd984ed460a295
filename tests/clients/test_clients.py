"""Clients that are not ours list the tools, call them, and hand on all of what they were answered."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Figure
from tests.clients.demo import STDIO, Demo
from tests.clients.installed import HERE, PACKAGES, ROOT, Installed, ended, report, run
from tests.clients.walks import CALLS, REFUSED, Report, bare, check, filled, of_call, over_http, over_stdio, walk

LEGACY, MODERN = "2025-11-25", "2026-07-28"
ENVIRONMENT = {"PYTHONPATH": str(ROOT)}


def order(**more: Any) -> str:
    return json.dumps({"calls": CALLS, **more})


@pytest.fixture(scope="session")
def expected(demo: Demo) -> Report:
    """What the official Python client gets, which the others must get too."""
    return asyncio.run(_official(demo, "legacy"))


# --- the official Python client ----------------------------------------------------------------------------------


async def _official(demo: Demo, mode: str) -> Report:
    async with over_http(demo, mode) as (client, transport):
        found = await walk(client)
        transport.breaking = True
        with pytest.raises(RuntimeError, match="Invalid structured content"):
            await client.call_tool("mail_capabilities", {})
        return Report(found.protocol, found.server, found.tools, found.answers, exchanges=transport.exchanges)


@pytest.mark.parametrize(("mode", "protocol"), [("legacy", LEGACY), ("auto", MODERN)])
def test_the_official_python_client(mode: str, protocol: str, demo: Demo, expected: Report, figure: Figure) -> None:
    found = asyncio.run(_official(demo, mode))
    check(found, expected=expected)
    assert found.protocol == protocol
    assert {status for _, status in found.exchanges} <= {200, 202}
    figure(f"Python SDK, HTTP, {protocol}: {found.line}")


@pytest.mark.parametrize(("mode", "protocol"), [("legacy", LEGACY), ("auto", MODERN)])
def test_the_official_python_client_over_stdio(mode: str, protocol: str, figure: Figure) -> None:
    async def go() -> Report:
        async with over_stdio(mode) as client:
            return await walk(client)

    found = asyncio.run(go())
    check(found)
    assert found.protocol == protocol
    figure(f"Python SDK, stdio, {protocol}: {found.line}")


# --- the TypeScript SDK, both generations ------------------------------------------------------------------------

TYPESCRIPT = pytest.mark.parametrize(
    ("script", "mode", "protocol"),
    [("typescript_v1", "", LEGACY), ("typescript_v2", "", LEGACY), ("typescript_v2", "auto", MODERN)],
)
VERSIONS = {
    "typescript_v1": PACKAGES["@modelcontextprotocol/sdk"],
    "typescript_v2": PACKAGES["@modelcontextprotocol/client"],
}


@TYPESCRIPT
def test_the_typescript_sdk(
    script: str,
    mode: str,
    protocol: str,
    clients: Installed,
    demo: Demo,
    expected: Report,
    figure: Figure,
    tmp_path: Path,
) -> None:
    given = order(modules=str(clients.folder), url=demo.url, token=demo.token, mode=mode)
    found = Report(**report([clients.node, str(HERE / f"{script}.mjs"), given], tmp_path))
    check(found, expected=expected)
    assert found.protocol == protocol
    assert found.refused is True
    # In the older era it asks for a stream beside its calls, is told that there is none, and goes on.
    assert [status for method, status in found.exchanges if method == "GET"] == [405] * (protocol == LEGACY)
    assert {status for method, status in found.exchanges if method == "POST"} <= {200, 202}
    figure(f"TypeScript SDK {VERSIONS[script]}, HTTP, {protocol}: {found.line}")


@TYPESCRIPT
def test_the_typescript_sdk_over_stdio(
    script: str, mode: str, protocol: str, clients: Installed, figure: Figure, tmp_path: Path
) -> None:
    given = order(modules=str(clients.folder), command=STDIO, environment=ENVIRONMENT, mode=mode)
    found = Report(**report([clients.node, str(HERE / f"{script}.mjs"), given], tmp_path))
    check(found)
    assert found.protocol == protocol
    figure(f"TypeScript SDK {VERSIONS[script]}, stdio, {protocol}: {found.line}")


# --- fastmcp -----------------------------------------------------------------------------------------------------

FASTMCP = pytest.mark.parametrize(("mode", "protocol"), [("legacy", LEGACY), ("auto", MODERN)])


def _fastmcp(clients: Installed, home: Path, **more: Any) -> Report:
    return Report(**report([clients.python, str(HERE / "fastmcp_walk.py"), order(**more)], home))


@FASTMCP
def test_the_fastmcp_client(
    mode: str, protocol: str, clients: Installed, demo: Demo, expected: Report, figure: Figure, tmp_path: Path
) -> None:
    found = _fastmcp(clients, tmp_path, url=demo.url, token=demo.token, mode=mode)
    check(found, expected=expected)
    assert found.protocol == protocol
    figure(f"fastmcp, HTTP, {protocol}: {found.line}")


@FASTMCP
def test_the_fastmcp_client_over_stdio(
    mode: str, protocol: str, clients: Installed, figure: Figure, tmp_path: Path
) -> None:
    found = _fastmcp(clients, tmp_path, command=STDIO, environment=ENVIRONMENT, mode=mode)
    check(found)
    assert found.protocol == protocol
    figure(f"fastmcp, stdio, {protocol}: {found.line}")


# --- mcp-remote --------------------------------------------------------------------------------------------------


def test_mcp_remote_makes_a_stdio_server_of_the_endpoint(
    clients: Installed, demo: Demo, expected: Report, figure: Figure, tmp_path: Path
) -> None:
    proxy = clients.package("mcp-remote", "dist/proxy.js")
    bearer = f"Authorization: Bearer {demo.token}"
    command = [clients.node, proxy, demo.url, "--allow-http", "--transport", "http-only", "--header", bearer]

    async def go() -> Report:
        async with over_stdio("legacy", command, {"HOME": str(tmp_path)}) as client:
            return await walk(client)

    streams = demo.refusals(405)
    found = asyncio.run(go())
    check(found, expected=expected)
    assert demo.refusals(405) > streams
    figure(f"mcp-remote {PACKAGES['mcp-remote']}, {found.protocol}: {found.line}")


# --- the inspector's command line --------------------------------------------------------------------------------

IS_ERROR = 5
"""How the inspector ends when the tool said `isError`."""


class Inspector:
    """One call of the inspector each."""

    def __init__(self, clients: Installed, home: Path, *target: str) -> None:
        launcher = clients.package("@modelcontextprotocol/inspector", "clients/launcher/build/index.js")
        self._command = [clients.node, launcher, "--cli", *target, "--format", "json"]
        self._home = home

    def ask(self, method: str, *options: str, status: int = 0) -> dict[str, Any]:
        answer = json.loads(run([*self._command, "--method", method, *options], self._home, status=status))
        result = answer["result"]
        assert isinstance(result, dict)
        return result

    def remarks(self, method: str, *options: str) -> str:
        """What it says beside the answer."""
        return ended([*self._command, "--method", method, *options], self._home).stderr

    def call(self, name: str, arguments: dict[str, Any], *, status: int = 0) -> dict[str, Any]:
        given = ["--tool-name", name, "--tool-args-json", json.dumps(arguments)]
        return self.ask("tools/call", *given, status=status)


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_the_inspector(
    era: str, clients: Installed, demo: Demo, expected: Report, figure: Figure, tmp_path: Path
) -> None:
    bearer = f"Authorization: Bearer {demo.token}"
    inspector = Inspector(clients, tmp_path, demo.url, "--header", bearer, "--protocol-era", era)
    tools = inspector.ask("tools/list", "--strict")["tools"]
    answers: list[dict[str, Any]] = []
    reference: dict[str, Any] = {}
    for number, (name, arguments) in enumerate(CALLS):
        status = IS_ERROR if number in REFUSED else 0
        answers.append(inspector.call(name, filled(arguments, reference), status=status))
        reference = of_call(name, answers[-1]) or reference
    found = Report(era, "mailgate", tools, [bare(answer) for answer in answers])
    check(found, expected=expected)
    figure(f"inspector {PACKAGES['@modelcontextprotocol/inspector']}, HTTP, {era}: {found.line}")


def test_the_inspector_over_stdio(clients: Installed, expected: Report, tmp_path: Path) -> None:
    inspector = Inspector(clients, tmp_path, *STDIO, "-e", f"PYTHONPATH={ROOT}")
    assert [tool["name"] for tool in inspector.ask("tools/list")["tools"]] == [tool["name"] for tool in expected.tools]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_schemas_are_portable_without_a_single_remark(
    era: str, clients: Installed, demo: Demo, figure: Figure, tmp_path: Path
) -> None:
    bearer = f"Authorization: Bearer {demo.token}"
    inspector = Inspector(clients, tmp_path, demo.url, "--header", bearer, "--protocol-era", era)
    # An error-severity problem would end it with another status; a warning is only said on stderr.
    assert inspector.remarks("tools/list", "--strict") == ""
    figure(f"inspector --strict, {era}: no remark on any schema")


def test_the_server_met_no_fault_of_its_own(demo: Demo) -> None:
    assert demo.events("incident") == []
    assert {event["code"] for event in demo.events("call")} <= {"ok", *REFUSED.values()}
