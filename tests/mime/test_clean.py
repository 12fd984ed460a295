"""Safe display strings."""

import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.mime.clean import clean, cut_bytes, cut_chars, is_safe
from mailgate.mime.model import Clean

UNSAFE = {
    "nul": "\x00",
    "escape": "\x1b",
    "delete": "\x7f",
    "c1 control": "\x9b",
    "right-to-left override": "\u202e",
    "left-to-right isolate": "\u2066",
    "right-to-left mark": "\u200f",
    "arabic letter mark": "\u061c",
    "zero-width space": "\u200b",
    "word joiner": "\u2060",
    "byte order mark": "\ufeff",
    "soft hyphen": "\xad",
    "combining grapheme joiner": "\u034f",
    "hangul filler": "\u3164",
    "tag letter": "\U000e0041",
    "language tag": "\U000e0001",
    "variation selector that can carry a byte": "\U000e0110",
    "noncharacter": "\ufdd0",
    "last code point of a plane": "\U0001ffff",
    "annotation anchor": "\ufff9",
}


@pytest.mark.parametrize("character", UNSAFE.values(), ids=UNSAFE.keys())
def test_unsafe_characters_are_removed_and_reported(character: str) -> None:
    assert clean(f"a{character}b") == Clean("ab", changed=True)
    assert clean(f"a{character}b", multiline=True) == Clean("ab", changed=True)


@pytest.mark.parametrize("text", ["plain", "Grüße", "日本語", "שלום", "مرحبا", "e\u0301", "a — b", "\ue000private"])
def test_ordinary_text_of_any_script_stays(text: str) -> None:
    assert clean(text) == Clean(text)


# Signs that stand visibly before or around the digits and letters that follow them.
VISIBLE_FORMAT = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}


def test_every_control_format_and_separator_character_of_unicode_is_unsafe() -> None:
    for point in range(sys.maxunicode + 1):
        if unicodedata.category(chr(point)) in ("Cc", "Cf", "Cs", "Zl", "Zp") and chr(point) not in "\t\n\r":
            assert is_safe(f"a{chr(point)}b") == (point in VISIBLE_FORMAT), hex(point)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x0b", "\x0c", "\x85"])
def test_line_and_page_separators_become_breaks(separator: str) -> None:
    assert clean(f"a{separator}b") == Clean("a b", changed=True)
    assert clean(f"a{separator}b", multiline=True) == Clean("a\nb", changed=True)


def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    assert clean("a\ud800b") == Clean("a\ufffdb", changed=True)


def test_blanks_of_a_single_line_are_collapsed_without_being_called_a_change() -> None:
    assert clean("  a \t  b ") == Clean("a b")


def test_a_line_break_in_a_single_line_is_a_change() -> None:
    assert clean("a\r\nBcc: x") == Clean("a Bcc: x", changed=True)


def test_line_ends_of_a_text_are_unified() -> None:
    assert clean("a\r\nb\rc\nd", multiline=True) == Clean("a\nb\nc\nd")


@pytest.mark.parametrize(
    "text",
    ["\U0001f468\u200d\U0001f469", "❤\ufe0f\u200d\U0001f525", "1\ufe0f", "می\u200cخواهم", "क\u094d\u200dष", "☎\ufe0e"],
    ids=["family", "burning heart", "keycap", "persian", "devanagari", "text telephone"],
)
def test_joiners_and_selectors_stay_where_the_script_needs_them(text: str) -> None:
    assert clean(text) == Clean(text)


@pytest.mark.parametrize(
    "text",
    ["a\u200db", "\u200dab", "ab\u200c", "क\u200d\u200dष", "a\ufe0f", "☎\ufe0f\ufe0f", "x\u200d\U0001f525"],
)
def test_joiners_and_selectors_elsewhere_are_removed(text: str) -> None:
    result = clean(text)
    assert result.changed
    assert len(result.text) < len(text)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=40), st.booleans())
def test_cleaning_twice_is_cleaning_once_and_always_encodes(text: str, multiline: bool) -> None:
    once = clean(text, multiline=multiline)
    once.text.encode("utf-8")
    assert clean(once.text, multiline=multiline) == Clean(once.text)
    assert is_safe(once.text)


def test_cuts_keep_whole_characters_and_say_that_they_cut() -> None:
    assert cut_chars("abc", 3) == ("abc", False)
    assert cut_chars("abcd", 3) == ("abc", True)
    assert cut_bytes("aé", 3) == ("aé", False)
    assert cut_bytes("aéé", 4) == ("aé", True)
