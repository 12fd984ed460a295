"""Commands as values (RFC 9051, 6). Nothing here sends anything; those that change mail are in `write_commands.py`.

Every text that comes from outside is quoted or goes as a literal, and one space stands between arguments: one server
takes two for a syntax error. Literals are always the synchronising kind: octets of a refused `{n+}` would be read as
commands.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from mailgate.imap.criteria import SearchCriteria, search_arguments
from mailgate.imap.parts import OutgoingLiteral, Part, text_argument
from mailgate.imap.sequence import SequenceSet
from mailgate.imap.tokens import quote
from mailgate.imap.values import ScanWindow, Uid
from mailgate.limits import PREVIEW_HEADER_BYTES, PREVIEW_SOURCE_BYTES, SUMMARY_HEADER_BYTES

SUMMARY_FIELDS = ("FROM", "TO", "CC", "SUBJECT", "DATE", "MESSAGE-ID", "CONTENT-TYPE")
"""Header fields of one row of a search page."""
PREVIEW_FIELDS = ("MIME-VERSION", "CONTENT-TYPE", "CONTENT-TRANSFER-ENCODING")
"""Header fields that say how the text of a message is to be read."""
STATUS_ITEMS = ("MESSAGES", "UNSEEN", "UIDNEXT", "UIDVALIDITY")
"""Counts of one row of a folder list."""

_ATOM = re.compile(r"[A-Za-z0-9.=+_/-]+")
_FETCH_ITEM = re.compile(r"[A-Z0-9.]+(?:\[[A-Z0-9. ()-]*\](?:<[0-9]+\.[0-9]+>)?)?")
_SECTION_READ = re.compile(r"(?:BODY|BINARY)\[|RFC822(?:\.TEXT)?\Z")


class CommandKind(StrEnum):
    """Which command it is, as it is spelled on the wire."""

    CAPABILITY = "CAPABILITY"
    NOOP = "NOOP"
    LOGOUT = "LOGOUT"
    ID = "ID"
    STARTTLS = "STARTTLS"
    LOGIN = "LOGIN"
    AUTHENTICATE = "AUTHENTICATE"
    ENABLE = "ENABLE"
    LIST = "LIST"
    STATUS = "STATUS"
    EXAMINE = "EXAMINE"
    SELECT = "SELECT"
    UNSELECT = "UNSELECT"
    UID_SEARCH = "UID SEARCH"
    UID_FETCH = "UID FETCH"
    UID_STORE = "UID STORE"
    UID_COPY = "UID COPY"
    UID_MOVE = "UID MOVE"
    UID_EXPUNGE = "UID EXPUNGE"
    CREATE = "CREATE"
    RENAME = "RENAME"
    APPEND = "APPEND"

    @property
    def changes_state(self) -> bool:
        """Whether the mailbox may differ afterwards, so that a lost connection leaves the outcome unknown.

        Such a command is sent once and never again. SELECT is none: what it takes away, \\Recent, is a fact about
        sessions that nobody is shown (RFC 9051, 2.3.2).
        """
        return self in _CHANGING


_CHANGING: Final = frozenset(
    {
        CommandKind.UID_STORE,
        CommandKind.UID_COPY,
        CommandKind.UID_MOVE,
        CommandKind.UID_EXPUNGE,
        CommandKind.CREATE,
        CommandKind.RENAME,
        CommandKind.APPEND,
    }
)


@dataclass(frozen=True, slots=True, repr=False)
class Command:
    """One command without its tag. `parts` are its arguments in order; `answers` are lines for further `+`.

    Its repr is the kind alone: arguments hold passwords, folder names and search terms.
    """

    kind: CommandKind
    parts: tuple[Part, ...] = ()
    answers: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        for part in self.parts:
            if isinstance(part, bytes) and (not part or any(octet < 0x20 or octet > 0x7E for octet in part)):
                raise ValueError("a command argument is empty or not printable ASCII")

    def __repr__(self) -> str:
        return f"Command({self.kind})"

    @property
    def changes_state(self) -> bool:
        """See `CommandKind.changes_state`."""
        return self.kind.changes_state

    def pieces(self, tag: str) -> tuple[bytes, ...]:
        """What to write: the first at once, each further one only after the server's `+`.

        command = tag SP (command-any / command-auth / command-nonauth / command-select) CRLF
        literal = "{" number64 ["+"] "}" CRLF *CHAR8 ; the octets wait for a continuation request (RFC 9051, 9)
        """
        pieces = [bytearray(f"{tag} {self.kind}".encode())]
        for part in self.parts:
            if isinstance(part, OutgoingLiteral):
                pieces[-1] += b" {%d}\r\n" % len(part.data)
                pieces.append(bytearray(part.data))
            else:
                pieces[-1] += b" " + part
        pieces[-1] += b"\r\n"
        return (*map(bytes, pieces), *(answer + b"\r\n" for answer in self.answers))


# --- any state --------------------------------------------------------------------------------------------------


def capability() -> Command:
    """CAPABILITY (RFC 9051, 6.1.1)."""
    return Command(CommandKind.CAPABILITY)


def noop() -> Command:
    """NOOP (RFC 9051, 6.1.2)."""
    return Command(CommandKind.NOOP)


def logout() -> Command:
    """LOGOUT (RFC 9051, 6.1.3)."""
    return Command(CommandKind.LOGOUT)


def id_(name: str, version: str) -> Command:
    """`ID ("name" "mailgate" "version" "1")` (RFC 2971, 3.1).

    No space inside the parentheses: one provider answers BAD to that and refuses every folder afterwards.
    """
    words = ("name", name, "version", version)
    return Command(CommandKind.ID, (b"(" + b" ".join(quote(word.encode("ascii")) for word in words) + b")",))


# --- before login -----------------------------------------------------------------------------------------------


def starttls() -> Command:
    """STARTTLS (RFC 9051, 6.2.1)."""
    return Command(CommandKind.STARTTLS)


def login(username: str, password: str) -> Command:
    """LOGIN (RFC 9051, 6.2.3), either argument as a literal where it cannot be quoted."""
    return Command(CommandKind.LOGIN, (text_argument(username.encode()), text_argument(password.encode())))


def authenticate_plain(username: str, password: str, *, initial_response: bool) -> Command:
    """AUTHENTICATE PLAIN (RFC 4616), with the credentials in the command (SASL-IR, RFC 4959) or after `+`.

    message = [authzid] UTF8NUL authcid UTF8NUL passwd
    """
    if "\0" in username + password:
        raise ValueError("a credential holds NUL")
    response = base64.b64encode(f"\0{username}\0{password}".encode())
    if initial_response:
        return Command(CommandKind.AUTHENTICATE, (b"PLAIN", response))
    return Command(CommandKind.AUTHENTICATE, (b"PLAIN",), answers=(response,))


# --- after login ------------------------------------------------------------------------------------------------


def enable(*capabilities: str) -> Command:
    """ENABLE (RFC 9051, 6.3.1)."""
    return Command(CommandKind.ENABLE, tuple(_word(name) for name in capabilities))


def list_folders(*, special_use: bool = False, children: bool = False, status: Sequence[str] = ()) -> Command:
    """`LIST "" "*"`, with return options where the caller found the extension that each needs.

    `special_use`, `children`: LIST-EXTENDED (RFC 6154, RFC 5258). `status`: items of LIST-STATUS (RFC 5819).
    """
    options = [b"CHILDREN"] * children + [b"SPECIAL-USE"] * special_use
    if status:
        options.append(b"STATUS " + _words(status))
    tail: tuple[Part, ...] = (b"RETURN", b"(" + b" ".join(options) + b")") if options else ()
    return Command(CommandKind.LIST, (b'""', b'"*"', *tail))


def list_delimiter() -> Command:
    """`LIST "" ""`: "a special request to return the hierarchy delimiter" (RFC 9051, 6.3.9)."""
    return Command(CommandKind.LIST, (b'""', b'""'))


def list_one(wire: bytes) -> Command:
    """LIST with a name as the pattern; where it holds `*` or `%`, more rows come than the one looked at."""
    return Command(CommandKind.LIST, (b'""', folder_argument(wire)))


def status(wire: bytes, items: Sequence[str] = STATUS_ITEMS) -> Command:
    """STATUS (RFC 9051, 6.3.11) of the folder with these octets."""
    return Command(CommandKind.STATUS, (folder_argument(wire), _words(items)))


def examine(wire: bytes, *, condstore: bool = False) -> Command:
    """EXAMINE (RFC 9051, 6.3.3): opens read-only. `condstore` where the server offers it (RFC 7162, 3.1.8)."""
    return Command(CommandKind.EXAMINE, _open(wire, condstore=condstore))


def select(wire: bytes, *, condstore: bool = False) -> Command:
    """SELECT (RFC 9051, 6.3.2): opens for writing."""
    return Command(CommandKind.SELECT, _open(wire, condstore=condstore))


def unselect() -> Command:
    """UNSELECT (RFC 9051, 6.4.2): closes without removing anything, unlike CLOSE."""
    return Command(CommandKind.UNSELECT)


# --- in an open folder ------------------------------------------------------------------------------------------


def uid_search(criteria: SearchCriteria, window: ScanWindow, *, utf8: bool = False) -> Command:
    """UID SEARCH (RFC 9051, 6.4.4) within the window, without RETURN: answers to that differ too much."""
    return Command(CommandKind.UID_SEARCH, search_arguments(criteria, window, utf8=utf8))


def uid_fetch(uids: Iterable[Uid], items: Sequence[str]) -> Command:
    """UID FETCH (RFC 9051, 6.4.5) of items that set no flag; `ValueError` for one that would set \\Seen."""
    return _fetch(sequence_set(uids), items)


def uid_fetch_window(window: ScanWindow, items: Sequence[str]) -> Command:
    """As `uid_fetch`, of all messages in the window, whichever there are."""
    return _fetch(b"%d:%d" % (window.low, window.high), items)


def _fetch(messages: bytes, items: Sequence[str]) -> Command:
    for item in items:
        if not _FETCH_ITEM.fullmatch(item) or _SECTION_READ.match(item):
            raise ValueError("a fetch item is malformed or would change flags")
    return Command(CommandKind.UID_FETCH, (messages, f"({' '.join(items)})".encode()))


def summary_items(*, mod_seq: bool, body_structure: bool) -> tuple[str, ...]:
    """Items for one row of a search page. `mod_seq` only with CONDSTORE: others answer BAD."""
    header = f"BODY.PEEK[HEADER.FIELDS ({' '.join(SUMMARY_FIELDS)})]<0.{SUMMARY_HEADER_BYTES}>"
    structure = ("BODYSTRUCTURE",) if body_structure else ()
    return (*_facts(mod_seq=mod_seq), *structure, header)


def source_items(limit: int, *, mod_seq: bool) -> tuple[str, ...]:
    """Items for a message in one piece: its facts and the first `limit` octets of its source."""
    return (*_facts(mod_seq=mod_seq), f"BODY.PEEK[]<0.{limit}>")


def beginning_items(limit: int, *, mod_seq: bool) -> tuple[str, ...]:
    """Items for a message that may be large: as `source_items`, and its structure."""
    return (*_facts(mod_seq=mod_seq), "BODYSTRUCTURE", f"BODY.PEEK[]<0.{limit}>")


def section_items(spans: Iterable[tuple[str, int, int]]) -> tuple[str, ...]:
    """Items for sections of one message, each with its first octet and how many at most."""
    return ("UID", *(f"BODY.PEEK[{section}]<{offset}.{limit}>" for section, offset, limit in spans))


def head_items(limit: int, *, mod_seq: bool, body_structure: bool) -> tuple[str, ...]:
    """Items for a message without its text: its facts, its structure, and the first `limit` octets of its header."""
    structure = ("BODYSTRUCTURE",) if body_structure else ()
    return (*_facts(mod_seq=mod_seq), *structure, f"BODY.PEEK[HEADER]<0.{limit}>")


def size_items() -> tuple[str, ...]:
    """Items that tell how much there is to fetch."""
    return ("UID", "RFC822.SIZE")


def preview_items() -> tuple[str, ...]:
    """Items for a preview: the beginning of the text and how to read it.

    Never the server's own (RFC 8970): it has no promise about hidden text, and Dovecot's shows it.
    """
    header = f"BODY.PEEK[HEADER.FIELDS ({' '.join(PREVIEW_FIELDS)})]<0.{PREVIEW_HEADER_BYTES}>"
    return ("UID", header, f"BODY.PEEK[TEXT]<0.{PREVIEW_SOURCE_BYTES}>")


def sequence_set(uids: Iterable[int]) -> bytes:
    """UIDs ascending, each once, runs as ranges; `ValueError` when there are none. Never `*`."""
    text = SequenceSet.of(uids).serialize()
    if not text:
        raise ValueError("a set of messages is empty")
    return text


def _facts(*, mod_seq: bool) -> tuple[str, ...]:
    return ("UID", "FLAGS", "INTERNALDATE", "RFC822.SIZE", *(("MODSEQ",) if mod_seq else ()))


def _open(wire: bytes, *, condstore: bool) -> tuple[Part, ...]:
    return (folder_argument(wire), b"(CONDSTORE)") if condstore else (folder_argument(wire),)


def folder_argument(wire: bytes) -> Part:
    """`mailbox`: always quoted or a literal, because some servers refuse names without quotes."""
    if not wire:
        raise ValueError("a folder name is empty")
    return text_argument(wire)


def _word(text: str) -> bytes:
    if not _ATOM.fullmatch(text):
        raise ValueError("a protocol word is malformed")
    return text.encode("ascii")


def _words(texts: Sequence[str]) -> bytes:
    return b"(" + b" ".join(map(_word, texts)) + b")"
