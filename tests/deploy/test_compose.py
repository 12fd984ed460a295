"""The compose file: what runs, who reaches whom, and that the store's options are understood."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redis

from mailgate.settings import load_settings
from tests.conftest import missing_peer
from tests.deploy.dockerfile import stages
from tests.deploy.plain_yaml import parse_yaml
from tests.deploy.servers import ROOT, token_entry
from tests.deploy.test_image_steps import IMAGE
from tests.peers.processes import Child, free_ports, wait_until
from tests.peers.redis_server import redis_binary

FOLDER = ROOT / "deploy" / "compose"
COMPOSE: dict[str, Any] = parse_yaml((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
EXAMPLE = dict(
    line.partition("=")[::2]
    for line in (FOLDER / "mailgate.env.example").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)
PASSWORD = "canary-store-password"
SERVICE_KEYS = {
    "build", "image", "restart", "env_file", "environment", "secrets", "ports", "networks", "depends_on", "read_only",
    "cap_drop", "security_opt", "mem_limit", "pids_limit", "stop_grace_period", "command", "volumes", "healthcheck",
    "user",
}  # fmt: skip


def test_the_file_says_nothing_that_compose_does_not_know() -> None:
    assert set(COMPOSE) == {"name", "services", "networks", "volumes", "secrets"}
    for service in SERVICES.values():
        assert set(service) <= SERVICE_KEYS
        assert set(service["networks"]) <= set(COMPOSE["networks"])
        assert set(service.get("secrets", [])) <= set(COMPOSE["secrets"])
        assert set(service.get("depends_on", {})) <= set(SERVICES)


@pytest.mark.parametrize("name", SERVICES)
def test_each_container_is_confined(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["pids_limit"]
    assert not service.get("user", "1").startswith("0")


def test_nobody_but_mailgate_reaches_the_store() -> None:
    assert COMPOSE["networks"]["store"] == {"internal": True}
    assert SERVICES["valkey"]["networks"] == ["store"]
    assert "ports" not in SERVICES["valkey"]
    assert [name for name, service in SERVICES.items() if "store" in service["networks"]] == ["mailgate", "valkey"]
    assert all(port.startswith("127.0.0.1:") for port in SERVICES["mailgate"]["ports"])


def test_secrets_are_files_that_the_repository_never_holds() -> None:
    for secret in COMPOSE["secrets"].values():
        assert set(secret) == {"file"}
        assert secret["file"].startswith("secrets/")
    assert SERVICES["mailgate"]["env_file"].startswith("secrets/")
    assert (FOLDER / ".gitignore").read_text(encoding="utf-8").split() == ["/secrets/"]
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")
    assert not re.search(r"(?i)(password|token|key): +\S", text)


def test_the_image_is_built_from_the_root_and_answers_where_it_is_looked_for() -> None:
    build = SERVICES["mailgate"]["build"]
    assert (FOLDER / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()
    (exposed,) = [each.rest for each in stages(IMAGE)[-1] if each.name == "EXPOSE"]
    assert SERVICES["mailgate"]["ports"] == [f"127.0.0.1:{exposed}:{exposed}"]


def test_a_send_has_time_to_end() -> None:
    settings = load_settings({"MAIL_TOKENS": token_entry()})
    assert int(SERVICES["mailgate"]["stop_grace_period"].removesuffix("s")) > settings.send_deadline_seconds


def test_the_example_of_the_variables_makes_a_start(tmp_path: Path) -> None:
    password = tmp_path / "mail-password"
    password.write_text("secret", encoding="utf-8")
    keygen = subprocess.run(
        [sys.executable, "-m", "mailgate", "keygen"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    environment = {
        **EXAMPLE,
        "MAIL_TOKENS": token_entry(),
        "MAIL_STORE_KEY": keygen.stdout.strip(),
        "MAIL_ENABLE_SEND": "1",
        "MAIL_SMTP_HOST": "smtp.example.com",
        "MAIL_PASSWORD_FILE": str(password),
    }
    settings = load_settings(environment, http=True)
    assert settings.missing == ()
    assert settings.store.is_remote
    assert [warning for warning in settings.warnings if "redis://" not in warning] == []
    assert set(SERVICES["mailgate"]["environment"]) == {"MAIL_PASSWORD_FILE"}
    assert ":STORE-PASSWORD@valkey:6379" in EXAMPLE["MAIL_STORE"]
    assert "valkey" in SERVICES


def test_the_stores_options_are_understood_and_what_they_say(tmp_path: Path) -> None:
    binary = redis_binary()
    if binary is None:
        missing_peer("redis-server")
    assert binary is not None
    (port,) = free_ports(1)
    config = tmp_path / "valkey.conf"
    config.write_text(f"requirepass {PASSWORD}\n", encoding="utf-8")
    data = tmp_path / "data"
    data.mkdir()
    known = {"valkey-server": binary, "/run/secrets/valkey-conf": str(config), "/data": str(data)}
    command = [known.get(word, word) for word in SERVICES["valkey"]["command"]]
    child = Child([*command, "--port", str(port), "--bind", "127.0.0.1"], output=tmp_path / "log")
    try:
        assert wait_until(lambda: listens(port), seconds=20, alive=lambda: child.running)
        with redis.Redis(port=port, password=PASSWORD, decode_responses=True) as client:
            said = client.config_get("*")
        with redis.Redis(port=port) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()
    finally:
        child.kill()
    assert said["maxmemory-policy"] == "noeviction"
    assert said["appendonly"] == "yes"
    assert said["appendfsync"] == "always"
    assert said["maxmemory"] == str(128 * 1024 * 1024)
    assert (data / "appendonlydir").is_dir() or list(data.iterdir())


def listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
