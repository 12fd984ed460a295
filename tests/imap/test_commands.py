from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.imap import commands
from mailgate.imap.commands import Command, CommandKind, OutgoingLiteral
from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.values import ScanWindow, Uid

WINDOW = ScanWindow(Uid(1), Uid(9))
PLAIN = base64.b64encode(b"\0ann\0p w")

CASES: dict[str, tuple[Command, tuple[bytes, ...]]] = {
    "capability": (commands.capability(), (b"A1 CAPABILITY\r\n",)),
    "noop": (commands.noop(), (b"A1 NOOP\r\n",)),
    "logout": (commands.logout(), (b"A1 LOGOUT\r\n",)),
    "starttls": (commands.starttls(), (b"A1 STARTTLS\r\n",)),
    "unselect": (commands.unselect(), (b"A1 UNSELECT\r\n",)),
    "id without a stray space": (
        commands.id_("mailgate", "0.1"),
        (b'A1 ID ("name" "mailgate" "version" "0.1")\r\n',),
    ),
    "login": (commands.login("ann@x", 'p "w"\\'), (b'A1 LOGIN "ann@x" "p \\"w\\"\\\\"\r\n',)),
    "login beyond ASCII": (
        commands.login("ann", "pä"),
        (b'A1 LOGIN "ann" {3}\r\n', "pä\r\n".encode()),
    ),
    "login with two literals": (
        commands.login("é", "ü"),
        (b"A1 LOGIN {2}\r\n", "é {2}\r\n".encode(), "ü\r\n".encode()),
    ),
    "authenticate at once": (
        commands.authenticate_plain("ann", "p w", initial_response=True),
        (b"A1 AUTHENTICATE PLAIN " + PLAIN + b"\r\n",),
    ),
    "authenticate after the server asks": (
        commands.authenticate_plain("ann", "p w", initial_response=False),
        (b"A1 AUTHENTICATE PLAIN\r\n", PLAIN + b"\r\n"),
    ),
    "enable": (commands.enable("UTF8=ACCEPT", "CONDSTORE"), (b"A1 ENABLE UTF8=ACCEPT CONDSTORE\r\n",)),
    "list": (commands.list_folders(), (b'A1 LIST "" "*"\r\n',)),
    "list with everything": (
        commands.list_folders(special_use=True, children=True, status=commands.STATUS_ITEMS),
        (b'A1 LIST "" "*" RETURN (CHILDREN SPECIAL-USE STATUS (MESSAGES UNSEEN UIDNEXT UIDVALIDITY))\r\n',),
    ),
    "list of one folder": (commands.list_one(b"a b"), (b'A1 LIST "" "a b"\r\n',)),
    "list for the delimiter": (commands.list_delimiter(), (b'A1 LIST "" ""\r\n',)),
    "status": (commands.status(b"a b", ["UIDNEXT"]), (b'A1 STATUS "a b" (UIDNEXT)\r\n',)),
    "examine": (commands.examine(b"INBOX"), (b'A1 EXAMINE "INBOX"\r\n',)),
    "examine with mod-sequences": (
        commands.examine(b"INBOX", condstore=True),
        (b'A1 EXAMINE "INBOX" (CONDSTORE)\r\n',),
    ),
    "select": (commands.select(b'a"b\\c'), (b'A1 SELECT "a\\"b\\\\c"\r\n',)),
    "a folder that cannot be quoted": (
        commands.select(b"a\t\xff", condstore=True),
        (b"A1 SELECT {3}\r\n", b"a\t\xff (CONDSTORE)\r\n"),
    ),
    "search": (
        commands.uid_search(SearchCriteria(query="x", unread=True), WINDOW),
        (b'A1 UID SEARCH UID 1:9 UNSEEN TEXT "x"\r\n',),
    ),
    "search beyond ASCII": (
        commands.uid_search(SearchCriteria(query="é", subject="ü"), WINDOW),
        (
            b"A1 UID SEARCH CHARSET UTF-8 UID 1:9 SUBJECT {2}\r\n",
            "ü TEXT {2}\r\n".encode(),
            "é\r\n".encode(),
        ),
    ),
    "search in UTF-8 mode": (
        commands.uid_search(SearchCriteria(query="é"), WINDOW, utf8=True),
        (b"A1 UID SEARCH UID 1:9 TEXT {2}\r\n", "é\r\n".encode()),
    ),
    "fetch": (
        commands.uid_fetch([Uid(9), Uid(7), Uid(5), Uid(6), Uid(7)], ["UID", "FLAGS"]),
        (b"A1 UID FETCH 5:7,9 (UID FLAGS)\r\n",),
    ),
    "fetch summaries": (
        commands.uid_fetch([Uid(5)], commands.summary_items(mod_seq=True, body_structure=True)),
        (
            b"A1 UID FETCH 5 (UID FLAGS INTERNALDATE RFC822.SIZE MODSEQ BODYSTRUCTURE BODY.PEEK[HEADER.FIELDS"
            b" (FROM TO CC SUBJECT DATE MESSAGE-ID CONTENT-TYPE)]<0.32768>)\r\n",
        ),
    ),
    "fetch a source": (
        commands.uid_fetch([Uid(5)], commands.source_items(1000, mod_seq=False)),
        (b"A1 UID FETCH 5 (UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[]<0.1000>)\r\n",),
    ),
    "fetch sizes": (
        commands.uid_fetch([Uid(5), Uid(6)], commands.size_items()),
        (b"A1 UID FETCH 5:6 (UID RFC822.SIZE)\r\n",),
    ),
    "fetch a head": (
        commands.uid_fetch([Uid(5)], commands.head_items(1000, mod_seq=True, body_structure=True)),
        (b"A1 UID FETCH 5 (UID FLAGS INTERNALDATE RFC822.SIZE MODSEQ BODYSTRUCTURE BODY.PEEK[HEADER]<0.1000>)\r\n",),
    ),
    "fetch what previews are made of": (
        commands.uid_fetch([Uid(5)], commands.preview_items()),
        (
            b"A1 UID FETCH 5 (UID BODY.PEEK[HEADER.FIELDS (MIME-VERSION CONTENT-TYPE CONTENT-TRANSFER-ENCODING)]"
            b"<0.4096> BODY.PEEK[TEXT]<0.4096>)\r\n",
        ),
    ),
}


@pytest.mark.parametrize(("command", "pieces"), CASES.values(), ids=CASES)
def test_what_goes_over_the_wire(command: Command, pieces: tuple[bytes, ...]) -> None:
    assert command.pieces("A1") == pieces
    assert not command.changes_state


def test_every_kind_of_command_that_only_looks_is_shown_here() -> None:
    assert {command.kind for command, _ in CASES.values()} == {kind for kind in CommandKind if not kind.changes_state}


@pytest.mark.parametrize(("command", "pieces"), CASES.values(), ids=CASES)
def test_one_space_stands_between_arguments(command: Command, pieces: tuple[bytes, ...]) -> None:
    assert b"  " not in b"".join(pieces)
    assert b" \r\n" not in b"".join(pieces)


@pytest.mark.parametrize("command", [command for command, _ in CASES.values()], ids=CASES)
def test_a_command_shows_nothing_but_its_kind(command: Command) -> None:
    assert repr(command) == str(command) == f"Command({command.kind.value})"


def test_no_literal_is_sent_before_the_server_asks() -> None:
    command = commands.uid_search(SearchCriteria(query="é {5+}"), WINDOW)
    assert command.pieces("A1")[0].endswith(b" {7}\r\n")


ITEMS_THAT_SET_SEEN = ["BODY[]", "BODY[TEXT]", "BODY[]<0.5>", "BINARY[1]", "RFC822", "RFC822.TEXT"]
MALFORMED_ITEMS = ["", "FLAGS UID", "flags)", "BODY.PEEK[", "BODY.PEEK[]\r\n", "BODY.PEEK[{5}]", "UID) BODY[", "ALL\n"]


@pytest.mark.parametrize("item", ITEMS_THAT_SET_SEEN + MALFORMED_ITEMS)
def test_no_fetch_can_change_a_flag(item: str) -> None:
    with pytest.raises(ValueError, match="fetch item"):
        commands.uid_fetch([Uid(1)], ["UID", item])


@pytest.mark.parametrize(
    "item", ["RFC822.SIZE", "RFC822.HEADER", "BODY.PEEK[1.MIME]", "BODYSTRUCTURE", "BINARY.SIZE[1]"]
)
def test_other_items_are_fetched(item: str) -> None:
    assert commands.uid_fetch([Uid(1)], [item]).pieces("A1") == (f"A1 UID FETCH 1 ({item})\r\n".encode(),)


INVALID: dict[str, Callable[[], object]] = {
    "an empty set": lambda: commands.uid_fetch([], ["UID"]),
    "a folder without a name": lambda: commands.examine(b""),
    "a folder with NUL": lambda: commands.examine(b"a\0b"),
    "a line end in a protocol word": lambda: commands.enable("X\r\nA2 LOGOUT"),
    "a space in a protocol word": lambda: commands.status(b"a", ["MESSAGES UNSEEN"]),
    "a parenthesis in a protocol word": lambda: commands.list_folders(status=["MESSAGES)"]),
    "a password with NUL": lambda: commands.authenticate_plain("a", "b\0c", initial_response=True),
    "a user with NUL": lambda: commands.login("a\0", "b"),
    "a line end in a version": lambda: commands.id_("mailgate", "1\r\n"),
    "a line end in a part": lambda: Command(CommandKind.NOOP, (b"a\r\nb",)),
    "an empty part": lambda: Command(CommandKind.NOOP, (b"",)),
    "8-bit in a part": lambda: Command(CommandKind.NOOP, (b"\xff",)),
}


@pytest.mark.parametrize("build", INVALID.values(), ids=INVALID)
def test_an_argument_that_would_be_another_command_is_refused(build: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"."):
        build()


def test_a_set_is_ascending_and_short() -> None:
    assert commands.sequence_set([9, 7, 5, 6, 7]) == b"5:7,9"


@given(st.binary(min_size=1, max_size=60).filter(lambda wire: 0 not in wire))
@settings(max_examples=200, derandomize=True, deadline=None)
def test_no_folder_name_leaves_its_argument(wire: bytes) -> None:
    command = commands.examine(wire, condstore=True)
    (name, option) = command.parts
    assert option == b"(CONDSTORE)"
    if isinstance(name, OutgoingLiteral):
        assert command.pieces("A1") == (b"A1 EXAMINE {%d}\r\n" % len(wire), wire + b" (CONDSTORE)\r\n")
    else:
        assert name[1:-1].replace(b"\\\\", b"").count(b'"') == name.replace(b"\\\\", b"").count(b'\\"')
        assert command.pieces("A1") == (b"A1 EXAMINE " + name + b" (CONDSTORE)\r\n",)
