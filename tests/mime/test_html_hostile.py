"""Hostile documents: what is written, kept and looked at is bounded. Counted; `bench/html.py` takes the time."""

import tracemalloc

import pytest

from mailgate.limits import HTML_OPEN_ELEMENTS_MAX, HTML_TOKENS_MAX, MIB, TEXT_BYTES_MAX
from mailgate.mime import html_tree
from mailgate.mime.html_css import declarations
from mailgate.mime.html_media import media_holds
from mailgate.mime.html_scan import scan
from mailgate.mime.html_selectors import parse_selector
from mailgate.mime.html_sheet import rules
from mailgate.mime.html_styles import SELECTORS_MAX, STEPS_MAX, StyleSheet
from mailgate.mime.html_text import html_to_text
from tests.mime.html_hostile import HOSTILE_DOCUMENTS


@pytest.mark.parametrize("html", HOSTILE_DOCUMENTS.values(), ids=HOSTILE_DOCUMENTS.keys())
def test_a_hostile_document_ends_within_tokens_text_and_steps(html: str, monkeypatch: pytest.MonkeyPatch) -> None:
    sheets: list[StyleSheet] = []
    serialize = html_tree.serialize

    def watched(root: object, styles: StyleSheet, *, overlapping: bool) -> html_tree.CleanHtml:
        sheets.append(styles)
        return serialize(root, styles, overlapping=overlapping)  # type: ignore[arg-type]

    monkeypatch.setattr("mailgate.mime.html_text.serialize", watched)
    result = html_to_text(html)
    assert not result.failed
    assert len(result.text.encode()) <= 2 * TEXT_BYTES_MAX
    assert result.tokens <= HTML_TOKENS_MAX + MIB // (64 * 1024) + 1
    for sheet in sheets:
        assert sheet.selectors <= SELECTORS_MAX
        assert sheet.steps_taken <= STEPS_MAX + 25 * HTML_TOKENS_MAX


@pytest.mark.parametrize("name", ["10,000 rules for 10,000 elements", "10,000 attribute rules for 10,000 elements"])
def test_rules_times_elements_are_not_tried(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    from mailgate.mime import html_matching, html_styles

    def counted(*arguments: object) -> tuple[bool, int]:
        nonlocal calls
        calls += 1
        return html_matching.matches(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(html_styles, "matches", counted)
    html_to_text(HOSTILE_DOCUMENTS[name])
    assert calls <= STEPS_MAX


def test_a_sheet_too_costly_to_judge_ends_the_text_and_shows_nothing_hidden() -> None:
    html = HOSTILE_DOCUMENTS["10,000 attribute rules for 10,000 elements"] + "<p hidden>secret</p><p class=c1>end</p>"
    result = html_to_text(html)
    assert result.limited
    assert "secret" not in result.text
    assert "end" not in result.text


def test_an_ordinary_sheet_is_far_from_the_bounds() -> None:
    names = "table td p a h1 h2 .wrap .col .button .footer .header .hero .card .small .wide .dark .light".split()
    css = "".join(f"{outer} {inner}{{color:#333;font-size:14px}}" for outer in names for inner in names)
    html = (
        f"<style>{css}</style>"
        + "<table class=wrap><tr><td class=col><p class=card><a class=button>x</a></table>" * 1000
    )
    result = html_to_text(html)
    assert not result.limited
    assert result.text.count("x") == 1000


@pytest.mark.parametrize("html", ["<b>" * 1_000_000, "<a " * (MIB // 3), "<!--" * (MIB // 4), "<ul><li>x" * 3000])
def test_memory_stays_within_a_few_times_the_input(html: str) -> None:
    tracemalloc.start()
    html_to_text(html)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 64 * MIB


def test_formatting_opened_again_stays_within_depth_and_size() -> None:
    result = scan("<p><b class=x><i id=y><font color=red>x" * 20_000)
    assert len(result.markup) <= 2 * MIB
    assert result.markup.count("<") <= 8 * HTML_TOKENS_MAX
    depth = deepest = 0
    for piece in result.markup.split("<")[1:]:
        depth += -1 if piece[0] == "/" else 1
        deepest = max(deepest, depth)
    assert (depth, deepest <= HTML_OPEN_ELEMENTS_MAX) == (0, True)


@pytest.mark.parametrize(
    "unit", ["{", "}", "a{", "@media(", "\\", '"', "'", "url(", "/*", ";", ":", "!important", "[", ",", "a>"]
)
def test_any_sheet_is_read_without_an_exception(unit: str) -> None:
    text = unit * 5000
    declarations(text)
    media_holds(text)
    parse_selector(text[:400])
    assert len(list(rules(text))) <= 5001
