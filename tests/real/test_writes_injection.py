"""Hostile strings in every argument of every write tool: Dovecot's raw log holds the expected commands alone."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.peers.dovecot import MailUser
from tests.peers.imap_user import wire_name
from tests.peers.rawlog import SentCommand, sent_since
from tests.real.letters import letter
from tests.real.tools import Result, ToolFailed, Tools

HOSTILE = [
    "a\r\nx1 CREATE injected",
    "a\nx1 CREATE injected\n",
    "a\rx1 CREATE injected",
    "a\r\n\r\nx1 DELETE Work\r\n",
    "a\0b",
    'a" "injected',
    'a\\" "injected',
    'a\\\\" "injected',
    '"injected"',
    "a\\",
    "a) (injected",
    "a (\\Deleted) injected",
    "a {5}",
    "{5}",
    "{5+}",
    "~{5}",
    "{5+}\r\nabcde",
    'a" (\\Deleted) {3+}\r\nabc',
    "* injected",
    "%njected",
    'a" RETURN (STATUS (MESSAGES)) "',
    "\\Deleted",
    "\\*",
    "1:* +FLAGS (\\Deleted)",
    "a\u2028x1 CREATE injected",
    "a\x85x1 CREATE injected",
    "a\x1b[2J",
    "&AA0ACg-x1 CREATE injected",
    "wire:a%0D%0Ax1 CREATE injected",
    "wire:a%22 %22injected",
]

REFERENCE = {"folder": "INBOX", "uid_validity": 0, "uid": 2}
MESSAGE = {
    "to": ["ann@example.org"],
    "cc": ["bob@example.org"],
    "bcc": ["carol@example.org"],
    "subject": "Hello",
    "text": "Text",
    "in_reply_to": "<1@example.org>",
    "references": ["<1@example.org>"],
    "attachments": [{"filename": "a.txt", "content_type": "text/plain", "data_base64": "YQ=="}],
}

CALLS: dict[str, tuple[Result, list[str]]] = {
    "mail_set_flags": (
        {"reference": REFERENCE, "operation": "add", "flags": ["\\Seen"], "unchanged_since": "1"},
        ["UID STORE"],
    ),
    "mail_create_folder": ({"name": "New"}, ["CREATE"]),
    "mail_rename_folder": ({"old": "Work", "new": "Play"}, ["RENAME"]),
    "mail_copy": ({"reference": REFERENCE, "destination": "Archive"}, ["UID COPY"]),
    "mail_move": ({"reference": REFERENCE, "destination": "Archive"}, ["UID MOVE"]),
    "mail_trash": ({"reference": REFERENCE}, ["UID MOVE"]),
    "mail_save_draft": ({"message": MESSAGE, "folder": "Drafts"}, ["APPEND"]),
    "mail_delete_permanently": ({"reference": REFERENCE}, ["UID STORE", "UID EXPUNGE"]),
}
LOOKING = {"CAPABILITY", "ID", "ENABLE", "LIST", "SELECT", "EXAMINE", "UID FETCH", "UID SEARCH", "NOOP", "UNSELECT"}

# `LIST "" "*"` asks for the roles.
KNOWN = {b"", b"*", b"INBOX", b"Work", b"Play", b"Archive", b"Drafts", b"Trash"}

EXPECTED_CODES = {
    "invalid_argument",
    "limit_exceeded",
    "folder_not_found",
    "folder_exists",
    "modified_conflict",
    "upstream_refused",
}

Path = tuple[str | int, ...]


def strings_in(value: Any, path: Path = ()) -> Iterator[Path]:
    """Where the strings of the arguments are."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from strings_in(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from strings_in(inner, (*path, index))


def with_string(arguments: Result, path: Path, text: str) -> Result:
    changed = copy.deepcopy(arguments)
    inner: Any = changed
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = text
    return changed


PLACES = [(tool, path) for tool, (arguments, _) in CALLS.items() for path in strings_in(arguments)]

_TOKEN = re.compile(
    rb"""\ (?: "(?P<quoted>(?:[^"\\\r\n\x00-\x1f\x7f-\xff]|\\["\\])*)"
          | \{(?P<size>\d+)\}(?:\r\n|\Z)
          | (?P<list>\([^()"{}\r\n]*(?:\([^()"{}\r\n]*\)[^()"{}\r\n]*)*\)(?:\[[^\]]*\])?)
          | (?P<atom>[^ "(){}\r\n\x00-\x1f\x7f-\xff]+) )""",
    re.VERBOSE,
)


def arguments_of(command: SentCommand) -> tuple[list[bytes], list[bytes]]:
    """The strings, and everything else, of one command; fails where the line is not wholly made of arguments."""
    line = command.line
    position = re.match(rb"[A-Za-z0-9.]+ (?:UID )?[A-Z]+", line).end()  # type: ignore[union-attr]
    strings, others = [], []
    while position < len(line):
        token = _TOKEN.match(line, position)
        assert token is not None, line[position:]
        position = token.end()
        if token["size"] is not None:
            strings.append(line[position : position + int(token["size"])])
            position += int(token["size"])
        elif token["quoted"] is not None:
            strings.append(re.sub(rb"\\(.)", rb"\1", token["quoted"]))
        else:
            others.append(token["list"] or token["atom"])
    return strings, others


@pytest.mark.requirement("W4")
@pytest.mark.parametrize(("tool", "path"), PLACES, ids=lambda value: value if isinstance(value, str) else "")
async def test_a_hostile_string_stays_one_string_or_is_never_sent(
    mail_user: MailUser, dovecot_writer: Tools, tool: str, path: Path
) -> None:
    mail_user.create("Work")
    mail_user.append_all([bytes(letter(f"Number {number}")) for number in (1, 2, 3)])
    mail_user.mark(1, "\\Deleted", "Word")
    arguments, expected = CALLS[tool]
    reference = await dovecot_writer.reference(2)
    if "reference" in arguments:
        arguments = {**arguments, "reference": reference}
    before = mail_user.everything()
    made: set[str] = set()
    for text in HOSTILE:
        own = mail_user.commands()
        succeeded = await succeeds(dovecot_writer, tool, with_string(arguments, path, text))
        sent = sent_since(own, mail_user.commands())
        changing = [command for command in sent if command.name not in LOOKING]
        assert [command.name for command in changing] in ([], expected), (text, sent)
        for command in sent:
            strings, others = arguments_of(command)
            names = strings[:-1] if command.name == "APPEND" else strings
            assert set(names) <= KNOWN | spellings(text), (text, command)
            assert b"(\\Deleted)" not in others or tool == "mail_delete_permanently"
        if succeeded:
            made |= {spelling.decode("latin-1") for spelling in spellings(text)}
            if tool == "mail_rename_folder":
                mail_user.create("Work")
    after = mail_user.everything()
    assert set(before) <= set(after)
    assert set(after) - set(before) <= made | {"Work"}
    assert after["INBOX"] == before["INBOX"]
    if tool != "mail_save_draft":
        assert {name: after[name] for name in before} == before
    for draft in after["Drafts"].values():
        assert draft.flags == {"\\Draft"}
        assert b"\nx1 CREATE" not in draft.raw.partition(b"\r\n\r\n")[0]


async def succeeds(tools: Tools, tool: str, arguments: Result) -> bool:
    result = await tools.attempt(tool, **arguments)
    if not isinstance(result, ToolFailed):
        return True
    assert result.code in EXPECTED_CODES, result.text
    assert "injected" not in result.text
    return False


def spellings(text: str) -> set[bytes]:
    """The octets that a folder of this name may have on the wire."""
    found = {wire_name(text).encode()}
    if text.startswith("wire:"):
        found.add(re.sub("%(..)", lambda code: chr(int(code[1], 16)), text.removeprefix("wire:")).encode())
    return found
