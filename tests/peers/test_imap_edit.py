"""The editor takes out what it is told to, and nothing of a message."""

from __future__ import annotations

import pytest

from tests.peers.imap_edit import ImapEdit

EDIT = ImapEdit(frozenset({"MOVE", "SPECIAL-USE"}), frozenset({"\\Trash"}), frozenset({"UIDNEXT"}))

EDITED = {
    b"* CAPABILITY IMAP4rev1 move SPECIAL-USE IDLE\r\n": b"* CAPABILITY IMAP4rev1 IDLE\r\n",
    b"a OK [CAPABILITY IMAP4rev1 MOVE] in\r\n": b"a OK [CAPABILITY IMAP4rev1] in\r\n",
    b'* LIST (\\HasNoChildren \\Trash) "/" "MOVE"\r\n': b'* LIST (\\HasNoChildren) "/" "MOVE"\r\n',
    b"* OK [UIDNEXT 4] next\r\n": b"",
    b"* OK see [CAPABILITY] {5}\r\n": b"* OK see [CAPABILITY] {5}\r\n",
}


@pytest.mark.parametrize("line", EDITED, ids=range(len(EDITED)))
def test_a_line_loses_exactly_the_named_words(line: bytes) -> None:
    assert EDIT.editor().feed(line) == EDITED[line]


def test_a_literal_passes_untouched_however_it_is_cut() -> None:
    inside = b"* CAPABILITY MOVE\r\n* OK [UIDNEXT 1]\r\n"
    stream = b"* 1 FETCH (BODY[] {%d}\r\n%s)\r\n* OK [UIDNEXT 1] x\r\na OK done\r\n" % (len(inside), inside)
    editor = EDIT.editor()
    edited = b"".join(editor.feed(stream[at : at + 1]) for at in range(len(stream)))
    assert edited == stream.replace(b"* OK [UIDNEXT 1] x\r\n", b"")


def test_a_folder_is_renamed_in_both_directions_and_nowhere_else() -> None:
    editor = ImapEdit(renames={"Twin": "&AGE-bc"}).editor()
    rows = b'* LIST () "/" Twin\r\n* STATUS Twin (MESSAGES 2)\r\n* LIST () "/" Twins\r\na OK Twin \r\n'
    shown = b'* LIST () "/" "&AGE-bc"\r\n* STATUS "&AGE-bc" (MESSAGES 2)\r\n* LIST () "/" Twins\r\na OK Twin \r\n'
    assert editor.feed(rows) == shown
    assert editor.upward(b'a EXAMINE "&AGE-bc"\r\n') == b'a EXAMINE "Twin"\r\n'
