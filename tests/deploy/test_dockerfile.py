"""The images: what goes in, who runs, and what a linter says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import missing_peer
from tests.deploy.dockerfile import context, faults, ignore_patterns, ignored, parse_dockerfile

ROOT = Path(__file__).parents[2]
IMAGE = ROOT / "deploy" / "Dockerfile"
LAMBDA = ROOT / "deploy" / "lambda" / "Dockerfile"
PATTERNS = ignore_patterns((ROOT / ".dockerignore").read_text(encoding="utf-8"))


def files() -> set[str]:
    return {path.as_posix() for path in context(ROOT, PATTERNS)}


def test_the_image_has_none_of_the_faults() -> None:
    assert faults(parse_dockerfile(IMAGE.read_text(encoding="utf-8")), files()) == []


def test_the_image_for_lambda_has_none_of_the_faults() -> None:
    # Its health check comes with the base, which is the other image.
    assert faults(parse_dockerfile(LAMBDA.read_text(encoding="utf-8")), files(), health=False) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("python:3.13-slim-trixie AS build", "python:latest AS build", "not pinned"),
        ("python:3.13-slim-trixie AS build", "python AS build", "not pinned"),
        ("USER 65532:65532", "USER root", "no numeric user"),
        ("USER 65532:65532", "USER 0", "no numeric user"),
        ("USER 65532:65532", "", "no numeric user"),
        ("HEALTHCHECK", "LABEL x=", "no health check"),
        ("COPY mailgate ", "COPY mailgate2 ", "not in the context"),
        ("COPY mailgate ", "COPY tests ", "not in the context"),
        ("COPY mailgate ", "ADD https://example.org/mailgate.tar.gz ", "ADD"),
        ("PYTHONUNBUFFERED=1", "MAIL_PASSWORD=x", "a secret"),
        ("ENV XDG_DATA_HOME=/var/lib", "ARG MAIL_STORE_KEY", "a secret"),
        ("--require-hashes ", "", "without hashes"),
        ("RUN python -m venv", "RUN curl -O x && python -m venv", "fetches"),
        ('ENTRYPOINT ["python", "-m", "mailgate"]', "ENTRYPOINT python -m mailgate", "through a shell"),
    ],
)
def test_each_fault_is_found(old: str, new: str, expected: str) -> None:
    text = IMAGE.read_text(encoding="utf-8")
    assert old in text
    found = faults(parse_dockerfile(text.replace(old, new)), files())
    assert any(expected in fault for fault in found), found


# --- the context --------------------------------------------------------------------------------------------------


def test_the_context_is_the_package_and_what_it_takes_to_install_it() -> None:
    found = files()
    assert {"mailgate/cli.py", "mailgate/server/http.py", "requirements.txt", "pyproject.toml"} <= found
    assert {name.partition("/")[0] for name in found} == {
        "mailgate",
        "requirements.txt",
        "pyproject.toml",
        "README.md",
        "LICENSE",
    }
    assert not [name for name in found if name.endswith(".pyc")]


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        "mailgate.env",
        "mail-password",
        ".git/config",
        "deploy/compose/secrets/mail-password",
        "secrets/valkey.conf",
        "tests/conftest.py",
        "mailgate/__pycache__/cli.cpython-313.pyc",
        "mailgate/server/__pycache__/http.cpython-313.pyc",
    ],
)
def test_secrets_and_leftovers_stay_out_of_the_context(name: str) -> None:
    assert ignored(name, PATTERNS)


def test_a_star_in_dockerignore_does_not_cross_folders() -> None:
    assert not ignored("a/b.env", ["*.env"])
    assert ignored("a/b.env", ["**/*.env"])
    assert ignored("a/b/c", ["a"])
    assert not ignored("a/b", ["*", "!a/b"])


# --- the linter ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [IMAGE, LAMBDA], ids=["image", "lambda"])
def test_hadolint_has_nothing_to_say(path: Path) -> None:
    beside = Path(sys.executable).parent
    binary = shutil.which("hadolint", path=f"{beside}{os.pathsep}{os.environ.get('PATH', os.defpath)}")
    if binary is None:
        missing_peer("hadolint")
    assert binary is not None
    # Bases of the second file are arguments, which the linter takes for images without a version.
    options = ["--ignore", "DL3006"] if path == LAMBDA else []
    answer = subprocess.run(
        [binary, "--no-color", "--failure-threshold", "info", *options, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
