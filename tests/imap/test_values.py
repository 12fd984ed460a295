from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.imap.responses import FetchData
from mailgate.imap.values import (
    INBOX,
    FlagDelta,
    FlagOperation,
    FolderName,
    MessageRef,
    ModSeq,
    PermanentFlags,
    ScanWindow,
    SpecialUse,
    SystemFlag,
    Uid,
    UidValidity,
    canonical_flag,
    settable_flag,
)
from mailgate.limits import FLAGS_MAX, FOLDER_NAME_MAX, KEYWORD_CHARS_MAX
from tests.imap.wire import response

MAXIMA = [(Uid, 2**32 - 1), (UidValidity, 2**32 - 1), (ModSeq, 2**63 - 1)]


@pytest.mark.parametrize(("kind", "maximum"), MAXIMA)
def test_numbers_keep_to_the_range_of_the_standard(kind: type[Uid], maximum: int) -> None:
    assert kind(1) == 1
    assert kind(maximum) == maximum
    assert isinstance(kind(1), kind)
    for wrong in (0, -1, maximum + 1):
        with pytest.raises(ValueError, match="out of range"):
            kind(wrong)


@pytest.mark.parametrize(("kind", "maximum"), MAXIMA)
@pytest.mark.parametrize("wrong", [True, "5", 5.0, None])
def test_only_an_integer_is_a_number(kind: type[Uid], maximum: int, wrong: object) -> None:
    with pytest.raises(TypeError, match="takes an integer"):
        kind(wrong)  # type: ignore[arg-type]


def test_a_mod_sequence_is_exact_beyond_what_json_numbers_hold() -> None:
    assert str(ModSeq(9007199254740993)) == "9007199254740993"


@pytest.mark.parametrize("text", ["a", " a ", "a/b", "Entwürfe", "\U0001f4ec", "a\u200bb", "x" * FOLDER_NAME_MAX])
def test_a_folder_name_is_kept_letter_for_letter(text: str) -> None:
    assert FolderName(text).text == text
    assert str(FolderName(text)) == text


@pytest.mark.parametrize("text", ["inbox", "INBOX", "InBoX"])
def test_inbox_in_any_case_is_inbox(text: str) -> None:
    assert FolderName(text) == INBOX
    assert hash(FolderName(text)) == hash(INBOX)


@pytest.mark.parametrize("text", ["\u0131nbox", "inbox/a", "inbox "])
def test_what_only_resembles_inbox_is_another_folder(text: str) -> None:
    assert FolderName(text) != INBOX


@pytest.mark.parametrize(
    "text",
    ["", "a\rb", "a\nb", "a\0b", "\t", "\x7f", "\x85", "\u2028", "\u2029", "\ud800", "é" * 501],
)
def test_what_cannot_be_a_folder_name_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="folder name"):
        FolderName(text)


def test_a_reference_is_the_three_together() -> None:
    reference = MessageRef(INBOX, UidValidity(1), Uid(2))
    assert reference == MessageRef(FolderName("inbox"), UidValidity(1), Uid(2))
    assert reference != MessageRef(INBOX, UidValidity(2), Uid(2))
    with pytest.raises(FrozenInstanceError):
        reference.uid = Uid(3)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("\\seen", "\\Seen"), ("\\FLAGGED", "\\Flagged"), ("\\Draft", "\\Draft"), ("Seen", "Seen"), ("$junk", "$junk")],
)
def test_system_flags_compare_without_case_and_keywords_stay(text: str, expected: str) -> None:
    assert canonical_flag(text) == expected


def test_every_system_flag_is_its_own_canonical_form() -> None:
    assert [canonical_flag(flag.value) for flag in SystemFlag] == list(SystemFlag)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\\SEEN", "\\Seen"),
        ("\\answered", "\\Answered"),
        ("\\Flagged", "\\Flagged"),
        ("\\dRAFT", "\\Draft"),
        ("$Forwarded", "$Forwarded"),
        ("Deleted", "Deleted"),
        ("a.b-c_d+e=f/g:h;i<j>k?l@m[n^o`p|q}r~s!t#u&v'w,x", "a.b-c_d+e=f/g:h;i<j>k?l@m[n^o`p|q}r~s!t#u&v'w,x"),
        ("x" * KEYWORD_CHARS_MAX, "x" * KEYWORD_CHARS_MAX),
    ],
)
def test_a_flag_that_may_be_set_is_taken_in_canonical_spelling(text: str, expected: str) -> None:
    assert settable_flag(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "\\Deleted",
        "\\DELETED",
        "\\Recent",
        "\\recent",
        "\\*",
        "*",
        "\\",
        "\\Important",
        "\\Seen ",
        " \\Seen",
        "",
        "a b",
        "a\tb",
        "a\r\nA2 LOGOUT",
        "a\0",
        "(a",
        "a)",
        "{1}",
        "a%",
        'a"',
        "a\\b",
        "a]",
        "é",
        "\x7f",
        "\u0130",
        "nil",
        "NIL",
        "x" * (KEYWORD_CHARS_MAX + 1),
        "x" * 300,
    ],
)
def test_no_other_flag_can_be_set(text: str) -> None:
    with pytest.raises(ValueError, match=r"flag|keyword") as refused:
        FlagDelta(FlagOperation.ADD, (text,))
    assert len(text) < 3 or text.strip() == "\\Seen" or text not in str(refused.value)


@given(st.text(alphabet=st.characters(max_codepoint=0x17F), min_size=1, max_size=70))
@settings(max_examples=500, derandomize=True, deadline=None)
def test_a_flag_is_refused_or_comes_back_from_the_wire_as_it_is(text: str) -> None:
    try:
        flag = settable_flag(text)
    except ValueError:
        return
    row = response(f"* 2 FETCH (UID 5 FLAGS ({flag} \\Seen))".encode("ascii"))
    assert isinstance(row, FetchData)
    assert row.flags == tuple(dict.fromkeys((flag, "\\Seen")))


def test_a_change_names_each_flag_once_in_the_order_given() -> None:
    delta = FlagDelta(FlagOperation.ADD, ("b", "\\SEEN", "B", "a", "\\Seen"))
    assert delta.flags == ("b", "\\Seen", "a")


@pytest.mark.parametrize("flags", [(), ("\\Seen",) * (FLAGS_MAX + 1), tuple(f"k{n}" for n in range(FLAGS_MAX + 1))])
def test_a_change_names_one_to_twenty_flags(flags: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=str(FLAGS_MAX)):
        FlagDelta(FlagOperation.ADD, flags)
    assert len(FlagDelta(FlagOperation.ADD, tuple(f"k{n}" for n in range(FLAGS_MAX))).flags) == FLAGS_MAX


def test_there_is_no_operation_that_replaces() -> None:
    assert {operation.value for operation in FlagOperation} == {"add", "remove"}


def test_a_change_knows_when_it_is_done() -> None:
    add = FlagDelta(FlagOperation.ADD, ("\\Seen", "$Junk"))
    assert add.is_done_by(("$junk", "\\Seen", "other"))
    assert not add.is_done_by(("\\Seen",))
    remove = FlagDelta(FlagOperation.REMOVE, ("\\Seen", "$Junk"))
    assert remove.is_done_by(("other",))
    assert not remove.is_done_by(("$JUNK",))


def test_permanent_flags_tell_what_is_not_kept() -> None:
    asked = ("\\Seen", "\\Draft", "$Junk", "new")
    assert PermanentFlags.of(("\\seen", "$junk")).not_kept(asked) == ("\\Draft", "new")
    assert PermanentFlags.of(("\\Seen", "\\*")).not_kept(asked) == ("\\Draft",)
    assert PermanentFlags.of(()).not_kept(asked) == asked
    assert PermanentFlags.anything().not_kept((*asked, "\\Deleted")) == ()


def test_roles_are_those_of_the_contract() -> None:
    assert {role.value for role in SpecialUse} == set("inbox drafts sent trash junk archive all flagged".split())


def test_a_window_holds_both_ends() -> None:
    window = ScanWindow(Uid(5), Uid(9))
    assert len(window) == 5
    assert [uid for uid in range(1, 12) if uid in window] == [5, 6, 7, 8, 9]
    assert len(ScanWindow(Uid(1), Uid(2**32 - 1))) == 2**32 - 1


def test_a_window_never_runs_downwards() -> None:
    with pytest.raises(ValueError, match="upwards"):
        ScanWindow(Uid(9), Uid(5))
