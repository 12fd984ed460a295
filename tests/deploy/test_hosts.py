"""The files for Fly, Cloud Run and Vercel: their form, their limits beside ours, and variables that make a start."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mailgate import limits
from mailgate.settings import Settings, SettingsError, load_settings
from tests.deploy.plain_yaml import parse_yaml
from tests.deploy.servers import ROOT, last_json, run_python, token_entry

DEPLOY = ROOT / "deploy"
FLY: dict[str, Any] = tomllib.loads((DEPLOY / "fly" / "fly.toml").read_text(encoding="utf-8"))
CLOUD_RUN: dict[str, Any] = parse_yaml((DEPLOY / "cloudrun" / "service.yaml").read_text(encoding="utf-8"))
VERCEL: dict[str, Any] = json.loads((DEPLOY / "vercel" / "vercel.json").read_text(encoding="utf-8"))
MB = 1_000_000
DEFAULTS = load_settings({"MAIL_TOKENS": token_entry()})


def start(environment: dict[str, str]) -> Settings:
    """Settings that start and that nothing is to be said about."""
    settings = load_settings(environment, http=True)
    assert settings.missing == ()
    assert settings.warnings == ()
    return settings


def stated(page: str, name: str) -> int:
    """The value that a page tells to set."""
    found = re.search(rf"\b{name}=([0-9]+)", (DEPLOY / page).read_text(encoding="utf-8"))
    assert found, name
    return int(found[1])


# --- Fly ---------------------------------------------------------------------------------------------------------


def test_flys_file_has_the_documented_form() -> None:
    assert set(FLY) == {"app", "primary_region", "kill_signal", "kill_timeout", "env", "http_service", "vm"}
    service = FLY["http_service"]
    assert set(service) == {
        "internal_port",
        "force_https",
        "auto_stop_machines",
        "auto_start_machines",
        "min_machines_running",
        "concurrency",
        "http_options",
        "checks",
    }
    assert service["force_https"] is True
    assert service["auto_stop_machines"] in ("off", "stop")
    assert service["concurrency"]["type"] == "requests"
    assert service["concurrency"]["soft_limit"] <= service["concurrency"]["hard_limit"]
    (check,) = service["checks"]
    assert (check["method"], check["path"]) == ("GET", "/healthz")
    assert service["internal_port"] == 8000


def test_fly_waits_for_a_send() -> None:
    assert FLY["kill_signal"] == "SIGTERM"
    assert DEFAULTS.send_deadline_seconds < FLY["kill_timeout"] <= 300
    assert FLY["http_service"]["http_options"]["idle_timeout"] > DEFAULTS.send_deadline_seconds


def test_flys_variables_make_a_start() -> None:
    settings = start({**FLY["env"], "MAIL_PASSWORD": "x", "MAIL_TOKENS": token_entry()})
    assert settings.public_url == f"https://{FLY['app']}.fly.dev/mcp"


# --- Cloud Run ---------------------------------------------------------------------------------------------------


def container() -> dict[str, Any]:
    (found,) = CLOUD_RUN["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def test_cloud_runs_file_has_the_documented_form() -> None:
    assert (CLOUD_RUN["apiVersion"], CLOUD_RUN["kind"]) == ("serving.knative.dev/v1", "Service")
    template = CLOUD_RUN["spec"]["template"]
    assert set(template["spec"]) == {"containerConcurrency", "timeoutSeconds", "containers", "volumes"}
    annotations = {**CLOUD_RUN["metadata"]["annotations"], **template["metadata"]["annotations"]}
    assert all(isinstance(value, str) for value in annotations.values()), "annotations are text"
    port = str(container()["ports"][0]["containerPort"])
    assert container()["args"] == ["serve", "--host", "0.0.0.0", "--port", port]
    for probe in ("startupProbe", "livenessProbe"):
        assert container()[probe]["httpGet"] == {"path": "/healthz", "port": int(port)}


def test_cloud_run_leaves_a_call_enough_time() -> None:
    assert DEFAULTS.send_deadline_seconds < CLOUD_RUN["spec"]["template"]["spec"]["timeoutSeconds"] <= 3600


def test_cloud_runs_secret_files_are_mounted_where_they_are_looked_for(tmp_path: Path) -> None:
    environment = {row["name"]: row["value"] for row in container()["env"] if "value" in row}
    from_secrets = [row["name"] for row in container()["env"] if "valueFrom" in row]
    (mount,) = container()["volumeMounts"]
    (volume,) = CLOUD_RUN["spec"]["template"]["spec"]["volumes"]
    (item,) = volume["secret"]["items"]
    assert mount["name"] == volume["name"]
    assert environment["MAIL_PASSWORD_FILE"] == f"{mount['mountPath']}/{item['path']}"
    assert from_secrets == ["MAIL_TOKENS"]
    password = tmp_path / "value"
    password.write_text("x", encoding="utf-8")
    environment |= {"MAIL_PASSWORD_FILE": str(password), "MAIL_TOKENS": token_entry(), "K_SERVICE": "mailgate"}
    start(environment)
    with pytest.raises(SettingsError, match="whose disk is not kept"):
        start({**environment, "MAIL_ENABLE_SEND": "1", "MAIL_SMTP_HOST": "smtp.example.com", "HOME": str(tmp_path)})


# --- Vercel ------------------------------------------------------------------------------------------------------


def test_vercels_file_sends_every_path_to_the_entry() -> None:
    (function,) = VERCEL["functions"]
    assert (DEPLOY / "vercel" / function).is_file()
    assert VERCEL["rewrites"] == [{"source": "/(.*)", "destination": f"/{function.removesuffix('.py')}"}]
    assert VERCEL["framework"] is None
    assert DEFAULTS.send_deadline_seconds < VERCEL["functions"][function]["maxDuration"] <= 300


def test_bodies_stay_below_vercels_limit_and_the_largest_message_passes() -> None:
    request = stated("vercel/README.md", "MAIL_MAX_REQUEST_BYTES")
    result = stated("vercel/README.md", "MAIL_MAX_RESULT_BYTES")
    assert max(request, result) < 4.5 * MB
    assert request > limits.UPLOAD_BYTES_MAX * 4 / 3 + 200_000
    assert result > limits.ATTACHMENT_BYTES_MAX * 4 / 3


def test_bodies_stay_below_lambdas_limit_even_when_every_character_is_escaped() -> None:
    image = (DEPLOY / "lambda" / "Dockerfile").read_text(encoding="utf-8")
    for name, factor in (("MAIL_MAX_RESULT_BYTES", 2), ("MAIL_MAX_REQUEST_BYTES", 1)):
        value = stated("lambda/README.md", name)
        assert f"{name}={value}" in image
        assert value * factor < 6 * MB
    # Base64 has nothing to escape: what may be asked for in one call fits.
    assert stated("lambda/README.md", "MAIL_MAX_RESULT_BYTES") > limits.ATTACHMENT_BYTES_MAX * 4 / 3
    assert stated("lambda/README.md", "MAIL_MAX_REQUEST_BYTES") > limits.UPLOAD_BYTES_MAX * 4 / 3 + MB


@pytest.fixture(scope="module")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is deployed to Vercel."""
    folder = tmp_path_factory.mktemp("vercel") / "out"
    subprocess.run([str(DEPLOY / "vercel" / "assemble"), str(folder)], check=True, timeout=60)
    return folder


def test_the_folder_for_vercel_has_what_runs_and_nothing_else(assembled: Path) -> None:
    tops = {path.name for path in assembled.iterdir()}
    assert tops == {"api", "mailgate", "public", "requirements.txt", "vercel.json", ".python-version"}
    sources = {path.relative_to(ROOT) for path in (ROOT / "mailgate").rglob("*.py")}
    assert {path.relative_to(assembled) for path in (assembled / "mailgate").rglob("*.py")} == sources
    assert not list(assembled.rglob("*.pyc"))
    assert (assembled / "requirements.txt").read_bytes() == (ROOT / "requirements.txt").read_bytes()
    assert (assembled / ".python-version").read_text(encoding="utf-8") == "3.13\n"


def test_a_folder_in_use_is_left_alone(assembled: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in assembled.rglob("*")}
    answer = subprocess.run(
        [str(DEPLOY / "vercel" / "assemble"), str(assembled)], capture_output=True, timeout=60, check=False
    )
    assert answer.returncode == 1
    assert {path: path.stat().st_mtime_ns for path in assembled.rglob("*")} == before


AS_VERCEL_DOES = """
import asyncio, importlib.util, json, sys
spec = importlib.util.spec_from_file_location("vc_entry", "api/index.py")
entry = importlib.util.module_from_spec(spec)
spec.loader.exec_module(entry)
import mailgate

async def call(method, path, body=b"", **fields):
    headers = [(b"host", b"mail.example.com"), *((k.replace("_", "-").encode(), v.encode()) for k, v in fields.items())]
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "https",
             "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "headers": headers,
             "client": ("203.0.113.7", 1), "server": ("mail.example.com", 443)}
    incoming = [{"type": "http.request", "body": body, "more_body": False}]
    sent = []
    gone = asyncio.Event()
    async def receive():
        if incoming:
            return incoming.pop()
        await gone.wait()
        return {"type": "http.disconnect"}
    async def send(message):
        sent.append(message)
    await entry.app(scope, receive, send)
    return sent[0]["status"], b"".join(each.get("body", b"") for each in sent[1:]).decode()

async def lifespan():
    steps, said = [{"type": "lifespan.shutdown"}, {"type": "lifespan.startup"}], []
    async def receive():
        return steps.pop()
    async def send(message):
        said.append(message["type"])
    await entry.app({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)
    return said

body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
answers = {"from": mailgate.__file__}
for turn in ("first", "second"):
    # A new event loop each time, as a runtime that keeps none would have it.
    answers[turn] = [asyncio.run(call("GET", "/healthz")),
                     asyncio.run(call("POST", "/mcp", body, content_type="application/json",
                                      authorization="Bearer " + sys.argv[1] if len(sys.argv) > 1 else "Bearer x"))]
answers["lifespan"] = asyncio.run(lifespan())
print(json.dumps(answers))
"""


def test_the_entry_serves_as_the_runtime_calls_it(assembled: Path) -> None:
    environment = {
        "VERCEL": "1",
        "MAIL_PUBLIC_URL": "https://mail.example.com/mcp",
        "MAIL_TOKENS": token_entry(token="x"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    answer = run_python(AS_VERCEL_DOES, cwd=assembled, environment=environment)
    assert answer.returncode == 0, answer.stderr
    said = last_json(answer.stdout)
    assert Path(said["from"]).is_relative_to(assembled), "another mailgate was imported"
    for turn in ("first", "second"):
        (health, _), (status, body) = said[turn]
        assert (health, status) == (200, 200)
        assert len(json.loads(body)["result"]["tools"]) > 10
    assert said["lifespan"] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_on_vercel_sending_without_a_kept_store_does_not_start(assembled: Path) -> None:
    environment = {
        "VERCEL": "1",
        "HOME": "/tmp",
        "MAIL_TOKENS": token_entry(),
        "MAIL_IMAP_HOST": "imap.example.com",
        "MAIL_USERNAME": "owner@example.com",
        "MAIL_PASSWORD": "canary-password",
        "MAIL_FROM": "owner@example.com",
        "MAIL_SMTP_HOST": "smtp.example.com",
        "MAIL_ENABLE_SEND": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    answer = run_python(AS_VERCEL_DOES, cwd=assembled, environment=environment)
    assert answer.returncode == 1
    assert "whose disk is not kept" in answer.stderr
    assert "canary-password" not in answer.stderr
