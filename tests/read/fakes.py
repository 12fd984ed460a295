"""A mailbox in memory: deterministic, counting, and as badly behaved as a test wants it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.header import Header

from mailgate.errors import FolderNotFound, MessageNotFound, SpecialUseMissing, StaleReference
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.folders import Role
from mailgate.imap.outline import PartOutline
from mailgate.imap.rows import FolderList, HeadRow, PreviewRow, SourceRow, SummaryPage, SummaryRow
from mailgate.imap.sections import Span
from mailgate.imap.values import FolderName, ModSeq, ScanWindow, SpecialUse, Uid, UidValidity
from mailgate.read.cursor import CursorCodec
from mailgate.read.search import SearchPage, search_messages

WHEN = datetime(2024, 2, 1, 12, 0, tzinfo=UTC)
IDENTITY = "owner@imap.example"


class VirtualClock:
    """Time that passes only when somebody says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class FakeMessage:
    sender: str = "Ada <ada@example.org>"
    to: str = "owner@example.org"
    cc: str = ""
    subject: str = "hello"
    flags: set[str] = field(default_factory=set)
    source: bytes = b""
    block: bytes | None = None
    mod_seq: ModSeq | None = None
    outline: PartOutline | None = None

    def header(self) -> bytes:
        if self.block is not None:
            return self.block
        subject = self.subject if self.subject.isascii() else Header(self.subject, "utf-8").encode()
        fields = {"From": self.sender, "To": self.to, "Cc": self.cc, "Subject": subject}
        lines = [f"{name}: {value}\r\n" for name, value in fields.items() if value]
        return "".join([*lines, "Date: Thu, 1 Feb 2024 12:00:00 +0000\r\nMessage-ID: <m@example.org>\r\n\r\n"]).encode()


class FakeFolder:
    """An EXAMINEd folder. Everything public may be changed between or, through `before`, during calls."""

    def __init__(self, name: str = "INBOX", *, uid_validity: int = 7, clock: VirtualClock | None = None) -> None:
        self.name = FolderName(name)
        self.uid_validity = UidValidity(uid_validity)
        self.highest_modseq: ModSeq | None = None
        self.capabilities = CapabilitySet.of(["IMAP4rev1"])
        self.at_hand: ScanWindow | None = None
        self.content: dict[int, FakeMessage] = {}
        self.next_uid = 1
        self.clock = clock or VirtualClock()
        self.search_seconds: Callable[[int], float] = lambda width: 0.0
        self.fetch_seconds: Callable[[int], float] = lambda rows: 0.0
        self.ignored: frozenset[str] = frozenset()
        self.unreadable: set[int] = set()
        self.spoiled: set[int] = set()
        self.stray_uids: tuple[int, ...] = ()
        self.before: Callable[[str], None] = lambda command: None
        self.calls: list[tuple[str, object]] = []

    def append(self, message: FakeMessage | None = None, *, uid: int | None = None) -> int:
        """A new message; like a server, never a UID twice."""
        taken = max(self.next_uid, uid or 0)
        self.content[taken] = message or FakeMessage()
        self.next_uid = taken + 1
        return taken

    @property
    def messages(self) -> int:
        return len(self.content)

    def expunge(self, uid: int) -> None:
        del self.content[uid]

    def count(self, command: str) -> int:
        return sum(1 for name, _ in self.calls if name == command)

    def windows(self) -> list[ScanWindow]:
        return [value for name, value in self.calls if name == "search" and isinstance(value, ScanWindow)]

    async def last_uid(self) -> int:
        self._called("last_uid", None)
        return self.next_uid - 1

    async def uid_search(self, criteria: SearchCriteria, window: ScanWindow) -> tuple[Uid, ...]:
        self._called("search", window)
        self.clock.now += self.search_seconds(len(window))
        inside = [uid for uid in sorted(self.content) if uid in window]
        found = [uid for uid in inside if _matches(criteria, self.content[uid], self.ignored)]
        return tuple(Uid(uid) for uid in (*found, *self.stray_uids))

    async def fetch_summaries(self, uids: Sequence[Uid]) -> SummaryPage:
        self._called("fetch", tuple(uids))
        self.clock.now += self.fetch_seconds(len(uids))
        return SummaryPage(tuple(self._row(uid) for uid in sorted(uids) if uid in self.content))

    async def fetch_source(self, uid: Uid, limit: int) -> SourceRow:
        self._called("source", (uid, limit))
        if uid not in self.content:
            raise MessageNotFound
        message = self.content[uid]
        part = message.source[:limit]
        truncated = len(part) < len(message.source)
        flags = tuple(sorted(message.flags))
        return SourceRow(uid, flags, WHEN, len(message.source), message.mod_seq, part, truncated)

    async def fetch_beginning(self, uid: Uid, limit: int) -> SourceRow | None:
        """A server without structures: whatever is cut is asked for once more, in one piece."""
        return await self.fetch_source(uid, limit)

    async def fetch_sections(self, uid: Uid, spans: Sequence[Span]) -> Mapping[str, bytes] | None:
        self._called("sections", (uid, tuple(spans)))
        return None

    async def fetch_sources(self, uids: Sequence[Uid], each: int) -> tuple[SourceRow, ...]:
        self._called("sources", (tuple(uids), each))
        rows = []
        for uid in uids:
            message = self.content.get(uid)
            if message is not None and len(message.source) < each and uid not in self.spoiled:
                flags = tuple(sorted(message.flags))
                row = SourceRow(uid, flags, WHEN, len(message.source), message.mod_seq, message.source, False)
                rows.append(row)
        return tuple(rows)

    async def fetch_head(self, uid: Uid, limit: int) -> HeadRow:
        self._called("head", (uid, limit))
        if uid not in self.content:
            raise MessageNotFound
        return self._head(uid, limit)

    async def fetch_heads(self, uids: Sequence[Uid], limit: int) -> tuple[HeadRow, ...]:
        self._called("heads", (tuple(uids), limit))
        return tuple(self._head(uid, limit) for uid in uids if uid in self.content and uid not in self.spoiled)

    async def fetch_previews(self, uids: Sequence[Uid]) -> tuple[PreviewRow, ...]:
        self._called("previews", tuple(uids))
        rows = []
        for uid in uids:
            head, _, text = self.content[uid].source.partition(b"\r\n\r\n")
            if uid not in self.spoiled:
                rows.append(PreviewRow(uid, head, text[:4096], len(text) > 4096))
        return tuple(rows)

    def _head(self, uid: Uid, limit: int) -> HeadRow:
        message = self.content[uid]
        head = message.source.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
        cut = len(head) > limit
        flags = tuple(sorted(message.flags))
        return HeadRow(uid, flags, WHEN, len(message.source), message.mod_seq, head[:limit], cut, message.outline)

    def _called(self, command: str, value: object) -> None:
        self.calls.append((command, value))
        self.before(command)

    def _row(self, uid: Uid) -> SummaryRow:
        message = self.content[uid]
        header = None if uid in self.unreadable else message.header()
        return SummaryRow(uid, tuple(sorted(message.flags)), WHEN, 100, message.mod_seq, header, has_attachments=False)


class FakeMailbox:
    """Folders by name; `role:NAME` by a map."""

    identity = IDENTITY

    def __init__(self, *folders: FakeFolder, roles: Mapping[str, str] | None = None) -> None:
        self.folders = {folder.name: folder for folder in folders}
        self.role_names = dict(roles or {})
        self.listing = FolderList(())
        self.found_roles: Mapping[SpecialUse, Role] = {}
        self.announced = CapabilitySet.of(["IMAP4rev1", "MOVE"])
        self.examined: list[FolderName] = []

    async def capabilities(self) -> CapabilitySet:
        return self.announced

    async def list_folders(self, *, counts: bool = False) -> FolderList:
        return self.listing

    async def roles(self) -> Mapping[SpecialUse, Role]:
        return self.found_roles

    async def resolve(self, argument: str) -> FolderName:
        if not argument.startswith("role:"):
            return FolderName(argument)
        if argument[5:] not in self.role_names:
            raise SpecialUseMissing
        return FolderName(self.role_names[argument[5:]])

    @asynccontextmanager
    async def examine(
        self, folder: FolderName, *, uid_validity: UidValidity | None = None, look: object = None
    ) -> AsyncIterator[FakeFolder]:
        self.examined.append(folder)
        if folder not in self.folders:
            raise FolderNotFound
        lent = self.folders[folder]
        if uid_validity is not None and uid_validity != lent.uid_validity:
            raise StaleReference
        yield lent


def codec(identity: str = IDENTITY) -> CursorCodec:
    return CursorCodec(b"k" * 32, identity)


def uids(page: SearchPage) -> list[int]:
    return [int(row.reference.uid) for row in page.messages]


async def search(folder: FakeFolder, request: object, **settings: object) -> SearchPage:
    """One page, with the folder's own clock."""
    settings.setdefault("cursors", codec())
    return await search_messages(FakeMailbox(folder), request, clock=folder.clock, **settings)  # type: ignore[arg-type]


def _matches(criteria: SearchCriteria, message: FakeMessage, ignored: frozenset[str]) -> bool:
    """What an honest server says, but for the filters it ignores."""
    fields = {"from": (criteria.from_, message.sender), "to": (criteria.to, message.to)}
    fields |= {"cc": (criteria.cc, message.cc), "subject": (criteria.subject, message.subject)}
    fields["query"] = (criteria.query, message.subject + message.source.decode("latin-1"))
    for name, (term, value) in fields.items():
        if term is not None and name not in ignored and term.casefold() not in value.casefold():
            return False
    for name, wanted, flag in (("unread", criteria.unread, "\\Seen"), ("flagged", criteria.flagged, "\\Flagged")):
        present = flag in message.flags
        if wanted is not None and name not in ignored and wanted is not (present if name == "flagged" else not present):
            return False
    return True
