"""Things in ordinary mail that change what a text means where they are lost."""

from __future__ import annotations

import pytest

from mailgate.mime.html_text import html_to_text
from mailgate.mime.model import TextFormat
from mailgate.mime.quotes import fold_quotes

GMAIL = (
    '<div class="gmail_quote"><div class="gmail_attr">On Mon, 1 Dec 2025 at 10:00, Ben Smith &lt;ben@example.org&gt; '
    'wrote:<br></div><blockquote class="gmail_quote">{}</blockquote></div><p>The price is 500.</p>'
)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>Only $19<sup>99</sup> today</p>", "Only $19^99 today"),
        ("<p>3.5<sup>1</sup>% of x<sup>2</sup></p>", "3.5^1% of x^2"),
        ("<p>on the 1<sup>st</sup> of May</p>", "on the 1st of May"),
        ("<p>in <s>30</s> 60 days</p>", "in ~~30~~ 60 days"),
        ("<p>in <del>30</del> 60 <strike>years</strike> days</p>", "in ~~30~~ 60 ~~years~~ days"),
        ('<div style="background:#000;background:;color:#fff">an offer</div>', "an offer"),
        ('<div style="background:#000;background:!important;color:#fff">an offer</div>', "an offer"),
    ],
)
def test_what_stands_raised_struck_out_or_on_a_ground_keeps_its_meaning(html: str, text: str) -> None:
    assert html_to_text(html).text == text


@pytest.mark.parametrize(
    "button",
    [
        '<span style="mso-hide:all"><a href="https://x.example/">Pay 90 EUR now</a></span>',
        '<a href="https://x.example/"><span style="mso-hide:all">Pay 90 EUR now</span></a>',
    ],
)
def test_a_button_hidden_from_one_program_is_there_for_everybody_else(button: str) -> None:
    html = f'<!--[if mso]><v:rect href="https://x.example/"><center>Pay</center></v:rect><![endif]-->{button}'
    assert html_to_text(html).text == "[Pay 90 EUR now](https://x.example/)"


@pytest.mark.parametrize("quoted", ["", "<style>p{color:red}</style>", '<img src="photo.jpg">', "<p> </p>"])
def test_a_quotation_of_nothing_takes_no_text_that_follows(quoted: str) -> None:
    assert html_to_text(f"<blockquote>{quoted}</blockquote><p>Mine</p>").text == "Mine"
    text = html_to_text(GMAIL.format(quoted)).text
    assert "The price is 500." in fold_quotes(text, TextFormat.MARKDOWN).text


def test_mail_that_a_form_relays_under_the_same_subject_is_shown() -> None:
    text = (
        "A visitor used the contact form.\n\nFrom: Ann Other <ann@example.org>\nSent: Monday, 1 December 2025 10:00\n"
        "To: shop@example.org\nSubject: Boots\n\nDo you have the brown ones in 42?\n"
    )
    assert "brown ones" in fold_quotes(text, TextFormat.PLAIN, subject="Boots").text
    assert (
        "brown ones" not in fold_quotes("Yes.\n" + text.partition("\n")[2], TextFormat.PLAIN, subject="Re: Boots").text
    )
