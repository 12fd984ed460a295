"""The documents say what the code does: warning codes, error codes, links, version, numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import mailgate
from mailgate import errors, limits
from mailgate.errors import Effect, MailgateError, UpstreamError
from mailgate.mime.compose import ComposeWarning
from mailgate.mime.warnings import SENTENCES
from mailgate.server.failures import failure_of
from tests.contract.reference import PAGE, documented_errors, documented_warnings, section

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*.md")])


def below(error: type[MailgateError]) -> Iterator[type[MailgateError]]:
    """Every class of the tree that has a code of its own."""
    for child in error.__subclasses__():
        if child.__module__ == errors.__name__:
            if "code" in vars(child):
                yield child
            yield from below(child)


# --- warnings ----------------------------------------------------------------------------------------------------


def modules(*rooms: str) -> Iterator[ast.Module]:
    for room in rooms:
        for path in sorted((ROOT / "mailgate" / room).glob("*.py")):
            yield ast.parse(path.read_text(encoding="utf-8"))


MAKERS = ("ReadWarning", "Unverified")


def made_in(tree: ast.Module) -> Iterator[str]:
    """Codes written out: first arguments of warnings and placements, and strings that begin like a rendered warning."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS:
            assert node.args, "a warning is made with its code first"
            if isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value)
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            yield from re.findall(r"\A([a-z]+(?:_[a-z]+)*): \Z", str(node.values[0].value))
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\A([a-z]+_[a-z_]+): [A-Z]", node.value)


def emitted_warnings() -> set[str]:
    """Every code that can stand before the colon; mail_capabilities turns failures of the mail server into warnings."""
    written = {code for tree in modules("read", "write", "send", "server", "imap") for code in made_in(tree)}
    upstream = {error.code for error in below(UpstreamError) if error.effect is Effect.REFUSED}
    composed = {code.value for code in ComposeWarning}
    return {code.value for code in SENTENCES} | written | upstream | composed


def test_the_warnings_are_exactly_those_that_can_be_given() -> None:
    documented = documented_warnings()
    assert len(documented) == len(set(documented))
    assert set(documented) == emitted_warnings()


def test_codes_are_found_where_they_are_written() -> None:
    tree = ast.parse('A = ReadWarning("one_code", "x")\nB = f"two: {x}"\nC = "three_code: Sentence."\nD = f"{e}: x"')
    assert sorted(made_in(tree)) == ["one_code", "three_code", "two"]
    assert {"server_ignored_filter", "status_failed", "configuration"} <= emitted_warnings()


# --- errors ------------------------------------------------------------------------------------------------------


def test_every_error_of_the_tools_is_documented_and_no_other() -> None:
    documented = documented_errors()
    assert len(documented) == len(set(documented))
    assert set(documented) == {error.code for error in below(MailgateError)}


def test_the_form_of_a_failure_is_the_documented_one() -> None:
    text = section("Failures")
    assert "`error CODE: sentence`" in text
    assert "`next: step`" in text
    for error in below(MailgateError):
        if error is not errors.InternalError:
            assert re.fullmatch(rf"error {error.code}: [^\n]+\nnext: [^\n]+", failure_of(error()).text)


# --- links -------------------------------------------------------------------------------------------------------

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = 0
        while (anchor if not number else f"{anchor}-{number}") in found:
            number += 1
        found.add(anchor if not number else f"{anchor}-{number}")
    return found


def links(page: Path) -> list[str]:
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    return [target for target in LINK.findall(text) if not re.match(r"[a-z]+:", target)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        leads_to = (page.parent / path).resolve() if path else page
        assert leads_to.exists(), target
        if anchor:
            assert anchor in anchors(leads_to), target


def test_links_are_found() -> None:
    assert "docs/tools.md" in links(ROOT / "README.md")
    assert {"warnings", "mail_search"} <= anchors(PAGE)
    assert len([target for page in PAGES for target in links(page)]) > 20


def test_the_readme_leads_to_every_page_of_the_docs() -> None:
    named = {(ROOT / target.partition("#")[0]).resolve() for target in links(ROOT / "README.md")}
    assert [page.name for page in sorted(ROOT.glob("docs/*.md")) if page.resolve() not in named] == []


# --- version -----------------------------------------------------------------------------------------------------


def test_the_newest_version_of_the_changelog_is_this_one() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    assert versions[0] == mailgate.__version__
    assert versions == sorted(versions, key=lambda text: tuple(map(int, text.split("."))), reverse=True)


# --- numbers -----------------------------------------------------------------------------------------------------

NUMBER = r"[0-9][0-9,]*(?: [KM]iB)?"
UNITS = {"KiB": limits.KIB, "MiB": limits.MIB}
NUMBERS: list[tuple[str, str, list[int]]] = [
    ("mail_list_folders", r"At most ({0}) folders", [limits.FOLDERS_MAX]),
    (
        "mail_search",
        r"`limit` \(({0}), ({0}) to ({0})\)",
        [limits.SEARCH_LIMIT_DEFAULT, 1, limits.SEARCH_LIMIT_MAX],
    ),
    ("mail_read", r"`max_chars` \(({0}); at most ({0})\)", [limits.READ_CHARS_DEFAULT, limits.READ_CHARS_MAX]),
    ("mail_get_attachment", r"At most ({0}) decoded", [limits.ATTACHMENT_BYTES_MAX]),
    ("Bounds on reading", r"({0}) of a message", [limits.SOURCE_BYTES_MAX]),
    ("Bounds on reading", r"({0}) of text kept", [limits.TEXT_BYTES_MAX]),
    ("Bounds on reading", r"({0}) levels", [limits.MIME_DEPTH_MAX]),
    ("Bounds on reading", r"({0}) parts", [limits.MIME_PARTS_MAX]),
    ("Bounds on reading", r"({0}) of HTML", [limits.HTML_BYTES_MAX]),
    ("Bounds on reading", r"({0}) a token", [limits.HTML_TOKEN_BYTES_MAX]),
    ("Bounds on reading", r"({0}) tokens", [limits.HTML_TOKENS_MAX]),
    ("Bounds on reading", r"({0}) open elements", [limits.HTML_OPEN_ELEMENTS_MAX]),
]


def number(text: str) -> int:
    digits, _, unit = text.partition(" ")
    return int(digits.replace(",", "")) * UNITS.get(unit, 1)


@pytest.mark.parametrize(("title", "pattern", "expected"), NUMBERS, ids=lambda value: str(value)[:30])
def test_the_numbers_of_the_reference_are_those_in_force(title: str, pattern: str, expected: list[int]) -> None:
    words = re.sub(r"\s+", " ", section(title))
    found = re.search(pattern.format(NUMBER), words)
    assert found, pattern
    assert [number(group) for group in found.groups()] == expected


def test_no_number_of_the_bounds_is_left_unchecked() -> None:
    (line,) = re.findall(r"\*\*L1\*\* (.*?)(?=\n- |\Z)", section("Bounds on reading"), re.DOTALL)
    checked = [pattern for title, pattern, _ in NUMBERS if title == "Bounds on reading"]
    assert len(re.findall(r"(?<![\w,])\d", line)) == len(checked)
