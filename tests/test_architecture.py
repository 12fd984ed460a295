"""The import rules of docs/architecture.md, checked on the source itself."""

from __future__ import annotations

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "mailgate"
MODULES = sorted(PACKAGE.rglob("*.py"))

# A room may import the rooms named beside it, itself, and nothing else of the package.
ROOMS: dict[str, set[str]] = {
    "faults": set(),
    "errors": {"faults"},
    "limits": set(),
    "policy": {"errors"},
    "imap": {"errors", "faults", "limits"},
    "mime": {"errors", "limits"},
    "read": {"imap", "mime", "errors", "limits"},
    "write": {"read", "imap", "mime", "errors", "limits"},
    "send": {"read", "imap", "mime", "policy", "errors", "faults", "limits"},
    "keys": {"imap", "errors", "limits"},
    "server": {"keys", "read", "write", "send", "imap", "mime", "policy", "errors", "limits", "settings"},
    "presets": set(),
    "settings": {"presets", "policy", "errors", "limits", "imap"},
    "app": {"server", "keys", "read", "write", "send", "imap", "settings", "policy", "errors", "limits"},
    "doctor": {"app", "keys", "send", "imap", "settings", "policy", "errors", "faults", "limits"},
    "asgi": {"app"},
    "lambda": {"app"},
    "demo": {"imap"},
    "cli": {"app", "asgi", "doctor", "settings", "presets", "demo", "server", "policy", "limits", "errors"},
    "__main__": {"cli"},
    "__init__": set(),
}

# Who may touch what lies outside the process or outside the standard library's pure part.
DOORS: dict[str, set[str]] = {
    "socket": {"imap/*", "cli/*"},
    "ssl": {
        "imap/tls.py",
        "imap/reaching.py",
        "imap/connection.py",
        "imap/mailbox.py",
        "imap/login.py",
        "send/smtp.py",
        "send/redis_store.py",
        "keys/fetching.py",
    },
    "aioimaplib": {"imap/receiving.py"},
    "aiosmtplib": {"send/smtp.py"},
    "upstash_redis": {"send/upstash_store.py"},
    "redis": {"send/redis_store.py"},
    "sqlite3": {"send/sqlite_store.py", "send/sqlite_steps.py"},
    "httpx": {"send/upstash_store.py"},
    # Another library than the store's: the one that the MCP SDK brings, so that the issuer's keys cost no import.
    "httpx2": {"keys/fetching.py", "cli_demo_check.py"},
    "jwt": {"keys/jwks.py"},
    "cryptography": {"send/sealing.py"},
    "subprocess": set(),
    "mcp": {"server/mcp.py", "server/stdio.py", "cli_demo_check.py"},
    "starlette": {"server/*", "app.py"},
    "uvicorn": {"cli/*"},
    "pydantic": {"server/*", "settings/*"},
    "dotenv": {"settings/*"},
    "selectolax": {"mime/*"},
    "html2text": {"mime/*"},
}

# Rooms whose values and grammar must stay testable without a loop or a network.
PURE = [
    "imap/values.py",
    "imap/mutf7.py",
    "imap/framing.py",
    "imap/tokens.py",
    "imap/responses.py",
    "imap/commands.py",
    "imap/criteria.py",
    "imap/folders.py",
    "imap/capabilities.py",
    "imap/codes.py",
    "imap/fetch_data.py",
    "imap/list_data.py",
    "imap/parts.py",
    "imap/placement.py",
    "imap/search_data.py",
    "imap/sequence.py",
    "imap/structure.py",
    "imap/write_commands.py",
    "policy.py",
    "errors.py",
    "limits.py",
]


def relative(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def room_of(dotted: str) -> str:
    """`mailgate.imap.values` -> `imap`; the helpers of a top-level module belong to its room."""
    parts = dotted.split(".")
    name = parts[1] if len(parts) > 1 else "__init__"
    return name.split("_")[0] if name.startswith(("settings_", "cli_", "demo_", "lambda_")) else name


def imports_of(path: Path) -> Iterator[str]:
    """Every imported module, wherever in the file it stands; a `from x import y` also as `x.y`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are absolute"
            assert node.module is not None
            yield node.module


def allowed(path: Path, patterns: set[str]) -> bool:
    room = room_of("mailgate." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts))
    return any(
        relative(path) == pattern or (pattern.endswith("/*") and room == pattern.removesuffix("/*"))
        for pattern in patterns
    )


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_imports_run_down_only(path: Path) -> None:
    room = room_of("mailgate." + ".".join(path.relative_to(PACKAGE).with_suffix("").parts))
    for name in imports_of(path):
        if name.split(".")[0] == "mailgate" and name != "mailgate":
            target = room_of(name)
            assert target == room or target in ROOMS[room], f"{relative(path)} must not import {name}"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_only_doors_touch_the_outside(path: Path) -> None:
    for name in imports_of(path):
        top = name.split(".")[0]
        if top in DOORS:
            assert allowed(path, DOORS[top]), f"{relative(path)} must not import {top}"


@pytest.mark.parametrize("name", PURE)
def test_grammar_and_values_know_no_loop_no_clock_and_no_environment(name: str) -> None:
    tops = {imported.split(".")[0] for imported in imports_of(PACKAGE / name)}
    assert not tops & {"asyncio", "socket", "ssl", "time", "os", "threading"}


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_only_settings_reads_the_environment(path: Path) -> None:
    if relative(path).startswith("settings"):
        return
    source = path.read_text()
    assert not re.search(r"\bos\.(environ|getenv)\b|from os import .*environ", source), relative(path)


def test_the_read_room_has_no_way_to_write() -> None:
    for path in sorted((PACKAGE / "read").glob("*.py")):
        assert "WritableFolder" not in path.read_text(), relative(path)


def test_sending_takes_from_reading_only_the_whole_source_of_a_message() -> None:
    for path in sorted((PACKAGE / "send").glob("*.py")):
        taken = {name for name in imports_of(path) if name.startswith("mailgate.read")}
        assert taken <= {"mailgate.read.source", "mailgate.read.ports", "mailgate.read.offload"}, relative(path)


def functions() -> Iterator[tuple[str, int, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in MODULES:
        if relative(path).startswith("demo/"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno is not None
                yield f"{relative(path)}:{node.name}", node.end_lineno - node.lineno + 1, node


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_no_module_is_longer_than_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


def test_functions_are_short() -> None:
    lengths = sorted(length for _, length, _ in functions())
    assert statistics.median(lengths) <= 12
    assert lengths[int(len(lengths) * 0.95)] <= 50


def test_no_import_is_hidden_behind_a_cycle() -> None:
    """Rooms form no cycle: each can be understood from what lies below it."""
    seen: set[str] = set()

    def walk(room: str, trail: tuple[str, ...]) -> None:
        assert room not in trail, " -> ".join((*trail, room))
        if room in seen:
            return
        for below in ROOMS[room]:
            walk(below, (*trail, room))
        seen.add(room)

    for room in ROOMS:
        walk(room, ())
