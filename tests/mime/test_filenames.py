"""Bare, safe file names."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.limits import FILENAME_CHARS_MAX
from mailgate.mime.clean import is_safe
from mailgate.mime.filenames import SafeFilename, safe_filename


@pytest.mark.parametrize("name", ["report.pdf", "Übersicht 2026.xlsx", "日本語.txt", ".profile", "a (1).tar.gz"])
def test_an_honest_name_stays_as_it_is(name: str) -> None:
    assert safe_filename(name) == SafeFilename(name)


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("../../etc/passwd", "passwd"),
        ("/etc/passwd", "passwd"),
        ("C:\\Windows\\system.ini", "system.ini"),
        ("C:evil.exe", "evil.exe"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("a\u200bb.txt", "ab.txt"),
        ("a\x00b\r\n.txt", "ab .txt"),
        ('a<b>:"|?*.txt', "a_b______.txt"),
        ("con.txt", "_con.txt"),
        ("CON .txt", "_CON .txt"),
        ("com¹.log", "_com¹.log"),
        ("CONOUT$", "_CONOUT$"),
        ("name. . ", "name"),
        ("", None),
        ("..", None),
        ("../", None),
        ("\u202e", None),
    ],
)
def test_a_hostile_name_becomes_bare_and_is_flagged(sent: str, name: str | None) -> None:
    assert safe_filename(sent) == SafeFilename(name, changed=True)


def test_no_name_is_no_change() -> None:
    assert safe_filename(None) == SafeFilename(None)


def test_a_long_name_keeps_its_suffix() -> None:
    result = safe_filename("x" * 10_000 + ".pdf")
    assert result.changed
    assert result.name is not None
    assert len(result.name) == FILENAME_CHARS_MAX
    assert result.name.endswith(".pdf")


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=300))
def test_any_name_is_bare_bounded_and_encodable(sent: str) -> None:
    name = safe_filename(sent).name
    if name is not None:
        assert 0 < len(name) <= FILENAME_CHARS_MAX
        assert not set(name) & set("/\\\x00\r\n")
        assert name not in (".", "..")
        name.encode("utf-8")


PIECES = st.sampled_from(
    ["..", "/", "\\", "C:", ".", " ", "con", "nul", ".txt", "\x00", "\r\n", "\u202e", "\u200b", "\u2066", "\u2028",
     "\U000e0041", "\ud800", ":", "*", "%2e%2e%2f", "name", "x" * 150, "日本"]
)  # fmt: skip


@settings(derandomize=True, max_examples=500, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join))
def test_hostile_pieces_in_any_order_give_a_safe_bare_name_and_every_change_is_flagged(sent: str) -> None:
    result = safe_filename(sent)
    assert result.changed == (result.name != sent)
    if result.name is not None:
        assert is_safe(result.name)
        assert result.name == result.name.strip(" ").rstrip(". ")
        assert not set(result.name) & set('/\\<>:"|?*')
        assert safe_filename(result.name) == SafeFilename(result.name)
