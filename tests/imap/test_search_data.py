from __future__ import annotations

import pytest

from mailgate.imap.responses import ESearchData, Malformed, SearchData, Vanished, parse_response
from mailgate.imap.sequence import SequenceSet
from mailgate.limits import MAX_LINE
from tests.imap.wire import response, responses

SEARCHES = {
    "numbers": (b"* SEARCH 2 84 882", (2, 84, 882)),
    "nothing": (b"* SEARCH", ()),
    "nothing but a space": (b"* SEARCH ", ()),
    "a trailing space": (b"* SEARCH 4 5 ", (4, 5)),
    "stray spaces": (b"* search  4   5", (4, 5)),
    "a mod-sequence after them": (b"* SEARCH 2 5 (MODSEQ 917162500)", (2, 5)),
    "the largest": (b"* SEARCH 4294967295", (4294967295,)),
    "out of order and twice": (b"* SEARCH 9 5 9", (9, 5, 9)),
}


@pytest.mark.parametrize(("line", "numbers"), SEARCHES.values(), ids=SEARCHES)
def test_search(line: bytes, numbers: tuple[int, ...]) -> None:
    assert response(line) == SearchData(numbers)


@pytest.mark.parametrize(
    "line",
    [
        b"* SEARCH x",
        b"* SEARCH 1 -2",
        b"* SEARCH 0",
        b"* SEARCH 4294967296",
        b"* SEARCH 1,2",
        b"* SEARCH 1 (X 2)",
        b"* SEARCH " + b"9" * 5000,
        b"* SEARCH 1 {2}\r\n33",
    ],
)
def test_an_answer_that_is_no_list_of_numbers_is_never_read_as_one(line: bytes) -> None:
    assert response(line) == Malformed("SEARCH")


def test_the_text_of_a_tagged_answer_is_no_result() -> None:
    (tagged,) = responses(b"A1 OK SEARCH completed (took 2 ms)\r\n")
    assert not isinstance(tagged, SearchData)


def test_the_answer_for_the_widest_window_is_within_the_bounds() -> None:
    line = b"* SEARCH" + b"".join(b" %d" % number for number in range(4_000_000_000, 4_000_040_000))
    assert len(line) < MAX_LINE
    found = parse_response((line,))
    assert isinstance(found, SearchData)
    assert len(found.numbers) == 40_000


ESEARCHES = {
    "the standard's example": (
        b'* ESEARCH (TAG "A282") UID MIN 2 MAX 47 COUNT 25 ALL 1:17,21',
        ESearchData("A282", True, 2, 47, 25, SequenceSet(((1, 17), (21, 21)))),
    ),
    "a count instead of what was asked for": (b'* ESEARCH (TAG "A1") UID COUNT 3', ESearchData("A1", True, count=3)),
    "nothing found": (b'* ESEARCH (TAG "A1") UID', ESearchData("A1", True)),
    "nothing found, and the item without a set": (
        b'* ESEARCH (TAG "A1") UID ALL',
        ESearchData("A1", True, all=SequenceSet()),
    ),
    "the item without a set before another": (
        b'* ESEARCH (TAG "A1") UID ALL COUNT 0',
        ESearchData("A1", True, count=0, all=SequenceSet()),
    ),
    "no correlator, sequence numbers, lower case": (
        b"* esearch count 2 all 4,6",
        ESearchData(None, False, count=2, all=SequenceSet(((4, 4), (6, 6)))),
    ),
    "an unquoted tag": (b"* ESEARCH (TAG A1) COUNT 0", ESearchData("A1", False, count=0)),
    "another correlator": (b"* ESEARCH (X 1 2) COUNT 0", ESearchData(None, False, count=0)),
    "a mod-sequence": (
        b'* ESEARCH (TAG "a") ALL 1:3 MODSEQ 1236',
        ESearchData("a", False, all=SequenceSet(((1, 3),)), mod_seq=1236),  # type: ignore[arg-type]
    ),
    "items of other kinds": (
        b'* ESEARCH (TAG "a") UID PARTIAL (1:10 5,6) COUNT 2',
        ESearchData("a", True, count=2),
    ),
    "a set of four billion": (
        b'* ESEARCH (TAG "a") UID ALL 1:4294967295',
        ESearchData("a", True, all=SequenceSet(((1, 4294967295),))),
    ),
    "a set that is none": (b'* ESEARCH (TAG "a") UID ALL 1:* COUNT 3', ESearchData("a", True, count=3)),
    "a value without a name": (b"* ESEARCH 5 COUNT 2", ESearchData(count=2)),
    "nothing at all": (b"* ESEARCH", ESearchData()),
}


@pytest.mark.parametrize(("line", "expected"), ESEARCHES.values(), ids=ESEARCHES)
def test_esearch(line: bytes, expected: ESearchData) -> None:
    assert response(line) == expected


def test_an_esearch_that_cannot_be_read_is_one_bad_row() -> None:
    assert response(b'* ESEARCH (TAG "a" UID') == Malformed("ESEARCH")


def test_vanished() -> None:
    assert response(b"* VANISHED 41,43:116") == Vanished(False, SequenceSet(((41, 41), (43, 116))))
    assert response(b"* VANISHED (EARLIER) 1:4294967295") == Vanished(True, SequenceSet(((1, 4294967295),)))
    assert response(b"* VANISHED (EARLIER)") == Malformed("VANISHED")
    assert response(b"* VANISHED") == Malformed("VANISHED")
