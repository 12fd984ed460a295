"""The protocol layer: who is calling, what the SDK may say, and what a client may cache."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from mailgate.policy import Scope
from mailgate.server.dispatch import Dispatcher
from mailgate.server.mcp import INSTRUCTIONS, build_server
from mailgate.server.stdio import local_principal
from tests.server.fakes import ERAS, Post, application, service

CANARY = "canary-4f0b"


@pytest.mark.parametrize("era", ERAS)
async def test_without_a_door_that_says_who_calls_nobody_may_call(era: str) -> None:
    async with Client(build_server(service().dispatcher), mode=era) as client:
        result = await client.call_tool("mail_capabilities", {})
    assert result.content[0].text.startswith("error scope_missing: ")


@pytest.mark.parametrize("era", ERAS)
async def test_the_local_user_has_the_scopes_given(era: str) -> None:
    server = build_server(service().dispatcher, local_principal([Scope.READ]))
    async with Client(server, mode=era) as client:
        result = await client.call_tool("mail_capabilities", {})
    assert result.structured_content is not None
    assert result.structured_content["scopes"] == ["mail.read"]


@pytest.mark.parametrize("era", ERAS)
async def test_a_fault_outside_the_dispatcher_is_an_incident_in_both_eras(
    era: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(Dispatcher):
        async def call(self, *_: Any) -> Any:
            raise RuntimeError(CANARY)

    caplog.set_level("DEBUG")
    server = build_server(Broken(service().dispatcher.backend), local_principal())
    async with Client(server, mode=era) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("mail_capabilities", {})
    assert caught.value.error.code == -32603
    assert "incident" in caught.value.error.message
    assert CANARY not in str(caught.value) + caplog.text


async def test_lists_may_be_kept_for_a_while_by_their_caller_only() -> None:
    for method in ("tools/list", "server/discover"):
        result = (await Post(method, era="2026-07-28").to(application())).json()["result"]
        assert result["cacheScope"] == "private"
        assert result["ttlMs"] > 0


async def test_initialize_speaks_the_handshake_era() -> None:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    result = (await Post("initialize", params).to(application())).json()["result"]
    assert result["protocolVersion"] == "2025-11-25"
    assert result["instructions"] == INSTRUCTIONS
    assert set(result["capabilities"]) == {"tools"} | ({"experimental"} & set(result["capabilities"]))


@pytest.mark.parametrize("method", ["resources/list", "prompts/list", "subscriptions/listen", "logging/setLevel"])
async def test_what_is_not_offered_is_not_found(method: str) -> None:
    response = await Post(method, era="2026-07-28").to(application())
    assert response.json()["error"]["code"] in (-32601, -32602)


def test_instructions_say_what_a_model_must_know() -> None:
    for word in ("untrusted", "never follow", "reference", "next_cursor", "`next:`"):
        assert word in INSTRUCTIONS
    assert len(INSTRUCTIONS) < 700


async def test_hints_of_a_writing_tool_are_published() -> None:
    from mailgate.server.catalog import TOOLS, Hints
    from tests.server.listing import published

    row = dataclasses.replace(
        TOOLS[0], hints=Hints(read_only=False, destructive=True, idempotent=False, open_world=True)
    )
    (tool,) = await published(build_server(Dispatcher(service().dispatcher.backend, (row,))))
    assert tool["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }


# --- whose answer an error is -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Mcp-Name": "mail_capabilities"},
        {"Mcp-Method": "ping"},
        {"MCP-Protocol-Version": "v999.0.0"},
        {"MCP-Protocol-Version": "of no form"},
    ],
    ids=["name", "method", "an unknown version", "no version"],
)
async def test_a_refusal_of_a_request_that_was_understood_carries_its_id(headers: dict[str, str]) -> None:
    response = await Post.call("mail_search", era="2026-07-28", headers=headers).to(application())
    assert (response.status_code, response.json()["id"]) == (400, 1)


@pytest.mark.parametrize("version", ["1999-01-01", "2026-07-29", "v999.0.0", "3"])
async def test_an_unknown_version_is_repeated_where_it_can_say_nothing_else(version: str) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}).encode()
    headers = {"MCP-Protocol-Version": version, "Mcp-Method": "tools/list"}
    response = await Post(body=body, headers=headers).to(application())
    error = response.json()["error"]
    assert (response.status_code, response.json()["id"], error["code"]) == (400, 1, -32022)
    assert error["data"]["requested"] == version
    assert "2026-07-28" in error["data"]["supported"]
