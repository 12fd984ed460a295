"""The smoke script: content with a server as it should be, and never with one that is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.servers import ROOT, TOKEN, in_oauth_mode, mailbox_environment, serving, token_entry
from tests.peers.demo import DemoPeer, DemoUser

SCRIPT = ROOT / "deploy" / "smoke"
READING = {"CAPABILITY", "LOGIN", "AUTHENTICATE", "ID", "ENABLE", "NAMESPACE", "LIST", "NOOP", "LOGOUT"}
NO_ANSWER = "http://127.0.0.1:1/mcp"


@pytest.fixture(scope="module")
def peer() -> Iterator[DemoPeer]:
    peer = DemoPeer()
    try:
        yield peer
    finally:
        peer.stop()


@pytest.fixture
def user(peer: DemoPeer) -> DemoUser:
    return peer.new_user()


@pytest.fixture(scope="module")
def endpoint(peer: DemoPeer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a mailbox and a token for everything, and no gate open."""
    folder = tmp_path_factory.mktemp("serve")
    with serving(folder, mailbox_environment(peer.new_user())) as endpoint:
        yield endpoint


def smoke(*arguments: str, token: str | None = TOKEN) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "PYTHON": sys.executable}
    if token is not None:
        environment["MAILGATE_TOKEN"] = token
    return subprocess.run(
        [str(SCRIPT), *arguments], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def failed(answer: subprocess.CompletedProcess[str]) -> list[str]:
    return [line[5:].partition(":")[0] for line in answer.stdout.splitlines() if line.startswith("FAIL ")]


def test_every_check_passes_against_a_server_as_it_should_be(endpoint: str) -> None:
    answer = smoke(endpoint)
    lines = answer.stdout.splitlines()
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert len(lines) == 14
    assert all(line.startswith("ok   ") for line in lines), answer.stdout


def test_it_changes_nothing_and_never_prints_the_token(tmp_path: Path, user: DemoUser) -> None:
    gates = {"MAIL_ENABLE_WRITES": "1", "MAIL_ENABLE_DELETE": "1"}
    with serving(tmp_path, {**mailbox_environment(user), **gates}) as endpoint:
        answer = smoke(endpoint)
    assert answer.returncode == 0, answer.stdout
    sent = {command.name for command in user.commands()}
    assert "LOGIN" in sent or "AUTHENTICATE" in sent
    assert sent <= READING
    assert TOKEN not in answer.stdout + answer.stderr
    assert "open gates: writes, delete" in answer.stdout


def test_a_token_that_may_only_read_is_enough(tmp_path: Path, user: DemoUser) -> None:
    environment = {**mailbox_environment(user), "MAIL_TOKENS": token_entry("mail.read")}
    with serving(tmp_path, environment) as endpoint:
        assert smoke(endpoint).returncode == 0


def test_in_oauth_mode_the_metadata_is_followed(tmp_path: Path, user: DemoUser) -> None:
    with in_oauth_mode(tmp_path, {**mailbox_environment(user), "MAIL_ENABLE_WRITES": "1"}) as endpoint:
        answer = smoke(endpoint)
    assert answer.returncode == 0, answer.stdout
    assert "ok   no token: 401, scope mail.read mail.write" in answer.stdout
    assert "ok   metadata: both locations, one document" in answer.stdout


def test_a_public_url_that_is_not_the_one_that_clients_use_is_found(tmp_path: Path, user: DemoUser) -> None:
    elsewhere = {"MAIL_PUBLIC_URL": "https://mail.example.com/mcp"}
    with in_oauth_mode(tmp_path, {**mailbox_environment(user), **elsewhere}) as endpoint:
        answer = smoke(endpoint)
    assert failed(answer) == ["metadata"]
    assert "MAIL_PUBLIC_URL" in answer.stdout


def test_a_wrong_token_fails_and_is_named_as_the_cause(endpoint: str) -> None:
    answer = smoke(endpoint, token="mg_somebody-elses")
    assert answer.returncode == 1
    assert len(failed(answer)) == 6
    assert answer.stdout.count("the token in MAILGATE_TOKEN is not accepted") == 6
    assert "mg_somebody-elses" not in answer.stdout + answer.stderr


def test_a_server_without_a_mailbox_fails_and_its_missing_variables_are_named(tmp_path: Path) -> None:
    with serving(tmp_path, {}) as endpoint:
        answer = smoke(endpoint)
    assert answer.returncode == 1
    assert "FAIL readyz: not configured, missing: MAIL_IMAP_HOST, MAIL_USERNAME, MAIL_PASSWORD" in answer.stdout
    assert failed(answer) == ["readyz", "mail_capabilities 2025-11-25", "mail_capabilities 2026-07-28"]


def test_a_mail_server_that_refuses_the_login_fails(tmp_path: Path, user: DemoUser) -> None:
    environment = {**mailbox_environment(user), "MAIL_PASSWORD": "wrong"}
    with serving(tmp_path, environment) as endpoint:
        answer = smoke(endpoint)
    assert failed(answer) == ["mail_capabilities 2025-11-25", "mail_capabilities 2026-07-28"]


def test_health_checks_can_be_left_out(endpoint: str) -> None:
    answer = smoke("--without-health", endpoint)
    assert answer.returncode == 0
    assert answer.stdout.splitlines()[:2] == ["skip healthz: --without-health", "skip readyz: --without-health"]


def test_where_nobody_answers_it_fails() -> None:
    answer = smoke(NO_ANSWER)
    assert answer.returncode == 1
    assert "ok   wrong Host" not in answer.stdout, "a server that is not there has refused nothing"
    assert "no answer" in answer.stdout


@pytest.mark.parametrize("token", [None, "", "two words", "line\nbreak", '"quoted"'])
def test_without_a_usable_token_nothing_is_sent(token: str | None) -> None:
    answer = smoke(NO_ANSWER, token=token)
    assert answer.returncode == 2
    assert "MAILGATE_TOKEN" in answer.stderr
    assert answer.stdout == ""


@pytest.mark.parametrize(
    "url",
    [
        "http://mail.example.com/mcp",
        "ftp://127.0.0.1/mcp",
        "https://user:secret@mail.example.com/mcp",
        "https://mail.example.com/mcp?access_token=x",
        "https:///mcp",
        "https://mail.example.com:99999/mcp",
        "mail.example.com/mcp",
    ],
)
def test_a_token_is_sent_to_no_doubtful_address(url: str) -> None:
    answer = smoke(url)
    assert answer.returncode == 2
    assert "secret" not in answer.stderr.replace(url, "")
