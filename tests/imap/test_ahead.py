"""What is guessed about a folder, and what of the answer counts."""

from __future__ import annotations

import pytest

from mailgate.imap.ahead import ARRIVALS, FOLDERS_KNOWN, ROWS_WIDTH_MAX, Aim, FirstLook, FolderMemory, credited
from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.opening import OpenedFolder
from mailgate.imap.values import UINT32_MAX, ScanWindow, Uid, UidValidity

ANYTHING = SearchCriteria()
FILTERED = SearchCriteria(subject="x")


def folder(uid_next: int | None, messages: int, uid_validity: int = 7) -> OpenedFolder:
    return OpenedFolder(UidValidity(uid_validity), messages, uid_next)


def newest(criteria: SearchCriteria = ANYTHING, position: int | None = None, *, exact: bool = False) -> FirstLook:
    return FirstLook(criteria, True, 1000, 25, None if position is None else Uid(position), exact)


def window(low: int, high: int) -> ScanWindow:
    return ScanWindow(Uid(low), Uid(high))


def memory(uid_next: int | None, messages: int) -> FolderMemory:
    made = FolderMemory()
    made.opened(b"a", folder(uid_next, messages))
    return made


def test_of_a_folder_never_seen_nothing_is_guessed() -> None:
    assert FolderMemory().aim(b"a", newest()) is None
    assert memory(None, 50).aim(b"a", newest()) is None


def test_of_a_dense_folder_a_page_and_what_may_have_come_is_asked_for() -> None:
    assert memory(1001, 1000).aim(b"a", newest()) == Aim(window(976, 1000 + ARRIVALS), rows=True)


def test_of_a_thin_folder_a_search_is_asked_for() -> None:
    assert memory(100_001, 1000).aim(b"a", newest()) == Aim(window(99_001, 100_000 + ARRIVALS), rows=False)


def test_a_folder_of_a_page_is_asked_for_whole_however_thin_it_is() -> None:
    assert memory(100_001, 25).aim(b"a", newest()) == Aim(window(1, 100_000 + ARRIVALS), rows=True)


def test_what_began_the_last_page_begins_the_next() -> None:
    known = memory(100_001, 1000)
    known.saw_newest(b"a", map(Uid, range(90_000, 100_000, 400)), 25)
    assert known.aim(b"a", newest()) == Aim(window(90_000, 100_000 + ARRIVALS), rows=True)


def test_where_a_page_was_not_full_one_looks_further_down_within_bounds() -> None:
    known = memory(1001, 1000)
    widths = []
    for _ in range(5):
        known.saw_newest(b"a", [Uid(1000)], 25)
        aim = known.aim(b"a", newest())
        assert aim is not None
        widths.append(1000 - aim.window.low + 1 if aim.rows else 0)
    assert widths == [50, 100, 200, ROWS_WIDTH_MAX, 0]


def test_another_uidvalidity_forgets_what_was_seen() -> None:
    known = memory(100_001, 1000)
    known.saw_newest(b"a", map(Uid, range(90_000, 100_000, 400)), 25)
    known.opened(b"a", folder(1001, 1000, uid_validity=8))
    assert known.aim(b"a", newest()) == Aim(window(976, 1000 + ARRIVALS), rows=True)


def test_the_oldest_end_and_a_cursor_need_no_memory() -> None:
    nothing = FolderMemory()
    assert nothing.aim(b"a", FirstLook(ANYTHING, False, 10, 25)) == Aim(window(1, 10), rows=False)
    assert nothing.aim(b"a", FirstLook(ANYTHING, False, 10, 25, Uid(5))) == Aim(window(5, 14), rows=False)
    assert nothing.aim(b"a", newest(position=3000)) == Aim(window(2001, 3000), rows=False)
    assert memory(5001, 5000).aim(b"a", newest(position=3000)) == Aim(window(2976, 3000), rows=True)


def test_an_exact_window_is_never_guessed_and_never_narrowed() -> None:
    known = memory(5001, 5000)
    assert known.aim(b"a", newest(exact=True)) is None
    assert known.aim(b"a", newest(position=3000, exact=True)) == Aim(window(2001, 3000), rows=False)


def test_the_last_uid_there_can_be_is_no_obstacle() -> None:
    aim = memory(UINT32_MAX, 1000).aim(b"a", newest(FILTERED))
    assert aim is not None
    assert aim.window.high == UINT32_MAX


def test_an_empty_folder_is_asked_for_what_may_have_come() -> None:
    assert memory(1, 0).aim(b"a", newest()) == Aim(window(1, ARRIVALS), rows=True)


def test_as_many_folders_are_remembered_as_is_said() -> None:
    known = memory(1001, 1000)
    for number in range(FOLDERS_KNOWN):
        known.opened(b"%d" % number, folder(11, 10))
    assert known.aim(b"a", newest()) is None
    assert known.aim(b"0", newest()) is not None


@pytest.mark.parametrize(
    ("look", "asked", "opened", "counts"),
    [
        (newest(), window(976, 1100), folder(1001, 1000), window(976, 1000)),
        (newest(), window(976, 1100), folder(1101, 1000), window(976, 1100)),
        (newest(), window(976, 1100), folder(1102, 1000), None),
        (newest(), window(976, 1100), folder(900, 800), None),
        (newest(), window(976, 1100), folder(None, 1000), None),
        (newest(), window(976, 1100), folder(1001, 0), None),
        (newest(FILTERED, 500), window(401, 500), folder(9000, 1000), window(401, 500)),
        (newest(FILTERED, 500), window(401, 500), folder(None, 1000), window(401, 500)),
        (FirstLook(ANYTHING, False, 100, 25), window(1, 100), folder(51, 50), window(1, 50)),
        (FirstLook(ANYTHING, False, 100, 25), window(1, 100), folder(9000, 50), window(1, 100)),
    ],
)
def test_an_answer_counts_for_what_the_opening_bears_out(
    look: FirstLook, asked: ScanWindow, opened: OpenedFolder, counts: ScanWindow | None
) -> None:
    assert credited(Aim(asked, rows=True), look, opened) == counts
