"""How wide the windows of earlier searches became, folder by folder, so that the next search need not find out again.

Widths only: what a server bears, never what it answered. It ends with the process.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from mailgate.imap.values import FolderName
    from mailgate.read.ports import Mailbox

_FOLDERS_KNOWN: Final = 256


class LearntWidths:
    """UIDs in the next window of each folder, the least recently searched forgotten first."""

    def __init__(self) -> None:
        self._widths: OrderedDict[FolderName, int] = OrderedDict()

    def find(self, folder: FolderName) -> int | None:
        """The width, if the folder has been searched."""
        return self._widths.get(folder)

    def keep(self, folder: FolderName, width: int) -> None:
        """A search of the folder ended with this width."""
        self._widths.pop(folder, None)
        self._widths[folder] = width
        if len(self._widths) > _FOLDERS_KNOWN:
            self._widths.popitem(last=False)


_BY_MAILBOX: WeakKeyDictionary[Mailbox, LearntWidths] = WeakKeyDictionary()


def widths_in(mailbox: Mailbox) -> LearntWidths:
    """What was learnt about this mailbox; it goes when the mailbox goes."""
    return _BY_MAILBOX.setdefault(mailbox, LearntWidths())
