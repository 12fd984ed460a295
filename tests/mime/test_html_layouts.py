"""Pieces of newsletters as services build them: what a reader sees is there in its order, and nothing else."""

import re

import pytest

from mailgate.mime.html_text import html_to_text
from tests.mime.html_layouts import LAYOUTS

_COMMENT = re.compile(r"<!--\[if [^!].*?<!\[endif\]-->", re.DOTALL)
_WORD = re.compile(r"\b(see|hid)([0-9])\b")


def test_there_are_twenty_kinds() -> None:
    assert len(LAYOUTS) >= 20


@pytest.mark.parametrize("html", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_what_a_reader_sees_of_a_newsletter_is_shown_and_nothing_else(html: str) -> None:
    result = html_to_text(html)
    written = [match[0] for match in _WORD.finditer(_COMMENT.sub("", html)) if match[1] == "see"]
    assert [match[0] for match in _WORD.finditer(result.text)] == written
    assert "hid" not in result.text
    assert result.hidden is ("hid" in re.sub(r"hidden|-hide", "", _COMMENT.sub("", html)))
