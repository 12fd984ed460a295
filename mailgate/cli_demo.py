"""`mailgate demo`: the embedded mailbox and SMTP server, and the real server in front of them, in one process.

All listen on loopback only, login and token are made anew each time, and nothing leaves the machine: what is sent, to
whomever, arrives in the demo's own INBOX.
"""

from __future__ import annotations

import asyncio
import secrets
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from mailgate import cli_clients, cli_demo_check
from mailgate.app import build_app, build_service
from mailgate.cli_credentials import new_token, token_entry
from mailgate.cli_web import QuietServer, http_config, listen
from mailgate.demo.mail.compose import OWNER
from mailgate.demo.seed import seed_mailbox
from mailgate.demo.server import DemoServer
from mailgate.demo.smtp_sink import DemoSmtpServer
from mailgate.policy import ALL_SCOPES
from mailgate.server.stdio import serve_stdio as serve_dispatcher
from mailgate.server.telemetry import configure_logging
from mailgate.settings import Settings, load_settings

HOST = "127.0.0.1"
DRAIN_SECONDS = 5.0
USERNAME = OWNER.rpartition("<")[2].rstrip(">")


def stdio_command() -> list[str]:
    """The command a client runs for the demo over stdio, with this very interpreter."""
    return [sys.executable, "-m", "mailgate", "demo", "--stdio"]


def serve_http(port: int) -> int:
    """Serves until Ctrl-C, after printing what a client needs."""
    return asyncio.run(_serve_http(port))


def serve_stdio() -> int:
    """Serves the client that started this process."""
    return asyncio.run(_serve_stdio())


def check(port: int) -> int:
    """Walks through the demo with the official client, a line a step; 0 when every step did what it should."""
    return asyncio.run(_check(port))


@asynccontextmanager
async def demo_settings(token: str) -> AsyncIterator[Settings]:
    """Settings for an embedded mailbox and its SMTP server, which run until the end of the block."""
    password = secrets.token_urlsafe(16)
    mails = seed_mailbox(datetime.now(UTC))
    imap = DemoServer(mails, username=USERNAME, password=password)
    smtp = DemoSmtpServer(mails, username=USERNAME, password=password)
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="mailgate-demo-"))
        host, port = await imap.start(HOST)
        stack.push_async_callback(imap.stop)
        _, smtp_port = await smtp.start(HOST)
        stack.push_async_callback(smtp.stop)
        yield load_settings(
            {
                "MAIL_IMAP_HOST": host,
                "MAIL_IMAP_PORT": str(port),
                "MAIL_IMAP_SECURITY": "plaintext",
                "MAIL_USERNAME": USERNAME,
                "MAIL_PASSWORD": password,
                "MAIL_SMTP_HOST": host,
                "MAIL_SMTP_PORT": str(smtp_port),
                "MAIL_SMTP_SECURITY": "plaintext",
                "MAIL_FROM": OWNER,
                "MAIL_ENABLE_WRITES": "1",
                "MAIL_ENABLE_SEND": "1",
                "MAIL_STORE": f"sqlite:{Path(directory) / 'store.sqlite3'}",
                "MAIL_TOKENS": token_entry(token, ALL_SCOPES),
                "MAIL_LOG_FORMAT": "console",
                "MAIL_LOG_LEVEL": "warning",
            },
            http=True,
        )


@asynccontextmanager
async def running(token: str, port: int) -> AsyncIterator[tuple[str, QuietServer, asyncio.Task[None]]]:
    """The demo over HTTP: its endpoint, the server, and the task it runs in, until the end of the block."""
    async with demo_settings(token) as settings:
        configure_logging(settings.log_level, settings.log_format)
        config = http_config(build_app(settings), host=HOST, port=port, drain_seconds=DRAIN_SECONDS)
        listening, bound = listen(config)
        server = QuietServer(config)
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            yield f"http://{HOST}:{bound}/mcp", server, serving
        finally:
            server.should_exit = True
            await serving


async def _serve_http(port: int) -> int:
    token = new_token()
    async with running(token, port) as (endpoint, server, serving):
        for ending in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(ending, server.handle_exit, ending, None)
        _say(_welcome(endpoint, token))
        await serving
    _say("The demo has ended; its mailbox is gone.")
    return 0


async def _serve_stdio() -> int:
    async with demo_settings(new_token()) as settings:
        configure_logging(settings.log_level, settings.log_format)
        service = build_service(settings)
        try:
            await serve_dispatcher(service.dispatcher, ALL_SCOPES)
        finally:
            await service.aclose()
    return 0


async def _check(port: int) -> int:
    token = new_token()
    async with running(token, port) as (endpoint, _, _):
        passed = await cli_demo_check.check_http(endpoint, token, _say)
    passed &= await cli_demo_check.check_stdio(stdio_command(), _say)
    _say("all steps passed" if passed else "the demo does NOT work as it should")
    return 0 if passed else 1


def _welcome(endpoint: str, token: str) -> str:
    parts: Sequence[tuple[str, str]] = (
        ("Claude Code", cli_clients.claude_code_http(endpoint, token)),
        ("VS Code, .vscode/mcp.json", cli_clients.vs_code(endpoint, token)),
        ("Other clients over HTTP", cli_clients.generic_http(endpoint, token)),
        ("Claude Code over stdio", cli_clients.claude_code_stdio(stdio_command())),
        ("Other clients over stdio", cli_clients.generic_stdio(stdio_command())),
    )
    head = (
        "mailgate demo: a mailbox with sample mail, in this process. Nothing leaves the machine.\n\n"
        f"  endpoint  {endpoint}\n  token     {token}\n"
    )
    return head + "".join(f"\n{title}:\n\n{text}\n" for title, text in parts) + "\nCtrl-C ends it."


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
