"""HTML to text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.limits import MIB, TEXT_BYTES_MAX
from mailgate.mime import html_text as module
from mailgate.mime.html_text import HtmlText, html_to_text
from tests.mime.test_html_scan import HOSTILE


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("a<br>b", "a\nb"),
        ("<h1>Title</h1>text", "# Title\n\ntext"),
        ("<b>bold</b> <em>slanted</em> <code>x_y</code>", "**bold** _slanted_ `x_y`"),
        ("<ul><li>one<li>two</ul>", "  * one\n  * two"),
        ("<ol start=5><li>five</ol>", "  5. five"),
        ("<ol start><li>one</ol>", "  1. one"),
        ("<blockquote>quoted</blockquote>", "> quoted"),
        ("<pre>a\n  b</pre>", "    a\n      b"),
        ("Grüße &amp; &lt;b&gt; &eacute; &#9731;", "Grüße & <b> é ☃"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a | b\n\nc"),
        ('<img alt="a picture" src=x>', "![a picture]"),
        ("a&nbsp;&nbsp;&nbsp;b", "a b"),
        ("<object>instead</object>", "instead"),
        ("x" * 300, "x" * 300),
        ("", ""),
    ],
)
def test_html_becomes_readable_markdown(html: str, text: str) -> None:
    assert html_to_text(html).text == text


@pytest.mark.parametrize(
    "element", ["script", "style", "template", "noscript", "title", "svg", "textarea", "select", "iframe", "video"]
)
def test_what_is_never_shown_as_text_is_left_out(element: str) -> None:
    assert html_to_text(f"before <{element}>secret</{element}> after").text == "before after"


@pytest.mark.parametrize("stray", ["</style>", "</script>", "</head>", "<head>", "</title>", "<html><head>", "</body>"])
def test_a_stray_tag_does_not_make_the_text_vanish(stray: str) -> None:
    assert "text" in html_to_text(f"{stray}text").text


@pytest.mark.parametrize(
    "attribute",
    [
        "hidden",
        'style="display:none"',
        'style="color:red; DISPLAY : NONE !important"',
        'style="visibility:hidden"',
        'style="font-size:0"',
        'style="font-size: 0.0px"',
        'style="font-size:1px"',
        'style="font-size:.5pt"',
        'style="transform:scale(0)"',
        'style="transform: scale(0.0, 0)"',
        'style="position:absolute;clip:rect(0, 0, 0, 0)"',
        'style="clip:rect(1px,1px,1px,1px);position:absolute"',
        'style="font:0/0 a"',
        'style="opacity:0"',
        'style="max-height:0;overflow:hidden"',
        'style="text-indent:-9999px"',
        'style="d\\69splay:none"',
        'style="dis/**/play:x;display:/* */none"',
        'style="display&#58;none"',
    ],
)
@pytest.mark.parametrize("element", ["div", "span", "p", "td", "b", "a", "li"])
def test_hidden_text_is_left_out_and_reported(element: str, attribute: str) -> None:
    result = html_to_text(f"<table><tr><td>seen <{element} {attribute}>secret</{element}></table> also")
    assert "secret" not in result.text
    assert "seen" in result.text
    assert "also" in result.text
    assert result.hidden


def test_a_comment_is_left_out() -> None:
    assert html_to_text("a<!-- secret -->b").text == "ab"


@pytest.mark.parametrize(
    "html",
    [
        '<td style="font-size:0">  <span style="font-size:14px">seen</span>',
        '<div style="visibility:hidden"><p style="visibility:visible">seen</div>',
        '<div style="line-height:1.0;font-size:10px">seen</div>',
        '<div style="opacity:0.9">seen</div>',
        '<div style="font-size:1em">seen</div>',
        '<div style="font-size:11px;transform:scale(0.9)">seen</div>',
        '<div style="font-size:1.5px">seen</div>',
        '<div style="clip:rect(0,100px,100px,0)">seen</div>',
        '<div style="max-width:600px;height:0.5em">seen</div>',
    ],
)
def test_text_that_is_shown_again_stays_and_nothing_is_reported(html: str) -> None:
    result = html_to_text(html)
    assert result.text == "seen"
    assert not result.hidden


def test_hidden_blanks_are_not_reported() -> None:
    assert not html_to_text('a<div style="display:none"> &nbsp; </div>').hidden


def test_preheader_padding_is_collapsed() -> None:
    padding = "&zwnj;&nbsp;&#847; &#8199;&shy; " * 100
    result = html_to_text(f"<p>Offer{padding}</p><p>Body</p>")
    assert result.sanitized
    assert len(result.text) < 300


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<a href="https://x.example/a?b=1&amp;c=2">go</a>', "[go](https://x.example/a?b=1&c=2)"),
        ('<a href="https://x.example/(a) b">go</a>', "[go](https://x.example/%28a%29%20b)"),
        ('<a href="https://x.example/">https://x.example/</a>', "<https://x.example/>"),
        ('<a href="https://evil.example/">https://good.example/</a>', "[https://good.example/](https://evil.example/)"),
        (
            '<a href="https://e.example/">x](https://good.example/) [y</a>',
            "[x\\](https://good.example/) \\[y](https://e.example/)",
        ),
        ('<a href="mailto:a@b.c">write</a>', "[write](mailto:a@b.c)"),
        ('<a href="javascript:alert(1)">go</a>', "go"),
        ('<a href=" java\tscript:alert(1)">go</a>', "go"),
        ('<a href="data:text/html,x">go</a>', "go"),
        ('<a href="cid:x">go</a>', "go"),
        ('<a href="#top">go</a>', "go"),
        ('<a href="http://[">go</a>', "go"),
        ('<a href="https://track.example/"><img src="https://track.example/p.gif"></a>x', "x"),
        ('<a href="https://x.example/"><img alt="logo"></a>', "[![logo]](https://x.example/)"),
    ],
)
def test_links_show_their_true_target_and_nothing_active_is_left(html: str, text: str) -> None:
    assert html_to_text(html).text == text


def test_a_deep_list_or_quotation_does_not_multiply_the_text() -> None:
    assert len(html_to_text("<ul><li>x" * 3000).text) < 24_000
    assert len(html_to_text("<blockquote>x" * 4000).text) < 52_000


@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_mebibyte_of_anything_ends_within_the_text_limit(unit: str) -> None:
    result = html_to_text(unit * (MIB // 4 // len(unit)), tokens=5000)
    assert not result.failed
    assert len(result.text) <= 2 * TEXT_BYTES_MAX


def test_more_html_than_the_limit_is_cut_and_reported() -> None:
    result = html_to_text("<p>start</p>" + "<!-- -->" * MIB + "end")
    assert result.text == "start"
    assert result.limited


def test_the_token_budget_is_shared_by_its_user() -> None:
    first = html_to_text("<p>a</p>" * 10, tokens=9)
    assert first.tokens == 9
    assert first.limited
    assert html_to_text("<p>a</p>", tokens=0) == HtmlText(limited=True)


def test_an_exception_in_a_library_costs_the_html_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(markup: str) -> str:
        raise RecursionError

    monkeypatch.setattr(module, "_markdown", fail)
    assert html_to_text("<p>x</p>").failed


FRAGMENTS = [
    *("<p>", "</p>", "<b>", "</b>", "<a href=http://x.y>", "</a>", "<table>", "<tr>", "<td>", "</td>", "</table>"),
    *("<ul>", "<li>", "</ul>", "<ol start=x>", "<pre>", "</pre>", "<svg>", "</svg>", "<style>", "</style>", "<script>"),
    *("<!--", "-->", "<div hidden>", "</div>", "<select>", "<template>", "&amp;", "&#0;", "&", "<", ">", '"', "'", "="),
    *(
        "<h1>",
        "<dl><dt>",
        "<dd>",
        "<blockquote>",
        "<br>",
        "<img alt=x>",
        "x",
        " ",
        "\n",
        "1. ",
        "\u202e",
        "\ufdd0",
        "é",
    ),
]


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join))
def test_any_html_gives_safe_text(html: str) -> None:
    result = html_to_text(html)
    assert not result.failed
    assert "\u202e" not in result.text
    assert not any("\ufdd0" <= character <= "\ufdef" for character in result.text)
    result.text.encode("utf-8")


def test_a_body_that_comes_late_holds_for_what_stands_before_it() -> None:
    """HTML Standard, 13.2.6.4.7: its attributes are added to the body that has begun without it."""
    shown = html_to_text("<font color=FFFFFF>white on black</font><body bgcolor=#000000 text=#ffffff>more</body>")
    assert (shown.text, shown.hidden_chars) == ("white on blackmore", 0)
    first = html_to_text("<body bgcolor=black text=white><p>seen</p><body bgcolor=white>still")
    assert (first.text.split(), first.hidden_chars) == (["seen", "still"], 0)
    assert html_to_text('<p>gone</p><body style="display:none">too').text == ""


SEEN = {
    "a cell grows": '<table><tr><td width=1 style="width:1px;overflow:hidden">EUR 500</td></tr></table>',
    "a table grows": '<table style="width:1px;min-width:100%;overflow:hidden"><tr><td>EUR 500</td></tr></table>',
    "the least height wins": '<div style="height:0;min-height:40px;overflow:hidden">EUR 500</div>',
    "a button that Outlook replaces": '<a href="http://x.example" style="background:red;mso-hide:all">EUR 500</a>',
}


@pytest.mark.parametrize("html", SEEN.values(), ids=SEEN.keys())
def test_what_a_browser_shows_is_not_taken_for_hidden(html: str) -> None:
    result = html_to_text(html)
    assert "EUR 500" in result.text
    assert result.hidden_chars == 0
