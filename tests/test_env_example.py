"""`.env.example` and docs/configuration.md list every variable, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mailgate.policy import Gate
from mailgate.presets import PRESETS
from mailgate.settings import SettingsError, load_settings
from mailgate.settings_variables import VARIABLES

ROOT = Path(__file__).parent.parent
EXAMPLE = (ROOT / ".env.example").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
ASSIGNMENTS = dict(re.findall(r"^#([A-Z][A-Z0-9_]*)=(.*)$", EXAMPLE, re.MULTILINE))
ROWS = dict(re.findall(r"^\| `([A-Z][A-Z0-9_]*)` \| (\S+) \|", PAGE, re.MULTILINE))


def test_the_example_has_every_variable_in_order_and_no_other() -> None:
    assert list(ASSIGNMENTS) == list(VARIABLES)


def test_nothing_in_the_example_is_active() -> None:
    assert [line for line in EXAMPLE.splitlines() if line and not line.startswith("#")] == []


def test_the_example_leaves_gates_off_and_holds_no_secret() -> None:
    for name in [gate.variable for gate in Gate] + [row.name for row in VARIABLES.values() if row.secret]:
        assert ASSIGNMENTS[name] == ""


def test_each_variable_is_explained_with_its_default() -> None:
    paragraphs = {
        match[1]: match[0] for match in re.finditer(r"(?:^#.*\n)*?^#([A-Z][A-Z0-9_]*)=", EXAMPLE, re.MULTILINE)
    }
    for name, variable in VARIABLES.items():
        words = " ".join(paragraphs[name].replace("#", " ").split())
        assert f"Default: {variable.default or 'unset'}." in words


@pytest.mark.parametrize("name", [name for name, value in ASSIGNMENTS.items() if value and not name.endswith("_FILE")])
def test_the_example_values_are_well_formed(name: str) -> None:
    # Alone, a value may lack its companions; its own form must not be the problem.
    assert not [problem for problem in problems_of(name) if problem.startswith((f"{name} is not", f"{name} takes"))]


def problems_of(name: str) -> tuple[str, ...]:
    try:
        load_settings({name: ASSIGNMENTS[name]})
    except SettingsError as error:
        return error.problems
    return ()


def test_the_page_has_every_variable_with_its_default_and_no_other() -> None:
    expected = {name: f"`{row.default}`" if row.default else "–" for name, row in VARIABLES.items()}
    assert expected == ROWS


def test_the_page_has_every_preset_as_it_is() -> None:
    for name, preset in PRESETS.items():
        imap = f"{preset.imap_host}, {preset.imap_port}, {preset.imap_security}"
        smtp = f"{preset.smtp_host}, {preset.smtp_port}, {preset.smtp_security}"
        assert f"| `{name}` | {imap} | {smtp} |" in PAGE
    section = PAGE.partition("\n## Providers\n")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\| `[a-z.]+` \|", section, re.MULTILINE)) == len(PRESETS)
