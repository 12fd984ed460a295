"""Quotations of HTML: where one ends that its own element closes, and answers in letters that look other."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from mailgate.mime.html_text import html_to_text
from mailgate.mime.model import TextFormat
from mailgate.mime.quotes import FoldedText, fold_quotes

ON = "On Monday, March 2, 2026 at 10:14:00 AM GMT+1, Anna Berg &lt;anna@example.org&gt; wrote:"
BLOCK = (
    "<p><b>From:</b> Anna Berg &lt;anna@example.org&gt;<br><b>Sent:</b> Monday, March 2, 2026 10:14 AM<br>"
    "<b>To:</b> Ben Adler &lt;ben@example.com&gt;<br><b>Subject:</b> Plan</p>"
)
TOP = "<p>Thanks for it, the rest by telephone.</p>"
BORDER = 'style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm"'


def read(html: str, subject: str = "Re: Plan") -> FoldedText:
    return fold_quotes(html_to_text(html).text, TextFormat.MARKDOWN, subject=subject)


# --- quotations with an end --------------------------------------------------------------------------------------

CLOSED = {
    "yahoo by class": f'<div class="yahoo_quoted"><div>{ON}</div><div>Hello,</div><div>OLD words</div></div>',
    "yahoo by number": f'<div id="yahoo_quoted_0123456789"><div>{ON}</div><br><div>OLD words</div></div>',
    "outlook": f"<div {BORDER}>{BLOCK}<p>Hello,</p><p>OLD words</p></div>",
    "outlook nested": f"<div {BORDER}><div>{BLOCK}<p>Hello,</p><p>OLD words</p></div></div>",
    "outlook indented": (
        f'<div style="border:none;border-left:solid blue 1.5pt;padding:0cm 0cm 0cm 4.0pt"><div><div {BORDER}>{BLOCK}'
        "</div></div><p>Hello,</p><p>OLD words</p></div>"
    ),
    "outlook mobile": (
        f'<div id="mail-editor-reference-message-container"><div {BORDER}>{BLOCK}</div><div>OLD words</div></div>'
    ),
    "gmail without marks": f'<div class="gmail_quote"><div>{ON}</div><div>OLD words</div></div>',
    "gmail": f'<div class="gmail_quote"><div>{ON}</div><blockquote>OLD words</blockquote></div>',
    "apple": f'<blockquote type="cite"><div>{ON}</div><div>OLD words</div></blockquote>',
    "zoho": (
        '<div class="zmail_extra"><div>---- On Mon, 02 Mar 2026 10:14:00 +0100 Anna Berg '
        "&lt;anna@example.org&gt; wrote ----</div><div>OLD words</div></div>"
    ),
}


@pytest.mark.parametrize("quotation", CLOSED.values(), ids=CLOSED.keys())
@pytest.mark.parametrize(
    "below",
    [
        "<div>NEW words, on Thursday.</div>",
        "<p>NEW words</p><p>NEW name</p>",
        "NEW words",
        "<table><tr><td>NEW words</td></tr></table>",
        "<br><br><b>NEW words</b>",
    ],
    ids=["div", "paragraphs", "bare", "table", "bold"],
)
def test_text_below_a_closed_quotation_stays(quotation: str, below: str) -> None:
    folded = read(f"{quotation}{below}")
    assert folded.text.count("NEW") == below.count("NEW")
    assert "OLD" not in folded.text
    assert len(folded.blocks) == 1


@pytest.mark.parametrize("quotation", CLOSED.values(), ids=CLOSED.keys())
def test_text_below_the_elements_around_a_closed_quotation_stays(quotation: str) -> None:
    folded = read(f"<div><div>{quotation}</div></div><p>NEW words</p>")
    assert "NEW words" in folded.text


@pytest.mark.parametrize("quotation", CLOSED.values(), ids=CLOSED.keys())
def test_text_above_and_below_a_closed_quotation_stays(quotation: str) -> None:
    folded = read(f"<p>NEW one, before it.</p>{quotation}<p>NEW two, after it.</p>")
    assert folded.text.count("NEW") == 2


@pytest.mark.parametrize("quotation", CLOSED.values(), ids=CLOSED.keys())
def test_a_closed_quotation_with_nothing_below_is_folded_as_ever(quotation: str) -> None:
    folded = read(f"{TOP}<div>{quotation}</div>")
    assert folded.text.startswith("Thanks for it")
    assert "OLD" not in folded.text


def test_a_border_over_a_header_block_alone_is_not_the_end_of_the_quotation() -> None:
    folded = read(f"{TOP}<div><div {BORDER}>{BLOCK}</div></div><p>Hello,</p><p>OLD words</p><p>Anna</p>")
    assert "OLD" not in folded.text


@pytest.mark.parametrize("name", ["yahoo_quoted", "gmail_quote"])
def test_a_forwarded_message_in_a_container_is_content(name: str) -> None:
    folded = read(
        f'{TOP}<div class="{name}">---------- Forwarded message ---------<br>From: Anna &lt;a@example.org&gt;<br>'
        "Date: Mon, Mar 2, 2026 at 10:14 AM<br>Subject: Plan<br>To: Ben &lt;b@example.org&gt;<br><br>NEW</div>"
        "<p>NEW</p>",
        "Fwd: Plan",
    )
    assert folded.text.count("NEW") == 2
    assert folded.blocks == ()


@pytest.mark.parametrize("name", ["moz-cite-prefix", "gmail_quote_sender", "my-yahoo_quotedx", "zmail_extra_hr"])
def test_a_name_that_only_begins_like_a_containers_is_none(name: str) -> None:
    assert html_to_text(f'<div class="{name}">One</div><p>Two</p>').text == "One\n\nTwo"


# --- letters that look other -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "style",
    [
        "color:red",
        "color:#C00000",
        "color:rgb(0, 112, 192)",
        "color:#00B050",
        "color:#1F497D",
        "background:yellow",
        "background-color:#FFFF00",
        "color:white;background:blue",
    ],
)
@pytest.mark.parametrize("place", ["between", "last", "in the line"])
def test_an_answer_that_looks_other_than_the_rest_is_seen(style: str, place: str) -> None:
    answer = f'<span style="{style}">NEW</span>'
    body = {
        "between": f"<p>Tell me the day.</p><p>{answer}</p><p>And the place, which I do not know.</p><p>Anna</p>",
        "last": f"<p>Tell me the day, which I do not know.</p><p>{answer}</p>",
        "in the line": f"<p>Which day shall it be? {answer}</p><p>And tell me the place.</p><p>Anna</p>",
    }[place]
    for html in (
        f"{TOP}<div {BORDER}>{BLOCK}</div>{body}",
        f"{TOP}<div>{ON}</div><blockquote>{body}</blockquote>",
    ):
        folded = read(html)
        assert "_NEW_" in folded.text
        assert folded.interleaved


def test_a_word_that_begins_no_header_block_hides_no_colour_below_it() -> None:
    quotation = '<blockquote>Which day?<br><font color="red">NEW</font></blockquote>'
    html = f"<p>From: Berlin, where I am.</p><div>{ON}</div>{quotation}"
    assert read(html).interleaved


@pytest.mark.parametrize(
    "mark", ['<font color="red">NEW</font>', '<p style="color:red">NEW</p>', '<div style="color:red"><b>NEW</b></div>']
)
def test_colour_counts_however_it_is_said(mark: str) -> None:
    folded = read(f"{TOP}<div {BORDER}>{BLOCK}</div><p>Tell me the day, which I do not know.</p>{mark}<p>Anna</p>")
    assert folded.interleaved


@pytest.mark.parametrize("mark", ["<b>NEW, on Thursday.</b>", "<i>NEW</i>", "<em>NEW</em>"])
def test_a_line_in_letters_of_another_kind_is_seen(mark: str) -> None:
    assert read(f"{TOP}<div {BORDER}>{BLOCK}</div><p>Tell me the day.</p><p>{mark}</p><p>Anna</p>").interleaved


@pytest.mark.parametrize(
    "body",
    [
        '<p style="color:#1F497D">OLD one</p><p style="color:#1F497D">OLD two</p>',
        '<p>OLD one</p><p style="color:#333333">OLD two</p>',
        '<p>OLD one</p><p><a href="https://example.org/">OLD two</a></p>',
        '<p>OLD one</p><p>Best regards,</p><p>Anna</p><p style="color:#0070C0"><b>OLD Ltd</b></p>',
        '<p style="color:#1F497D">OLD one</p><p style="color:#808080">OLD words of a company, longer than the rest</p>',
    ],
    ids=["one colour", "grey", "link", "signature", "small print"],
)
def test_what_no_answer_is_marked_with_keeps_nothing(body: str) -> None:
    folded = read(f"{TOP}<div {BORDER}>{BLOCK}</div>{body}")
    assert "OLD" not in folded.text


def test_colours_outside_of_quotations_are_not_marked() -> None:
    html = '<p>One of several words in black.</p><p style="color:red">Two</p><blockquote>Three</blockquote>'
    assert html_to_text(html).text == "One of several words in black.\n\nTwo\n\n> Three"


# --- bounds ------------------------------------------------------------------------------------------------------


class _Calls:
    def __init__(self) -> None:
        self.number = 0

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event in ("call", "c_call"):
            self.number += 1


def calls(html: str) -> int:
    counted = _Calls()
    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        html_to_text(html)
    finally:
        sys.setprofile(before)
    return counted.number


FLOODS = {
    "containers": '<div class="yahoo_quoted">a</div>',
    "open containers": '<div class="yahoo_quoted">a',
    "borders": '<div style="border-top:solid red">From: a<p>b</p></div>',
    "open borders": '<div style="border-top:solid red">From: a<p>b</p>',
    "from": "<p>From: a</p><p>Subject: b</p><p>c</p>",
    "colours": '<p>From: a</p><p>Subject: b</p><p>c</p><p style="color:red">d</p>',
    "subject without end": "From: a Subject: b ",
    "blockquotes": '<blockquote>a<font color="red">b</font></blockquote>',
}


@pytest.mark.parametrize("unit", FLOODS.values(), ids=FLOODS.keys())
def test_work_on_quotations_grows_no_faster_than_the_document(unit: str) -> None:
    small, large = (calls(unit * (size // len(unit))) for size in (16_000, 64_000))
    assert large <= 4.5 * small + 5000
