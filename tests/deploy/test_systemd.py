"""The systemd unit: verified by systemd itself where it is there, and held to its promises everywhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mailgate.settings import load_settings
from tests.deploy.servers import ROOT, token_entry

UNIT = ROOT / "deploy" / "systemd" / "mailgate.service"
README = (ROOT / "deploy" / "systemd" / "README.md").read_text(encoding="utf-8")
TEXT = UNIT.read_text(encoding="utf-8")
LINES = [line.partition("=")[::2] for line in TEXT.splitlines() if re.match(r"[A-Z][A-Za-z]+=", line)]
ANALYZE = shutil.which("systemd-analyze")
MUST_BE_YES = (
    "DynamicUser NoNewPrivileges ProtectHome ProtectClock ProtectControlGroups ProtectHostname ProtectKernelLogs "
    "ProtectKernelModules ProtectKernelTunables PrivateDevices PrivateTmp PrivateUsers RemoveIPC LockPersonality "
    "MemoryDenyWriteExecute RestrictNamespaces RestrictRealtime RestrictSUIDSGID"
).split()


def values(name: str) -> list[str]:
    return [value for key, value in LINES if key == name]


def environment() -> dict[str, str]:
    """What the unit sets, with systemd's specifiers filled in."""
    said = dict(value.partition("=")[::2] for value in values("Environment"))
    return {name: value.replace("%S", "/var/lib").replace("%d", "/run/credentials") for name, value in said.items()}


@pytest.mark.parametrize("name", MUST_BE_YES)
def test_the_service_is_confined(name: str) -> None:
    assert values(name) == ["yes"]


def test_it_has_no_capability_and_writes_nowhere_but_in_its_own_folder() -> None:
    assert values("CapabilityBoundingSet") == values("AmbientCapabilities") == [""]
    assert values("ProtectSystem") == ["strict"]
    assert values("StateDirectory") == ["mailgate"]
    assert values("StateDirectoryMode") == ["0700"]
    assert not values("ReadWritePaths")
    assert environment()["MAIL_STORE"] == "sqlite:/var/lib/mailgate/store.sqlite3"


def test_the_password_is_a_credential_and_nothing_secret_is_in_the_unit() -> None:
    (credential,) = values("LoadCredential")
    name, path = credential.split(":")
    assert environment()["MAIL_PASSWORD_FILE"] == f"/run/credentials/{name}"
    assert path in README
    assert values("EnvironmentFile")[0] in README
    assert set(environment()) == {"PYTHONDONTWRITEBYTECODE", "MAIL_STORE", "MAIL_PASSWORD_FILE"}


def test_a_send_has_time_to_end_and_refused_settings_are_not_tried_again() -> None:
    settings = load_settings({"MAIL_TOKENS": token_entry()})
    assert int(values("TimeoutStopSec")[0]) > settings.send_deadline_seconds
    assert values("KillSignal") == ["SIGTERM"]
    assert values("RestartPreventExitStatus") == ["1"]


def test_what_it_starts_is_a_command_of_ours() -> None:
    program, *arguments = values("ExecStart")[0].split()
    assert f"python3 -m venv {Path(program).parents[1]}" in README
    answer = subprocess.run(
        [sys.executable, *arguments, "--help"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.returncode == 0, answer.stderr


def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    if ANALYZE is None:
        pytest.skip("systemd-analyze is MISSING: the unit was not verified")
    program = values("ExecStart")[0].split()[0]
    unit = tmp_path / "mailgate.service"
    # The program is not installed here; that it is missing would be the only complaint.
    unit.write_text(TEXT.replace(program, sys.executable), encoding="utf-8")
    answer = subprocess.run(
        [ANALYZE, "verify", "--man=no", str(unit)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


def test_systemd_would_notice_a_word_it_does_not_know(tmp_path: Path) -> None:
    if ANALYZE is None:
        pytest.skip("systemd-analyze is MISSING: the unit was not verified")
    unit = tmp_path / "mailgate.service"
    unit.write_text(TEXT.replace("ProtectClock=yes", "ProtectClocks=yes"), encoding="utf-8")
    answer = subprocess.run(
        [ANALYZE, "verify", "--man=no", str(unit)], capture_output=True, text=True, timeout=60, check=False
    )
    assert "ProtectClocks" in answer.stderr


def test_its_exposure_is_what_the_page_says(tmp_path: Path) -> None:
    if ANALYZE is None:
        pytest.skip("systemd-analyze is MISSING: the unit was not verified")
    answer = subprocess.run(
        [ANALYZE, "security", "--offline=yes", "--no-pager", "--threshold=20", str(UNIT)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if "unrecognized option" in answer.stderr:
        pytest.skip("systemd-analyze is too old to look at a unit that is not loaded")
    found = re.search(r"exposure level for mailgate.service: ([0-9.]+)", answer.stdout)
    assert found, answer.stdout + answer.stderr
    # Newer versions of systemd know more to complain about, or less.
    assert float(found[1]) <= 2.0
