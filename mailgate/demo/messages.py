"""FETCH, SEARCH and STORE, by sequence number and by UID (RFC 3501, 6.4; RFC 7162, 3.1)."""

from __future__ import annotations

from dataclasses import dataclass

from mailgate.demo.extensions import Extension
from mailgate.demo.fetch import FetchItem, parse_items, render_flags, render_item
from mailgate.demo.folder_commands import checked_flags
from mailgate.demo.grammar import BadCommand, Scanner, SequenceSet, serialize_set
from mailgate.demo.search import SearchOptions, SearchParser, render_esearch
from mailgate.demo.search import search as find
from mailgate.demo.session import Done, Session
from mailgate.demo.store import DemoMessage
from mailgate.demo.view import FolderView


def named(view: FolderView, numbers: SequenceSet, *, by_uid: bool) -> list[tuple[int, DemoMessage]]:
    """The messages a set names, with their sequence numbers, ascending; those expunged meanwhile are left out.

    A UID that does not exist is passed over (RFC 3501, 6.4.8); a sequence number that does not is an error.
    """
    if by_uid:
        uids = numbers.members(view.uids)
    else:
        if numbers.highest() > len(view.uids):
            raise BadCommand("no message of that number")
        uids = [view.uids[number - 1] for number in numbers.members(list(range(1, len(view.uids) + 1)))]
    positions = {uid: number for number, uid in enumerate(view.uids, 1)}
    return [(positions[uid], message) for uid in uids if (message := view.message(uid))]


def _modifier(session: Session, scanner: Scanner, name: str) -> int | None:
    """`(NAME number)`, where CONDSTORE is spoken; using it turns mod-sequences on (RFC 7162, 3.1)."""
    if not scanner.accept(f"({name} ".encode()):
        return None
    if Extension.CONDSTORE not in session.extensions:
        raise BadCommand("unknown modifier")
    value = scanner.number()
    scanner.expect(b")")
    session.use_condstore()
    return value


# --- FETCH


async def fetch(session: Session, scanner: Scanner) -> Done:
    """FETCH."""
    return await _fetch(session, scanner, by_uid=False)


async def uid_fetch(session: Session, scanner: Scanner) -> Done:
    """UID FETCH: every row carries the UID."""
    return await _fetch(session, scanner, by_uid=True)


async def _fetch(session: Session, scanner: Scanner, *, by_uid: bool) -> Done:
    scanner.space()
    numbers = scanner.sequence_set()
    scanner.space()
    items = parse_items(scanner)
    since = None
    if scanner.peek():
        scanner.space()
        since = _modifier(session, scanner, "CHANGEDSINCE")
    scanner.end()
    names = {item.name for item in items}
    if "MODSEQ" in names:
        if Extension.CONDSTORE not in session.extensions:
            raise BadCommand("unknown fetch item")
        session.use_condstore()
    if by_uid and "UID" not in names:
        items.insert(0, FetchItem("UID"))
    if since is not None and "MODSEQ" not in names:
        items.append(FetchItem("MODSEQ"))
    for number, message in named(session.selected, numbers, by_uid=by_uid):
        if since is None or message.mod_seq > since:
            _fetch_row(session, number, message, items)
            await session.flush()
    return Done("fetched")


def _fetch_row(session: Session, number: int, message: DemoMessage, items: list[FetchItem]) -> None:
    view = session.selected
    reads = any(not item.peek for item in items)
    row_items = list(items)
    if reads and not view.read_only and "\\Seen" not in message.flags:
        # RFC 3501, 6.4.5: reading a body sets \Seen, and the changed flags belong into the answer.
        message = view.folder.change_flags(message.uid, "+", ("\\Seen",))
        row_items += [FetchItem("FLAGS")] if not any(item.name == "FLAGS" for item in items) else []
        row_items += [FetchItem("MODSEQ")] if session.condstore and not _has(items, "MODSEQ") else []
        view.told(message)
    session.untagged(b"%d FETCH (%b)" % (number, b" ".join(render_item(item, message) for item in row_items)))


def _has(items: list[FetchItem], name: str) -> bool:
    return any(item.name == name for item in items)


# --- SEARCH


async def search(session: Session, scanner: Scanner) -> Done:
    """SEARCH."""
    return await _search(session, scanner, by_uid=False)


async def uid_search(session: Session, scanner: Scanner) -> Done:
    """UID SEARCH."""
    return await _search(session, scanner, by_uid=True)


async def _search(session: Session, scanner: Scanner, *, by_uid: bool) -> Done:
    scanner.space()
    returns = _returns(session, scanner)
    view = session.selected
    condstore = Extension.CONDSTORE in session.extensions
    parser = SearchParser(scanner, SearchOptions(view.uids, condstore=condstore))
    match = parser.program()
    known = [(number, message) for number, uid in enumerate(view.uids, 1) if (message := view.message(uid))]
    found = find(match, known)
    numbers = [message.uid if by_uid else number for number, message in found]
    highest = None
    if parser.uses_mod_seq:
        session.use_condstore()
        highest = max((message.mod_seq for _, message in found), default=None)
    if returns is None:
        words = [b"SEARCH", *(b"%d" % number for number in numbers)]
        # RFC 7162, 3.1.5: a search by MODSEQ that found something tells the highest among it.
        session.untagged(b" ".join([*words, *([b"(MODSEQ %d)" % highest] if highest else [])]))
    else:
        row = render_esearch(numbers, returns, tag=session.tag, by_uid=by_uid)
        session.untagged(row + (b" MODSEQ %d" % highest if highest else b""))
    return Done("searched")


def _returns(session: Session, scanner: Scanner) -> list[str] | None:
    """`RETURN (...)` of RFC 4731; empty parentheses mean ALL."""
    if Extension.ESEARCH not in session.extensions or not scanner.accept(b"RETURN ("):
        return None
    wanted: list[str] = []
    while not scanner.accept(b")"):
        if wanted:
            scanner.space()
        wanted.append(scanner.word())
    if not set(wanted) <= {"MIN", "MAX", "ALL", "COUNT"}:
        raise BadCommand("unknown return option")
    scanner.space()
    return wanted or ["ALL"]


# --- STORE


@dataclass(frozen=True, slots=True)
class StoreRequest:
    """A parsed STORE: `operation` is `+`, `-` or `=`."""

    numbers: SequenceSet
    unchanged_since: int | None
    operation: str
    silent: bool
    flags: list[str]


async def store(session: Session, scanner: Scanner) -> Done:
    """STORE."""
    return await _store(session, scanner, by_uid=False)


async def uid_store(session: Session, scanner: Scanner) -> Done:
    """UID STORE."""
    return await _store(session, scanner, by_uid=True)


def _store_request(session: Session, scanner: Scanner) -> StoreRequest:
    scanner.space()
    numbers = scanner.sequence_set()
    scanner.space()
    unchanged_since = _modifier(session, scanner, "UNCHANGEDSINCE")
    if unchanged_since is not None:
        scanner.space()
    operation = "+" if scanner.accept(b"+") else "-" if scanner.accept(b"-") else "="
    name = scanner.word()
    if name not in ("FLAGS", "FLAGS.SILENT"):
        raise BadCommand("unknown store item")
    scanner.space()
    flags = scanner.parenthesised_flags() if scanner.peek() == b"(" else [scanner.flag()]
    while scanner.peek():
        scanner.space()
        flags.append(scanner.flag())
    return StoreRequest(numbers, unchanged_since, operation, name.endswith("SILENT"), checked_flags(flags))


async def _store(session: Session, scanner: Scanner, *, by_uid: bool) -> Done:
    request = _store_request(session, scanner)
    view = session.writable()
    modified: list[int] = []
    for number, message in named(view, request.numbers, by_uid=by_uid):
        if request.unchanged_since is not None and message.mod_seq > request.unchanged_since:
            modified.append(message.uid if by_uid else number)
            continue
        changed = view.folder.change_flags(message.uid, request.operation, request.flags)
        view.told(changed)
        _store_row(session, number, changed, silent=request.silent, by_uid=by_uid)
        await session.flush()
    if modified:
        # RFC 7162, 3.1.3: the command succeeds, and the code names the messages it left alone.
        return Done("some messages had changed", b"MODIFIED " + serialize_set(modified))
    return Done("stored")


def _store_row(session: Session, number: int, message: DemoMessage, *, silent: bool, by_uid: bool) -> None:
    """The row of a stored message. Silence does not extend to its new mod-sequence (RFC 7162, 3.1.3)."""
    words = [b"UID %d" % message.uid] if by_uid else []
    if not silent:
        words.append(render_flags(message.flags))
    if session.condstore:
        words.append(b"MODSEQ (%d)" % message.mod_seq)
    if not silent or session.condstore:
        session.untagged(b"%d FETCH (%b)" % (number, b" ".join(words)))
