"""What mailgate costs a client's context: the ceilings, measured on what travels."""

from __future__ import annotations

import json

import pytest

from mailgate.server.mcp import build_server
from tests.server.fakes import inbox, mailbox, principal, service
from tests.server.listing import published

WORDS_PER_TOOL = 700
"""Octets of name, description and input schema, on average: what a model is shown of each tool."""
LISTING_PER_TOOL = 1400
"""Octets of the whole `tools/list`, per tool."""
PAGE = 9_500
"""Octets of `structuredContent` for 25 rows of ordinary mail with every field of the contract, MODSEQ included."""
PAGE_TEXT = 3_000


def size(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":")).encode())


async def test_the_tool_list_stays_small() -> None:
    tools = await published(build_server(service().dispatcher))
    words = [len(tool["name"]) + len(tool["description"]) + size(tool["inputSchema"]) for tool in tools]
    listing = size(tools)
    print(f"words per tool {sum(words) / len(tools):.0f}, listing per tool {listing / len(tools):.0f}")
    assert sum(words) / len(tools) <= WORDS_PER_TOOL
    assert listing / len(tools) <= LISTING_PER_TOOL


async def test_a_page_of_ordinary_mail_stays_small() -> None:
    deployment = service(box=mailbox(inbox(40)))
    answer = await deployment.dispatcher.call("mail_search", {}, principal())
    assert answer.structured is not None
    assert len(answer.structured["messages"]) == 25
    print(f"page {size(answer.structured)}, text {len(answer.text)}")
    assert size(answer.structured) <= PAGE
    assert len(answer.text) <= PAGE_TEXT


@pytest.mark.parametrize("absent", ["cc", "bcc", "date_raw", "sanitized", "warnings", "preview"])
async def test_a_row_has_nothing_empty(absent: str) -> None:
    answer = await service().dispatcher.call("mail_search", {}, principal())
    assert answer.structured is not None
    for row in answer.structured["messages"]:
        assert absent not in row
        assert absent not in row["untrusted"]
        assert None not in row.values()
        assert [] not in row.values()
        assert not {None, ""} & {value for value in row["untrusted"].values() if not isinstance(value, list)}
