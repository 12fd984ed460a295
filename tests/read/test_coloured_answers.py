"""Answers in another colour, inside somebody else's sentences."""

from __future__ import annotations

import pytest

from mailgate.mime.model import RawMessage
from mailgate.mime.parse import parse_message
from mailgate.read.message import _folded

ATTRIBUTION = "On Mon, 1 Dec 2025 at 10:00, Ben Smith &lt;ben@example.org&gt; wrote:<br>"
HTML = (
    f'<div>See inside.</div><div class="gmail_quote"><div class="gmail_attr">{ATTRIBUTION}</div>'
    '<blockquote class="gmail_quote"><p>We can deliver until {} if you pay before.</p><p>The price stays as it is.</p>'
    "</blockquote></div>"
)
PLAIN = (
    "See inside.\n\nOn Mon, 1 Dec 2025 at 10:00, Ben Smith <ben@example.org> wrote:\n"
    "> We can deliver until July 31 if you pay before.\n>\n> The price stays as it is.\n"
)
HEAD = b"Subject: Re: Delivery\r\nMIME-Version: 1.0\r\nContent-Type: "


def html(date: str) -> bytes:
    return HEAD + b"text/html; charset=utf-8\r\n\r\n" + HTML.format(date).encode()


def both(date: str) -> bytes:
    parts = (
        f"--b\r\nContent-Type: text/plain\r\n\r\n{PLAIN}\r\n--b\r\nContent-Type: text/html\r\n\r\n{HTML.format(date)}"
    )
    return HEAD + b"multipart/alternative; boundary=b\r\n\r\n" + parts.encode() + b"\r\n--b--\r\n"


@pytest.mark.parametrize("message", [html, both])
@pytest.mark.parametrize("colour", ["color:red", "background-color:yellow"])
def test_a_coloured_word_in_a_quoted_sentence_keeps_the_quotation(message: object, colour: str) -> None:
    parsed = parse_message(RawMessage(message(f'<span style="{colour}">July 31</span>')))  # type: ignore[operator]
    shown = _folded(parsed.text, parsed.headers.subject)
    assert "July 31" in shown.text
    assert shown.interleaved


@pytest.mark.parametrize("message", [html, both])
def test_without_a_colour_it_is_folded(message: object) -> None:
    parsed = parse_message(RawMessage(message("July 31")))  # type: ignore[operator]
    shown = _folded(parsed.text, parsed.headers.subject)
    assert "July 31" not in shown.text
    assert not shown.interleaved
