"""sc-imap-mcp, from PyPI. It speaks TLS on port 993 alone, so it is measured in plaintext and to that floor."""

from __future__ import annotations

import json
from collections.abc import Mapping

from bench.contenders import mailbox
from bench.contenders.contenders import Contender, Place, expect, expect_file, newest
from bench.contenders.process import Program, Running

_RIGHTS = dict.fromkeys(("mark_seen", "move_out", "accept_incoming", "draft_append", "draft_edit"), True)


class ScImapMcp(Contender):
    """It is configured by files, which are JSON here: YAML has it as a subset."""

    name = "sc-imap-mcp"
    tls = False
    remarks: Mapping[str, str] = {
        "newest": "the last seven days, oldest first",
    }

    def program(self, place: Place) -> Program:
        folder = place.folder / "sc-imap-mcp"
        (folder / "policies").mkdir(parents=True, exist_ok=True)
        (folder / "secrets/accounts/a").mkdir(parents=True, exist_ok=True)
        (folder / "files").mkdir(exist_ok=True)
        account = {"id": "a", "host": "127.0.0.1", "port": place.plain_port, "user": place.user}
        account["auth"] = {"type": "password", "secret_ref": "secret://accounts/a/password"}
        accounts = {
            "accounts": [account],
            "secret_store": {"backend": "file_dir", "path": str(folder / "secrets")},
            "audit": {"directory": str(folder / "audit")},
            "wal": {"path": str(folder / "wal.db")},
            "attachment_sink": {"directory": str(folder / "files")},
        }
        policies = [
            {"path": path, "mode": "blacklist", "default": "FULL", **_RIGHTS} for path in ("INBOX", *mailbox.FOLDERS)
        ]
        caller = {"id": "bench", "policy": "bench", "auth": {"type": "stdio_trusted"}}
        files = {
            "accounts.yaml": accounts,
            "callers.yaml": {"callers": [caller]},
            "policies/bench.yaml": {"name": "bench", "accounts": {"a": policies}},
        }
        for name, content in files.items():
            (folder / name).write_text(json.dumps(content))
        (folder / "secrets/accounts/a/password").write_text(place.password)
        environment = {"IMAP_MCP_CONFIG_DIR": str(folder), "IMAP_MCP_CALLER_ID": "bench", "HOME": str(place.folder)}
        command = [self.environments.python_program("sc-imap-mcp", "imap-mcp"), "--transport", "stdio"]
        return Program(command, environment)

    async def _call(self, running: Running, tool: str, folder: str = "INBOX", **wanted: object) -> str:
        return await running.call(tool, {"account": "a", "folder": folder, **wanted})

    async def do_list(self, running: Running, number: int, place: Place) -> None:
        expect(await running.call("list_folders", {"account": "a"}), *mailbox.FOLDERS)

    async def do_newest(self, running: Running, number: int, place: Place) -> None:
        expect(await self._call(running, "list_messages", limit=25), newest(number))

    async def do_filter(self, running: Running, number: int, place: Place) -> None:
        criteria = {"from": mailbox.NEEDLE_FROM, "subject_contains": mailbox.NEEDLE_SUBJECT}
        text = await self._call(running, "list_messages", criteria=criteria, scope="all", limit=25)
        expect(text, *(f"{mailbox.NEEDLE_SUBJECT} {uid}" for uid in mailbox.FOUND))

    async def do_read(self, running: Running, number: int, place: Place) -> None:
        expect(await self._call(running, "fetch_body", uid=mailbox.SMALL_UID), mailbox.CANARY)

    async def do_read20m(self, running: Running, number: int, place: Place) -> None:
        expect(await self._call(running, "fetch_body", uid=mailbox.LARGE_UID), mailbox.LARGE_CANARY)

    async def do_attach2m(self, running: Running, number: int, place: Place) -> None:
        await self._call(running, "fetch_attachment", uid=mailbox.LARGE_UID, part_id=1)
        written = [path for path in (place.folder / "sc-imap-mcp/files").rglob("*") if path.is_file()]
        expect_file(max(written, key=lambda path: path.stat().st_mtime).read_bytes())

    async def do_mark(self, running: Running, number: int, place: Place) -> None:
        expect(await self._call(running, "mark_seen", uid=mailbox.FIRST_UNREAD + number, seen=True), "OK")

    async def do_draft(self, running: Running, number: int, place: Place) -> None:
        rfc822 = f"From: owner@example.org\r\nTo: owner@example.org\r\nSubject: draft {number}\r\n\r\nWords.\r\n"
        expect(await self._call(running, "create_draft", "Drafts", rfc822=rfc822), "OK")
