"""A session's view of its selected folder: the sequence numbers it was told, and what it has not been told yet."""

from __future__ import annotations

from collections.abc import Iterator

from mailgate.demo.fetch import render_flags
from mailgate.demo.store import DemoFolder, DemoMessage


class FolderView:
    """The folder as one session knows it. Other sessions' changes show up only through `news`."""

    def __init__(self, folder: DemoFolder, *, read_only: bool) -> None:
        self.folder = folder
        self.read_only = read_only
        self.uids = folder.uids()
        """UIDs by sequence number: number 1 is the first."""
        self._told = {uid: message.mod_seq for uid, message in folder.messages.items()}
        self._seen_mod_seq = folder.highest_mod_seq

    def message(self, uid: int) -> DemoMessage | None:
        """The message, unless it has been expunged since the session was last told."""
        return self.folder.messages.get(uid)

    def told(self, message: DemoMessage) -> None:
        """The session has just been given this message's flags."""
        self._told[message.uid] = message.mod_seq

    def news(self, *, expunged: bool, mod_seqs: bool) -> Iterator[bytes]:
        """Untagged rows for what changed since the last call.

        Rows that renumber are held back while `expunged` is false: FETCH, STORE and SEARCH by sequence number must
        not be answered with EXPUNGE (RFC 9051, 7.5.1).
        """
        if self._seen_mod_seq == self.folder.highest_mod_seq:
            return
        if expunged:
            yield from self._expunges()
            self._seen_mod_seq = self.folder.highest_mod_seq
        yield from self._arrivals()
        yield from self._flag_changes(mod_seqs=mod_seqs)

    def _expunges(self) -> Iterator[bytes]:
        # From the end, so that each number is still right when it is told.
        for index in range(len(self.uids) - 1, -1, -1):
            uid = self.uids[index]
            if uid not in self.folder.messages:
                del self.uids[index]
                self._told.pop(uid, None)
                yield b"%d EXPUNGE" % (index + 1)

    def _arrivals(self) -> Iterator[bytes]:
        last = self.uids[-1] if self.uids else 0
        arrived = [message for uid, message in self.folder.messages.items() if uid > last and uid not in self._told]
        for message in arrived:
            self.uids.append(message.uid)
            self.told(message)
        if arrived:
            yield b"%d EXISTS" % len(self.uids)

    def _flag_changes(self, *, mod_seqs: bool) -> Iterator[bytes]:
        for number, uid in enumerate(self.uids, 1):
            message = self.folder.messages.get(uid)
            if message is None or message.mod_seq == self._told[uid]:
                continue
            self.told(message)
            words = [render_flags(message.flags)]
            if mod_seqs:
                # RFC 7162, 3.2.4 asks for the UID beside every unasked MODSEQ of QRESYNC; it helps here as well.
                words = [b"UID %d" % uid, *words, b"MODSEQ (%d)" % message.mod_seq]
            yield b"%d FETCH (%b)" % (number, b" ".join(words))
