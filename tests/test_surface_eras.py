"""The read tools from end to end, over HTTP, in both protocol eras and through the official client."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import jsonschema
import pytest

from mailgate.server.catalog import TOOLS
from mailgate.server.schemas import full_schema
from tests.read.fakes import FakeMessage
from tests.server.fakes import (
    ERAS,
    OWNER_TOKEN,
    READ_TOKEN,
    Post,
    application,
    inbox,
    mailbox,
    mcp_client,
    settings,
    unconfigured,
    writable,
)

REFERENCE = {"folder": "INBOX", "uid_validity": 1700000000, "uid": 2}
CALLS: dict[str, dict[str, Any]] = {
    "mail_capabilities": {},
    "mail_list_folders": {"include_counts": True},
    "mail_search": {"from": "ada", "limit": 2},
    "mail_read": {"reference": REFERENCE},
    "mail_get_attachment": {"reference": REFERENCE, "index": 1},
    "mail_set_flags": {"reference": REFERENCE, "operation": "add", "flags": ["\\Seen"], "unchanged_since": "902"},
    "mail_create_folder": {"name": "New"},
    "mail_rename_folder": {"old": "Archive", "new": "Old"},
    "mail_copy": {"reference": REFERENCE, "destination": "Archive"},
    "mail_move": {"reference": REFERENCE, "destination": "Archive"},
    "mail_trash": {"reference": REFERENCE},
    "mail_save_draft": {"message": {"to": ["a@example.com"], "subject": "Later"}},
    "mail_delete_permanently": {"reference": REFERENCE},
    "mail_prepare_send": {"message": {"to": ["a@example.com"], "subject": "Now"}},
    "mail_prepare_reply": {"reference": REFERENCE, "message": {"to": ["a@example.com"], "text": "Yes."}},
    "mail_prepare_forward": {"reference": REFERENCE, "message": {"to": ["a@example.com"]}},
    "mail_send_confirmed": {"append_sent": False},
}
OPEN = {
    "MAIL_ENABLE_WRITES": "1",
    "MAIL_ENABLE_DELETE": "1",
    "MAIL_ENABLE_SEND": "1",
    "MAIL_FROM": "me@example.org",
    "MAIL_SMTP_HOST": "smtp.example.net",
    "MAIL_STORE": "sqlite:/nonexistent/store",
    "MAIL_STORE_KEY": "bm90IGEgc2VjcmV0OiBvbmx5IGZvciB0aGUgdGVzdHM=",
}

READING = ("mail_capabilities", "mail_list_folders", "mail_search", "mail_read", "mail_get_attachment")

pytestmark = pytest.mark.parametrize("era", ERAS)


async def call(era: str, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    async with mcp_client(application(settings(**OPEN), writable()), era) as client:
        arguments = arguments or CALLS[name]
        if name == "mail_send_confirmed":
            prepared = (await client.call_tool("mail_prepare_send", CALLS["mail_prepare_send"])).structured_content
            assert prepared is not None
            arguments |= {"prepared_id": prepared["prepared_id"], "confirmed_digest": prepared["digest"]}
        result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


@pytest.mark.parametrize("name", list(CALLS))
async def test_every_result_is_what_its_schemas_promise(era: str, name: str) -> None:
    content = await call(era, name)
    tool = next(tool for tool in TOOLS if tool.name == name)
    jsonschema.Draft202012Validator.check_schema(tool.output_schema)
    jsonschema.validate(content, tool.output_schema)
    jsonschema.validate(content, full_schema(tool.result))


async def test_every_tool_of_the_table_is_tried_here(era: str) -> None:
    assert list(CALLS) == [tool.name for tool in TOOLS]


async def test_the_list_is_the_table_in_its_order_whoever_asks(era: str) -> None:
    async with mcp_client(application(), era, READ_TOKEN) as client:
        first, again = await client.list_tools(), await client.list_tools(cache_mode="bypass")
    assert [tool.name for tool in first.tools] == [tool.name for tool in TOOLS]
    assert first.tools == again.tools
    for tool in first.tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (tool.name in READING)
        assert tool.annotations.open_world_hint is (tool.name == "mail_send_confirmed")
        assert tool.input_schema["additionalProperties"] is False
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"


async def test_the_server_says_who_it_is_and_that_mail_is_not_to_be_obeyed(era: str) -> None:
    async with mcp_client(application(), era) as client:
        assert client.server_info.name == "mailgate"
        assert "untrusted" in (client.instructions or "")
        assert client.server_capabilities.tools is not None
        assert client.server_capabilities.resources is None


async def test_search_pages_through_a_folder(era: str) -> None:
    async with mcp_client(application(box=mailbox(inbox(5))), era) as client:
        first = (await client.call_tool("mail_search", {"limit": 3})).structured_content
        assert first is not None
        rest = (await client.call_tool("mail_search", {"limit": 3, "cursor": first["next_cursor"]})).structured_content
        assert rest is not None
    assert [row["reference"]["uid"] for row in first["messages"]] == [5, 4, 3]
    assert [row["reference"]["uid"] for row in rest["messages"]] == [2, 1]
    assert (first["complete"], rest["complete"]) == (False, True)
    assert "next_cursor" not in rest


async def test_a_row_keeps_facts_apart_from_what_the_sender_wrote(era: str) -> None:
    row = (await call(era, "mail_search"))["messages"][0]
    assert row == {
        "reference": {"folder": "INBOX", "uid_validity": 1700000000, "uid": 3},
        "size": 100,
        "flags": ["\\Seen"],
        "internal_date": "2024-02-01T12:00:00+00:00",
        "modseq": "903",
        "has_attachments": False,
        "untrusted": {
            "subject": "Weekly report 3",
            "from": ["Ada Lovelace <ada@example.com>"],
            "to": ["owner@example.org"],
            "date": "2024-02-01T11:59:58+00:00",
            "message_id": "<report.3@mail.example.com>",
        },
    }


async def test_a_read_gives_text_headers_and_attachments_under_untrusted(era: str) -> None:
    content = await call(era, "mail_read")
    assert content["reference"] == REFERENCE
    assert content["modseq"] == "902"
    assert content["truncated_by"] == "none"
    assert "next_offset" not in content
    body = content["untrusted"]
    assert body["text"].split() == "The figures are fine. All of them.".split()
    assert content["text_chars"] == len(body["text"])
    assert body["headers"]["subject"] == "Weekly report 2"
    assert "cc" not in body["headers"]
    assert body["attachments"][0]["filename"] == "figures.csv"


async def test_a_read_takes_the_three_fields_at_top_level_and_as_strings(era: str) -> None:
    arguments = {"folder": "INBOX", "uid_validity": "1700000000", "uid": "2", "max_chars": "5.0"}
    content = await call(era, "mail_read", arguments)
    assert content["untrusted"]["text"] == "The f"
    assert (content["truncated_by"], content["next_offset"]) == ("max_chars", 5)


async def test_an_attachment_comes_once_with_its_hash(era: str) -> None:
    content = await call(era, "mail_get_attachment")
    data = base64.b64decode(content["untrusted"]["data_base64"])
    assert data == b"a,b\r\n1,2\r\n"
    assert content["size"] == len(data)
    assert content["sha256"] == hashlib.sha256(data).hexdigest()


async def test_a_failure_is_text_alone_in_two_lines(era: str) -> None:
    async with mcp_client(application(), era) as client:
        result = await client.call_tool("mail_read", {"reference": {**REFERENCE, "uid": 99}})
    assert result.is_error
    assert result.structured_content is None
    (block,) = result.content
    first, second = block.text.split("\n")
    assert first.startswith("error message_not_found: ")
    assert second.startswith("next: ")


async def test_an_unknown_tool_is_a_protocol_error_that_repeats_nothing(era: str) -> None:
    response = await Post.call("mail_canary", era=era).to(application())
    error = response.json()["error"]
    assert error["code"] == -32602
    assert "canary" not in response.text


async def test_an_unknown_method_is_not_repeated(era: str) -> None:
    response = await Post(method="canary/method", era=era).to(application())
    assert response.json()["error"]["code"] == -32601
    assert "canary" not in response.text


async def test_without_mail_settings_discovery_works_and_calls_explain(era: str) -> None:
    app = application(unconfigured())
    async with mcp_client(app, era) as client:
        assert len((await client.list_tools()).tools) == len(TOOLS)
        told = (await client.call_tool("mail_capabilities", {})).structured_content
        refused = await client.call_tool("mail_search", {})
    assert told is not None
    assert told["imap"] is None
    assert told["not_configured"] == ["MAIL_IMAP_HOST", "MAIL_USERNAME", "MAIL_PASSWORD"]
    assert [tool["name"] for tool in told["tools"] if tool["callable"]] == ["mail_capabilities"]
    assert refused.content[0].text.startswith("error not_configured: ")
    assert "MAIL_PASSWORD" in refused.content[0].text


async def test_duplicate_results_are_identical(era: str) -> None:
    assert await call(era, "mail_search") == await call(era, "mail_search")


async def test_an_envelope_that_disagrees_with_its_headers_runs_nothing(era: str) -> None:
    post = Post.call("mail_search", era="2026-07-28", headers={"Mcp-Name": "mail_capabilities"})
    response = await post.to(application())
    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32020


async def test_an_unfit_argument_is_a_tool_error(era: str) -> None:
    response = await Post.call("mail_search", {"limit": True}, era=era).to(application())
    result = response.json()["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert json.dumps(result).count("`limit`") == 1


async def test_the_other_form_of_a_text_is_mentioned(era: str) -> None:
    source = (
        b"From: ada@example.com\r\nSubject: both\r\nMIME-Version: 1.0\r\n"
        b'Content-Type: multipart/alternative; boundary="b"\r\n\r\n'
        b"--b\r\nContent-Type: text/plain\r\n\r\nThe plain words of this message.\r\n"
        b"--b\r\nContent-Type: text/html\r\n\r\n<p>The plain words of this message.</p>\r\n--b--\r\n"
    )
    folder = inbox(0)
    folder.append(FakeMessage(source=source))
    async with mcp_client(application(box=mailbox(folder)), era) as client:
        result = await client.call_tool("mail_read", {"reference": {**REFERENCE, "uid": 1}})
    assert result.structured_content is not None
    assert result.structured_content["text_source"] == "plain"
    mentioned = [text for text in result.structured_content["warnings"] if "html" in text.lower()]
    assert len(mentioned) == 1


# --- around a call -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", [None, "nonsense", READ_TOKEN[:-1], f"{READ_TOKEN}x"])
async def test_who_is_not_known_is_told_how_to_log_in_and_reaches_nothing(era: str, token: str | None) -> None:
    box = writable()
    response = await Post.call("mail_search", era=era, token=token).to(application(settings(**OPEN), box))
    assert response.status_code == 401
    assert 'scope="mail.read mail.write mail.send"' in response.headers["www-authenticate"]
    assert ('error="invalid_token"' in response.headers["www-authenticate"]) is (token is not None)
    assert box.examined == []


@pytest.mark.parametrize("name", [name for name in CALLS if name not in READING])
async def test_a_token_that_only_reads_is_told_every_scope_a_call_lacks(era: str, name: str) -> None:
    box = writable()
    arguments = {"append_sent": True} if name == "mail_send_confirmed" else CALLS[name]
    response = await Post.call(name, arguments, era=era, token=READ_TOKEN).to(application(settings(**OPEN), box))
    assert response.status_code == 403
    needed = {"mail_send_confirmed": "mail.read mail.write mail.send"}.get(
        name, "mail.read mail.send" if "prepare" in name else "mail.read mail.write"
    )
    assert f'error="insufficient_scope", scope="{needed}"' in response.headers["www-authenticate"]
    assert box.examined == []


async def test_lists_may_be_kept_by_who_asked_and_by_nobody_else(era: str) -> None:
    answers = [await Post("tools/list", era=era, token=token).to(application()) for token in (READ_TOKEN, OWNER_TOKEN)]
    results = [answer.json()["result"] for answer in answers]
    assert results[0] == results[1], "who asks changes nothing, so a list kept is never a wrong one"
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}
    if era != "legacy":
        assert (results[0]["cacheScope"], results[0]["ttlMs"] > 0) == ("private", True)
