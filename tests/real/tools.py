"""The tools as a client would use them, on settings as an operator would give them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jsonschema
import pytest

from mailgate.app import Service, build_service
from mailgate.policy import Principal, Scope
from mailgate.server.catalog import BY_NAME
from mailgate.settings import load_settings
from tests.peers.imap_user import ImapUser

OWNER = Principal("local", "owner", frozenset({Scope.READ}))
WRITER = Principal("local", "owner", frozenset({Scope.READ, Scope.WRITE}))

Result = dict[str, Any]


class ToolFailed(Exception):
    """A call that answered `isError`. `code` is the word between `error` and the colon."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        self.code = text.removeprefix("error ").partition(":")[0]


@contextmanager
def refused(code: str) -> Iterator[pytest.ExceptionInfo[ToolFailed]]:
    """The calls inside fail with exactly this code."""
    with pytest.raises(ToolFailed) as failed:
        yield failed
    assert failed.value.code == code, failed.value.text
    assert re.fullmatch(r"error [a-z_]+: [^\n]+\nnext: [^\n]+", failed.value.text)


def settings_for(user: ImapUser, **variables: str) -> dict[str, str]:
    """The environment that leads to this mailbox; keywords are further variables in full."""
    return {
        "MAIL_IMAP_HOST": "127.0.0.1",
        "MAIL_IMAP_PORT": str(user.port),
        "MAIL_IMAP_SECURITY": "plaintext",
        "MAIL_USERNAME": user.name,
        "MAIL_PASSWORD": user.password,
        **variables,
    }


def writing_settings_for(user: ImapUser, **variables: str) -> dict[str, str]:
    """As `settings_for`, with the gates for writing open. Where the server knows no roles the operator names them."""
    named = ",".join(f"{name.lower()}={user.folder(name)}" for name in ("Drafts", "Sent", "Trash", "Archive"))
    roles = {"MAIL_FOLDER_ROLES": named} if "SPECIAL-USE" in user.lacks else {}
    gates = {"MAIL_ENABLE_WRITES": "1", "MAIL_ENABLE_DELETE": "1", "MAIL_FROM": "The Owner <owner@example.org>"}
    return settings_for(user, **{**gates, **roles, **variables})


class Tools:
    """Calls go through the dispatcher; every success is checked against the published output schema."""

    def __init__(self, environ: dict[str, str], principal: Principal = OWNER) -> None:
        self.service: Service = build_service(load_settings(environ))
        self.principal = principal

    async def call(self, name: str, /, **arguments: Any) -> Result:
        """The structured content. Raises `ToolFailed`. A trailing underscore, as in `from_`, is dropped."""
        given = {key.rstrip("_"): value for key, value in arguments.items()}
        answer = await self.service.dispatcher.call(name, given, self.principal)
        if answer.structured is None:
            raise ToolFailed(answer.text)
        jsonschema.validate(answer.structured, BY_NAME[name].output_schema)
        return answer.structured

    async def attempt(self, name: str, /, **arguments: Any) -> Result | ToolFailed:
        """As `call`, for what may go either way: the failure is returned."""
        try:
            return await self.call(name, **arguments)
        except ToolFailed as failed:
            return failed

    async def folders(self, **arguments: Any) -> dict[str, Result]:
        """mail_list_folders: the rows by name."""
        listing = await self.call("mail_list_folders", **arguments)
        return {row["name"]: row for row in listing["folders"]}

    async def search(self, **arguments: Any) -> Result:
        """mail_search: one page."""
        return await self.call("mail_search", **arguments)

    async def search_all(self, **arguments: Any) -> tuple[list[Result], int]:
        """mail_search to its end: every row, and how many calls it took."""
        rows: list[Result] = []
        calls = 0
        cursor: dict[str, str] = {}
        while True:
            page = await self.search(**arguments, **cursor)
            calls += 1
            rows += page["messages"]
            assert page["complete"] is ("next_cursor" not in page)
            if page["complete"]:
                return rows, calls
            cursor = {"cursor": page["next_cursor"]}

    async def read(self, reference: Result, **arguments: Any) -> Result:
        """mail_read."""
        return await self.call("mail_read", reference=reference, **arguments)

    async def reference(self, uid: int, folder: str = "INBOX") -> Result:
        """The reference of a message, as a caller would have it from mail_search."""
        page = await self.search(folder=folder, limit=1)
        return {"folder": page["folder"], "uid_validity": page["uid_validity"], "uid": uid}

    async def aclose(self) -> None:
        """Close what the service keeps open."""
        await self.service.aclose()


def uids(rows: list[Result]) -> list[int]:
    """The UIDs of a page, in its order."""
    return [row["reference"]["uid"] for row in rows]


def subjects(rows: list[Result]) -> list[str]:
    """The subjects of a page, in its order."""
    return [row["untrusted"]["subject"] for row in rows]
