"""The same server over standard input and output, as a client starts it."""

from __future__ import annotations

import sys

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from mailgate.server.catalog import TOOLS
from tests.server.fakes import ERAS


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
