"""Random mailboxes that change under a running search: nothing is lost, nothing is seen twice."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

import pytest

from mailgate.imap.criteria import SearchCriteria
from mailgate.read.cursor import SearchOrder
from mailgate.read.request import SearchRequest

from .fakes import FakeFolder, FakeMessage, search, uids


@dataclass
class History:
    """One folder's life. `dice` decides everything, so a seed is a history."""

    dice: random.Random
    folder: FakeFolder = field(default_factory=FakeFolder)
    gone: set[int] = field(default_factory=set)
    bound: int | None = None

    def __post_init__(self) -> None:
        self.spread = self.dice.choice([1, 3, 40, 900])
        for _ in range(self.dice.randrange(0, 120)):
            self.arrive()
        for uid in self.dice.sample(sorted(self.folder.content), k=len(self.folder.content) // 5):
            self.folder.expunge(uid)
        self.folder.before = self.live
        pace = self.dice.choice([0.0, 0.0001, 0.002])
        self.folder.search_seconds = lambda width: pace * width
        self.folder.fetch_seconds = lambda rows: 0.1 * rows

    def arrive(self) -> None:
        subject = self.dice.choice(["invoice", "hello"])
        uid = self.folder.next_uid + self.dice.randrange(self.spread)
        self.folder.append(FakeMessage(subject=subject), uid=uid)

    def live(self, command: str = "") -> None:
        for _ in range(self.dice.randrange(3)):
            self.arrive()
        for _ in range(self.dice.randrange(2)):
            if self.folder.content:
                self.gone.add(uid := self.dice.choice(sorted(self.folder.content)))
                self.folder.expunge(uid)
        if command == "last_uid":
            assert self.bound is None, "the bound is asked for once"
            self.bound = self.folder.next_uid - 1


@pytest.mark.parametrize("seed", range(120))
async def test_every_message_that_stays_is_found_once_and_new_ones_never(seed: int) -> None:
    dice = random.Random(seed)
    history = History(dice)
    folder = history.folder
    term = dice.choice([None, "invoice"])
    folder.ignored = frozenset(dice.choice([(), ("subject",)]))
    order = dice.choice(list(SearchOrder))
    request = SearchRequest(criteria=SearchCriteria(subject=term), order=order, limit=dice.choice([1, 3, 25, 100]))
    settings = {"scan_uids": dice.choice([1, 7, 100, 1000]), "budget_seconds": dice.choice([0.0, 0.5, 5.0])}
    if settings["budget_seconds"] == 0:
        settings["scan_uids"] = 1000

    found: list[int] = []
    scanned = 0
    expected = {uid for uid, message in folder.content.items() if term in (None, message.subject)}
    for _ in range(20_000):
        page = await search(folder, request, **settings)
        found += uids(page)
        scanned += page.scanned_uids
        assert len(page.messages) <= request.limit
        assert page.scanned_uids > 0 or page.complete, "a call that gets nowhere would be called for ever"
        if page.complete:
            break
        history.live()
        request = replace(request, cursor=page.next_cursor, limit=dice.choice([1, 3, 25, 100]))
    else:
        pytest.fail("the search never ends")

    assert found == sorted(set(found), reverse=order is SearchOrder.NEWEST), "none twice, all in order"
    assert expected - history.gone <= set(found), "none lost"
    assert history.bound is not None
    assert max(found, default=0) <= history.bound, "none newer than the search"
    assert scanned == history.bound, "every UID value accounted for once"
