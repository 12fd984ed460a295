"""`mail_read` with several references: one outcome for each, and one budget of characters for all.

Each folder is opened once, small messages are fetched together, large ones one by one, and every message is parsed and
its source let go before the next large one is fetched. A message that cannot be read costs the others nothing. When the
mail server itself fails, what was read until then is the answer and the rest says why; where nothing was read at all,
the call fails as one for a single message would.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from mailgate.errors import (
    InvalidArgument,
    LimitExceeded,
    MailgateError,
    StaleReference,
    UpstreamAuthFailed,
    UpstreamBusy,
    UpstreamProtocolError,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mailgate.imap.values import FolderName, MessageRef, Uid
from mailgate.limits import (
    BATCH_SOURCE_BYTES,
    HEADER_BYTES_MAX,
    READ_BATCH_MAX,
    READ_CHARS_DEFAULT,
    UPSTREAM_TIMEOUT_DEFAULT,
)
from mailgate.mime.model import Truncation
from mailgate.read.message import FOLDED, Reading, ReadMessage, check_range, understood, understood_head
from mailgate.read.places import places_in
from mailgate.read.ports import Mailbox, ReadableFolder
from mailgate.read.source import FetchedMessage, fetched_head, fetched_message, readable_message

if TYPE_CHECKING:
    from mailgate.imap.rows import HeadRow

Clock = Callable[[], float]

_SHARE: Final = 0.8
"""Of the call's time: what reading may take, so that what was read by then can still be told."""
_LOST: Final = (UpstreamAuthFailed, UpstreamBusy, UpstreamTimeout, UpstreamUnavailable)
"""The mail server as a whole fails: asking it for the next message would be asking in vain."""


@dataclass(frozen=True, slots=True)
class FailedRead:
    """A message of a batch that could not be read, and the error that it alone would have been answered with."""

    reference: MessageRef
    error: Exception


@dataclass(frozen=True, slots=True)
class ReadBatch:
    """The outcomes in the order of the references."""

    entries: tuple[ReadMessage | FailedRead, ...]

    @property
    def weight(self) -> int:
        """What can be taken away step by step: a character of text each, then an entry each."""
        return len(self.entries) + sum(len(entry.content.text) for entry in self._read())

    def within(self, weight: int) -> ReadBatch:
        """At most `weight` of it: shorter pages first; without any text, the last entries are errors and no more."""
        if weight >= len(self.entries):
            return shared(self, weight - len(self.entries), Truncation.RESULT_LIMIT)
        bare = shared(self, 0, Truncation.RESULT_LIMIT).entries
        left = (FailedRead(entry.reference, LimitExceeded(_TOO_LARGE)) for entry in bare[weight:])
        return ReadBatch((*bare[:weight], *left))

    def _read(self) -> list[ReadMessage]:
        return [entry for entry in self.entries if isinstance(entry, ReadMessage)]


_TOO_LARGE: Final = "The result passes this deployment's MAIL_MAX_RESULT_BYTES; read this message by itself."


async def read_messages(
    mailbox: Mailbox,
    references: Sequence[MessageRef],
    *,
    max_chars: int = READ_CHARS_DEFAULT,
    reading: Reading = FOLDED,
    seconds: float = UPSTREAM_TIMEOUT_DEFAULT,
    clock: Clock = time.monotonic,
) -> ReadBatch:
    """The messages, each as `read_message` gives it or with its error, `max_chars` characters of text in all.

    Raises `InvalidArgument` for a range that cannot be, for no references, too many, or one given twice; and what the
    mailbox raises where it could not be reached for any of them. `seconds`: for all of it.
    """
    check_range(max_chars)
    if not 1 <= len(references) <= READ_BATCH_MAX:
        raise InvalidArgument(f"`references` holds 1 to {READ_BATCH_MAX} references.")
    batch = _Batch(mailbox, references, reading, clock, clock() + _SHARE * seconds)
    return shared(await batch.read(), max_chars, Truncation.SHARED_BUDGET)


def shared(batch: ReadBatch, chars: int, why: Truncation) -> ReadBatch:
    """The batch with at most `chars` characters in all. Short texts stay whole; long ones share what is left evenly."""
    lengths = [0 if isinstance(entry, FailedRead) else len(entry.content.text) for entry in batch.entries]
    if sum(lengths) <= chars:
        return batch
    room, shares = chars, [0] * len(lengths)
    for left, place in zip(
        range(len(lengths), 0, -1), sorted(range(len(lengths)), key=lengths.__getitem__), strict=True
    ):
        shares[place] = min(lengths[place], room // left)
        room -= shares[place]
    cut = zip(batch.entries, shares, strict=True)
    return ReadBatch(
        tuple(entry if isinstance(entry, FailedRead) else entry.shortened(share, why) for entry, share in cut)
    )


class _Batch:
    """One call. `outcomes` by place in `references`; a place without one has not been dealt with."""

    def __init__(
        self, mailbox: Mailbox, references: Sequence[MessageRef], reading: Reading, clock: Clock, deadline: float
    ) -> None:
        self._mailbox, self._references, self._reading = mailbox, references, reading
        self._clock, self._deadline = clock, deadline
        self._outcomes: dict[int, ReadMessage | FailedRead] = {}

    async def read(self) -> ReadBatch:
        """All outcomes."""
        try:
            for name, places in (await self._by_folder()).items():
                await self._folder(name, places)
        except _LOST as error:
            if not any(isinstance(outcome, ReadMessage) for outcome in self._outcomes.values()):
                raise
            self._fail(self._left(range(len(self._references))), error)
        return ReadBatch(tuple(self._outcomes[place] for place in range(len(self._references))))

    async def _by_folder(self) -> dict[FolderName, list[int]]:
        """The places of each folder, in order of first mention; what names no folder has failed."""
        groups: dict[FolderName, list[int]] = {}
        seen: set[MessageRef] = set()
        for place, reference in enumerate(self._references):
            try:
                name = await self._mailbox.resolve(reference.folder.text)
            except _LOST:
                raise
            except MailgateError as error:
                self._fail([place], error)
                continue
            resolved = MessageRef(name, reference.uid_validity, reference.uid)
            if resolved in seen:
                raise InvalidArgument("`references` names a message twice.")
            seen.add(resolved)
            groups.setdefault(name, []).append(place)
        return groups

    async def _folder(self, name: FolderName, places: Sequence[int]) -> None:
        """Reads all places of one folder. It is opened again only after a message whose answer broke the session."""
        together = True
        while left := self._left(places):
            before = len(left)
            validities = {self._references[place].uid_validity for place in left}
            common = validities.pop() if len(validities) == 1 else None
            try:
                async with asyncio.timeout(max(0.0, self._deadline - self._clock())) as limit:
                    async with self._mailbox.examine(name, uid_validity=common) as folder:
                        await self._opened(folder, left, together=together)
            except TimeoutError:
                if not limit.expired():
                    raise
                raise UpstreamTimeout("The messages could not all be read in time.") from None
            except _LOST:
                raise
            except UpstreamProtocolError as error:
                # Whose answer it was is not known when several were asked for: each is asked for alone now.
                if not together and len(self._left(places)) == before:
                    self._fail(left, error)
            except MailgateError as error:
                self._fail(self._left(places), error)
            together = False

    async def _opened(self, folder: ReadableFolder, places: Sequence[int], *, together: bool) -> None:
        for place in places:
            if self._references[place].uid_validity != folder.uid_validity:
                self._fail([place], StaleReference())
        left = self._left(places)
        if together and len(left) > 1:
            await self._together(folder, left)
        for place in self._left(places):
            try:
                await self._alone(folder, place)
            except UpstreamProtocolError as error:
                self._fail([place], error)
                return  # on a session that is still good
            except _LOST:
                raise
            except MailgateError as error:
                self._fail([place], error)

    async def _together(self, folder: ReadableFolder, places: Sequence[int]) -> None:
        """What can be had at once; whatever is left out is read alone."""
        by_uid: dict[Uid, int] = {self._references[place].uid: place for place in places}
        if self._reading.headers_only:
            for head in await folder.fetch_heads(list(by_uid), HEADER_BYTES_MAX):
                await self._take_head(folder, by_uid[head.uid], head)
            return
        rows = list(await folder.fetch_sources(list(by_uid), BATCH_SOURCE_BYTES))
        while rows:
            row = rows.pop(0)
            await self._take(by_uid[row.uid], fetched_message(folder, row))

    async def _alone(self, folder: ReadableFolder, place: int) -> None:
        uid = self._references[place].uid
        if self._reading.headers_only:
            await self._take_head(folder, place, await folder.fetch_head(uid, HEADER_BYTES_MAX))
        else:
            await self._take(place, await readable_message(folder, uid, places_in(self._mailbox)))

    async def _take(self, place: int, fetched: FetchedMessage) -> None:
        """Parses at once, within this message's share of the time, so that no source is kept."""
        share = max(0.0, self._deadline - self._clock()) / max(1, len(self._left(range(len(self._references)))))
        try:
            self._outcomes[place] = await understood(fetched, self._reading, seconds=share)
        except Exception as error:
            # A fault of ours that one message brings to light is no reason to keep the others back.
            self._fail([place], error)

    async def _take_head(self, folder: ReadableFolder, place: int, row: HeadRow) -> None:
        self._outcomes[place] = await understood_head(fetched_head(folder, row), self._reading)

    def _left(self, places: Sequence[int]) -> list[int]:
        return [place for place in places if place not in self._outcomes]

    def _fail(self, places: Sequence[int], error: Exception) -> None:
        for place in places:
            self._outcomes[place] = FailedRead(self._references[place], error)
