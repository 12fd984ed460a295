"""The commands that change mail or folders, as values (RFC 9051, 6). Nothing here sends anything.

What cannot be built here cannot be sent: there is no EXPUNGE without a UID, no CLOSE, no DELETE, no STORE that replaces
flags, and every command about a message names exactly one UID.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from mailgate.imap.commands import Command, CommandKind, folder_argument
from mailgate.imap.parts import OutgoingLiteral, Part
from mailgate.imap.values import FlagDelta, FlagOperation, ModSeq, SystemFlag, Uid, settable_flag

_BARE_LINE_END = re.compile(rb"\r(?!\n)|(?<!\r)\n")


def uid_store(uid: Uid, delta: FlagDelta, unchanged_since: ModSeq | None = None) -> Command:
    """UID STORE (RFC 9051, 6.4.6) of named flags; with `unchanged_since` on that condition (RFC 7162, 3.1.3).

    Not the silent form: the FETCH row that follows tells what became of the flags.
    """
    sign = "+" if delta.operation is FlagOperation.ADD else "-"
    return _store(uid, f"{sign}FLAGS", delta.flags, unchanged_since)


def uid_mark_deleted(uid: Uid) -> Command:
    """UID STORE of \\Deleted, the first half of removing one message for good."""
    return _store(uid, "+FLAGS", (SystemFlag.DELETED,), None)


def uid_expunge(uid: Uid) -> Command:
    """UID EXPUNGE (RFC 9051, 6.4.9; RFC 4315, 2.1) of one UID: others that are marked stay."""
    return Command(CommandKind.UID_EXPUNGE, (_number(uid),))


def uid_copy(uid: Uid, wire: bytes) -> Command:
    """UID COPY (RFC 9051, 6.4.7) into the folder with these octets."""
    return Command(CommandKind.UID_COPY, (_number(uid), folder_argument(wire)))


def uid_move(uid: Uid, wire: bytes) -> Command:
    """UID MOVE (RFC 9051, 6.4.8; RFC 6851) into the folder with these octets."""
    return Command(CommandKind.UID_MOVE, (_number(uid), folder_argument(wire)))


def create(wire: bytes) -> Command:
    """CREATE (RFC 9051, 6.3.4)."""
    return Command(CommandKind.CREATE, (folder_argument(wire),))


def rename(old: bytes, new: bytes) -> Command:
    """RENAME (RFC 9051, 6.3.6); folders below move along."""
    return Command(CommandKind.RENAME, (folder_argument(old), folder_argument(new)))


def append(wire: bytes, message: bytes, flags: Iterable[str] = ()) -> Command:
    """APPEND (RFC 9051, 6.3.12) of a message with CRLF line ends; `ValueError` for any other, and for NUL.

    The list of flags is always sent, even empty: one server refuses the command without. The message goes as a
    synchronising literal, so that a server that refuses it does so before it has it.
    """
    if not message or _BARE_LINE_END.search(message):
        raise ValueError("a message is empty or has line ends other than CRLF")
    words = _flags(settable_flag(flag) for flag in flags)
    return Command(CommandKind.APPEND, (folder_argument(wire), words, OutgoingLiteral(message)))


def _store(uid: Uid, item: str, flags: Iterable[str], unchanged_since: ModSeq | None) -> Command:
    # store-modifier = "UNCHANGEDSINCE" SP mod-sequence-valzer, in parentheses after the set (RFC 7162, 7)
    condition: tuple[Part, ...] = () if unchanged_since is None else (b"(UNCHANGEDSINCE %d)" % unchanged_since,)
    return Command(CommandKind.UID_STORE, (_number(uid), *condition, item.encode("ascii"), _flags(flags)))


def _number(uid: Uid) -> bytes:
    return b"%d" % Uid(uid)


def _flags(flags: Iterable[str]) -> bytes:
    return f"({' '.join(flags)})".encode("ascii")
