"""Which UIDs a search looks at next, and how many at once. Values and arithmetic only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mailgate.imap.values import UINT32_MAX, ScanWindow, Uid
from mailgate.limits import SCAN_UIDS_MAX
from mailgate.read.cursor import SearchOrder

_QUICK: Final = 16
"""A window is quick when it took no more than this fraction of the budget: twice the width still leaves time."""
_SLOW: Final = 4
"""A window is slow when it took more than this fraction of the budget: at most four of them fit."""
_NARROWEST: Final = 8
"""Widths never fall below this fraction of the configured one, or a slow server costs hundreds of calls."""
_CROWDED: Final = 4
"""Pages' worth of matches in one window; more means the window was wider than anybody needed."""


@dataclass(slots=True)
class ScanRange:
    """The UIDs still to be searched: `position` and everything beyond it, up to `bound` or down to 1.

    `position` is the next UID to look at; 0 (newest) or `bound + 1` (oldest) when all are done.
    """

    order: SearchOrder
    bound: int
    position: int

    @classmethod
    def whole(cls, order: SearchOrder, bound: int) -> ScanRange:
        """All UIDs up to `bound`, from the end that `order` begins with."""
        return cls(order, bound, bound if order is SearchOrder.NEWEST else 1)

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return not 1 <= self.position <= self.bound

    def window(self, width: int, *, all_of_little: bool = False) -> ScanWindow:
        """The next `width` UIDs, fewer at the end of the range.

        `all_of_little`: and half as many more where that is all that is left. A command for a few UIDs costs a round
        trip like any other.
        """
        left = self.position if self.order is SearchOrder.NEWEST else self.bound - self.position + 1
        if all_of_little and left <= width + width // 2:
            width = left
        if self.order is SearchOrder.NEWEST:
            return ScanWindow(Uid(max(1, self.position - width + 1)), Uid(self.position))
        return ScanWindow(Uid(self.position), Uid(min(self.bound, self.position + width - 1)))

    def passed(self, window: ScanWindow) -> None:
        """The window has been searched."""
        self.position = window.low - 1 if self.order is SearchOrder.NEWEST else window.high + 1


@dataclass(slots=True)
class Pace:
    """How wide the next window is.

    `scan_uids` is the configured width. With a budget of 0 it is always that; otherwise windows widen over stretches
    that are quick and yield too little, and narrow where the server is slow, so that the number of commands follows the
    number of matches and not the age of the folder.
    """

    scan_uids: int
    budget_seconds: float
    width: int
    widest: int = SCAN_UIDS_MAX

    @classmethod
    def start(
        cls, scan_uids: int, budget_seconds: float, learnt: int | None = None, *, messages: int = UINT32_MAX
    ) -> Pace:
        """The pace at the beginning of a call; `learnt` is the width that a cursor carries.

        A window is bounded so that its answer is. A folder of few `messages` bounds the answer by itself, whatever gaps
        its UIDs have.
        """
        widest = UINT32_MAX if messages <= SCAN_UIDS_MAX else SCAN_UIDS_MAX
        pace = cls(scan_uids, budget_seconds, scan_uids, widest)
        if learnt is not None and not pace.fixed:
            pace._set(learnt)
        return pace

    @property
    def fixed(self) -> bool:
        """Whether every window is exactly the configured width, and a call is exactly one."""
        return self.budget_seconds <= 0

    def after(self, *, seconds: float, found: int, limit: int) -> None:
        """Learn from a window that took `seconds` and held `found` matches, for pages of `limit`."""
        if self.fixed:
            return
        if seconds * _SLOW > self.budget_seconds:
            self._set(self.width // 2)
        elif found > _CROWDED * limit:
            self._set(min(self.width, self.scan_uids))
        elif found < limit and seconds * _QUICK <= self.budget_seconds:
            self._set(self.width * 2)

    def _set(self, width: int) -> None:
        narrowest = max(1, self.scan_uids // _NARROWEST)
        self.width = min(max(width, narrowest), max(self.scan_uids, self.widest))
