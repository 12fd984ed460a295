"""The same server over standard input and output, as a client starts it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from mailgate.server.catalog import TOOLS
from tests.server.fakes import ERAS

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("era", ERAS)
async def test_with_no_settings_at_all_the_local_user_can_ask_what_is_missing(era: str) -> None:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "mailgate", "stdio"], env={"HOME": "/nonexistent"}
    )
    async with Client(command, mode="legacy" if era == "legacy" else "auto") as client:
        listed = await client.list_tools()
        told = await client.call_tool("mail_capabilities", {})
        refused = await client.call_tool("mail_search", {})
    assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]
    assert told.structured_content is not None
    assert told.structured_content["scopes"] == ["mail.read", "mail.write", "mail.send"]
    assert refused.content[0].text.startswith("error not_configured: ")


def spoken(*lines: bytes) -> list[dict[str, Any]]:
    """What the server answers to these lines, which come after the handshake and before a last ping."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    handshake = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode(),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    ]
    command = [sys.executable, "-m", "mailgate", "stdio"]
    env = {"HOME": "/nonexistent", "PYTHONPATH": str(ROOT)}
    answers: list[dict[str, Any]] = []
    with subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"\n".join([*handshake, *lines, b'{"jsonrpc":"2.0","id":"last","method":"ping"}', b""]))
        server.stdin.flush()
        # The end of its input ends the server, also in the middle of an answer.
        while not answers or answers[-1].get("id") != "last":
            answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
    return [answer for answer in answers if answer.get("id") not in (1, "last")]


SEARCH = b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"mail_search","arguments":{%s}}}'
UNREADABLE = {
    "half a surrogate pair": (SEARCH % rb'"query":"\ud800"', 3),
    "an endless number": (SEARCH % (b'"limit":' + b"9" * 5000), None),
    "a key twice": (SEARCH % b'"limit":1,"limit":2', 3),
    "a method that is no string": (b'{"jsonrpc":"2.0","id":9,"method":5}', 9),
    "no version": (b'{"id":"ten","method":"ping"}', "ten"),
    "no JSON": (b"hello", None),
    "octets that are no UTF-8": (b'{"jsonrpc":"2.0","id":3,"method":"\xff"}', None),
    "an id that cannot be one": (b'{"jsonrpc":"2.0","id":true,"method":5}', None),
}


def test_a_line_that_cannot_be_read_is_answered_and_the_next_one_works() -> None:
    noise = [b'{"jsonrpc":"2.0","id":7,"result":{}}', b"", b"  "]
    answers = spoken(*noise, *(line for line, _ in UNREADABLE.values()))
    errors = [answer for answer in answers if "error" in answer]
    assert [answer["id"] for answer in errors] == [named for _, named in UNREADABLE.values()]
    assert {answer["error"]["code"] for answer in errors} == {-32700, -32600}
    assert answers == errors
