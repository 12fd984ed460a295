"""What the files and pages about deploying say: real variables, no addresses of downloads, one page for each host."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from mailgate.settings_variables import VARIABLES
from tests.deploy.servers import ROOT

DEPLOY = ROOT / "deploy"
GUIDE = ROOT / "docs" / "deploying.md"
FOLDERS = sorted(path for path in DEPLOY.iterdir() if path.is_dir() and path.name != "__pycache__")
FILES = sorted(
    path
    for path in DEPLOY.rglob("*")
    if path.is_file() and "__pycache__" not in path.parts and path.name != ".gitignore"
)
TEXTS = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in [*FILES, GUIDE]}

# Hosts that packages and images are downloaded from; names of images without a host are not among them.
ADDRESSES = re.compile(
    r"pypi\.|pythonhosted|npmjs|docker\.io|gcr\.io|ghcr\.io|quay\.io|public\.ecr|pkg\.dev|install\.sh|"
    r"raw\.githubusercontent|github\.com|https?://\S+\.(?:tar|zip|whl|gz|sh)\b"
)


def variables_in(text: str) -> set[str]:
    return set(re.findall(r"\b(?:MAIL|UPSTASH)_[A-Z0-9_]*[A-Z0-9]\b", text))


@pytest.mark.parametrize("name", TEXTS)
def test_every_variable_that_is_named_exists(name: str) -> None:
    assert variables_in(TEXTS[name]) <= set(VARIABLES)


@pytest.mark.parametrize("name", TEXTS)
def test_no_file_names_an_address_to_download_from(name: str) -> None:
    assert ADDRESSES.findall(TEXTS[name]) == []


def test_the_check_for_variables_and_addresses_finds_some() -> None:
    assert variables_in("`MAIL_TOKEN=x`, UPSTASH_REDIS_REST_URL and MAIL_") == {"MAIL_TOKEN", "UPSTASH_REDIS_REST_URL"}
    assert ADDRESSES.search("FROM ghcr" + ".io/a/b:1")
    assert ADDRESSES.search("curl https://example.org/x.tar.gz")
    assert sum(len(variables_in(text)) for text in TEXTS.values()) > 100


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_host_has_a_page_with_steps_variables_limits_and_a_check(folder: Path) -> None:
    page = (folder / "README.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert any("tep" in heading for heading in headings)
    assert [heading for heading in headings if heading.startswith(("Variables", "Limits", "Check"))] == [
        next(heading for heading in headings if heading.startswith("Variables")),
        "Limits",
        "Check",
    ]
    assert "deploy/smoke" in page
    assert "\nNot tried:" in page
    assert f"({folder.name}/README.md)" in (DEPLOY / "README.md").read_text(encoding="utf-8")


def test_every_file_that_a_page_mentions_is_there() -> None:
    for name, text in TEXTS.items():
        if name.endswith(".md"):
            for mentioned in set(re.findall(r"\bdeploy/[a-z]+(?:/[A-Za-z.-]+)*\b", text)):
                made = mentioned.startswith("deploy/compose/secrets")
                assert made or (ROOT / mentioned).exists(), (name, mentioned)


def test_everything_to_paste_into_a_client_is_json() -> None:
    blocks = re.findall(r"```json\n(.*?)```", TEXTS["docs/deploying.md"], re.DOTALL)
    servers = [json.loads(block)["servers"]["mail"] for block in blocks]
    assert [server["url"] for server in servers] == ["https://mail.example.com/mcp"] * 2
    assert servers[0]["headers"] == {"Authorization": "Bearer ${input:mail-token}"}
    assert servers[1]["oauth"] == {"clientId": "mailgate-clients"}


def test_every_json_file_is_json() -> None:
    found = [path for path in FILES if path.suffix == ".json"]
    assert len(found) >= 3
    for path in found:
        json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["smoke", "vercel/assemble", "lambda/package"])
def test_a_script_can_be_run_by_any_shell(name: str) -> None:
    path = DEPLOY / name
    assert os.access(path, os.X_OK)
    assert path.read_text(encoding="utf-8").startswith("#!/bin/sh\n")
    for shell in ("sh", "dash"):
        try:
            answer = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, timeout=20, check=False)
        except FileNotFoundError:
            continue
        assert (answer.returncode, answer.stderr) == (0, "")


def test_the_guide_leads_through_every_way_to_be_known_and_every_client() -> None:
    text = TEXTS["docs/deploying.md"]
    for needed in ("Auth0", "Keycloak", "static token", "Claude Code", "VS Code", "client ID", "PKCE", "audience"):
        assert needed in text, needed
    for symptom in ("401", "421", "403 *origin", "413", "429", "503", "504", "upstream_auth_failed", "step up"):
        assert symptom in text, symptom


def test_the_guide_speaks_of_commands_that_exist() -> None:
    for page in ("docs/deploying.md", "deploy/README.md", "deploy/compose/README.md"):
        for command in set(re.findall(r"(?:\.venv/bin/mailgate|`mailgate|--rm mailgate) ([a-z]+)", TEXTS[page])):
            assert f'"{command}"' in (ROOT / "mailgate" / "cli.py").read_text(encoding="utf-8"), command
