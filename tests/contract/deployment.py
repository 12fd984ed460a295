"""A whole deployment under test: settings as an operator writes them, a mail server on loopback, calls from outside.

Everything goes in by the dispatcher or by HTTP and comes out as a client would see it. Every success is held against
the output schema that the tool publishes, every failure against the form that failures have.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import jsonschema

from mailgate.app import Service, build_app, build_service
from mailgate.demo.server import DemoServer
from mailgate.demo.store import DemoMailbox
from mailgate.policy import Principal, Scope
from mailgate.server.catalog import BY_NAME
from mailgate.server.dispatch import Answer
from mailgate.server.http import HttpSurface
from mailgate.settings import load_settings
from tests.peers.rawlog import SentCommand, parse_raw_log
from tests.peers.scripted_imap import ScriptedImap, script
from tests.server.fakes import TOKENS

Result = dict[str, Any]
Arguments = Mapping[str, Any]

OWNER = Principal("local", "owner", frozenset(Scope))
USERNAME, PASSWORD = "owner@example.org", "a-password-of-the-tests"
STORE_KEY = "bm90IGEgc2VjcmV0OiBvbmx5IGZvciB0aGUgdGVzdHM="
"""With a key of its own nothing has to be stretched from the password, which is slow on purpose."""
WHEN = datetime(2024, 2, 3, 4, 5, 6, tzinfo=UTC)
FAILURE = re.compile(r"error ([a-z_]+): ([^\n]+)\nnext: ([^\n]+)")
SPECIAL = {"Drafts": "\\Drafts", "Sent": "\\Sent", "Trash": "\\Trash", "Junk": "\\Junk", "Archive": "\\Archive"}
SEND_TOOLS = ("mail_prepare_send", "mail_prepare_reply", "mail_prepare_forward", "mail_send_confirmed")
PUBLISHED = {name: jsonschema.Draft202012Validator(tool.output_schema) for name, tool in BY_NAME.items()}
READ_TOOLS = ("mail_capabilities", "mail_list_folders", "mail_search", "mail_read", "mail_get_attachment")
WRITE_TOOLS = (
    *("mail_set_flags", "mail_create_folder", "mail_rename_folder", "mail_copy", "mail_move", "mail_trash"),
    *("mail_save_draft", "mail_delete_permanently"),
)


@dataclass
class Deployment:
    """A service, and what its mail server was sent."""

    service: Service
    sent: list[bytes] = field(default_factory=list)

    async def call(self, name: str, arguments: Arguments | None = None, caller: Principal = OWNER) -> Answer:
        """The answer, whatever it is."""
        return await self.service.dispatcher.call(name, arguments, caller)

    async def ok(self, name: str, arguments: Arguments | None = None, caller: Principal = OWNER) -> Result:
        """The structured half of a success."""
        answer = await self.call(name, arguments, caller)
        assert answer.structured is not None, answer.text
        PUBLISHED[name].validate(answer.structured)
        return answer.structured

    async def fails(self, code: str, name: str, arguments: Arguments | None = None, caller: Principal = OWNER) -> str:
        """The text of a failure with this code."""
        answer = await self.call(name, arguments, caller)
        assert answer.structured is None, f"{name} succeeded"
        found = FAILURE.fullmatch(answer.text)
        assert found, answer.text
        assert found[1] == code, answer.text
        return answer.text

    async def search(self, **arguments: Any) -> Result:
        """mail_search; `from_` is `from`."""
        return await self.ok("mail_search", {key.rstrip("_"): value for key, value in arguments.items()})

    async def search_all(self, **arguments: Any) -> tuple[list[Result], int]:
        """mail_search from page to page: all rows, and how many calls it took."""
        rows: list[Result] = []
        calls = 0
        while True:
            page = await self.search(**arguments)
            calls += 1
            rows += page["messages"]
            if page["complete"]:
                return rows, calls
            arguments["cursor"] = page["next_cursor"]

    async def reference(self, **arguments: Any) -> Result:
        """The reference of the one message that a search finds."""
        (row,) = (await self.search(**arguments))["messages"]
        reference: Result = row["reference"]
        return reference

    async def read(self, reference: Arguments, **arguments: Any) -> Result:
        """mail_read."""
        return await self.ok("mail_read", {"reference": reference, **arguments})

    async def attachment(self, reference: Arguments, index: int) -> Result:
        """mail_get_attachment."""
        return await self.ok("mail_get_attachment", {"reference": reference, "index": index})

    def commands(self) -> list[SentCommand]:
        """Every command the mail server got so far."""
        return [command for raw in list(self.sent) for command in parse_raw_log(raw)]

    def names(self) -> list[str]:
        """Their names."""
        return [command.name for command in self.commands()]

    @property
    def app(self) -> HttpSurface:
        """The same service over HTTP."""
        return build_app(self.service.settings, service=self.service)


def environ(port: int, **variables: str) -> dict[str, str]:
    """An environment that leads to a mail server on loopback."""
    return {
        "MAIL_IMAP_HOST": "127.0.0.1",
        "MAIL_IMAP_PORT": str(port),
        "MAIL_IMAP_SECURITY": "plaintext",
        "MAIL_USERNAME": USERNAME,
        "MAIL_PASSWORD": PASSWORD,
        "MAIL_STORE_KEY": STORE_KEY,
        "MAIL_TOKENS": TOKENS,
        **variables,
    }


@asynccontextmanager
async def deployed(port: int, sent: list[bytes] | None = None, **variables: str) -> AsyncIterator[Deployment]:
    """A deployment in front of whatever listens on `port`."""
    service = build_service(load_settings(environ(port, **variables)))
    try:
        yield Deployment(service, [] if sent is None else sent)
    finally:
        await service.aclose()


def unconfigured(**variables: str) -> Deployment:
    """A deployment without mail settings."""
    return Deployment(build_service(load_settings({"MAIL_TOKENS": TOKENS, **variables})))


@asynccontextmanager
async def demo_server(mailbox: DemoMailbox, *without: str) -> AsyncIterator[tuple[int, list[bytes]]]:
    """The embedded mail server, lacking some extensions: its port, and the octets it is sent."""
    sent: list[bytes] = []
    server = DemoServer(
        mailbox, username=USERNAME, password=PASSWORD, without=frozenset(without), on_command=sent.append
    )
    _, port = await server.start()
    try:
        yield port, sent
    finally:
        await server.stop()


@asynccontextmanager
async def on_demo(mailbox: DemoMailbox, *without: str, **variables: str) -> AsyncIterator[Deployment]:
    """A deployment in front of the embedded mail server."""
    async with demo_server(mailbox, *without) as (port, sent), deployed(port, sent, **variables) as box:
        yield box


@asynccontextmanager
async def on_script(*scripts: str, strict: bool = True, **variables: str) -> AsyncIterator[Deployment]:
    """A deployment in front of a server that plays one script a connection; `sent` are the commands without tags."""
    async with ScriptedImap([script(text) for text in scripts]) as peer:
        async with deployed(peer.port, peer.commands, **variables) as box:
            yield box
        if strict:
            assert peer.problems == []


def mailbox_with(*messages: bytes, folder: str = "INBOX", flags: tuple[str, ...] = ()) -> DemoMailbox:
    """The usual folders, and these messages in one of them."""
    mailbox = DemoMailbox()
    for name, role in SPECIAL.items():
        mailbox.create(name, role)
    for message in messages:
        mailbox.append(folder, message, flags, WHEN)
    return mailbox


def raw(text: str = "Some words.", **fields: str) -> bytes:
    """A message from header fields (`message_id` is Message-ID) and a body, octet for octet; UTF-8 where needed."""
    head = {"From": "Ann Other <ann@example.org>", "Subject": "Hello"}
    head |= {name.strip("_").replace("_", "-").title(): value for name, value in fields.items()}
    lines = [f"{name}: {value}" for name, value in head.items()]
    return ("\r\n".join(lines) + "\r\n\r\n" + text.replace("\n", "\r\n") + "\r\n").encode()


def html(markup: str, **fields: str) -> bytes:
    """A message that is nothing but HTML."""
    return raw(markup, mime_version="1.0", content_type="text/html; charset=utf-8", **fields)


def multipart(*parts: str, kind: str = "mixed", boundary: str = "b", **fields: str) -> bytes:
    """A multipart of these parts; each is its own header, an empty line, and its body."""
    body = "".join(f"--{boundary}\n{part}\n" for part in parts) + f"--{boundary}--"
    return raw(body, mime_version="1.0", content_type=f'multipart/{kind}; boundary="{boundary}"', **fields)


def uids(rows: list[Result]) -> list[int]:
    """The UIDs of some rows."""
    return [row["reference"]["uid"] for row in rows]


def codes(result: Result) -> list[str]:
    """The codes of the warnings of a result or a row."""
    return [warning.partition(":")[0] for warning in result.get("warnings", [])]


def strings(value: Any) -> list[str]:
    """Every string in a value, keys aside."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in strings(each)]
