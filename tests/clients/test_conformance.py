"""The official conformance suite, both requirement sets: what fails is exactly what its file expects, with a reason."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.clients.conftest import Figure
from tests.clients.demo import Demo
from tests.clients.installed import HERE, Installed, run

REVISIONS = ("2025-11-25", "2026-07-28")
WHOLE = {
    "2025-11-25": {"server-initialize", "ping", "tools-list", "dns-rebinding-protection"},
    "2026-07-28": {
        "tools-list",
        "dns-rebinding-protection",
        "server-sse-multiple-streams",
        "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
        "http-header-validation",
    },
}
"""Scenarios that apply to every server: not one of their checks may be expected to fail."""
REQUIRED = {"2025-11-25": 30, "2026-07-28": 37}
"""How many server scenarios each requirement set has; further ones are run and not scored."""
FAILED = ("FAILURE", "WARNING")


def baseline(revision: str) -> Path:
    return HERE / f"conformance-{revision}.yml"


def expected(revision: str) -> dict[str, str]:
    """Each `scenario:check` of a baseline, and the comment that stands above its group."""
    entries: dict[str, str] = {}
    reason = ""
    for line in baseline(revision).read_text(encoding="utf-8").splitlines():
        if not line.strip():
            reason = ""
        elif comment := re.fullmatch(r"  # (.+)", line):
            reason = f"{reason} {comment[1]}".strip()
        elif entry := re.fullmatch(r"  - ([a-z0-9-]+:[A-Za-z0-9-]+)", line):
            entries[entry[1]] = reason
        else:
            assert re.fullmatch(r"server:|#.*", line), line
    return entries


def results(folder: Path) -> dict[str, Counter[str]]:
    """What each scenario's checks came to, from the files that the suite leaves."""
    found: dict[str, Counter[str]] = {}
    for file in sorted(folder.glob("server-*/checks.json")):
        name = re.fullmatch(r"server-(.+?)-\d{4}-\d\d-\d\dT.+", file.parent.name)
        assert name, file.parent.name
        found[name[1]] = Counter(check["status"] for check in json.loads(file.read_text(encoding="utf-8")))
    return found


@pytest.mark.parametrize("revision", REVISIONS)
def test_what_fails_is_what_is_expected_to_fail(
    revision: str, clients: Installed, demo: Demo, figure: Figure, tmp_path: Path
) -> None:
    suite = clients.package("@modelcontextprotocol/conformance", "dist/index.js")
    given = ["--url", demo.open_url, "--requirements", revision, "--expected-failures", str(baseline(revision))]
    # The suite fails for an unexpected failure, and as well for an expected one that did not come.
    told = run([clients.node, suite, "server", *given, "--output-dir", str(tmp_path / "results")], tmp_path)
    assert "Baseline check passed" in told
    found = results(tmp_path / "results")
    for name in WHOLE[revision]:
        assert found[name]["SUCCESS"] > 0, name
        assert not any(found[name][status] for status in FAILED), name
    listed = run([clients.node, suite, "list", "--server", "--requirements", revision], tmp_path)
    required = set(re.findall(r"^  - (\S+)$", listed, re.MULTILINE)) & set(found)
    assert len(required) == REQUIRED[revision]
    figure(_figures(revision, {name: found[name] for name in required}))


def _figures(revision: str, found: dict[str, Counter[str]]) -> str:
    every = len(WHOLE[revision])
    checks = sum(found.values(), Counter[str]())
    clean = [name for name, counts in found.items() if not any(counts[status] for status in FAILED)]
    return (
        f"conformance, {revision}: {every} of {every} scenarios that apply to every server passed whole; of all "
        f"{len(found)}: {len(clean)} passed whole, {len(found) - len(clean)} with expected failures, 0 with others; "
        f"checks: {checks['SUCCESS']} passed, {sum(checks[status] for status in FAILED)} failed, each as expected"
    )


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_expected_failure_has_a_reason_and_none_is_about_what_every_server_must_do(revision: str) -> None:
    entries = expected(revision)
    assert entries
    for entry, reason in entries.items():
        assert len(reason) > 40, entry
        assert entry.partition(":")[0] not in WHOLE[revision]
