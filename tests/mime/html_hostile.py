"""Documents written to cost a reader time or memory."""

from __future__ import annotations

from typing import Final

from mailgate.limits import KIB, MIB


def _filled(unit: str, size: int) -> str:
    return unit * (size // len(unit))


_SELECTORS = ",".join(f".o{number} > .a b:not(.c) ~ i" for number in range(2500))

HOSTILE_DOCUMENTS: Final = {
    "64 KiB of open tags": _filled("<a ", 64 * KIB),
    "1 MiB of open tags": _filled("<a ", MIB),
    "64 KiB of open comments": _filled("<!--", 64 * KIB),
    "1 MiB of open comments": _filled("<!--", MIB),
    "comments": _filled("<!-- a comment of some letters -->", MIB),
    "a million nested tags": "<b>" * 1_000_000,
    "a million nested divisions": "<div>" * 1_000_000,
    "3,000 nested lists": "<ul><li>x" * 3000,
    "3,000 nested tables": "<table><tr><td>x" * 3000,
    "3,000 nested quotations": "<blockquote>x" * 3000,
    "3,000 nested coloured fonts": "<p><font color=red style='font-size:20px'>x" * 3000,
    "1 MiB of misnested formatting": _filled("<p><b class=x><i id=y><u><font color=red>x", MIB),
    "1 MiB of styled paragraphs": _filled('<p style="color:#123;font-size:2em;margin:0 auto">x', MIB),
    "1 MiB of distinct styles": "".join(f'<p style="color:#{n:06x};width:{n}px">x' for n in range(18_000)),
    "64 KiB of selectors": f"<style>{_SELECTORS[: 64 * KIB]}{{display:none}}</style>"
    + "<p class=a><b><i>x</i></b>" * 3000,
    "1 MiB of selectors": f"<style>{_filled('.a,', MIB)}p{{display:none}}</style><p class=a>x",
    "10,000 rules for 10,000 elements": (
        f"<style>{''.join(f'.c{n} .a{{color:red}}' for n in range(10_000))}</style>" + "<p class=a>x</p>" * 9_000
    ),
    "10,000 classes for 10,000 elements": (
        f"<style>{''.join(f'.c{n}{{color:red}}' for n in range(10_000))}</style>"
        + "".join(f"<p class=c{n}>x</p>" for n in range(9_000))
    ),
    "10,000 attribute rules for 10,000 elements": (
        "<style>"
        + "".join(f"[class*=c{n}]{{color:red}}" for n in range(10_000))
        + "</style>"
        + "".join(f"<p class=c{n}>x</p>" for n in range(9_000))
    ),
    "siblings": "<style>p ~ p ~ p ~ b{display:none}</style>" + "<p>x</p>" * 6000 + "<b>x</b>" * 2000,
    "descendants": "<style>b b b b b b b b i{display:none}</style>" + "<b>" * 120 + "<i>x</i>" * 9000,
    "overlapping elements": "<p style='margin-top:-1px;color:#fff'>x" * 20_000,
    "asking for what is inside": "<style>div:has(b i),:has(u){color:red}</style>"
    + "<div><b>x</b>" * 100
    + "<p>y</p>" * 8000,
    "counted children": "<style>p:nth-child(2n+1):nth-last-of-type(3n){color:red}</style>" + "<p>x</p>" * 15_000,
    "variables of variables": (
        f"<style>:root{{{''.join(f'--a{n}:var(--a{n + 1})var(--a{n + 1});' for n in range(200))}--a200:;}}"
        "p{color:var(--a0)}</style>" + "<p>x</p>" * 9000
    ),
    "20,000 variables": f"<style>p{{{''.join(f'--a{n}:x{n};' for n in range(20_000))}}}</style>" + "<p>x</p>" * 9000,
    "matrices": "".join(f"<p style='transform:{'rotate3d(1,1,1,5deg) ' * 10};left:{n}px'>x" for n in range(3000)),
    "nested lists of selectors": f"<style>{':is(' * 20_000}a{{color:red}}</style><a>x</a>",
    "nested conditions": f"<style>@media {'(' * 20_000}{{p{{color:red}}}}</style><p>x",
    "nested rules": f"<style>{_filled('a{', 256 * KIB)}</style><a>x</a>",
    "media queries": f"<style>{_filled('@media (min-width:1px){', 256 * KIB)}</style>x",
    "strings in a style": f'<p style="{_filled("&quot;", 64 * KIB)}">x',
    "functions in a style": f'<p style="background:{_filled("url(", 60 * KIB)}">x',
    "a style of 1 MiB": f'<p style="{_filled("color:red;", MIB - 64)}display:none">x</p>',
    "a target of 1 MiB": f'<a href="https://x.example/{_filled("?a=b&", MIB - 128)}">x</a>',
    "targets": _filled('<a href="https://x.example/aaaaaaaaaaaaaaaaaaaaaaaaaaaaa">x</a>', MIB),
    "link texts": f'<a href="https://x.example/">{_filled("a.b.", MIB // 2)}</a>',
    "a table of data": "<table border=1>" + "<tr><td>x<td colspan=999>y" * 6000,
    "tables in cells": "<table border=1><tr><th>x" * 60 + "<tr><td>x<td>y" * 6000,
    "blanks": "x" + "&nbsp;\u034f\u200c " * 60_000 + "y",
    "entities": _filled("&amp;", MIB),
    "words": _filled("word ", MIB),
}
