"""Commands on folders: STATUS, CREATE, DELETE, RENAME, SUBSCRIBE, and APPEND (RFC 3501, 6.3)."""

from __future__ import annotations

from datetime import UTC, datetime

from mailgate.demo.extensions import Extension
from mailgate.demo.grammar import BadCommand, Refused, Scanner
from mailgate.demo.session import Done, Session, name_of
from mailgate.demo.store import DELIMITER, DemoFolder
from mailgate.imap.mutf7 import to_wire
from mailgate.imap.values import FolderName

STATUS_ITEMS = ("MESSAGES", "RECENT", "UIDNEXT", "UIDVALIDITY", "UNSEEN", "HIGHESTMODSEQ")


def serialize_name(name: str) -> bytes:
    """A decoded folder name as the quoted string that goes over the wire."""
    wire = to_wire(FolderName(name))
    return b'"' + wire.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def status_row(session: Session, folder: DemoFolder, items: list[str]) -> bytes:
    """`STATUS name (item value ...)`. Raises `BadCommand` for an unknown item."""
    pairs = [b"%b %d" % (item.encode(), _status_value(session, folder, item)) for item in items]
    return b"STATUS " + serialize_name(folder.name) + b" (" + b" ".join(pairs) + b")"


def check_status_items(session: Session, items: list[str]) -> None:
    """Raises `BadCommand` unless every item is known; asking for HIGHESTMODSEQ turns CONDSTORE on (RFC 7162, 3.1)."""
    for item in items:
        if item not in STATUS_ITEMS or (item == "HIGHESTMODSEQ" and Extension.CONDSTORE not in session.extensions):
            raise BadCommand("unknown status item")
    if "HIGHESTMODSEQ" in items:
        session.use_condstore()


def _status_value(session: Session, folder: DemoFolder, item: str) -> int:
    match item:
        case "MESSAGES":
            return len(folder.messages)
        case "UIDNEXT":
            return folder.uid_next
        case "UIDVALIDITY":
            return folder.uid_validity
        case "UNSEEN":
            return folder.unseen()
        case "HIGHESTMODSEQ":
            return folder.highest_mod_seq
        case _:
            return 0


async def status(session: Session, scanner: Scanner) -> Done:
    """STATUS (RFC 3501, 6.3.10)."""
    scanner.space()
    wire = scanner.astring()
    scanner.space()
    items = scanner.words()
    scanner.end()
    check_status_items(session, items)
    session.untagged(status_row(session, session.folder_at(wire), items))
    return Done()


def _new_name(wire: bytes) -> str:
    name = name_of(wire.removesuffix(DELIMITER.encode()))
    levels = name.split(DELIMITER)
    if not all(levels):
        raise Refused("that name is not possible", "CANNOT")
    for depth in range(len(levels)):
        _check_listable(DELIMITER.join(levels[: depth + 1]))
    return name


def _check_listable(name: str) -> None:
    """Every folder must be one that LIST can show: some octets, and overlong names, have no form on the wire."""
    try:
        serialize_name(name)
    except ValueError:
        raise Refused("that name is not possible", "CANNOT") from None


async def create(session: Session, scanner: Scanner) -> Done:
    """CREATE (RFC 3501, 6.3.3). A `\\Noselect` name becomes a folder."""
    scanner.space()
    name = _new_name(scanner.astring())
    scanner.end()
    if session.mailbox.has(name) and session.mailbox.folder(name).selectable:
        raise Refused("the folder exists", "ALREADYEXISTS")
    session.mailbox.create(name)
    return Done()


async def delete(session: Session, scanner: Scanner) -> Done:
    """DELETE (RFC 3501, 6.3.4)."""
    scanner.space()
    name = name_of(scanner.astring())
    scanner.end()
    if name == "INBOX":
        raise Refused("INBOX stays", "CANNOT")
    if not session.mailbox.folder(name).selectable and session.mailbox.has_children(name):
        raise Refused("there are folders below", "HASCHILDREN")
    session.mailbox.delete(name)
    return Done()


async def rename(session: Session, scanner: Scanner) -> Done:
    """RENAME (RFC 3501, 6.3.5)."""
    scanner.space()
    old = name_of(scanner.astring())
    scanner.space()
    new = _new_name(scanner.astring())
    scanner.end()
    session.mailbox.folder(old)
    if session.mailbox.has(new):
        raise Refused("the folder exists", "ALREADYEXISTS")
    if new.startswith(old + DELIMITER) and old != "INBOX":
        raise Refused("a folder cannot move below itself", "CANNOT")
    for name in session.mailbox.folders:
        if name.startswith(old + DELIMITER):
            _check_listable(new + name.removeprefix(old))
    session.mailbox.rename(old, new)
    return Done()


async def subscribe(session: Session, scanner: Scanner) -> Done:
    """SUBSCRIBE and UNSUBSCRIBE: every folder counts as subscribed, and stays so."""
    scanner.space()
    scanner.astring()
    scanner.end()
    return Done()


async def append(session: Session, scanner: Scanner) -> Done:
    """APPEND (RFC 3501, 6.3.11) of one message, kept byte for byte; APPENDUID with UIDPLUS."""
    scanner.space()
    wire = scanner.astring()
    scanner.space()
    flags: list[str] = []
    if scanner.peek() == b"(":
        flags = checked_flags(scanner.parenthesised_flags())
        scanner.space()
    at = datetime.now(UTC).replace(microsecond=0)
    if scanner.peek() == b'"':
        at = scanner.date_time()
        scanner.space()
    if not scanner.is_literal():
        raise BadCommand("a message comes as a literal")
    raw = scanner.string()
    scanner.end()
    if b"\0" in raw:
        raise BadCommand("a literal holds no NUL")
    if not raw:
        raise Refused("a message is not empty", "CANNOT")
    folder = session.folder_at(wire, code="TRYCREATE")
    uid = session.mailbox.append(folder.name, raw, flags, at)
    if Extension.UIDPLUS not in session.extensions:
        return Done("appended")
    return Done("appended", b"APPENDUID %d %d" % (folder.uid_validity, uid))


def checked_flags(flags: list[str]) -> list[str]:
    """Flags a client may set: keywords, and the system flags but `\\Recent` (RFC 3501, 2.3.2)."""
    allowed = ("\\answered", "\\flagged", "\\deleted", "\\seen", "\\draft")
    if any(flag.startswith("\\") and flag.lower() not in allowed for flag in flags):
        raise BadCommand("that flag cannot be set")
    if len(flags) > 100 or any(len(flag) > 200 for flag in flags):
        raise Refused("too many or too long flags", "LIMIT")
    return flags
