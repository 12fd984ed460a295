"""A mailbox in memory that can be changed, and that fails where a test wants it to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from mailgate.errors import FolderExists, FolderNotFound, MessageNotFound, StaleReference
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.codes import AppendUid, CopyUid
from mailgate.imap.folders import RoleFolder
from mailgate.imap.sequence import SequenceSet
from mailgate.imap.values import (
    FlagDelta,
    FlagOperation,
    FolderName,
    MessageRef,
    ModSeq,
    PermanentFlags,
    SpecialUse,
    Uid,
    UidValidity,
)
from mailgate.imap.writable import MessageState, StoreOutcome
from tests.read.fakes import FakeFolder, FakeMailbox, FakeMessage

CHANGING = ("store", "mark_deleted", "copy", "move", "expunge", "create", "rename", "append")


class WritableFakeFolder(FakeFolder):
    """A SELECTed folder. `before` and `after` run around every command: raising in `after` loses the answer to one
    that was carried out. `dropped`: flags that the server takes and does not keep.
    """

    def __init__(self, name: str = "INBOX", *, uid_validity: int = 7) -> None:
        super().__init__(name, uid_validity=uid_validity)
        self.read_only = False
        self.permanent_flags = PermanentFlags.anything()
        self.after: Callable[[str], None] = lambda command: None
        self.dropped: frozenset[str] = frozenset()
        self.outcome: StoreOutcome | None = None
        self.says_copy_uid = True
        self.expunges = True
        self.box: WritableFakeMailbox | None = None

    @property
    def keeps_mod_seqs(self) -> bool:
        return self.highest_modseq is not None and self.capabilities.features()["condstore"]

    def with_condstore(self, highest: int = 1000) -> WritableFakeFolder:
        self.capabilities = CapabilitySet.of(["IMAP4rev1", "CONDSTORE", "MOVE", "UIDPLUS"])
        self.highest_modseq = ModSeq(highest)
        for message in self.content.values():
            message.mod_seq = message.mod_seq or ModSeq(highest)
        return self

    def changes(self) -> list[tuple[str, object]]:
        """The commands that change something, in order."""
        return [(name, value) for name, value in self.calls if name in CHANGING]

    async def fetch_state(self, uid: Uid) -> MessageState:
        self._called("state", uid)
        if uid not in self.content:
            raise MessageNotFound
        state = self._state(uid)
        self.after("state")
        return state

    async def store(self, uid: Uid, delta: FlagDelta, unchanged_since: ModSeq | None = None) -> StoreOutcome:
        self._called("store", (uid, delta, unchanged_since))
        if self.outcome is not None:
            return self.outcome
        if uid not in self.content:
            return StoreOutcome()
        message = self.content[uid]
        if unchanged_since is not None and message.mod_seq is not None and message.mod_seq > unchanged_since:
            return StoreOutcome(modified=True)
        wanted = set(delta.flags) - self.dropped
        message.flags = message.flags | wanted if delta.operation is FlagOperation.ADD else message.flags - wanted
        self._bump(message)
        self.after("store")
        return StoreOutcome(False, self._state(uid))

    async def mark_deleted(self, uid: Uid) -> StoreOutcome:
        self._called("mark_deleted", uid)
        self.content[uid].flags.add("\\Deleted")
        self.after("mark_deleted")
        return StoreOutcome(False, self._state(uid))

    async def copy(self, uid: Uid, destination: FolderName) -> CopyUid | None:
        self._called("copy", (uid, destination))
        placed = self._place(uid, destination)
        self.after("copy")
        return placed

    async def move(self, uid: Uid, destination: FolderName) -> CopyUid | None:
        self._called("move", (uid, destination))
        placed = self._place(uid, destination)
        self.expunge_now(uid)
        self.after("move")
        return placed

    async def expunge(self, uid: Uid) -> None:  # type: ignore[override]
        self._called("expunge", uid)
        if self.expunges and uid in self.content and "\\Deleted" in self.content[uid].flags:
            self.expunge_now(uid)
        self.after("expunge")

    def expunge_now(self, uid: int) -> None:
        """Another client, or the server, removes a message."""
        self.content.pop(uid, None)

    def _place(self, uid: Uid, destination: FolderName) -> CopyUid | None:
        assert self.box is not None
        if destination not in self.box.folders:
            raise FolderNotFound
        target = self.box.folders[destination]
        new = target.append(FakeMessage(flags=set(self.content[uid].flags), source=self.content[uid].source))
        if not self.says_copy_uid:
            return None
        return CopyUid(target.uid_validity, SequenceSet.of([uid]), SequenceSet.of([new]))

    def _state(self, uid: Uid) -> MessageState:
        message = self.content[uid]
        return MessageState(uid, tuple(sorted(message.flags)), message.mod_seq if self.keeps_mod_seqs else None)

    def _bump(self, message: FakeMessage) -> None:
        if self.highest_modseq is not None:
            self.highest_modseq = ModSeq(self.highest_modseq + 1)
            message.mod_seq = self.highest_modseq


class WritableFakeMailbox(FakeMailbox):
    """Folders by name; INBOX, Drafts and Trash unless others are given. `calls` are those about folders."""

    def __init__(self, *folders: FakeFolder) -> None:
        given = folders or (WritableFakeFolder(), WritableFakeFolder("Drafts"), WritableFakeFolder("Trash"))
        super().__init__(*given, roles={"drafts": "Drafts", "trash": "Trash"})
        self.announced = CapabilitySet.of(["IMAP4rev1", "MOVE", "UIDPLUS"])
        self.found_roles = {
            SpecialUse.DRAFTS: RoleFolder(SpecialUse.DRAFTS, FolderName("Drafts")),
            SpecialUse.TRASH: RoleFolder(SpecialUse.TRASH, FolderName("Trash")),
        }
        self.selected: list[FolderName] = []
        self.calls: list[tuple[str, object]] = []
        self.appended: list[tuple[FolderName, bytes, tuple[str, ...]]] = []
        self.before: Callable[[str], None] = lambda command: None
        self.after: Callable[[str], None] = lambda command: None
        self.says_append_uid = True
        for folder in given:
            if isinstance(folder, WritableFakeFolder):
                folder.box = self

    @property
    def inbox(self) -> WritableFakeFolder:
        return self.folder("INBOX")

    def folder(self, name: str) -> WritableFakeFolder:
        found = self.folders[FolderName(name)]
        assert isinstance(found, WritableFakeFolder)
        return found

    def with_condstore(self) -> WritableFakeMailbox:
        self.announced = CapabilitySet.of(["IMAP4rev1", "MOVE", "UIDPLUS", "CONDSTORE"])
        self.inbox.with_condstore()
        return self

    def changes(self) -> list[str]:
        """The names of the changing commands, in whatever folder."""
        inside = [name for folder in self.folders.values() for name, _ in getattr(folder, "changes", list)()]
        return [*inside, *(name for name, _ in self.calls if name in CHANGING)]

    @asynccontextmanager
    async def select(
        self, folder: FolderName, *, uid_validity: UidValidity | None = None
    ) -> AsyncIterator[WritableFakeFolder]:
        self.selected.append(folder)
        if folder not in self.folders:
            raise FolderNotFound
        lent = self.folder(folder.text)
        if uid_validity is not None and uid_validity != lent.uid_validity:
            raise StaleReference
        yield lent

    async def create_folder(self, name: FolderName) -> None:
        self._called("create", name)
        if name in self.folders:
            raise FolderExists
        self._add(name)
        self.after("create")

    async def rename_folder(self, old: FolderName, new: FolderName) -> None:
        self._called("rename", (old, new))
        if old not in self.folders:
            raise FolderNotFound
        if new in self.folders:
            raise FolderExists
        self.folders[new] = self.folders.pop(old)
        self.after("rename")

    async def append(self, folder: FolderName, message: bytes, flags: Sequence[str]) -> AppendUid | None:
        self._called("append", folder)
        if folder not in self.folders:
            raise FolderNotFound
        self.appended.append((folder, message, tuple(flags)))
        uid = self.folders[folder].append(FakeMessage(flags=set(flags), source=message))
        self.after("append")
        return AppendUid(self.folders[folder].uid_validity, SequenceSet.of([uid])) if self.says_append_uid else None

    def _add(self, name: FolderName) -> None:
        made = WritableFakeFolder(name.text)
        made.box = self
        self.folders[name] = made

    def _called(self, command: str, value: object) -> None:
        self.calls.append((command, value))
        self.before(command)


def mailbox(*messages: FakeMessage) -> WritableFakeMailbox:
    """INBOX with these messages, or one, from UID 1 on."""
    box = WritableFakeMailbox()
    for message in messages or (FakeMessage(),):
        box.inbox.append(message)
    return box


def reference(uid: int = 1, folder: str = "INBOX", uid_validity: int = 7) -> MessageRef:
    return MessageRef(FolderName(folder), UidValidity(uid_validity), Uid(uid))


def raising(command: str, error: BaseException) -> Callable[[str], None]:
    """A `before` or `after` that fails at one command."""

    def hook(at: str) -> None:
        if at == command:
            raise error

    return hook
