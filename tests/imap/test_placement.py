from __future__ import annotations

import pytest

from mailgate.imap.codes import AppendUid, CopyUid
from mailgate.imap.placement import (
    NOT_CREDIBLE,
    NOT_NAMED,
    Placed,
    Placement,
    placement_of_append,
    placement_of_copy,
)
from mailgate.imap.sequence import SequenceSet
from mailgate.imap.values import UINT32_MAX, FolderName, MessageRef, Uid, UidValidity

ARCHIVE = FolderName("Archive")
EVERYTHING = b"1:4294967295"


def placed(uid: int) -> Placed:
    return Placed(MessageRef(ARCHIVE, UidValidity(77), Uid(uid)))


def copied(source: bytes, destination: bytes) -> Placement:
    code = CopyUid(UidValidity(77), SequenceSet.parse(source), SequenceSet.parse(destination))
    return placement_of_copy(code, Uid(5), ARCHIVE)


@pytest.mark.parametrize(
    ("source", "destination", "uid"),
    [(b"5", b"1004", 1004), (b"5:5", b"1004:1004", 1004), (b"5", b"4294967295", UINT32_MAX)],
)
def test_one_message_to_one_place_is_a_reference(source: bytes, destination: bytes, uid: int) -> None:
    assert copied(source, destination) == placed(uid)


@pytest.mark.parametrize(
    ("source", "destination"),
    [
        (b"6", b"1004"),
        (b"5:6", b"1004:1005"),
        (b"5,5", b"1004,1004"),
        (b"5", b"1004:1005"),
        (b"5", b"1004,1006"),
        (b"4:5", b"1004"),
        (EVERYTHING, EVERYTHING),
        (b"5", EVERYTHING),
        (EVERYTHING, b"1004"),
    ],
)
def test_anything_else_is_no_reference(source: bytes, destination: bytes) -> None:
    assert copied(source, destination) is NOT_CREDIBLE


def test_no_copyuid_is_no_reference_and_no_fault() -> None:
    assert placement_of_copy(None, Uid(5), ARCHIVE) is NOT_NAMED


def test_one_appended_message_is_a_reference() -> None:
    code = AppendUid(UidValidity(77), SequenceSet.parse(b"12"))
    assert placement_of_append(code, ARCHIVE) == placed(12)


@pytest.mark.parametrize("uids", [b"12:13", b"12,14", EVERYTHING])
def test_several_appended_messages_are_no_reference(uids: bytes) -> None:
    assert placement_of_append(AppendUid(UidValidity(77), SequenceSet.parse(uids)), ARCHIVE) is NOT_CREDIBLE


def test_no_appenduid_is_no_reference_and_no_fault() -> None:
    assert placement_of_append(None, ARCHIVE) is NOT_NAMED


def test_a_doubt_is_a_warning_that_says_what_to_do() -> None:
    for doubt in (NOT_NAMED, NOT_CREDIBLE):
        assert doubt.warning == f"{doubt.code}: {doubt.sentence}"
        assert "look for it in the destination" in doubt.warning
