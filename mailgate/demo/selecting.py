"""Opening, closing and emptying a folder: SELECT, EXAMINE, CLOSE, UNSELECT, EXPUNGE (RFC 3501, 6.3 and 6.4)."""

from __future__ import annotations

from mailgate.demo.extensions import Extension
from mailgate.demo.grammar import BadCommand, Scanner
from mailgate.demo.session import Done, Session
from mailgate.demo.store import SYSTEM_FLAGS
from mailgate.demo.view import FolderView


async def select(session: Session, scanner: Scanner) -> Done:
    """SELECT (RFC 3501, 6.3.1)."""
    return _open(session, scanner, read_only=False)


async def examine(session: Session, scanner: Scanner) -> Done:
    """EXAMINE (RFC 3501, 6.3.2): the same, and nothing can be changed, not even `\\Seen` by reading."""
    return _open(session, scanner, read_only=True)


def _open(session: Session, scanner: Scanner, *, read_only: bool) -> Done:
    # RFC 3501, 6.3.1: whatever was selected is not any more, also when this command fails.
    session.view = None
    scanner.space()
    wire = scanner.astring()
    if scanner.peek():
        scanner.space()
        if Extension.CONDSTORE not in session.extensions or scanner.words() != ["CONDSTORE"]:
            raise BadCommand("unknown select parameter")
        session.use_condstore()
    scanner.end()
    session.view = FolderView(session.folder_at(wire), read_only=read_only)
    _describe(session, session.view)
    return Done("opened", b"READ-ONLY" if read_only else b"READ-WRITE")


def _describe(session: Session, view: FolderView) -> None:
    folder = view.folder
    flags = " ".join((*SYSTEM_FLAGS, *folder.keywords))
    session.untagged(f"FLAGS ({flags})".encode())
    permanent = "" if view.read_only else f"{flags} \\*"
    session.untagged(f"OK [PERMANENTFLAGS ({permanent})] kept".encode())
    session.untagged(b"%d EXISTS" % len(view.uids))
    session.untagged(b"0 RECENT")
    unseen = next((number for number, uid in enumerate(view.uids, 1) if _is_unseen(view, uid)), None)
    if unseen is not None:
        session.untagged(b"OK [UNSEEN %d] first unseen" % unseen)
    session.untagged(b"OK [UIDVALIDITY %d] UIDs valid" % folder.uid_validity)
    session.untagged(b"OK [UIDNEXT %d] next UID" % folder.uid_next)
    if Extension.CONDSTORE in session.extensions:
        session.untagged(b"OK [HIGHESTMODSEQ %d] highest" % folder.highest_mod_seq)


def _is_unseen(view: FolderView, uid: int) -> bool:
    message = view.message(uid)
    return message is not None and "\\Seen" not in message.flags


async def unselect(session: Session, scanner: Scanner) -> Done:
    """UNSELECT (RFC 3691): leaves the folder and removes nothing."""
    scanner.end()
    session.view = None
    return Done()


async def close(session: Session, scanner: Scanner) -> Done:
    """CLOSE (RFC 3501, 6.4.2): leaves the folder; one opened by SELECT first loses what is marked `\\Deleted`."""
    scanner.end()
    view, session.view = session.selected, None
    if not view.read_only:
        view.folder.expunge(_deleted(view))
    return Done()


async def expunge(session: Session, scanner: Scanner) -> Done:
    """EXPUNGE (RFC 3501, 6.4.3)."""
    scanner.end()
    view = session.writable()
    view.folder.expunge(_deleted(view))
    return _expunged(session, view)


async def uid_expunge(session: Session, scanner: Scanner) -> Done:
    """UID EXPUNGE (RFC 4315, 2.1): of the named messages, those marked `\\Deleted`."""
    scanner.space()
    wanted = scanner.sequence_set()
    scanner.end()
    view = session.writable()
    named = set(wanted.members(view.uids))
    view.folder.expunge(uid for uid in _deleted(view) if uid in named)
    return _expunged(session, view)


def _expunged(session: Session, view: FolderView) -> Done:
    """RFC 7162, 3.1.2.2 and 3.2.7: a client that knows mod-sequences is given the new highest one."""
    if session.condstore:
        return Done("expunged", b"HIGHESTMODSEQ %d" % view.folder.highest_mod_seq)
    return Done("expunged")


def _deleted(view: FolderView) -> list[int]:
    """The known messages marked `\\Deleted`; what arrived since is not touched."""
    return [uid for uid in view.uids if (message := view.message(uid)) and "\\Deleted" in message.flags]
