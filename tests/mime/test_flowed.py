"""format=flowed (RFC 3676)."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.mime.flowed import unflow
from tests.mime.messages import part, read


@pytest.mark.parametrize(
    ("flowed", "text"),
    [
        ("one \ntwo \nthree", "one two three"),
        ("one \n\ntwo", "one\n\ntwo"),
        ("fixed\nline", "fixed\nline"),
        (" stuffed", "stuffed"),
        ("  two blanks", " two blanks"),
        (" From here", "From here"),
        (" > no quotation", " > no quotation"),
        ("> a \n> b\n>> c \n>> d\ne", "> a b\n>> c d\ne"),
        ("> a \nb", "> a\nb"),
        ("text \n-- \nsignature \nline", "text\n-- \nsignature line"),
        (">> -- \n>> x", ">>-- \n>> x"),
        ("last \n", "last\n"),
        ("", ""),
    ],
)
def test_paragraphs_are_whole_again(flowed: str, text: str) -> None:
    assert unflow(flowed) == text


def test_delsp_joins_without_a_blank() -> None:
    assert unflow("契約 \n書を \n送る", delete_space=True) == "契約書を送る"
    assert unflow("a  \nb", delete_space=True) == "a b"


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ("; format=flowed", "a b"),
        ('; Format="FLOWED"', "a b"),
        ("; format=flowed; delsp=yes", "ab"),
        ("; format=fixed", "a \nb"),
        ("", "a \nb"),
    ],
)
def test_a_part_is_unflowed_only_where_it_says_that_it_flows(parameters: str, expected: str) -> None:
    assert read(part(b"a \r\nb\r\n", f"Content-Type: text/plain{parameters}")).text.text == expected


def test_flowed_text_in_quoted_printable_keeps_its_joints() -> None:
    source = part(
        b"one=20\r\ntwo =\r\nthree\r\n",
        "Content-Type: text/plain; format=flowed",
        "Content-Transfer-Encoding: quoted-printable",
    )
    assert read(source).text.text == "one two three"


def flow(depth: int, paragraph: str, width: int) -> str:
    """A paragraph as a sender writes it (RFC 3676, 4.2 and 4.4)."""
    lines = textwrap.wrap(paragraph, width, break_long_words=False, break_on_hyphens=False) or [""]
    stuffed = (f" {line}" if depth or line.startswith((" ", ">", "From ")) else line for line in lines)
    return " \n".join(">" * depth + line for line in stuffed)


WORDS = st.text("abcäé字>-.", min_size=1, max_size=12).filter(lambda word: word != "--")
PARAGRAPHS = st.lists(
    st.tuples(st.integers(0, 4), st.lists(WORDS, min_size=1, max_size=30).map(" ".join)), min_size=1, max_size=6
)


@settings(derandomize=True, max_examples=80, deadline=None)
@given(PARAGRAPHS, st.integers(20, 76))
def test_what_was_flowed_comes_back(paragraphs: list[tuple[int, str]], width: int) -> None:
    expected = [
        f"{'>' * depth} {paragraph}" if depth or paragraph.startswith(">") else paragraph
        for depth, paragraph in paragraphs
    ]
    assert unflow("\n".join(flow(depth, paragraph, width) for depth, paragraph in paragraphs)) == "\n".join(expected)


@settings(derandomize=True, max_examples=80, deadline=None)
@given(st.text("ab >\n-", max_size=300), st.booleans())
def test_no_word_is_lost_or_added(text: str, delete_space: bool) -> None:
    assert unflow(text, delete_space=delete_space).replace(" ", "").replace("\n", "").replace(">", "") == text.replace(
        " ", ""
    ).replace("\n", "").replace(">", "")
