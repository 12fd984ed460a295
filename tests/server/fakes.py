"""A deployment in memory, and callers that speak to it over ASGI in either era."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mailgate.app import Service, build_app, build_service
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.folders import Folder, RoleFolder
from mailgate.imap.rows import FolderList, FolderRow
from mailgate.imap.values import FolderName, ModSeq, SpecialUse
from mailgate.policy import ALL_SCOPES, Principal, Scope
from mailgate.server.http import HttpSurface
from mailgate.settings import Settings, load_settings
from tests.read.fakes import FakeFolder, FakeMessage
from tests.send.fakes import FakeSubmitter, MemoryStore
from tests.write.fakes import WritableFakeFolder, WritableFakeMailbox

OWNER_TOKEN = "canary-token-owner-1a2b3c"
READ_TOKEN = "canary-token-read-4d5e6f"
BARE_TOKEN = "canary-token-bare-7a8b9c"
PASSWORD = "canary-password-9f8e7d"
URL = "http://127.0.0.1:8000/mcp"
ERAS = ("legacy", "2026-07-28")

_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def token_entry(token: str, scopes: str) -> str:
    return f"{hashlib.sha256(token.encode()).hexdigest()}:{scopes}"


TOKENS = ",".join(
    [
        token_entry(OWNER_TOKEN, "mail.read+mail.write+mail.send"),
        token_entry(READ_TOKEN, "mail.read"),
        token_entry(BARE_TOKEN, "mail.write"),
    ]
)
ENVIRONMENT = {
    "HOME": "/nonexistent",
    "MAIL_IMAP_HOST": "imap.example.net",
    "MAIL_USERNAME": "owner@example.org",
    "MAIL_PASSWORD": PASSWORD,
    "MAIL_TOKENS": TOKENS,
}


def settings(**changes: str) -> Settings:
    """Settings as the environment would give them; an empty value takes a variable away."""
    merged = {**ENVIRONMENT, **changes}
    return load_settings({name: value for name, value in merged.items() if value})


def unconfigured(**changes: str) -> Settings:
    """Tokens, and no mailbox."""
    return settings(MAIL_IMAP_HOST="", MAIL_USERNAME="", MAIL_PASSWORD="", **changes)


def message(number: int, **changes: Any) -> FakeMessage:
    """An ordinary message of an ordinary correspondent, with an attachment."""
    source = (
        f"From: Ada Lovelace <ada@example.com>\r\nTo: owner@example.org\r\nSubject: Weekly report {number}\r\n"
        "Date: Thu, 1 Feb 2024 11:59:58 +0000\r\n"
        f"Message-ID: <report.{number}@mail.example.com>\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/mixed; boundary="b"\r\n\r\n'
        "--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nThe figures are fine.\r\nAll of them.\r\n"
        '--b\r\nContent-Type: text/csv; name="figures.csv"\r\nContent-Transfer-Encoding: base64\r\n'
        'Content-Disposition: attachment; filename="figures.csv"\r\n\r\nYSxiDQoxLDINCg==\r\n--b--\r\n'
    ).encode()
    head = source.partition(b"MIME-Version")[0] + b"\r\n"
    return FakeMessage(**{"source": source, "block": head, "subject": f"Weekly report {number}", **changes})


def inbox(count: int = 3) -> WritableFakeFolder:
    """INBOX with messages from UID 1 on; every second one is read."""
    folder = WritableFakeFolder(uid_validity=1700000000)
    for number in range(1, count + 1):
        folder.append(message(number, flags={"\\Seen"} if number % 2 else set(), mod_seq=ModSeq(900 + number)))
    return folder


def mailbox(*folders: FakeFolder) -> WritableFakeMailbox:
    """Folders, one of them with the role `sent`; no other has a role."""
    box = WritableFakeMailbox(*(folders or (inbox(),)))
    box.announced = CapabilitySet.of(["IMAP4rev1", "MOVE"])
    sent = Folder(FolderName("Sent Items"), b"Sent Items", "/", ("\\Sent",), True, False)
    inbox_row = Folder(FolderName("INBOX"), b"INBOX", "/", (), True, None)
    box.listing = FolderList(
        (
            FolderRow(inbox_row, SpecialUse.INBOX, 3, 1, 4, 1700000000),
            FolderRow(sent, SpecialUse.SENT, status_failed=True),
        )
    )
    box.found_roles = {SpecialUse.SENT: RoleFolder(SpecialUse.SENT, FolderName("Sent Items"))}
    return box


def writable() -> WritableFakeMailbox:
    """A mailbox on a server that lacks nothing, with INBOX, Drafts, Trash and Archive."""
    box = WritableFakeMailbox(inbox(), *(WritableFakeFolder(name) for name in ("Drafts", "Trash", "Archive")))
    return box.with_condstore()


def service(configured: Settings | None = None, box: WritableFakeMailbox | None = None) -> Service:
    """A deployment over a mailbox in memory."""
    configured = configured or settings()
    return build_service(configured, mailbox=box or mailbox(), store=MemoryStore(), submitter=FakeSubmitter())


def application(configured: Settings | None = None, box: WritableFakeMailbox | None = None) -> HttpSurface:
    """The same, as an ASGI application. Without mail settings it has no mailbox."""
    configured = configured or settings()
    deployment = build_service(configured) if configured.missing else service(configured, box)
    return build_app(configured, service=deployment)


def principal(*scopes: Scope) -> Principal:
    """A caller with these scopes, or with all."""
    return Principal("test", "caller", frozenset(scopes) or ALL_SCOPES)


# --- over ASGI ---------------------------------------------------------------------------------------------------


def http_client(app: HttpSurface, token: str | None = OWNER_TOKEN, **headers: str) -> httpx2.AsyncClient:
    """A client that reaches the application without a socket."""
    fields = {"Authorization": f"Bearer {token}"} if token else {}
    transport = httpx2.ASGITransport(app=app)
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers={**fields, **headers})


@asynccontextmanager
async def mcp_client(app: HttpSurface, era: str, token: str = OWNER_TOKEN) -> AsyncIterator[Client]:
    """The SDK's own client, in the era asked for; in the newer one it asks the server first."""
    mode = "legacy" if era == "legacy" else "auto"
    async with (
        http_client(app, token) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        assert (client.protocol_version == era) is (era != "legacy")
        yield client


@dataclass(frozen=True)
class Post:
    """One raw request to the endpoint."""

    method: str = "tools/call"
    params: Mapping[str, Any] = field(default_factory=dict)
    era: str = "legacy"
    token: str | None = OWNER_TOKEN
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None

    @classmethod
    def call(cls, name: str, arguments: Mapping[str, Any] | None = None, **more: Any) -> Post:
        return cls(params={"name": name, "arguments": arguments or {}}, **more)

    def fields(self) -> dict[str, str]:
        fields = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.era != "legacy":
            fields |= {"MCP-Protocol-Version": self.era, "Mcp-Method": self.method}
            if "name" in self.params:
                fields["Mcp-Name"] = self.params["name"]
        return {**fields, **self.headers}

    def content(self) -> bytes:
        if self.body is not None:
            return self.body
        params = dict(self.params) if self.era == "legacy" else {**self.params, "_meta": _META}
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": self.method, "params": params}).encode()

    async def to(self, app: HttpSurface) -> httpx2.Response:
        async with http_client(app, self.token) as client:
            return await client.post("/mcp", content=self.content(), headers=self.fields())
