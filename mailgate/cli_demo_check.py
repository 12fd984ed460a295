"""The demo, tried out with the official MCP client: what a person would do first, over every way in.

capabilities -> folders -> search -> read -> attachment -> flags -> folder, copy and move -> draft and Trash -> prepare,
send and find what was sent, in both protocol eras over HTTP, and over stdio.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent

from mailgate.server.catalog import TOOLS

ERAS = (("initialize era", "legacy"), ("2026-07-28", "2026-07-28"))
STEP_SECONDS = 20.0

Say = Callable[[str], None]


class StepFailed(Exception):
    """A step did not do what it should; the text says which expectation broke."""


@dataclass
class _Walk:
    """One client's way through the tools; `found` carries what a later step needs from an earlier one."""

    client: Client
    found: dict[str, Any] = field(default_factory=dict)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        if result.is_error or result.structured_content is None:
            first = result.content[0] if result.content else None
            raise StepFailed(first.text if isinstance(first, TextContent) else "no structured content")
        return dict(result.structured_content)

    async def tools(self) -> str:
        listed = {tool.name for tool in (await self.client.list_tools()).tools}
        _expect(listed == {tool.name for tool in TOOLS}, "the listed tools are not the catalog's")
        return f"{len(listed)} tools"

    async def capabilities(self) -> str:
        answer = await self.call("mail_capabilities")
        _expect(answer.get("imap") is not None, "no mail server behind it")
        return f"{len(answer['imap']['capabilities'])} IMAP capabilities"

    async def folders(self) -> str:
        answer = await self.call("mail_list_folders", include_counts=True)
        inbox = [row for row in answer["folders"] if row.get("role") == "inbox"]
        _expect(len(inbox) == 1 and inbox[0]["messages"] > 0, "no INBOX with messages")
        return f"{len(answer['folders'])} folders, {inbox[0]['messages']} messages in INBOX"

    async def search(self) -> str:
        rows: list[dict[str, Any]] = []
        cursor: dict[str, Any] = {}
        while not cursor or cursor["cursor"]:
            page = await self.call("mail_search", limit=100, **cursor)
            rows += page["messages"]
            cursor = {"cursor": page.get("next_cursor")}
        attached = [row for row in rows if row.get("has_attachments")]
        _expect(bool(attached), "no message with an attachment")
        self.found["references"] = [row["reference"] for row in attached]
        return f"{len(rows)} messages, {len(attached)} with attachments"

    async def read(self) -> str:
        for reference in self.found["references"]:
            answer = await self.call("mail_read", reference=reference)
            if answer["untrusted"].get("attachments") and answer["untrusted"].get("text"):
                self.found["message"] = answer
                return (
                    f"{answer['text_chars']} characters of text, {len(answer['untrusted']['attachments'])} attachments"
                )
        raise StepFailed("no message has both text and an attachment")

    async def attachment(self) -> str:
        message = self.found["message"]
        index = message["untrusted"]["attachments"][0]["index"]
        answer = await self.call("mail_get_attachment", reference=message["reference"], index=index)
        content = base64.b64decode(answer["untrusted"]["data_base64"], validate=True)
        _expect(hashlib.sha256(content).hexdigest() == answer["sha256"], "the content does not match its hash")
        return f"{len(content)} bytes, hash verified"

    async def flags(self) -> str:
        reference = self.found["message"]["reference"]
        for operation in ("add", "remove"):
            answer = await self.call("mail_set_flags", reference=reference, operation=operation, flags=["$DemoCheck"])
            _expect(("$DemoCheck" in answer["flags"]) is (operation == "add"), "the keyword is not as it was set")
        return "a keyword set and taken away"

    async def filing(self) -> str:
        name = f"Check {secrets.token_hex(4)}"
        await self.call("mail_create_folder", name=name)
        await self.call("mail_rename_folder", old=name, new=f"{name} done")
        copied = await self.call("mail_copy", reference=self.found["message"]["reference"], destination=f"{name} done")
        moved = await self.call("mail_move", reference=copied["reference"], destination="role:archive")
        _expect(moved["status"] == "done", "the move does not tell the new reference")
        return "a folder created and renamed, a message copied and moved"

    async def draft(self) -> str:
        message = {"to": ["someone@example.org"], "subject": "A draft", "text": "Nothing is sent."}
        saved = await self.call("mail_save_draft", message=message)
        trashed = await self.call("mail_trash", reference=saved["reference"])
        read = await self.call("mail_read", reference=trashed["reference"])
        _expect(read["untrusted"]["headers"]["message_id"] == saved["message_id"], "not the draft that was saved")
        return "a draft saved, moved to Trash and read there"

    async def sending(self) -> str:
        subject = f"Check {secrets.token_hex(4)}"
        message = {"to": ["someone@example.org"], "bcc": ["else@example.org"], "subject": subject, "text": "Hello."}
        review = await self.call("mail_prepare_send", message=message)
        confirm = {"prepared_id": review["prepared_id"], "confirmed_digest": review["digest"], "append_sent": True}
        sent = await self.call("mail_send_confirmed", **confirm)
        _expect((sent["status"], sent["sent_copy"]) == ("accepted", "saved"), "the message was not sent and filed")
        _expect(await self.call("mail_send_confirmed", **confirm) == sent, "a repeat does not tell the same")
        for folder in ("INBOX", "role:sent"):
            found = (await self.call("mail_search", folder=folder, subject=subject))["messages"]
            _expect(len(found) == 1, "what was sent is not there exactly once")
        return "a message prepared, sent once, and found in INBOX and Sent"


async def check_http(endpoint: str, token: str, say: Say) -> bool:
    """Walks through an endpoint in both eras, after making sure that no token means no entry."""
    # trust_env: a proxy from the environment has no business between this process and itself.
    async with httpx2.AsyncClient(trust_env=False, timeout=STEP_SECONDS) as stranger:
        refused = (await stranger.post(endpoint, json={})).status_code == 401
    say(f"{'ok  ' if refused else 'FAIL'} http, no token: {'refused' if refused else 'NOT refused'}")
    passed = refused
    for era, mode in ERAS:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(trust_env=False, timeout=STEP_SECONDS, headers=headers) as http:
            transport = streamable_http_client(endpoint, http_client=http)
            client = Client(transport, mode=mode, read_timeout_seconds=STEP_SECONDS)
            passed &= await _walk(f"http, {era}", client, say)
    return passed


async def check_stdio(command: Sequence[str], say: Say) -> bool:
    """Walks through a server that the client itself starts, in both eras."""
    passed = True
    for era, mode in ERAS:
        server = StdioServerParameters(command=command[0], args=list(command[1:]))
        client = Client(server, mode=mode, read_timeout_seconds=STEP_SECONDS)
        passed &= await _walk(f"stdio, {era}", client, say)
    return passed


async def _walk(way: str, client: Client, say: Say) -> bool:
    """Every step in order; the first that fails ends this way in."""
    step = "connect"
    try:
        async with client:
            walk = _Walk(client)
            steps: dict[str, Callable[[], Awaitable[str]]] = {
                "tools": walk.tools,
                "capabilities": walk.capabilities,
                "folders": walk.folders,
                "search": walk.search,
                "read": walk.read,
                "attachment": walk.attachment,
                "flags": walk.flags,
                "filing": walk.filing,
                "draft": walk.draft,
                "sending": walk.sending,
            }
            for name, run in steps.items():
                step = name
                say(f"ok   {way}: {name}: {await run()}")
    except Exception as error:
        say(f"FAIL {way}: {step}: {_reason(error)}")
        return False
    return True


def _reason(error: BaseException) -> str:
    """What went wrong, out of the group that a task group makes of it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) if isinstance(error, StepFailed) else f"{type(error).__name__}: {error}"


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise StepFailed(otherwise)
