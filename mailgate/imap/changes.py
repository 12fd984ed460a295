"""What a refused change means, and the changes to folders as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mailgate.errors import (
    FolderExists,
    FolderNotFound,
    FolderNotSelectable,
    MailgateError,
    MessageNotFound,
    OutcomeUnknown,
    UpstreamError,
    UpstreamRefused,
)
from mailgate.imap import commands, write_commands
from mailgate.imap.codes import AppendUid
from mailgate.imap.connection import ImapConnection
from mailgate.imap.pool import Lease
from mailgate.imap.refusals import code_of, is_temporary, refusal
from mailgate.imap.responses import ListData, Status, Tagged

# RFC 5530, 3 and RFC 9051, 7.1; RFC 4469 has TOOBIG.
MISSING_CODES: Final = frozenset({"TRYCREATE", "NONEXISTENT"})
_SENTENCES: Final = {
    "OVERQUOTA": "The mailbox's quota does not allow it.",
    "LIMIT": "The mailbox's quota or another limit of the mail server does not allow it.",
    "TOOBIG": "The message is larger than the mail server takes.",
    "NOPERM": "The mail server does not permit this user to do that.",
    "CANNOT": "The mail server cannot do that, whoever asks.",
}


def change_refusal(tagged: Tagged) -> MailgateError:
    """The error for a NO or BAD to a changing command: nothing was changed."""
    code = code_of(tagged)
    if tagged.status is Status.NO and code in _SENTENCES:
        return UpstreamRefused(_SENTENCES[code], response_code=code, server_text=tagged.text)
    if code == "ALREADYEXISTS":
        return FolderExists()
    if code in MISSING_CODES:
        return FolderNotFound()
    if code == "EXPUNGEISSUED":
        return MessageNotFound()
    return refusal(tagged)


async def why_not_placed(connection: ImapConnection, wire: bytes, tagged: Tagged, *, seconds: float) -> MailgateError:
    """The error for a refused COPY, MOVE or APPEND into the folder with these octets. It is never created.

    Some servers say only NO when it does not exist, so without a telling code it is looked up; a failure of that
    look-up does not put the refusal in doubt.
    """
    error = change_refusal(tagged)
    if tagged.status is not Status.NO or is_temporary(tagged) or code_of(tagged) in _SENTENCES:
        return error
    try:
        words = await attributes_of(connection, wire, seconds=seconds)
    except UpstreamError:
        return error
    if words is None:
        return FolderNotFound()
    return FolderNotSelectable() if "\\noselect" in words else error


async def attributes_of(connection: ImapConnection | Lease, wire: bytes, *, seconds: float) -> frozenset[str] | None:
    """The attributes, in lower case, of the folder with these octets; None when there is none, by LIST."""
    run = connection.first if isinstance(connection, Lease) else connection.run
    result = await run(commands.list_one(wire), seconds=seconds)
    if not result.ok:
        raise refusal(result.tagged)
    rows = [row for row in result.of(ListData) if row.wire == wire]
    words = frozenset(word.lower() for row in rows for word in row.attributes)
    return None if not rows or "\\nonexistent" in words else words


async def create_folder(lease: Lease, wire: bytes, *, seconds: float) -> None:
    """CREATE, unless LIST shows the folder. A mere branch may become a folder: that is for the server to say.

    `OutcomeUnknown` when the server says OK and then does not list a folder of that name.
    """
    words = await attributes_of(lease, wire, seconds=seconds)
    if words is not None and "\\noselect" not in words:
        raise FolderExists
    result = await lease.connection.run(write_commands.create(wire), seconds=seconds)
    if not result.ok:
        raise change_refusal(result.tagged)
    await _see_it_listed(lease.connection, wire, seconds=seconds)


async def rename_folder(lease: Lease, old: bytes, new: bytes, *, seconds: float) -> None:
    """RENAME, unless LIST shows no `old` or a `new`. What happens between is left to the server's NO.

    `OutcomeUnknown` as for `create_folder`.
    """
    if await attributes_of(lease, old, seconds=seconds) is None:
        raise FolderNotFound
    if await attributes_of(lease, new, seconds=seconds) is not None:
        raise FolderExists
    result = await lease.connection.run(write_commands.rename(old, new), seconds=seconds)
    if not result.ok:
        raise change_refusal(result.tagged)
    await _see_it_listed(lease.connection, new, seconds=seconds)


async def _see_it_listed(connection: ImapConnection, wire: bytes, *, seconds: float) -> None:
    """Seen with Cyrus: a long name is cut without a word, and the folder then has another one than was asked for."""
    try:
        words = await attributes_of(connection, wire, seconds=seconds)
    except UpstreamRefused:
        words = None
    except UpstreamError:
        raise OutcomeUnknown from None
    if words is None:
        raise OutcomeUnknown("The mail server accepted this and does not show a folder with exactly this name.")


async def append_message(
    lease: Lease, wire: bytes, message: bytes, flags: Sequence[str], *, seconds: float
) -> AppendUid | None:
    """APPEND; what the server says about the new message, None where it says nothing.

    A server that refuses does so before it has the message (NO instead of `+`), or after: nothing is added.
    """
    command = write_commands.append(wire, message, flags)
    # Seen with Courier: a folder that is open read-only takes no message on the same connection.
    opening = commands.select(wire) if lease.connection.examined == wire else commands.noop()
    lease.connection.examined = None
    await lease.first(opening, seconds=seconds)  # a kept connection that died is replaced now, not later
    result = await lease.connection.run(command, seconds=seconds)
    if not result.ok:
        raise await why_not_placed(lease.connection, wire, result.tagged, seconds=seconds)
    said = {code.append_uid for code in result.codes if code.append_uid is not None}
    return said.pop() if len(said) == 1 else None
