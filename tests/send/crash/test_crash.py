"""The rows of docs/crash-points.md: all on SQLite, those with SIGKILL on the remote stores too.

`scripts/bench crash` tells every row on every store, and lets deadlines pass in real time; here the records are made
older instead. All the rows that are asked for are told at once, by real server processes, before the first is judged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import missing_peer
from tests.peers.authority import authority
from tests.peers.redis_server import RedisServer, redis_binary
from tests.send.crash.places import Store
from tests.send.crash.rows_all import all_rows
from tests.send.crash.run import Outcome, Row, carry_out, carry_out_all
from tests.send.crash.servers import ForkedServers

AT_ONCE = 6
PAGE = Path(__file__).parents[3] / "docs" / "crash-points.md"


@dataclass(frozen=True)
class Case:
    """One row on one store."""

    row: Row
    store: Store

    def __str__(self) -> str:
        return f"{self.row.name}-{self.store}"


CASES = [
    Case(row, store)
    for row in all_rows()
    for store in Store
    if store in row.stores and (store is Store.SQLITE or row.kill or Store.SQLITE not in row.stores)
]


@pytest.fixture(scope="module")
def redis_server() -> Iterator[RedisServer | None]:
    if redis_binary() is None:
        yield None
        return
    server = RedisServer(authority().certificate())
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest, redis_server: RedisServer | None) -> dict[Case, Outcome]:
    """What came of every case that this session has asked for."""
    specs = (getattr(item, "callspec", None) for item in request.session.items)
    asked = dict.fromkeys(spec.params["case"] for spec in specs if spec and isinstance(spec.params.get("case"), Case))
    cases = [case for case in asked if redis_server is not None or case.store is Store.SQLITE]

    async def tell() -> list[Outcome]:
        async with ForkedServers() as servers:
            wanted = [(case.row, case.store) for case in cases]
            return await carry_out_all(wanted, servers, redis_server, at_once=AT_ONCE)

    return dict(zip(cases, asyncio.run(tell()), strict=True))


@pytest.mark.requirement("SC1", "SC4", "SC7", "SC8")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_send_that_stops_anywhere_is_told_truly_and_never_made_twice(
    case: Case, outcomes: dict[Case, Outcome]
) -> None:
    if case not in outcomes:
        missing_peer("redis-server")
    outcome = outcomes[case]
    assert outcome.problems == (), outcome.verdict
    assert outcome.dots <= 1 or case.row.beyond


def test_every_number_of_the_table_has_its_rows_and_its_sigkill() -> None:
    numbers = {row.number for row in all_rows()}
    assert numbers == {f"K{number}" for number in range(1, 38)}
    # K23 with SIGKILL is K24.
    assert {row.number for row in all_rows() if row.kill} == numbers - {"K23"}
    assert {Case(row, store) for row in all_rows() if row.kill for store in row.stores} <= set(CASES)


def test_the_page_keeps_a_run_of_every_row_on_every_store() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    kept = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines if line.startswith("| K")]
    places = [(row.number, row.place, store.value) for row in all_rows() for store in Store if store in row.stores]
    assert [(number, place, store) for number, place, _, store, *_ in kept] == places
    dots = {(row.number, row.place): str(row.dots) for row in all_rows()}
    assert all(dots[number, place] == seen for number, place, _, _, seen, *_ in kept)
    assert {cells[-1] for cells in kept} == {"holds", "assumption broken"}


# --- the harness itself can fail -----------------------------------------------------------------------------------


def _broken(place: str, fault: str) -> Outcome:
    row = next(row for row in all_rows() if row.place == place)

    async def tell() -> Outcome:
        async with ForkedServers() as servers:
            return await carry_out(row, Store.SQLITE, servers, None, broken=fault)

    return asyncio.run(tell())


def test_a_store_that_gives_a_message_out_again_is_found_by_its_second_dot() -> None:
    outcome = _broken("killed after the dot, before its reply", "forgetful")
    assert outcome.dots == 2
    assert outcome.verdict.startswith("VIOLATED")


def test_a_store_that_calls_the_unknowable_not_sent_is_found_by_its_class() -> None:
    outcome = _broken("killed after the dot, before its reply", "hopeful")
    assert (outcome.dots, outcome.repeat) == (1, "RUN>NEG")
    assert outcome.verdict.startswith("VIOLATED")
