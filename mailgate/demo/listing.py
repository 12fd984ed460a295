"""LIST, plain and extended (RFC 3501, 6.3.8; RFC 5258; RFC 5819; RFC 6154)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mailgate.demo.extensions import Extension
from mailgate.demo.folder_commands import check_status_items, serialize_name, status_row
from mailgate.demo.grammar import BadCommand, Refused, Scanner
from mailgate.demo.session import Done, Session
from mailgate.demo.store import DemoFolder
from mailgate.imap.mutf7 import to_wire
from mailgate.imap.values import FolderName

WILDCARDS_MAX = 8
"""In one pattern: matching takes time that grows with their number."""


@dataclass(slots=True)
class ListRequest:
    """What a LIST asks for."""

    selection: list[str] = field(default_factory=list)
    reference: bytes = b""
    patterns: list[bytes] = field(default_factory=list)
    returns: set[str] = field(default_factory=set)
    status: list[str] = field(default_factory=list)


async def list_(session: Session, scanner: Scanner) -> Done:
    """LIST: a row per folder, and after it the folder's STATUS where that was asked for."""
    request = _parse(session, scanner)
    if request.patterns == [b""]:
        # RFC 3501, 6.3.8: an empty pattern asks for the delimiter and the root of the reference.
        session.untagged(b'LIST (\\Noselect) "/" ""')
        return Done()
    matcher = _matcher([request.reference + pattern for pattern in request.patterns])
    for folder in list(session.mailbox.folders.values()):
        if not matcher.fullmatch(to_wire(FolderName(folder.name))):
            continue
        if "SPECIAL-USE" in request.selection and not folder.attributes:
            continue
        session.untagged(_row(session, folder, request))
        if request.status and folder.selectable:
            session.untagged(status_row(session, folder, request.status))
        await session.flush()
    return Done("listed")


def _parse(session: Session, scanner: Scanner) -> ListRequest:
    request = ListRequest()
    extended = Extension.LIST_EXTENDED in session.extensions
    scanner.space()
    if extended and scanner.peek() == b"(":
        request.selection = _selection(session, scanner)
        scanner.space()
    request.reference = scanner.astring()
    scanner.space()
    if extended and scanner.accept(b"("):
        request.patterns = [scanner.list_pattern()]
        while not scanner.accept(b")"):
            scanner.space()
            request.patterns.append(scanner.list_pattern())
    else:
        request.patterns = [scanner.list_pattern()]
    if extended and scanner.accept(b" RETURN ("):
        _return_options(session, scanner, request)
    scanner.end()
    return request


def _selection(session: Session, scanner: Scanner) -> list[str]:
    scanner.expect(b"(")
    if scanner.accept(b")"):
        return []
    options = [scanner.word()]
    while not scanner.accept(b")"):
        scanner.space()
        options.append(scanner.word())
    for option in options:
        _known(session, option, ("SUBSCRIBED", "REMOTE", "RECURSIVEMATCH", "SPECIAL-USE"))
    return options


def _return_options(session: Session, scanner: Scanner, request: ListRequest) -> None:
    while not scanner.accept(b")"):
        if request.returns:
            scanner.space()
        option = scanner.word()
        _known(session, option, ("SUBSCRIBED", "CHILDREN", "SPECIAL-USE", "STATUS"))
        request.returns.add(option)
        if option == "STATUS":
            scanner.space()
            request.status = scanner.words()
            check_status_items(session, request.status)


def _known(session: Session, option: str, known: tuple[str, ...]) -> None:
    needs = {"SPECIAL-USE": Extension.SPECIAL_USE, "STATUS": Extension.LIST_STATUS}.get(option)
    if option not in known or (needs is not None and needs not in session.extensions):
        raise BadCommand("unknown list option")


def _matcher(patterns: list[bytes]) -> re.Pattern[bytes]:
    """`*` matches anything, `%` anything but the delimiter; INBOX matches in any case (RFC 3501, 6.3.8)."""
    rules = []
    for pattern in patterns:
        if pattern.upper() == b"INBOX":
            pattern = b"INBOX"
        # Runs of wildcards say no more than one of them, and would only make matching slow.
        pattern = re.sub(rb"[*%]*\*[*%]*", b"*", re.sub(rb"%+", b"%", pattern))
        if pattern.count(b"*") + pattern.count(b"%") > WILDCARDS_MAX:
            raise Refused("too many wildcards", "LIMIT")
        rules.append(re.escape(pattern).replace(rb"\*", b".*").replace(b"%", b"[^/]*"))
    return re.compile(b"|".join(rules), re.S)


def _row(session: Session, folder: DemoFolder, request: ListRequest) -> bytes:
    attributes: list[str] = [] if folder.selectable else ["\\Noselect"]
    if Extension.CHILDREN in session.extensions or "CHILDREN" in request.returns:
        attributes.append("\\HasChildren" if session.mailbox.has_children(folder.name) else "\\HasNoChildren")
    if "SUBSCRIBED" in request.returns or "SUBSCRIBED" in request.selection:
        attributes.append("\\Subscribed")
    # RFC 6154, 2: a server may tell special uses in a plain LIST too; most do.
    if Extension.SPECIAL_USE in session.extensions:
        attributes += folder.attributes
    return b'LIST (%b) "/" %b' % (" ".join(attributes).encode(), serialize_name(folder.name))
