from __future__ import annotations

from mailgate.read.flags import FLAG_CHARS_MAX, FLAGS_MAX, shown_flags


def test_system_flags_get_their_canonical_spelling_and_keywords_keep_theirs() -> None:
    shown = shown_flags(("$Forwarded", "\\seen", "\\FLAGGED", "NonJunk"))
    assert shown.flags == ("\\Seen", "\\Flagged", "$Forwarded", "NonJunk")
    assert shown.warnings == ()


def test_recent_is_about_the_session_and_not_shown() -> None:
    assert shown_flags(("\\recent", "\\Answered")).flags == ("\\Answered",)


def test_a_flag_is_shown_once() -> None:
    assert shown_flags(("\\Seen", "\\SEEN", "a", "a")).flags == ("\\Seen", "a")


def test_too_many_keywords_never_push_a_system_flag_out() -> None:
    shown = shown_flags((*(f"k{number}" for number in range(500)), "\\Seen"))
    assert len(shown.flags) == FLAGS_MAX
    assert "\\Seen" in shown.flags
    assert [warning.code for warning in shown.warnings] == ["flags_changed"]


def test_long_or_unsafe_keywords_are_cut_and_cleaned() -> None:
    shown = shown_flags(("k" * 1000, "a\u202eb"))
    assert all(len(flag) <= FLAG_CHARS_MAX for flag in shown.flags)
    assert not any("\u202e" in flag for flag in shown.flags)
    assert [warning.code for warning in shown.warnings] == ["flags_changed"]
