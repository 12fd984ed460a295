"""The composition root."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import pytest

from bench.cold_start import TOKEN
from mailgate.app import build_app, build_mailbox, build_service
from mailgate.imap.mailbox import Mailbox
from mailgate.settings import SettingsError
from tests.server.fakes import ENVIRONMENT, settings, unconfigured


def test_without_a_token_there_is_no_http_application() -> None:
    with pytest.raises(SettingsError) as caught:
        build_app(settings(MAIL_TOKENS=""))
    assert "MAIL_TOKENS" in caught.value.problems[0]


def test_a_complete_configuration_names_a_mailbox_and_connects_to_nothing() -> None:
    service = build_service(settings())
    assert isinstance(service.mailbox, Mailbox)
    connected = service.dispatcher.backend.connected
    assert connected is not None
    assert connected.mailbox is service.mailbox


async def test_a_mailbox_that_no_call_has_needed_is_neither_made_nor_closed() -> None:
    service = build_service(settings())
    await service.aclose()
    connected = service.dispatcher.backend.connected
    assert connected is not None
    assert connected.used is None


LAZY = ("redis", "upstash_redis", "httpx", "aiosmtplib", "aioimaplib", "cryptography", "sqlite3", "selectolax",
        "html2text", "jwt", "dotenv", "mailgate.read", "mailgate.send", "mailgate.mime")  # fmt: skip


def test_listing_the_tools_loads_nothing_that_only_calls_need() -> None:
    script = (
        "import sys, mcp.server.lowlevel; before = set(sys.modules)\n"
        "from bench.cold_start import ours; import asyncio, json; asyncio.run(ours())\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    tokens = {"MAIL_TOKENS": f"{hashlib.sha256(TOKEN.encode()).hexdigest()}:mail.read"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**ENVIRONMENT, **tokens, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = json.loads(done.stdout)
    assert [name for name in loaded if name.startswith(LAZY)] == []


FIRST_CALLS = """
import asyncio, json, sys
from mailgate.app import build_service
from mailgate.cli_demo import demo_settings
from mailgate.policy import Principal, Scope
async def main():
    async with demo_settings("x" * 43) as settings:
        service = build_service(settings)
        service.warm_up()
        before = set(sys.modules)
        owner = Principal("local", "owner", frozenset({Scope.READ}))
        page = await service.dispatcher.call("mail_search", {}, owner)
        read = {"reference": page.structured["messages"][0]["reference"]}
        await service.dispatcher.call("mail_read", read, owner)
        await service.dispatcher.call("mail_list_folders", {}, owner)
        await service.aclose()
        print(json.dumps(sorted(name for name in set(sys.modules) - before if name.startswith("mailgate"))))
asyncio.run(main())
"""


def test_after_warming_up_the_first_calls_load_nothing_of_ours() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


def test_without_a_mailbox_there_is_nothing_to_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailgate.app._load", pytest.fail)
    build_service(unconfigured()).warm_up()


def test_an_incomplete_configuration_names_none() -> None:
    assert build_mailbox(unconfigured()) is None
    assert build_service(unconfigured()).dispatcher.backend.connected is None


async def test_a_service_closes_whether_or_not_it_was_used() -> None:
    await build_service(settings()).aclose()
    await build_service(unconfigured()).aclose()


def test_two_processes_of_one_deployment_understand_each_others_cursors() -> None:
    keys = []
    for _ in range(2):
        connected = build_service(settings(MAIL_STORE_KEY="a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2V5a2U=")).dispatcher
        assert connected.backend.connected is not None
        codec = connected.backend.connected.cursors
        codec.prepare()
        keys.append(codec._key)
    assert keys[0] == keys[1]


def run_asgi(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    script = "import mailgate.asgi; print(type(mailgate.asgi.app).__name__)"
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_asgi_module_builds_the_application_from_the_environment() -> None:
    done = run_asgi({"HOME": "/nonexistent", "MAIL_TOKENS": ENVIRONMENT["MAIL_TOKENS"]})
    assert (done.returncode, done.stdout) == (0, "HttpSurface\n"), done.stderr


def test_the_asgi_module_ends_with_every_problem_and_no_traceback() -> None:
    done = run_asgi({"HOME": "/nonexistent", "MAIL_IMAP_PORT": "none", "MAIL_LOG_LEVEL": "loud"})
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for name in ("MAIL_IMAP_PORT", "MAIL_LOG_LEVEL", "MAIL_TOKENS"):
        assert name in done.stderr
