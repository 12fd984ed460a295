from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailgate.read.paging import page_end


@given(st.text(alphabet="ab\r\n\u0301\u200d\ufe0f😀👩", max_size=60), st.integers(1, 9))
def test_pages_together_are_the_whole_text_and_each_gets_further(text: str, length: int) -> None:
    offset, whole = 0, ""
    while offset < len(text):
        end = page_end(text, offset, length)
        assert offset < end <= offset + length
        whole += text[offset:end]
        offset = end
    assert whole == text


@pytest.mark.parametrize(
    ("text", "length", "end"),
    [
        ("abcdef", 3, 3),
        ("abc", 3, 3),
        ("abc", 10, 3),
        ("ab\r\ncd", 3, 2),
        ("ab\r\ncd", 4, 4),
        ("ae\u0301b", 2, 1),
        ("xa\u0301\u0302b", 3, 1),
        ("x👩\u200d👩y", 3, 1),
        ("x👩\u200d👩y", 2, 1),
        ("x👍🏽y", 2, 1),
    ],
)
def test_a_cut_falls_between_what_a_reader_sees_as_characters(text: str, length: int, end: int) -> None:
    assert page_end(text, 0, length) == end


def test_a_run_of_marks_longer_than_the_page_is_cut_rather_than_never_passed() -> None:
    text = "a" + "\u0301" * 100
    assert page_end(text, 0, 10) == 10
    assert page_end("\r\n", 0, 1) == 1
