"""Bare, safe file names."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.limits import FILENAME_CHARS_MAX
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
