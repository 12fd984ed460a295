"""Every promise in docs/tools.md is linked to a test, and every link leads to a promise."""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.contract.reference import PAGE

TESTS = Path(__file__).parent.parent


def promises() -> list[str]:
    """The ids of the numbered lines, in order."""
    return re.findall(r"^- \*\*([A-Z]+\d+)\*\* ", PAGE.read_text(), flags=re.MULTILINE)


@functools.cache
def modules() -> tuple[tuple[Path, ast.Module], ...]:
    """Every file of tests, parsed."""
    return tuple((path, ast.parse(path.read_text())) for path in sorted(TESTS.rglob("test_*.py")))


def is_requirement(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "requirement"


def linked() -> Iterator[tuple[str, str]]:
    """Every id named by a `requirement` marker on a test function (or in a module's pytestmark)."""
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and is_requirement(node.func):
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path.name}: ids are written out"
                    yield str(argument.value), f"{path.relative_to(TESTS)}:{node.lineno}"


def test_no_promise_has_two_places() -> None:
    assert [name for name, count in Counter(promises()).items() if count > 1] == []


def test_every_promise_has_a_test() -> None:
    proved = {name for name, _ in linked()}
    assert [name for name in promises() if name not in proved] == []


def test_every_link_leads_to_a_promise() -> None:
    known = set(promises())
    assert [(name, place) for name, place in linked() if name not in known] == []


def test_markers_stand_on_tests_that_run() -> None:
    """A marker on a helper or a fixture would prove nothing."""
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                marked = any(isinstance(d, ast.Call) and is_requirement(d.func) for d in node.decorator_list)
                assert not marked or node.name.startswith("test_"), f"{path.name}:{node.name}"
