"""`mail_search`: windows of UIDs from a frozen bound, until the page is full or the time is spent."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Final

from mailgate.imap.ahead import FirstLook
from mailgate.imap.values import FolderName, ScanWindow, Uid, UidValidity
from mailgate.limits import SCAN_UIDS_DEFAULT, SEARCH_BUDGET_DEFAULT, SEARCH_LIMIT_MAX
from mailgate.mime.model import ReadWarning
from mailgate.read.cursor import CursorCodec, SearchCursor, SearchOrder
from mailgate.read.paces import widths_in
from mailgate.read.ports import Mailbox, ReadableFolder
from mailgate.read.previews import with_previews
from mailgate.read.request import SearchRequest
from mailgate.read.scan import Pace, ScanRange
from mailgate.read.summary import MessageSummary, SummaryMaker

Clock = Callable[[], float]

IGNORED_FILTER: Final = ReadWarning(
    "server_ignored_filter", "The mail server returned messages that do not match the filters; they were left out."
)


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page. `scanned_uids` counts the UID values that this call dealt with for good, messages or not.

    `next_cursor` is None exactly when every UID up to the bound has been dealt with; an empty page can have one.
    """

    folder: FolderName
    uid_validity: UidValidity
    messages: tuple[MessageSummary, ...]
    scanned_uids: int
    next_cursor: str | None = None
    warnings: tuple[ReadWarning, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing is left to search."""
        return self.next_cursor is None


async def search_messages(
    mailbox: Mailbox,
    request: SearchRequest,
    *,
    cursors: CursorCodec,
    scan_uids: int = SCAN_UIDS_DEFAULT,
    budget_seconds: float = SEARCH_BUDGET_DEFAULT,
    clock: Clock = time.monotonic,
) -> SearchPage:
    """The next page of a search, sorted by UID.

    Raises what the mailbox raises (a failure after some windows too: half a search is no answer), `CursorInvalid`,
    `CursorMismatch`, and `StaleReference` where UIDVALIDITY is not the cursor's any more.
    """
    deadline = clock() + budget_seconds
    cursor = await _opened(request.cursor, cursors)
    name = await mailbox.resolve(request.folder)
    if cursor is not None:
        cursors.check(cursor, name, request.criteria, request.order)
    learnt = widths_in(mailbox)
    width = cursor.width if cursor else learnt.find(name)
    look = _first_look(request, cursor, Pace.start(scan_uids, budget_seconds, width))
    began = clock()
    async with mailbox.examine(name, uid_validity=cursor.uid_validity if cursor else None, look=look) as folder:
        opened_in = clock() - began
        span = await _span(folder, request.order, cursor)
        pace = Pace.start(scan_uids, budget_seconds, width, messages=folder.messages)
        walk = _Walk(folder, request, span, pace, clock, deadline, opened_in)
        await walk.run()
        if not pace.fixed:
            learnt.keep(name, pace.width)
        uid_validity = folder.uid_validity
        previews = await with_previews(folder, walk.messages) if request.previews else None
    return SearchPage(
        folder=name,
        uid_validity=uid_validity,
        messages=tuple(walk.messages) if previews is None else previews.messages,
        scanned_uids=walk.scanned,
        next_cursor=await _next_cursor(walk, uid_validity, request, name, cursors),
        warnings=(*((IGNORED_FILTER,) if walk.dropped else ()), *(previews.warnings if previews else ())),
    )


async def _opened(token: str | None, cursors: CursorCodec) -> SearchCursor | None:
    """The cursor, checked before anything is asked of the mail server."""
    if token is None:
        return None
    await _ready(cursors)
    return cursors.decode(token)


async def _ready(cursors: CursorCodec) -> None:
    """The key may come from a deliberately slow function."""
    if not cursors.ready:
        await asyncio.to_thread(cursors.prepare)


def _first_look(request: SearchRequest, cursor: SearchCursor | None, pace: Pace) -> FirstLook:
    """What can be asked while the folder is being opened."""
    newest = request.order is SearchOrder.NEWEST
    if cursor is None:
        return FirstLook(request.criteria, newest, pace.width, request.limit, exact=pace.fixed)
    left = cursor.position if newest else cursor.bound - cursor.position + 1
    width = min(pace.width, left)
    return FirstLook(request.criteria, newest, width, request.limit, cursor.position, exact=pace.fixed)


async def _span(folder: ReadableFolder, order: SearchOrder, cursor: SearchCursor | None) -> ScanRange:
    if cursor is None:
        return ScanRange.whole(order, await folder.last_uid())
    return ScanRange(order, cursor.bound, cursor.position)


async def _next_cursor(
    walk: _Walk, uid_validity: UidValidity, request: SearchRequest, name: FolderName, cursors: CursorCodec
) -> str | None:
    if walk.position is None:
        return None
    await _ready(cursors)
    digest = cursors.digest(name, request.criteria, request.order)
    return cursors.encode(SearchCursor(uid_validity, Uid(walk.span.bound), walk.position, walk.pace.width, digest))


class _Walk:
    """One call's way through the UIDs. `found` are matches not fetched yet, in page order."""

    def __init__(
        self,
        folder: ReadableFolder,
        request: SearchRequest,
        span: ScanRange,
        pace: Pace,
        clock: Clock,
        deadline: float,
        opened_in: float = 0.0,
    ) -> None:
        self.folder, self.request, self.span, self.pace = folder, request, span, pace
        self.messages: list[MessageSummary] = []
        self.dropped = False
        self._maker = SummaryMaker.of(folder, request.criteria)
        self._clock, self._deadline, self._opened_in = clock, deadline, opened_in
        self._found: deque[Uid] = deque()
        self._start = span.position
        self._windows = 0
        self._last_batch = (1, 1)

    @property
    def wanted(self) -> int:
        """How many rows the page still has room for."""
        return self.request.limit - len(self.messages)

    @property
    def position(self) -> Uid | None:
        """The first UID not dealt with, or None when there is none.

        Everything between the last row and the first match not taken is known not to match.
        """
        if self._found:
            return self._found[0]
        return None if self.span.done else Uid(self.span.position)

    @property
    def scanned(self) -> int:
        """UID values between where the call began and where the next one goes on."""
        end = self._found[0] if self._found else self.span.position
        return abs(end - self._start)

    async def run(self) -> None:
        """Search before fetching, so that a page spread over many windows still costs one FETCH."""
        while self.wanted > 0:
            if len(self._found) < self.wanted and self._may_search():
                await self._search_window()
            elif self._found:
                await self._fetch_batch()
                if self._out_of_time():
                    break
            else:
                break

    def _may_search(self) -> bool:
        """One window at least, so that every call gets further; with a fixed pace one window at most."""
        if self.span.done:
            return False
        return self._windows == 0 or not (self.pace.fixed or self._out_of_time())

    def _out_of_time(self) -> bool:
        return not self.pace.fixed and self._clock() >= self._deadline

    async def _search_window(self) -> None:
        began = self._clock()
        ready = self._at_hand()
        window = ready or self.span.window(self.pace.width, all_of_little=not self.pace.fixed)
        answer = await self.folder.uid_search(self.request.criteria, window)
        # What lies outside the window would be seen twice, or was never asked for.
        matches = sorted({uid for uid in answer if uid in window}, reverse=self.request.order is SearchOrder.NEWEST)
        self._found.extend(matches)
        self.span.passed(window)
        spent = self._opened_in if ready else self._clock() - began
        self.pace.after(seconds=spent, found=len(matches), limit=self.request.limit)
        self._windows += 1

    def _at_hand(self) -> ScanWindow | None:
        """The window that was searched while the folder was opened, if it begins where this call begins."""
        ready = self.folder.at_hand
        if ready is None or self._windows:
            return None
        newest = self.request.order is SearchOrder.NEWEST
        begins = ready.high if newest else ready.low
        return ready if begins == self.span.position and ready.high <= self.span.bound else None

    async def _fetch_batch(self) -> None:
        """Rows for the next matches, into the page as long as it has room."""
        batch = list(islice(self._found, self._batch_size()))
        before = len(self.messages)
        page = await self.folder.fetch_summaries(batch)
        rows = {row.uid: row for row in page.rows}
        present = [rows[uid] for uid in batch if uid in rows]
        made = dict(zip((row.uid for row in present), await self._maker.make_all(present), strict=True))
        for uid in batch:
            if self.wanted == 0:
                break
            self._found.popleft()
            self._take(uid in rows, made.get(uid))
        self._last_batch = (len(batch), len(self.messages) - before)

    def _batch_size(self) -> int:
        """As many as the page lacks; more when few of the last batch were of use, at most twice as many as then.

        Against a server that ignores filters, fetching one page's worth at a time would take a command for each 25
        messages.
        """
        fetched, kept = self._last_batch
        hopeful = min(self.wanted * fetched // max(1, kept), 2 * fetched, SEARCH_LIMIT_MAX)
        return max(self.wanted, hopeful)

    def _take(self, present: bool, summary: MessageSummary | None) -> None:
        """A row of the page, a row that contradicts the filters, or a message expunged since the SEARCH."""
        if summary is not None:
            self.messages.append(summary)
        elif present:
            self.dropped = True
