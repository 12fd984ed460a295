"""What a search will ask first, asked together with EXAMINE, before the server has said what the folder holds now.

That takes a guess: where the folder ended when this process last saw it. A wrong guess costs a round trip and never a
row: an answer counts only for the UIDs that it was asked about, and only up to the UIDNEXT of the very same opening.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.rows import SummaryRow
from mailgate.imap.values import UINT32_MAX, ScanWindow, Uid, UidValidity
from mailgate.limits import SEARCH_LIMIT_MAX

if TYPE_CHECKING:
    from mailgate.imap.opening import OpenedFolder

FOLDERS_KNOWN: Final = 256
"""Folders whose end is remembered, the least recently opened forgotten first."""
ROWS_WIDTH_MAX: Final = 400
"""Most UIDs below the known end whose rows are fetched unseen: an answer of bounded size, whatever the folder holds."""
ARRIVALS: Final = 100
"""UIDs beyond the known end that are asked for as well: mail that may have come since. After more, one asks again."""


@dataclass(frozen=True, slots=True)
class FirstLook:
    """How a search begins: its filters, its end of the folder, and the first UID where a cursor knows it.

    `width`: UIDs in the first window, and with `exact` neither more nor fewer. `limit`: rows on the page.
    """

    criteria: SearchCriteria
    newest: bool
    width: int
    limit: int
    position: Uid | None = None
    exact: bool = False

    @property
    def wants_rows(self) -> bool:
        """Whether no search is needed: without filters the newest rows are the page."""
        return self.newest and not self.exact and self.criteria == SearchCriteria()


@dataclass(frozen=True, slots=True)
class Aim:
    """UIDs to ask about: `rows` tells whether for their rows, or which of them match."""

    window: ScanWindow
    rows: bool


@dataclass(frozen=True, slots=True)
class AtHand:
    """An answer that came with the opening: which UIDs of the window match, and their rows where those were asked."""

    criteria: SearchCriteria
    window: ScanWindow
    uids: tuple[Uid, ...]
    rows: Mapping[Uid, SummaryRow] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class _Known:
    """A folder as it was. `newest`: the UIDs of its last messages, descending. `spread`: UIDs per message there."""

    uid_validity: UidValidity
    messages: int
    uid_next: int | None
    mod_seqs_refused: bool
    newest: tuple[Uid, ...] = ()
    spread: int = 1


class FolderMemory:
    """Where folders ended when they were last opened, by the octets of their names. It is never an answer."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, _Known] = OrderedDict()

    def opened(self, wire: bytes, folder: OpenedFolder) -> None:
        """The folder has been opened."""
        old = self._known.pop(wire, None)
        same = old is not None and old.uid_validity == folder.uid_validity
        spread = -(-((folder.uid_next or 1) - 1) // folder.messages) if folder.messages else 1
        self._known[wire] = _Known(
            folder.uid_validity,
            folder.messages,
            folder.uid_next,
            folder.mod_seqs_refused,
            old.newest if old and same else (),
            max(old.spread if old and same else 1, spread, 1),
        )
        while len(self._known) > FOLDERS_KNOWN:
            self._known.popitem(last=False)

    def saw_newest(self, wire: bytes, uids: Iterable[Uid], limit: int) -> None:
        """These were the folder's last messages; fewer than `limit` mean that one has to look further down."""
        known, newest = self._known.get(wire), tuple(sorted(uids, reverse=True))
        if known is not None:
            spread = known.spread if len(newest) >= limit else min(2 * known.spread, UINT32_MAX)
            self._known[wire] = replace(known, newest=newest[:SEARCH_LIMIT_MAX], spread=spread)

    def mod_seqs_refused(self, wire: bytes) -> bool:
        """Whether the folder said that it keeps no mod-sequences (RFC 7162, 3.1.2.2)."""
        return wire in self._known and self._known[wire].mod_seqs_refused

    def aim(self, wire: bytes, look: FirstLook) -> Aim | None:
        """What to ask about before the folder has been opened; None when nothing is known of its end."""
        if not look.newest:
            low = look.position or 1
            return Aim(_window(low, low + look.width - 1), rows=False)
        known = self._known.get(wire)
        if look.position is not None:
            return self._below(known, look, look.position, look.position)
        if known is None or known.uid_next is None or look.exact:
            return None
        top = known.uid_next - 1
        return self._below(known, look, top, top + ARRIVALS)

    def _below(self, known: _Known | None, look: FirstLook, top: int, high: int) -> Aim:
        low = _lowest(known, look, top) if look.wants_rows and known is not None else None
        if low is not None:
            return Aim(_window(low, high), rows=True)
        low = top - look.width + 1
        if not look.exact and low <= look.width // 2:
            low = 1  # a command of its own for what is left would cost a round trip like any other
        return Aim(_window(low, high), rows=False)


def _lowest(known: _Known, look: FirstLook, top: int) -> int | None:
    """The UID from which on a page's worth of rows is expected up to `top`, or None where that takes a search."""
    if known.messages <= look.limit:
        return 1  # however its UIDs are spread, there are no more rows than that
    if look.position is None and len(known.newest) >= look.limit:
        return known.newest[look.limit - 1]
    width = look.limit * known.spread
    return top - width + 1 if width <= ROWS_WIDTH_MAX else None


def _window(low: int, high: int) -> ScanWindow:
    high = max(1, min(high, UINT32_MAX))
    return ScanWindow(Uid(min(max(1, low), high)), Uid(high))


def credited(aim: Aim, look: FirstLook, folder: OpenedFolder) -> ScanWindow | None:
    """For which UIDs the answer to `aim` counts, now that the folder has been opened; None when for none.

    What is asked from a cursor's position, or from the oldest message, needs no guess. From the newest, everything was
    asked if the folder does not end beyond that; mail that came after the opening is left to the next search.
    """
    anchored = look.position is not None or not look.newest
    if folder.messages == 0 or (folder.uid_next is None and not anchored):
        return None
    last = folder.uid_next - 1 if folder.uid_next is not None else aim.window.high
    if aim.window.low > last or not (anchored or aim.window.high >= last):
        return None
    return ScanWindow(aim.window.low, Uid(min(aim.window.high, last)))
