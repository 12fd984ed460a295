"""The bounding pass over HTML: what it keeps, and that its work is bounded by counting."""

import re

import pytest

from mailgate.limits import HTML_OPEN_ELEMENTS_MAX, HTML_TOKENS_MAX, MIB
from mailgate.mime.html_scan import scan

HOSTILE = {
    "unclosed tags": "<a ",
    "unclosed comments": "<!--",
    "empty comments": "<!-->",
    "comments": "<!--x-->",
    "formatting": "<b>",
    "formatting in paragraphs": "<p><b x=1><i><u><font>x",
    "blocks": "<div>",
    "lists": "<ul><li>",
    "tables": "<table><tr><td>",
    "blocks in tables": "<table><div>",
    "unclosed double quotes": '<a x="',
    "unclosed single quotes": "<a x='\"",
    "less-than signs": "<",
    "end tags": "</",
    "scripts": "<script>",
    "commented scripts": "<script><!--</script>",
    "styles in svg": "<svg><style>",
    "ampersands": "&",
    "attributes": "<a" + " b=c" * 400,
    "stray end tags": "<div></p></span></b>",
    "cells that close nothing": "<div><table><tr><td></div>",
}


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_mebibyte_of_anything_stays_within_tokens_and_depth(unit: str) -> None:
    result = scan(unit * (MIB // len(unit)))
    assert result.tokens <= HTML_TOKENS_MAX + MIB // (64 * 1024) + 1
    depth = deepest = 0
    for tag in re.finditer(r"<(/?)([a-z0-9-]+)[^>]*>", result.markup):
        if tag[2] in ("br", "img", "hr"):
            continue
        depth += -1 if tag[1] else 1
        deepest = max(deepest, depth)
    assert deepest <= HTML_OPEN_ELEMENTS_MAX
    assert depth == 0


def test_a_million_nested_tags_are_cut_and_reported() -> None:
    result = scan("<div>" * 1_000_000)
    assert result.limited
    assert result.markup.count("<div>") == HTML_OPEN_ELEMENTS_MAX


def test_text_beyond_the_depth_limit_is_left_out_and_what_follows_is_kept() -> None:
    result = scan("<div>" * 200 + "deep" + "</div>" * 200 + "after")
    assert "deep" not in result.markup
    assert result.markup.endswith("after")
    assert result.limited


def test_old_html_without_end_tags_does_not_count_as_deep() -> None:
    result = scan("<p>one" * 500 + "<ul>" + "<li><font>two" * 500 + "</ul><table>" + "<tr><td><font>three" * 500)
    assert not result.limited
    assert result.markup.count("three") == 500


def test_a_plain_document_is_kept_with_neutral_formatting_names() -> None:
    assert scan('<p lang=x>a <b>b</b> <a href="u">c</a></p>').markup == ('<p>a <x-b>b</x-b> <x-a href="u">c</x-a></p>')


@pytest.mark.parametrize(
    ("html", "markup"),
    [
        ("a < b & c <3", "a &lt; b & c &lt;3"),
        ("x<!-- a > b -->y<!-->z<!--->w<!doctype html>v<?php ?>u</ bogus>t", "xyzwvut"),
        ("x<!-- never closed", "x"),
        ("x<style>a</style >y", "xy"),
        ("x<style>never closed", "x"),
        ("x<script><!-- <script></script> hidden --></script>y", "xy"),
        ("x<title><b></title>y", "xy"),
        ("x<div title='>'>y", "x<div>y</div>"),
        ("x<div", "x"),
        ("<IMG ALT='a\"b' src=x>", '<img alt="a&quot;b">'),
        ("<div></span></div></div>", "<div></div>"),
        ("<weird:tag>x</weird:tag>", "x"),
    ],
)
def test_tags_are_found_where_a_browser_finds_them(html: str, markup: str) -> None:
    assert scan(html).markup == markup


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ('<p><b style="display:none">a<p>secret</b>seen', "seen"),
        ('<font style="DISPLAY : none">secret<font>secret</font>secret</font>seen', "seen"),
        ("<table><tr><td><b hidden>secret</td><td>seen", "seen"),
        ('<a hidden>secret<a href="u">seen</a>', "seen"),
    ],
)
def test_hidden_formatting_hides_until_it_ends(html: str, kept: str) -> None:
    result = scan(html)
    assert "secret" not in result.markup
    assert kept in result.markup
    assert result.hidden_chars


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("<svg><title><p>secret</p></title></svg>seen", "seen"),
        ("<svg><g>secret</svg>seen", "seen"),
        ("<svg>secret<p>seen", "<p>seen</p>"),
        ("<div><math>secret</div>seen", "<div></div>seen"),
        ("<svg><path/><style>secret</style></svg>seen", "seen"),
        ("<select><option>secret<div>secret</div></select>seen", "seen"),
        ("<select>secret<select>seen", "seen"),
        ("<template>secret</div><p>secret</template>seen", "seen"),
        ("<div hidden>a<body>b</div>", '<div hidden="">ab</div>'),
        ("<td>seen</td>seen", "seenseen"),
        ("<b hidden>secret</td>secret", ""),
        ("<table><tr><td><b hidden>secret<td>seen", "<table><tr><td></td><td>seen</td></tr></table>"),
    ],
)
def test_repairs_hide_and_show_the_same_text_as_in_a_browser(html: str, kept: str) -> None:
    assert scan(html).markup == kept
