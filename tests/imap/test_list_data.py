from __future__ import annotations

import pytest

from mailgate.imap.framing import Literal
from mailgate.imap.responses import ListData, Malformed, StatusData, parse_response
from tests.imap.wire import response, responses

PLAIN = ("\\HasNoChildren",)
LISTS = {
    "quoted": (b'* LIST (\\HasNoChildren) "/" "Archive/2024"', ListData(PLAIN, "/", b"Archive/2024")),
    "an atom": (b'* LIST (\\HasNoChildren) "/" INBOX', ListData(PLAIN, "/", b"INBOX")),
    "lower case": (b'* list () "." a', ListData((), ".", b"a")),
    "a literal": (b'* LIST () "/" {5}\r\na"\r\nb', ListData((), "/", b'a"\r\nb')),
    "a literal followed by extended data": (
        b'* LIST () "/" {1}\r\na ("CHILDINFO" ("SUBSCRIBED"))',
        ListData((), "/", b"a"),
    ),
    "no hierarchy": (b'* LIST () NIL "a"', ListData((), None, b"a")),
    "an empty delimiter": (b'* LIST () "" "a"', ListData((), None, b"a")),
    "a backslash as delimiter": (b'* LIST () "\\\\" "a\\\\b"', ListData((), "\\", b"a\\b")),
    "a bar as delimiter": (b'* LIST () "|" "a|b"', ListData((), "|", b"a|b")),
    "the untagged marker inside": (b'* LIST () "/" "Sale * 50"', ListData((), "/", b"Sale * 50")),
    "quotes inside": (b'* LIST () "/" "a\\"b"', ListData((), "/", b'a"b')),
    "octets above 127": (b'* LIST () "/" "\xc3\xa9"', ListData((), "/", b"\xc3\xa9")),
    "a trailing space": (b'* LIST () "/" "a" ', ListData((), "/", b"a")),
    "a trailing space after an atom": (b'* LIST () "/" a ', ListData((), "/", b"a")),
    "stray spaces in the attributes": (b'* LIST ( \\Trash  \\X ) "/" a', ListData(("\\Trash", "\\X"), "/", b"a")),
    "unquoted with TABs and spaces": (
        b'* LIST (\\HasNoChildren) "/" INBOX/Da\tOggetto \tx\t',
        ListData(PLAIN, "/", b"INBOX/Da\tOggetto \tx\t"),
    ),
    "unquoted with a space": (b'* LIST () "/" Sent Items', ListData((), "/", b"Sent Items")),
    "unquoted with a parenthesis": (b'* LIST () "/" Old Mail (2)', ListData((), "/", b"Old Mail (2)")),
    "an atom named nil": (b'* LIST () "/" nil', ListData((), "/", b"nil")),
    "brackets": (b'* LIST () "/" [Gmail]/Trash', ListData((), "/", b"[Gmail]/Trash")),
    "an atom and extended data": (b'* LIST () "/" a ("OLDNAME" ("b"))', ListData((), "/", b"a")),
    "the root": (b'* LIST (\\Noselect) "/" ""', ListData(("\\Noselect",), "/", b"")),
}


@pytest.mark.parametrize(("line", "expected"), LISTS.values(), ids=LISTS)
def test_a_folder_keeps_its_exact_octets(line: bytes, expected: ListData) -> None:
    assert response(line) == expected


BAD_LISTS = {
    "no name": b'* LIST () "/"',
    "no name but a space": b'* LIST () "/" ',
    "no attributes": b"* LIST",
    "attributes that are no list": b'* LIST \\Noselect "/" a',
    "a delimiter that is a list": b'* LIST () ("/") a',
    "an open name": b'* LIST () "/" "a',
}


@pytest.mark.parametrize("line", BAD_LISTS.values(), ids=BAD_LISTS)
def test_a_bad_folder_costs_one_row(line: bytes) -> None:
    good = b'* LIST () "/" good'
    rows = responses(line + b"\r\n" + good + b"\r\n")
    assert rows == [Malformed("LIST"), ListData((), "/", b"good")]


def test_a_name_that_was_cut_is_no_name() -> None:
    frame = (b'* LIST () "/" ', Literal(b"a", 2, truncated=True), b"")
    assert parse_response(frame) == Malformed("LIST")


STATUSES = {
    "quoted": (
        b'* STATUS "a b" (MESSAGES 3 unseen 0 UIDNEXT 4294967295)',
        StatusData(b"a b", {"MESSAGES": 3, "UNSEEN": 0, "UIDNEXT": 4294967295}),
    ),
    "an atom": (b"* STATUS INBOX (MESSAGES 3)", StatusData(b"INBOX", {"MESSAGES": 3})),
    "a literal": (b"* STATUS {3}\r\na\tb (MESSAGES 3)", StatusData(b"a\tb", {"MESSAGES": 3})),
    "unquoted with spaces": (b"* STATUS Old Mail (2) (MESSAGES 3)", StatusData(b"Old Mail (2)", {"MESSAGES": 3})),
    "empty": (b'* STATUS "a" ()', StatusData(b"a", {})),
    "stray spaces": (b'* STATUS  "a"  ( MESSAGES  3 ) ', StatusData(b"a", {"MESSAGES": 3})),
    "a mod-sequence": (
        b'* STATUS "a" (HIGHESTMODSEQ 9223372036854775807)',
        StatusData(b"a", {"HIGHESTMODSEQ": 2**63 - 1}),
    ),
    "items of other kinds": (
        b'* STATUS "a" (MAILBOXID (F1) MESSAGES 3 X NIL UNSEEN -1)',
        StatusData(b"a", {"MESSAGES": 3}),
    ),
    "an item without a number": (b'* STATUS "a" (MESSAGES 3 UNSEEN)', StatusData(b"a", {"MESSAGES": 3})),
}


@pytest.mark.parametrize(("line", "expected"), STATUSES.values(), ids=STATUSES)
def test_counts(line: bytes, expected: StatusData) -> None:
    assert response(line) == expected


@pytest.mark.parametrize("line", [b"* STATUS", b"* STATUS a", b'* STATUS "a"', b'* STATUS "a" x', b'* STATUS "a" (X'])
def test_bad_counts_cost_one_row(line: bytes) -> None:
    assert response(line) == Malformed("STATUS")
