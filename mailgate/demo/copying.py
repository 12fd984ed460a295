"""COPY and MOVE, by sequence number and by UID, with COPYUID (RFC 3501, 6.4.7; RFC 6851; RFC 4315, 3)."""

from __future__ import annotations

from dataclasses import dataclass

from mailgate.demo.extensions import Extension
from mailgate.demo.grammar import Scanner, serialize_set
from mailgate.demo.messages import named
from mailgate.demo.session import Done, Session
from mailgate.demo.view import FolderView


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did: the UIDs it took, in order, and the COPYUID code for them (empty without UIDPLUS)."""

    uids: list[int]
    code: bytes


async def copy(session: Session, scanner: Scanner) -> Done:
    """COPY."""
    return Done("copied", _copy(session, session.selected, scanner, by_uid=False).code)


async def uid_copy(session: Session, scanner: Scanner) -> Done:
    """UID COPY."""
    return Done("copied", _copy(session, session.selected, scanner, by_uid=True).code)


async def move(session: Session, scanner: Scanner) -> Done:
    """MOVE."""
    return _move(session, scanner, by_uid=False)


async def uid_move(session: Session, scanner: Scanner) -> Done:
    """UID MOVE."""
    return _move(session, scanner, by_uid=True)


def _copy(session: Session, view: FolderView, scanner: Scanner, *, by_uid: bool) -> Copied:
    scanner.space()
    numbers = scanner.sequence_set()
    scanner.space()
    wire = scanner.astring()
    scanner.end()
    # RFC 3501, 6.4.7: the missing folder is not made; TRYCREATE tells the client that it could.
    target = session.folder_at(wire, code="TRYCREATE")
    messages = [message for _, message in named(view, numbers, by_uid=by_uid)]
    old = [message.uid for message in messages]
    new = [session.mailbox.append(target.name, one.raw, one.flags, one.internal_date) for one in messages]
    if not new or Extension.UIDPLUS not in session.extensions:
        return Copied(old, b"")
    return Copied(old, b"COPYUID %d %b %b" % (target.uid_validity, serialize_set(old), serialize_set(new)))


def _move(session: Session, scanner: Scanner, *, by_uid: bool) -> Done:
    view = session.writable()
    copied = _copy(session, view, scanner, by_uid=by_uid)
    if copied.code:
        # RFC 6851, 4.3: COPYUID comes in an untagged OK, before the EXPUNGE rows.
        session.untagged(b"OK [%b] moved" % copied.code)
    view.folder.expunge(copied.uids)
    return Done("moved")
