"""The commands as a user runs them: a process of its own, its own environment, its own folder."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mailgate import __version__
from mailgate.settings_variables import VARIABLES

ROOT = Path(__file__).parent.parent
CANARY = "canary-77-secret"
MAILBOX = {"MAIL_IMAP_HOST": "127.0.0.1", "MAIL_USERNAME": "owner", "MAIL_PASSWORD": CANARY}


def run(
    *arguments: str, cwd: Path, env: dict[str, str] | None = None, seconds: float = 60
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mailgate", *arguments],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "HOME": str(cwd), **(env or {})},
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
        stdin=subprocess.DEVNULL,
    )


# --- help ------------------------------------------------------------------------------------------------------


def test_help_lists_the_commands_that_exist(tmp_path: Path) -> None:
    answer = run("--help", cwd=tmp_path)
    assert answer.returncode == 0
    for command in ("serve", "stdio", "demo", "token", "keygen", "config", "doctor"):
        assert f"    {command}" in answer.stdout


def test_help_loads_none_of_the_heavy_libraries(tmp_path: Path) -> None:
    code = "import sys, mailgate.cli; print({'mcp', 'pydantic', 'uvicorn', 'asyncio'} & set(sys.modules))"
    answer = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == "set()"


def test_the_version_is_the_package_version(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout.strip() == f"mailgate {__version__}"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("doctor", "--env-file", "absent"),
        ("serve", "--port", "65536"),
        ("serve", "--port", "８"),
        ("stdio", "--scopes", "mail.admin"),
        ("token", "--scopes", ""),
        ("demo", "--stdio", "--check"),
        ("config", "--env-file", "absent"),
    ],
)
def test_wrong_arguments_exit_2_with_the_usage(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    answer = run(*arguments, cwd=tmp_path)
    assert answer.returncode == 2
    assert "usage: mailgate" in answer.stderr


# --- token and keygen ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "scopes"),
    [
        ((), "mail.read+mail.write+mail.send"),
        (("--scopes", "mail.read"), "mail.read"),
        (("--scopes", "mail.write,mail.read"), "mail.read+mail.write"),
    ],
)
def test_token_prints_a_token_and_the_entry_that_lets_it_in(
    tmp_path: Path, arguments: tuple[str, ...], scopes: str
) -> None:
    answer = run("token", *arguments, cwd=tmp_path)
    assert answer.returncode == 0
    (token,) = re.findall(r"^(mg_\S+)$", answer.stdout, re.MULTILINE)
    assert len(base64.urlsafe_b64decode(token.removeprefix("mg_") + "=")) == 32
    assert f"MAIL_TOKENS={hashlib.sha256(token.encode()).hexdigest()}:{scopes}\n" in answer.stdout


def test_tokens_and_keys_are_fresh_each_time(tmp_path: Path) -> None:
    for command in ("token", "keygen"):
        assert run(command, cwd=tmp_path).stdout != run(command, cwd=tmp_path).stdout


def test_keygen_prints_a_key_that_the_settings_take(tmp_path: Path) -> None:
    key = run("keygen", cwd=tmp_path).stdout.strip()
    assert len(base64.b64decode(key, validate=True)) == 32
    assert run("config", cwd=tmp_path, env={"MAIL_STORE_KEY": key}).returncode == 0


# --- config ----------------------------------------------------------------------------------------------------


def test_config_prints_every_variable_with_its_source_and_no_secret(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MAIL_LOG_LEVEL=debug\nMAIL_USERNAME=not-this-one\n")
    env = {
        **MAILBOX,
        "MAIL_PROVIDER": "posteo",
        "MAIL_STORE": f"rediss://u:{CANARY}@cache.example.com",
        "MAIL_STORE_KEY": base64.b64encode(CANARY.ljust(32).encode()).decode(),
    }
    answer = run("config", cwd=tmp_path, env=env)
    assert answer.returncode == 0
    rows = dict(re.findall(r"^(\S+) +(.*)$", answer.stdout, re.MULTILINE))
    assert list(rows) == list(VARIABLES)
    assert rows["MAIL_PASSWORD"] == "set (masked)  [environment]"
    assert rows["MAIL_STORE"] == "rediss://***@cache.example.com  [environment]"
    assert rows["MAIL_LOG_LEVEL"] == "debug  [.env]"
    assert rows["MAIL_USERNAME"] == "owner  [environment]"
    assert rows["MAIL_SMTP_HOST"] == "posteo.de  [preset:posteo]"
    assert rows["MAIL_IMAP_CONNECTIONS"] == "2  [default]"
    assert CANARY not in answer.stdout + answer.stderr


def test_config_says_what_is_missing_and_that_http_would_not_start(tmp_path: Path) -> None:
    answer = run("config", cwd=tmp_path)
    assert answer.returncode == 0
    assert "MAIL_IMAP_HOST, MAIL_USERNAME, MAIL_PASSWORD" in answer.stderr
    assert "MAIL_TOKENS" in answer.stderr


def test_an_env_file_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "work.env").write_text("MAIL_LOG_LEVEL=error\n")
    (tmp_path / ".env").write_text("MAIL_LOG_LEVEL=debug\n")
    assert "error  [.env]" in run("config", "--env-file", "work.env", cwd=tmp_path).stdout


def test_no_env_file_is_read_on_a_host_without_a_disk(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MAIL_LOG_LEVEL=debug\n")
    assert "[.env]" not in run("config", cwd=tmp_path, env={"VERCEL": "1"}).stdout


# --- refusals --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["serve", "stdio", "config"])
def test_bad_settings_exit_1_with_all_problems_on_stderr_and_no_value(tmp_path: Path, command: str) -> None:
    env = {"MAIL_IMAP_PORT": CANARY, "MAIL_FROM": CANARY, "MAIL_TOKENS": CANARY, "MAIL_ENABLE_SEND": "1"}
    answer = run(command, cwd=tmp_path, env=env)
    assert answer.returncode == 1
    assert answer.stdout == ""
    for name in ("MAIL_IMAP_PORT", "MAIL_FROM", "MAIL_TOKENS", "MAIL_SMTP_HOST"):
        assert f"  - {name}" in answer.stderr or f"but {name}" in answer.stderr
    assert CANARY not in answer.stderr


def test_serve_without_a_way_to_know_callers_does_not_start(tmp_path: Path) -> None:
    answer = run("serve", "--port", "0", cwd=tmp_path, env=MAILBOX)
    assert answer.returncode == 1
    assert "MAIL_TOKENS" in answer.stderr


def test_warnings_go_to_stderr(tmp_path: Path) -> None:
    answer = run("config", cwd=tmp_path, env={"MAIL_ENABLE_SEND": "true"})
    assert "warning: MAIL_ENABLE_SEND" in answer.stderr


def test_start_up_warnings_are_log_lines_of_a_server(tmp_path: Path) -> None:
    answer = run("stdio", cwd=tmp_path, env={"MAIL_ENABLE_SEND": "true"})
    (event,) = [json.loads(line) for line in answer.stderr.splitlines()]
    assert event["level"] == "warning"
    assert "MAIL_ENABLE_SEND" in event["event"]


def test_stdio_ends_with_its_input_and_does_not_read_the_folders_dotenv(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MAIL_IMAP_PORT=nonsense\n")
    answer = run("stdio", cwd=tmp_path)
    assert answer.returncode == 0
    assert answer.stdout == ""
    assert "--env-file" in answer.stderr


# --- servers ---------------------------------------------------------------------------------------------------


def start(*arguments: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "mailgate", *arguments],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "HOME": str(cwd), **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_serve_says_where_it_listens_and_ends_on_ctrl_c(tmp_path: Path) -> None:
    entry = hashlib.sha256(b"x").hexdigest() + ":mail.read"
    process = start("serve", "--port", "0", cwd=tmp_path, env={"MAIL_TOKENS": entry})
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "serving http://127.0.0.1:" in line)
        assert re.search(r"http://127\.0\.0\.1:[1-9][0-9]*/mcp", json.loads(line)["event"])
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("command", ["serve", "demo"])
def test_a_port_that_is_taken_ends_the_command_with_1_and_no_traceback(tmp_path: Path, command: str) -> None:
    entry = hashlib.sha256(b"x").hexdigest() + ":mail.read"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        answer = run(command, "--port", port, cwd=tmp_path, env={"MAIL_TOKENS": entry})
    assert answer.returncode == 1
    assert "in use" in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_demo_prints_what_clients_need_and_ends_cleanly(tmp_path: Path, ending: signal.Signals) -> None:
    process = start("demo", "--port", "0", cwd=tmp_path)
    try:
        assert process.stdout is not None
        printed = []
        for line in process.stdout:
            printed.append(line)
            if "Ctrl-C" in line:
                break
        text = "".join(printed)
        process.send_signal(ending)
        rest, errors = process.communicate(timeout=30)
        assert (process.returncode, errors) == (0, "")
        assert "Traceback" not in rest
    finally:
        process.kill()
        process.communicate()
    (endpoint,) = set(re.findall(r"http://127\.0\.0\.1:[0-9]+/mcp", text))
    (token,) = set(re.findall(r"mg_[A-Za-z0-9_-]{43}", text))
    assert f"claude mcp add --transport http mailgate-demo {endpoint} --header 'Authorization: Bearer {token}'" in text
    assert '"servers"' in text
    assert '"mcpServers"' in text
    assert '"demo"' in text
    assert '"--stdio"' in text


def test_the_demo_works_in_both_eras_and_over_stdio() -> None:
    # In the project's folder: the stdio server is started by the client, with an environment of the client's making.
    answer = run("demo", "--check", cwd=ROOT, seconds=120)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    for way in ("http, initialize era", "http, 2026-07-28", "stdio, initialize era", "stdio, 2026-07-28"):
        for step in ("tools", "capabilities", "folders", "search", "read", "attachment"):
            assert f"ok   {way}: {step}: " in answer.stdout
    assert "ok   http, no token: refused" in answer.stdout
    assert "FAIL" not in answer.stdout
    assert answer.stderr == ""
