"""Who is measured: how each is started, and how each is asked for each job."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.contenders import mailbox
from bench.contenders.environments import Environments
from bench.contenders.process import Program, Running

OWNER = "owner@example.org"


@dataclass(frozen=True)
class Place:
    """Where the mailbox is. `plain_port` leads past TLS, for who cannot trust a private authority."""

    port: int
    plain_port: int
    user: str
    password: str
    ca_file: str
    folder: Path
    """For whatever a contender writes down."""


class WrongAnswer(Exception):
    """The job was answered, and the answer is not right. The sentence says how."""


class Contender(ABC):
    """One way to the mailbox. Each job is a method `do_<job>`; one that is missing cannot be asked for."""

    name: str
    tls = True
    remarks: Mapping[str, str] = {}

    def __init__(self, environments: Environments) -> None:
        self.environments = environments

    @abstractmethod
    def program(self, place: Place) -> Program:
        """How it is started."""

    async def start(self, place: Place) -> Running:
        """Start it, ready to be asked."""
        return await Running.start(self.program(place))

    async def do(self, job: str, running: Running, number: int, place: Place) -> None:
        """One call, judged. `number` counts the calls of this job."""
        await getattr(self, f"do_{job}")(running, number, place)

    def can(self, job: str) -> bool:
        """Whether it can be asked for that."""
        return hasattr(self, f"do_{job}")


def expect(text: str, *words: str) -> None:
    """`WrongAnswer` unless all of them are in the answer."""
    for word in words:
        if word not in text:
            raise WrongAnswer(f"lacks {word!r}")


def expect_file(octets: bytes) -> None:
    """`WrongAnswer` unless this is the attachment, octet by octet."""
    if hashlib.sha256(octets).hexdigest() != mailbox.FILE_DIGEST:
        raise WrongAnswer("other octets than were sent")


def newest(number: int) -> str:
    """The subject of the message that arrived just before."""
    return f"fresh arrival {number}"


class Mailgate(Contender):
    """This project, over stdio."""

    name = "mailgate"

    def environment(self, place: Place) -> dict[str, str]:
        """The variables that lead to the mailbox."""
        return {
            "MAIL_IMAP_HOST": "localhost",
            "MAIL_IMAP_PORT": str(place.port),
            "MAIL_IMAP_SECURITY": "tls",
            "MAIL_TLS_CA_FILE": place.ca_file,
            "MAIL_USERNAME": place.user,
            "MAIL_PASSWORD": place.password,
            "MAIL_FROM": OWNER,
            "MAIL_ENABLE_WRITES": "1",
            "MAIL_FOLDER_ROLES": "drafts=Drafts",
            "MAIL_MAX_RESULT_BYTES": str(16 * 1024 * 1024),
        }

    def program(self, place: Place) -> Program:
        return Program([sys.executable, "-m", "mailgate", "stdio"], {**self.environment(place), "PYTHONPATH": "."})

    async def do_list(self, running: Running, number: int, place: Place) -> None:
        expect(await running.call("mail_list_folders", {"include_counts": True}), *mailbox.FOLDERS)

    async def do_newest(self, running: Running, number: int, place: Place) -> None:
        expect(await running.call("mail_search", {}), newest(number))

    async def do_filter(self, running: Running, number: int, place: Place) -> None:
        text = await running.call("mail_search", {"from": mailbox.NEEDLE_FROM, "subject": mailbox.NEEDLE_SUBJECT})
        expect(text, *(f"{mailbox.NEEDLE_SUBJECT} {uid}" for uid in mailbox.FOUND))

    def _reference(self, uid: int) -> dict[str, Any]:
        return {"folder": "INBOX", "uid_validity": mailbox.UID_VALIDITY, "uid": uid}

    async def do_read(self, running: Running, number: int, place: Place) -> None:
        expect(await running.call("mail_read", {"reference": self._reference(mailbox.SMALL_UID)}), mailbox.CANARY)

    async def do_read20m(self, running: Running, number: int, place: Place) -> None:
        expect(await running.call("mail_read", {"reference": self._reference(mailbox.LARGE_UID)}), mailbox.LARGE_CANARY)

    async def do_attach2m(self, running: Running, number: int, place: Place) -> None:
        wanted = {"reference": self._reference(mailbox.LARGE_UID), "index": 2}
        result = await running.ask("tools/call", {"name": "mail_get_attachment", "arguments": wanted})
        if result.get("isError"):
            raise WrongAnswer(result["content"][0]["text"].splitlines()[0][:80])
        expect_file(base64.b64decode(result["structuredContent"]["untrusted"]["data_base64"]))

    async def do_mark(self, running: Running, number: int, place: Place) -> None:
        reference = self._reference(mailbox.FIRST_UNREAD + number)
        wanted = {"reference": reference, "operation": "add", "flags": ["\\Seen"]}
        expect(await running.call("mail_set_flags", wanted), "Seen")

    async def do_draft(self, running: Running, number: int, place: Place) -> None:
        message = {"to": [OWNER], "subject": f"draft {number}", "text": "Words."}
        expect(await running.call("mail_save_draft", {"message": message}), "done")


class McpEmailServer(Contender):
    """mcp-email-server, from PyPI."""

    name = "mcp-email-server"

    def program(self, place: Place) -> Program:
        settings = {
            "CONFIG_PATH": str(place.folder / "mcp-email-server.toml"),
            "ACCOUNT_NAME": "a",
            "EMAIL_ADDRESS": OWNER,
            "USER_NAME": place.user,
            "PASSWORD": place.password,
            "IMAP_HOST": "localhost",
            "IMAP_PORT": str(place.port),
            "IMAP_SSL": "true",
            "SMTP_HOST": "localhost",
            "SMTP_PORT": "1",
            "ENABLE_ATTACHMENT_DOWNLOAD": "true",
            "ACCOUNT_ALLOWED_MUTATIONS": "draft,organize,append",
            "ALLOWED_RECIPIENTS": OWNER,
        }
        environment = {f"MCP_EMAIL_SERVER_{name}": value for name, value in settings.items()}
        environment |= {"SSL_CERT_FILE": place.ca_file, "HOME": str(place.folder)}
        return Program([self.environments.python_program("mcp-email-server", "mcp-email-server"), "stdio"], environment)

    async def do_list(self, running: Running, number: int, place: Place) -> None:
        expect(await running.call("list_mailboxes", {"account_name": "a"}), *mailbox.FOLDERS)

    async def do_newest(self, running: Running, number: int, place: Place) -> None:
        expect(await running.call("list_emails_metadata", {"account_name": "a", "page_size": 25}), newest(number))

    async def do_filter(self, running: Running, number: int, place: Place) -> None:
        wanted = {"from_address": mailbox.NEEDLE_FROM, "subject": mailbox.NEEDLE_SUBJECT}
        text = await running.call("list_emails_metadata", {"account_name": "a", "page_size": 25, **wanted})
        expect(text, *(f"{mailbox.NEEDLE_SUBJECT} {uid}" for uid in mailbox.FOUND))

    async def _read(self, running: Running, uid: int) -> str:
        return await running.call("get_emails_content", {"account_name": "a", "email_ids": [str(uid)]})

    async def do_read(self, running: Running, number: int, place: Place) -> None:
        expect(await self._read(running, mailbox.SMALL_UID), mailbox.CANARY)

    async def do_read20m(self, running: Running, number: int, place: Place) -> None:
        expect(await self._read(running, mailbox.LARGE_UID), mailbox.LARGE_CANARY)

    async def do_attach2m(self, running: Running, number: int, place: Place) -> None:
        wanted = {"account_name": "a", "email_id": str(mailbox.LARGE_UID), "attachment_name": mailbox.FILE}
        text = await running.call("download_attachment", wanted)
        found = re.search(r'"saved_path":\s*"([^"]+)"', text)
        if found is None:
            raise WrongAnswer("names no file")
        expect_file(Path(found[1]).read_bytes())

    async def do_mark(self, running: Running, number: int, place: Place) -> None:
        uid = str(mailbox.FIRST_UNREAD + number)
        await running.call("mark_emails_as_read", {"account_name": "a", "email_ids": [uid]})

    async def do_draft(self, running: Running, number: int, place: Place) -> None:
        wanted = {"account_name": "a", "recipients": [OWNER], "subject": f"draft {number}", "body": "Words."}
        await running.call("save_draft", wanted)


class CodefuturistEmailMcp(Contender):
    """@codefuturist/email-mcp, from npm."""

    name = "@codefuturist/email-mcp"

    def program(self, place: Place) -> Program:
        environment = {
            "MCP_EMAIL_ADDRESS": OWNER,
            "MCP_EMAIL_USERNAME": place.user,
            "MCP_EMAIL_PASSWORD": place.password,
            "MCP_EMAIL_IMAP_HOST": "localhost",
            "MCP_EMAIL_IMAP_PORT": str(place.port),
            "MCP_EMAIL_SMTP_HOST": "localhost",
            "MCP_EMAIL_SMTP_PORT": "1",
            "HOME": str(place.folder),
            "XDG_CONFIG_HOME": str(place.folder),
            "NODE_EXTRA_CA_CERTS": place.ca_file,
        }
        return Program(self.environments.node_program("@codefuturist/email-mcp/dist/main.js"), environment)

    async def _call(self, running: Running, tool: str, **wanted: Any) -> str:
        return await running.call(tool, {"account": "default", **wanted})

    async def do_list(self, running: Running, number: int, place: Place) -> None:
        expect(await self._call(running, "list_mailboxes"), *mailbox.FOLDERS)

    async def do_newest(self, running: Running, number: int, place: Place) -> None:
        expect(await self._call(running, "list_emails", pageSize=25), newest(number))

    async def do_filter(self, running: Running, number: int, place: Place) -> None:
        wanted = {"from": mailbox.NEEDLE_FROM, "subject": mailbox.NEEDLE_SUBJECT, "pageSize": 25}
        text = await self._call(running, "list_emails", **wanted)
        expect(text, *(f"{mailbox.NEEDLE_SUBJECT} {uid}" for uid in mailbox.FOUND))

    async def do_read(self, running: Running, number: int, place: Place) -> None:
        expect(await self._call(running, "get_email", emailId=str(mailbox.SMALL_UID)), mailbox.CANARY)

    async def do_read20m(self, running: Running, number: int, place: Place) -> None:
        expect(await self._call(running, "get_email", emailId=str(mailbox.LARGE_UID)), mailbox.LARGE_CANARY)

    async def do_attach2m(self, running: Running, number: int, place: Place) -> None:
        text = await self._call(running, "download_attachment", id=str(mailbox.LARGE_UID), filename=mailbox.FILE)
        found = max(re.findall(r"[A-Za-z0-9+/=\r\n]{100,}", text), key=len, default="")
        expect_file(base64.b64decode(found))

    async def do_mark(self, running: Running, number: int, place: Place) -> None:
        await self._call(running, "mark_email", id=str(mailbox.FIRST_UNREAD + number), action="read")

    async def do_draft(self, running: Running, number: int, place: Place) -> None:
        await self._call(running, "save_draft", to=[OWNER], subject=f"draft {number}", body="Words.")


class McpMailServer(Contender):
    """mcp-mail-server, from npm."""

    name = "mcp-mail-server"
    remarks: Mapping[str, str] = {
        "filter": "the sender alone: it has no filter for two things",
    }

    def program(self, place: Place) -> Program:
        environment = {
            "IMAP_HOST": "localhost",
            "IMAP_PORT": str(place.port),
            "IMAP_SECURE": "true",
            "SMTP_HOST": "localhost",
            "SMTP_PORT": "1",
            "SMTP_SECURE": "true",
            "EMAIL_USER": place.user,
            "EMAIL_PASS": place.password,
            "HOME": str(place.folder),
        }
        return Program(self.environments.node_program("mcp-mail-server/dist/index.js"), environment)

    async def do_list(self, running: Running, number: int, place: Place) -> None:
        expect(await running.call("list_mailboxes", {}), "Drafts")

    async def do_newest(self, running: Running, number: int, place: Place) -> None:
        expect(await running.call("get_recent_messages", {"limit": 25}), newest(number))

    async def do_filter(self, running: Running, number: int, place: Place) -> None:
        text = await running.call("search_by_sender", {"sender": mailbox.NEEDLE_FROM, "inboxOnly": True})
        expect(text, *(f"{mailbox.NEEDLE_SUBJECT} {uid}" for uid in mailbox.FOUND))

    async def do_read(self, running: Running, number: int, place: Place) -> None:
        expect(await running.call("get_message", {"uid": mailbox.SMALL_UID}), mailbox.CANARY)

    async def do_read20m(self, running: Running, number: int, place: Place) -> None:
        expect(await running.call("get_message", {"uid": mailbox.LARGE_UID}), mailbox.LARGE_CANARY)

    async def do_attach2m(self, running: Running, number: int, place: Place) -> None:
        wanted = {"uid": mailbox.LARGE_UID, "savePath": str(place.folder), "attachmentIndex": 1}
        await running.call("save_attachment", wanted)
        expect_file((place.folder / mailbox.FILE).read_bytes())
        (place.folder / mailbox.FILE).unlink()

    async def do_mark(self, running: Running, number: int, place: Place) -> None:
        await running.call("get_message", {"uid": mailbox.FIRST_UNREAD + number, "markSeen": True})


class _HandWritten(Contender):
    """Code of ours with a library, as direct as it can be: no server, no checks, no limits."""

    def __init_subclass__(cls) -> None:
        for job in ("list", "newest", "filter", "read", "read20m", "attach2m", "mark", "draft"):
            setattr(cls, f"do_{job}", _by_hand(job))

    def environment(self, place: Place) -> dict[str, str]:
        """The variables that lead to the mailbox."""
        return {
            "BENCH_PORT": str(place.port),
            "BENCH_USER": place.user,
            "BENCH_PASSWORD": place.password,
            "BENCH_CA": place.ca_file,
            "NODE_EXTRA_CA_CERTS": place.ca_file,
            "HOME": str(place.folder),
        }


def _by_hand(job: str) -> Any:
    async def do(self: Contender, running: Running, number: int, place: Place) -> None:
        wanted = {
            "job": job,
            "small": mailbox.SMALL_UID,
            "large": mailbox.LARGE_UID,
            "unread": mailbox.FIRST_UNREAD + number,
            "from": mailbox.NEEDLE_FROM,
            "subject": mailbox.NEEDLE_SUBJECT,
        }
        answer = await running.ask("job", wanted)
        if job == "attach2m":
            if answer["digest"] != mailbox.FILE_DIGEST:
                raise WrongAnswer("other octets than were sent")
            return
        text = json.dumps(answer)
        words = {
            "list": list(mailbox.FOLDERS),
            "newest": [newest(number)],
            "filter": [f"{mailbox.NEEDLE_SUBJECT} {uid}" for uid in mailbox.FOUND],
            "read": [mailbox.CANARY],
            "read20m": [mailbox.LARGE_CANARY],
        }
        expect(text, *words.get(job, []))

    return do


class ByImapClient(_HandWritten):
    """imapclient."""

    name = "by hand: imapclient"

    def program(self, place: Place) -> Program:
        script = str(Path(__file__).with_name("by_imapclient.py"))
        return Program([self.environments.python("imapclient"), script], self.environment(place), hello=False)


class ByImapFlow(_HandWritten):
    """imapflow."""

    name = "by hand: imapflow"

    def program(self, place: Place) -> Program:
        script = str(self.environments.beside_packages("by_imapflow.mjs"))
        return Program([self.environments.node(), script], self.environment(place), hello=False)
