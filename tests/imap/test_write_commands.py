from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.imap import commands, write_commands
from mailgate.imap.commands import Command, CommandKind
from mailgate.imap.values import FlagDelta, FlagOperation, ModSeq, Uid

SEEN = FlagDelta(FlagOperation.ADD, ("\\Seen",))

CASES: dict[str, tuple[Command, tuple[bytes, ...]]] = {
    "add a flag": (write_commands.uid_store(Uid(5), SEEN), (b"A1 UID STORE 5 +FLAGS (\\Seen)\r\n",)),
    "remove flags": (
        write_commands.uid_store(Uid(5), FlagDelta(FlagOperation.REMOVE, ("\\flagged", "$Junk"))),
        (b"A1 UID STORE 5 -FLAGS (\\Flagged $Junk)\r\n",),
    ),
    "on a condition": (
        write_commands.uid_store(Uid(5), SEEN, ModSeq(9007199254740993)),
        (b"A1 UID STORE 5 (UNCHANGEDSINCE 9007199254740993) +FLAGS (\\Seen)\r\n",),
    ),
    "mark": (write_commands.uid_mark_deleted(Uid(5)), (b"A1 UID STORE 5 +FLAGS (\\Deleted)\r\n",)),
    "expunge": (write_commands.uid_expunge(Uid(5)), (b"A1 UID EXPUNGE 5\r\n",)),
    "copy": (write_commands.uid_copy(Uid(5), b"a b"), (b'A1 UID COPY 5 "a b"\r\n',)),
    "move": (write_commands.uid_move(Uid(5), b'a"b\\c'), (b'A1 UID MOVE 5 "a\\"b\\\\c"\r\n',)),
    "copy to a folder that cannot be quoted": (
        write_commands.uid_copy(Uid(5), b"\xff"),
        (b"A1 UID COPY 5 {1}\r\n", b"\xff\r\n"),
    ),
    "create": (write_commands.create(b"Work"), (b'A1 CREATE "Work"\r\n',)),
    "rename": (write_commands.rename(b"Work", b"Play"), (b'A1 RENAME "Work" "Play"\r\n',)),
    "rename between folders that cannot be quoted": (
        write_commands.rename(b"\xfe", b"\xff"),
        (b"A1 RENAME {1}\r\n", b"\xfe {1}\r\n", b"\xff\r\n"),
    ),
    "append": (
        write_commands.append(b"Drafts", b"A: b\r\n\r\nc", ["\\DRAFT"]),
        (b'A1 APPEND "Drafts" (\\Draft) {9}\r\n', b"A: b\r\n\r\nc\r\n"),
    ),
    "append without flags": (
        write_commands.append(b"Drafts", b"A: b\r\n\r\n"),
        (b'A1 APPEND "Drafts" () {8}\r\n', b"A: b\r\n\r\n\r\n"),
    ),
}


@pytest.mark.parametrize(("command", "pieces"), CASES.values(), ids=CASES)
def test_what_goes_over_the_wire(command: Command, pieces: tuple[bytes, ...]) -> None:
    assert command.pieces("A1") == pieces
    assert command.changes_state
    assert repr(command) == f"Command({command.kind.value})"


def test_every_kind_of_changing_command_is_shown_here() -> None:
    assert {command.kind for command, _ in CASES.values()} == {kind for kind in CommandKind if kind.changes_state}


def test_there_is_no_command_that_removes_what_was_not_named() -> None:
    words = {kind.value for kind in CommandKind}
    assert not words & {"CLOSE", "EXPUNGE", "DELETE", "STORE", "COPY", "MOVE"}
    everything = b"".join(piece for command, _ in CASES.values() for piece in command.pieces("A1"))
    assert b" FLAGS" not in everything
    assert b":*" not in everything


def test_literals_are_synchronising() -> None:
    assert not any(b"+}" in piece for command, _ in CASES.values() for piece in command.pieces("A1"))


INVALID: dict[str, Callable[[], object]] = {
    "a message with a bare LF": lambda: write_commands.append(b"x", b"A: b\n\r\n"),
    "a message with a bare CR": lambda: write_commands.append(b"x", b"A: b\r\r\n"),
    "a message that ends in CR": lambda: write_commands.append(b"x", b"A: b\r\n\r"),
    "a message that begins with LF": lambda: write_commands.append(b"x", b"\nA: b\r\n"),
    "a message with NUL": lambda: write_commands.append(b"x", b"A: b\0\r\n"),
    "an empty message": lambda: write_commands.append(b"x", b""),
    "an appended message that is marked": lambda: write_commands.append(b"x", b"A: b\r\n", ["\\deleted"]),
    "a flag with a line end": lambda: write_commands.append(b"x", b"A: b\r\n", ["a\r\nA2 LOGOUT"]),
    "a folder without a name": lambda: write_commands.create(b""),
    "a folder with NUL": lambda: write_commands.create(b"a\0b"),
    "UID 0": lambda: write_commands.uid_expunge(0),  # type: ignore[arg-type]
    "more than a UID": lambda: write_commands.uid_expunge(2**32),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("build", INVALID.values(), ids=INVALID)
def test_what_would_be_something_else_on_the_wire_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        build()


@pytest.mark.parametrize("uid", ["5", "1:*", "5,6", 5.0, True, None])
def test_a_uid_is_a_number_and_nothing_else(uid: object) -> None:
    with pytest.raises(TypeError):
        write_commands.uid_expunge(uid)  # type: ignore[arg-type]


@given(st.binary(min_size=1, max_size=60).filter(lambda wire: 0 not in wire))
@settings(max_examples=200, derandomize=True, deadline=None)
def test_no_destination_leaves_its_argument(wire: bytes) -> None:
    name = commands.folder_argument(wire)
    assert write_commands.uid_copy(Uid(5), wire).parts == (b"5", name)
    assert write_commands.uid_move(Uid(5), wire).parts == (b"5", name)
    assert write_commands.create(wire).parts == (name,)
