"""What EXAMINE and SELECT answer, and why they were refused (RFC 9051, 6.3.2 and 6.3.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from mailgate.errors import (
    FolderNotFound,
    FolderNotSelectable,
    MailgateError,
    UpstreamProtocolError,
)
from mailgate.imap import commands
from mailgate.imap.connection import ImapConnection
from mailgate.imap.exchange import CommandResult
from mailgate.imap.refusals import code_of, is_temporary, refusal
from mailgate.imap.responses import Exists, ListData, ResponseCode, Status, Tagged
from mailgate.imap.values import ModSeq, PermanentFlags, UidValidity

# RFC 5530, 3: the server knows the folder and does not let us in; looking for it would tell nothing new.
DENIED_CODES: Final = frozenset({"NOPERM", "AUTHORIZATIONFAILED", "PRIVACYREQUIRED"})


@dataclass(frozen=True, slots=True)
class OpenedFolder:
    """The state of a folder at the moment it was opened.

    `uid_next`: None where the server does not say. `highest_modseq`: None without CONDSTORE, and for a folder that
    has no mod-sequences. `mod_seqs_refused`: the server said NOMODSEQ, so that asking for MODSEQ is answered BAD (RFC
    7162, 3.1.2.2). `read_only`: always after EXAMINE, and after SELECT when the server says so.
    """

    uid_validity: UidValidity
    messages: int
    uid_next: int | None = None
    highest_modseq: ModSeq | None = None
    permanent_flags: PermanentFlags = field(default_factory=PermanentFlags)
    read_only: bool = False
    mod_seqs_refused: bool = False


def opened_folder(result: CommandResult, *, condstore: bool) -> OpenedFolder:
    """Read a successful answer; `UpstreamProtocolError` when it lacks what every reference rests on."""
    codes = {code.name: code for code in result.codes}
    validity = codes["UIDVALIDITY"].number if "UIDVALIDITY" in codes else None
    exists = result.of(Exists)
    if validity is None:
        raise UpstreamProtocolError("The mail server gives no UIDVALIDITY for the folder.")
    if not exists:
        raise UpstreamProtocolError("The mail server does not say how many messages the folder holds.")
    # RFC 7162, 3.1.2: some servers send HIGHESTMODSEQ without offering CONDSTORE and then refuse the FETCH item.
    mod_seq = codes["HIGHESTMODSEQ"].mod_seq if condstore and "HIGHESTMODSEQ" in codes else None
    return OpenedFolder(
        UidValidity(validity),
        exists[-1].count,
        codes["UIDNEXT"].number if "UIDNEXT" in codes else None,
        mod_seq,
        _permanent_flags(codes.get("PERMANENTFLAGS")),
        "READ-ONLY" in codes,
        "NOMODSEQ" in codes,
    )


def _permanent_flags(code: ResponseCode | None) -> PermanentFlags:
    if code is None:
        return PermanentFlags.anything()
    return PermanentFlags.of(code.flags or ())


async def why_not_opened(connection: ImapConnection, wire: bytes, tagged: Tagged, *, seconds: float) -> MailgateError:
    """The error for a refused EXAMINE: missing, only a branch, or there and refused.

    A code alone does not tell: a server says NONEXISTENT of a \\Noselect folder, too. So the folder is looked up.
    """
    if tagged.status is not Status.NO or is_temporary(tagged) or code_of(tagged) in DENIED_CODES:
        return refusal(tagged)
    looked = await connection.run(commands.list_one(wire), seconds=seconds)
    if not looked.ok:
        return FolderNotFound() if code_of(tagged) == "NONEXISTENT" else refusal(tagged)
    words = [word.lower() for row in looked.of(ListData) if row.wire == wire for word in ("", *row.attributes)]
    if not words or "\\nonexistent" in words:
        return FolderNotFound()
    if "\\noselect" in words:
        return FolderNotSelectable()
    return FolderNotFound() if code_of(tagged) == "NONEXISTENT" else refusal(tagged)
