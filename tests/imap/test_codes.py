from __future__ import annotations

import pytest

from mailgate.imap.codes import AppendUid, CopyUid, ResponseCode, ascii_of, flags_of, mod_seq_of, number_of, set_of
from mailgate.imap.sequence import SequenceSet
from mailgate.imap.tokens import Atom, String
from mailgate.imap.values import ModSeq, UidValidity


def code(text: bytes) -> ResponseCode:
    found, _ = ResponseCode.split(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        (b"[ALERT] look", "ALERT", b"look"),
        (b"[alert] look", "ALERT", b"look"),
        (b"[READ-ONLY]", "READ-ONLY", b""),
        (b"[HIGHESTMODSEQ 77]", "HIGHESTMODSEQ", b""),
        (b"[ UIDNEXT 5 ] next", "UIDNEXT", b"next"),
        (b'[BADCHARSET ("a]b" US-ASCII)] no', "BADCHARSET", b"no"),
        (b'[REFERRAL imap://x/"y] moved', "REFERRAL", b"moved"),
        (b"[UNAVAILABLE][ALERT] twice", "UNAVAILABLE", b"[ALERT] twice"),
        (b"[X-\xff] odd", "X-\\XFF", b"odd"),
    ],
)
def test_a_code_stands_at_the_start(text: bytes, name: str, rest: bytes) -> None:
    found, after = ResponseCode.split(text)
    assert found is not None
    assert (found.name, after) == (name, rest)


@pytest.mark.parametrize("text", [b"", b"done [UIDNEXT 5]", b" [UIDNEXT 5] x", b"[", b"[]", b"[UIDNEXT 5", b'["a"] b'])
def test_text_without_a_code_is_text(text: bytes) -> None:
    assert ResponseCode.split(text) == (None, text)


def test_arguments_that_follow_no_grammar_are_no_arguments() -> None:
    assert code(b"[PERMANENTFLAGS (\\Seen] x") == ResponseCode("PERMANENTFLAGS")


@pytest.mark.parametrize(
    ("text", "number"),
    [(b"[UIDVALIDITY 4294967295] x", 4294967295), (b'[UIDNEXT "5"] x', 5), (b"[UNSEEN 1]", 1)]
    + [(b"[UIDNEXT %s] x" % wrong, None) for wrong in (b"0", b"4294967296", b"-1", b"x", b"(5)", b"", b"9" * 30)],
)
def test_numbers(text: bytes, number: int | None) -> None:
    assert code(text).number == number


@pytest.mark.parametrize(
    ("text", "mod_seq"),
    [
        (b"[HIGHESTMODSEQ 9007199254740993] Highest", ModSeq(9007199254740993)),
        (b"[HIGHESTMODSEQ 9223372036854775807]", ModSeq(2**63 - 1)),
        (b"[HIGHESTMODSEQ 9223372036854775808]", None),
        (b"[HIGHESTMODSEQ 0] an empty folder", None),
        (b"[NOMODSEQ] Sorry", None),
        (b"[UIDNEXT 5]", None),
    ],
)
def test_a_folder_without_mod_sequences_has_no_highest_one(text: bytes, mod_seq: ModSeq | None) -> None:
    assert code(text).mod_seq == mod_seq


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (b"[PERMANENTFLAGS (\\seen $Forwarded \\*)] x", ("\\Seen", "$Forwarded", "\\*")),
        (b"[PERMANENTFLAGS ()] No permanent flags permitted", ()),
        (b"[PERMANENTFLAGS] x", None),
        (b"[X (\\Seen)] x", None),
    ],
)
def test_permanent_flags(text: bytes, flags: tuple[str, ...] | None) -> None:
    assert code(text).flags == flags


def test_capabilities_in_a_code() -> None:
    found = code(b"[CAPABILITY IMAP4rev1 uidplus MOVE] Logged in").capabilities
    assert found is not None
    assert list(found) == ["IMAP4rev1", "MOVE", "UIDPLUS"]
    assert code(b"[ALERT] x").capabilities is None


COPYUID = {
    "one message": (
        b"[COPYUID 38505 304 3956] Done",
        CopyUid(UidValidity(38505), SequenceSet(((304, 304),)), SequenceSet(((3956, 3956),))),
    ),
    "several, in the order of the server": (
        b"[copyuid 1 9,2:3 10:12]",
        CopyUid(UidValidity(1), SequenceSet(((9, 9), (2, 3))), SequenceSet(((10, 12),))),
    ),
    "four billion": (
        b"[COPYUID 1 1:4294967295 1:4294967295]",
        CopyUid(UidValidity(1), SequenceSet(((1, 4294967295),)), SequenceSet(((1, 4294967295),))),
    ),
    "no sets": (b"[COPYUID 1  ] nothing moved", None),
    "no destination": (b"[COPYUID 1 2] x", None),
    "an asterisk": (b"[COPYUID 1 1:* 1:*] x", None),
    "validity zero": (b"[COPYUID 0 1 2] x", None),
    "another code": (b"[APPENDUID 1 2 3] x", None),
}


@pytest.mark.parametrize(("text", "expected"), COPYUID.values(), ids=COPYUID)
def test_copyuid(text: bytes, expected: CopyUid | None) -> None:
    assert code(text).copy_uid == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"[APPENDUID 38505 3955] x", AppendUid(UidValidity(38505), SequenceSet(((3955, 3955),)))),
        (b"[APPENDUID 38505] x", None),
        (b"[APPENDUID x 1] x", None),
        (b"[COPYUID 1 2 3] x", None),
    ],
)
def test_appenduid(text: bytes, expected: AppendUid | None) -> None:
    assert code(text).append_uid == expected


def test_modified() -> None:
    assert code(b"[MODIFIED 7,9] Conditional STORE failed").modified == SequenceSet(((7, 7), (9, 9)))
    assert code(b"[MODIFIED] x").modified is None
    assert code(b"[UIDNEXT 7] x").modified is None


def test_numbers_are_digits_and_nothing_else() -> None:
    for wrong in (b"+5", b"5_0", b" 5", "\u0665".encode(), b""):
        assert number_of(Atom(wrong)) is None
    assert number_of(None) is None
    assert number_of([Atom(b"5")]) is None
    assert number_of(Atom(b"0"), minimum=0) == 0
    assert mod_seq_of(String(b"5")) == 5
    assert set_of(String(b"5")) is None


def test_flags_are_canonical_and_named_once() -> None:
    assert flags_of([Atom(b"\\SEEN"), Atom(b"\\Seen"), None, [], String(b"x"), Atom(b"caf\xe9")]) == (
        "\\Seen",
        "x",
        "caf\\xe9",
    )
    assert ascii_of(b"a\xff") == "a\\xff"
