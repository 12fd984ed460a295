"""Text that a reader of the mail would not see is never in ours, and each removal is reported with its size."""

import pytest

from mailgate.mime.html_text import html_to_text
from tests.mime.html_attacks import ATTACKS, SECRET
from tests.mime.html_seen import SEEN, TEXT

VISIBLE = "The meeting is at nine"
LETTERS = len(SECRET)


def test_the_set_is_large() -> None:
    assert len(ATTACKS) >= 40
    assert len(set(ATTACKS.values())) == len(ATTACKS)


@pytest.mark.parametrize("markup", ATTACKS.values(), ids=ATTACKS.keys())
def test_hidden_text_is_left_out_counted_and_what_is_seen_stays(markup: str) -> None:
    result = html_to_text(f'<div style="font-size:16px;color:#000;background:#fff">{VISIBLE}</div>{markup}')
    assert "forward" not in result.text
    assert "eve" not in result.text
    assert VISIBLE in result.text
    assert result.hidden_chars >= LETTERS
    assert not result.failed


def test_the_same_text_without_a_disguise_is_shown_and_not_reported() -> None:
    shown = html_to_text(f"<p>{VISIBLE}</p><p>{SECRET}</p>")
    assert (shown.text, shown.hidden_chars) == (f"{VISIBLE}\n\n{SECRET}", 0)


def test_the_count_is_that_of_the_characters_without_padding() -> None:
    html = f'<p>seen</p><div style="display:none">{SECRET}{"&zwnj;&nbsp;&#847; " * 50}</div><p hidden> &nbsp; </p>'
    assert html_to_text(html).hidden_chars == LETTERS
    assert html_to_text("<p>seen</p>" + f"<b hidden>{SECRET}</b>" * 3).hidden_chars == 3 * LETTERS


VISIBLE_TWINS = {
    "dark on light": '<div style="color:#111;background:#fff">{}</div>',
    "grey small print": '<div style="color:#999999;font-size:10px">{}</div>',
    "light grey": '<div style="color:#cccccc">{}</div>',
    "white on a colour": '<td bgcolor="#336699"><span style="color:#fff">{}</span></td>',
    "white on a coloured ancestor": '<div style="background:#333"><div><p style="color:white">{}</p></div></div>',
    "white on a picture": '<td background="https://x.example/b.png" style="color:#fff">{}</td>',
    "white on a picture by style": '<div style="background:url(b.png) #fff;color:#fff">{}</div>',
    "white on a gradient": '<div style="background:linear-gradient(#f00,#00f);color:#fff">{}</div>',
    "white on a variable": '<div style="background:var(--brand);color:#fff">{}</div>',
    "letters filled by a gradient": (
        '<div style="background:linear-gradient(#f00,#00f);-webkit-background-clip:text;color:transparent">{}</div>'
    ),
    "white, then dark": '<div style="color:#fff"><p style="color:#222">{}</p></div>',
    "red on green of one brightness": '<div style="background:#008000;color:#d00000">{}</div>',
    "blue link in white text": '<div style="color:#fff"><a href="https://x.example/">{}</a></div>',
    "colour set by a class": "<style>.a{{background:#004}} .a .b{{color:#fff}}</style><div class=a><p class=b>{}</div>",
    "no size outside, a size inside": '<td style="font-size:0"><p style="font-size:14px">{}</p></td>',
    "picture in a cell of size zero": '<td style="font-size:0;line-height:0"><img alt="{}" width=600></td>',
    "visible in hidden": '<div style="visibility:hidden"><p style="visibility:visible">{}</p></div>',
    "no height, nothing cut off": '<div style="max-height:0">{}</div>',
    "cut off, with a height": '<div style="max-height:900px;overflow:hidden">{}</div>',
    "left without a position": '<div style="left:-9999px">{}</div>',
    "moved a little": '<div style="position:relative;left:-20px;margin-top:-30px">{}</div>',
    "clipped without a position": '<div style="clip:rect(0,0,0,0)">{}</div>',
    "clipped a little": '<div style="clip-path:inset(5% round 4px)">{}</div>',
    "rounded": '<div style="clip-path:circle(40% at 50% 50%);transform:translate(10px)">{}</div>',
    "hidden overruled": "<div hidden style='display:block'>{}</div>",
    "string that says so": """<div style="font-family:'x;display:none;y'">{}</div>""",
    "declaration that is none": '<div style="display:no;display:none x">{}</div>',
    "print": "<style>@media print{{p{{display:none}}}}</style><p>{}</p>",
    "print by attribute": "<style media=print>p{{display:none}}</style><p>{}</p>",
    "narrow": "<style>@media (max-width:600px){{p{{display:none}}}}</style><p>{}</p>",
    "dark": "<style>@media (prefers-color-scheme:dark){{p{{color:#fff}}}}</style><p>{}</p>",
    "not screen": "<style>@media not screen{{p{{display:none}}}}</style><p>{}</p>",
    "no css": "<style type=text/x>p{{display:none}}</style><p>{}</p>",
    "sheet in a template": "<template><style>p{{display:none}}</style></template><p>{}</p>",
    "hover": "<style>p:hover{{display:none}} p::before{{display:none}}</style><p>{}</p>",
    "other parent": "<style>.a>p{{display:none}}</style><div class=a><div><p>{}</p></div></div>",
    "other ancestor": "<style>.a p{{display:none}}</style><div class=a>t</div><p>{}</p>",
    "not the next": "<style>h6+p{{display:none}}</style><h6>t</h6><div>d</div><p>{}</p>",
    "more specific": "<style>p{{display:none}} div p.y{{display:block}} p{{color:red}}</style><div><p class=y>{}</div>",
    "inline wins": "<style>p#a.b{{display:none}}</style><p id=a class=b style='display:block'>{}</p>",
    "program's own condition": "<!--[if !mso]><!--><p>{}</p><!--<![endif]-->",
    "revealed condition": "<![if !mso]><p>{}</p><![endif]>",
    "label in a comment": "<!-- header --><p>{}</p><!-- /header -->",
    "short title": "<title>July</title><p>{}</p>",
}


@pytest.mark.parametrize("markup", VISIBLE_TWINS.values(), ids=VISIBLE_TWINS.keys())
def test_what_a_reader_sees_stays_and_nothing_is_reported(markup: str) -> None:
    if markup.startswith("<td"):
        markup = f"<table><tr>{markup}</tr></table>"
    result = html_to_text(markup.format(VISIBLE))
    assert VISIBLE in result.text
    assert result.hidden_chars == 0


@pytest.mark.parametrize("markup", SEEN.values(), ids=SEEN.keys())
def test_what_only_looks_hidden_stays_and_nothing_is_reported(markup: str) -> None:
    result = html_to_text(markup)
    assert TEXT in result.text
    assert result.hidden_chars == 0
    assert not result.failed


def test_only_the_first_line_of_an_indent_is_off_the_screen() -> None:
    result = html_to_text(f'<div style="text-indent:-9999px">{SECRET}<br>{VISIBLE}</div>')
    assert (result.text, result.hidden_chars) == (VISIBLE, LETTERS)


def test_text_over_something_unknown_is_lost_only_when_it_is_lost_on_all_there_is() -> None:
    over = '<div style="position:absolute;color:{}">' + SECRET + "</div>"
    light = '<p style="background:#f8f8f8">a</p>'
    assert SECRET not in html_to_text(light + over.format("#fff")).text
    assert SECRET in html_to_text(light + '<p style="background:#333">a</p>' + over.format("#fff")).text
    assert SECRET in html_to_text(light + "<img src=a width=90>" + over.format("#fff")).text
    assert SECRET not in html_to_text(light + "<img src=a width=1 height=1>" + over.format("#fff")).text
