"""docs/tools.md, taken apart: what it promises is compared with what is there."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


def section(title: str) -> str:
    """The text below a second-level heading."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def table_codes(title: str) -> list[str]:
    """The codes in the first column of a section's table, in order."""
    cells = [line.split("|")[1] for line in section(title).splitlines() if line.startswith("| `")]
    return [code for cell in cells for code in re.findall(r"`([a-z0-9_]+)`", cell)]


def documented_warnings() -> list[str]:
    """Every code that can stand before the colon of a warning."""
    return table_codes("Warnings")


def documented_errors() -> list[str]:
    """Every code that can stand after `error`."""
    return table_codes("Failures")
