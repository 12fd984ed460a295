"""Every fault of a remote store at every step, end to end: what is said now, what later, and how many dots there are.

The expectations are written by hand, one line a cell. Columns: what happens; what the call says; the final dots seen so
far; what a fresh service says to the same confirmation; the dots then; what another one says once the deadline is over.
`not applied` and `applied` tell whether the store carried the step out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import pytest

from mailgate.app import build_store
from mailgate.limits import SEND_DEADLINE_DEFAULT, STORE_SECONDS
from mailgate.send.record import Deployment
from mailgate.settings import load_settings
from tests.peers.redis_proxy import RespFault
from tests.peers.redis_rest import RestFault
from tests.send.faults.scene import SECONDS, Scene, arrange, faults_of

SHORT = 1.0
"""Instead of five seconds, where a test waits for the end of the store's time."""


class Fault(Enum):
    """What goes wrong, as each store shows it."""

    REQUEST_LOST = (RestFault.DROP_BEFORE, RespFault.DROP_BEFORE)
    REPLY_LOST = (RestFault.DROP_AFTER, RespFault.DROP_AFTER)
    DELAYED = (RestFault.DELAY, RespFault.DELAY)
    REPLAYED = (RestFault.REPLAY, RespFault.REPLAY)
    ERROR = (RestFault.ERROR_500, RespFault.LOADING)
    ERROR_AFTER = (RestFault.ERROR_500_AFTER, RespFault.ERROR_AFTER)
    BUSY = (RestFault.BUSY_429, RespFault.BUSY)
    REDIRECT = (RestFault.REDIRECT, RespFault.MOVED)
    TRUNCATED = (RestFault.TRUNCATED, RespFault.TRUNCATED)
    STALL = (RestFault.STALL_BEFORE, RespFault.STALL_BEFORE)
    STALL_AFTER = (RestFault.STALL_AFTER, RespFault.STALL_AFTER)
    EMPTIED = (RestFault.EMPTIED, RespFault.EMPTIED)
    EVICTED = (RestFault.EVICTED, RespFault.EVICTED)


DOWN = Fault.REQUEST_LOST.value
STALLS = (Fault.STALL, Fault.STALL_AFTER)

PREPARE = """
REQUEST_LOST  not applied | store_unavailable | 0
REPLY_LOST    applied     | store_unavailable | 1
DELAYED       applied     | store_unavailable | 1
REPLAYED      applied     | store_unavailable | 1
ERROR         not applied | store_unavailable | 0
ERROR_AFTER   applied     | store_unavailable | 1
BUSY          not applied | store_unavailable | 0
REDIRECT      not applied | store_unavailable | 0
TRUNCATED     applied     | store_unavailable | 1
STALL         not applied | store_unavailable | 0
STALL_AFTER   applied     | store_unavailable | 1
EMPTIED       forgotten   | prepared          | 0
EVICTED       forgotten   | prepared          | 0
"""

CLAIM = """
REQUEST_LOST  not applied | store_unavailable                      | 0 | accepted           | 1 | accepted
REPLY_LOST    applied     | store_unavailable                      | 0 | sending            | 0 | not_sent
DELAYED       applied     | store_unavailable                      | 0 | sending            | 0 | not_sent
REPLAYED      applied     | accepted                               | 1 | accepted           | 1 | accepted
ERROR         not applied | store_unavailable                      | 0 | accepted           | 1 | accepted
ERROR_AFTER   applied     | store_unavailable                      | 0 | sending            | 0 | not_sent
BUSY          not applied | store_unavailable                      | 0 | accepted           | 1 | accepted
REDIRECT      not applied | store_unavailable                      | 0 | accepted           | 1 | accepted
TRUNCATED     applied     | store_unavailable                      | 0 | sending            | 0 | not_sent
STALL         not applied | store_unavailable                      | 0 | accepted           | 1 | accepted
STALL_AFTER   applied     | store_unavailable                      | 0 | sending            | 0 | not_sent
EMPTIED       forgotten   | not_sent:store_unavailable+record_lost | 0 | prepared_not_found | 0 | prepared_not_found
EVICTED       forgotten   | not_sent:store_unavailable+record_lost | 0 | prepared_not_found | 0 | prepared_not_found
"""

BEGIN = """
REQUEST_LOST  not applied | not_sent:store_unavailable | 0 | not_sent:store_unavailable | 0 | not_sent:store_unavailable
REPLY_LOST    applied     | not_sent:store_unavailable | 0 | not_sent:store_unavailable | 0 | not_sent:store_unavailable
DELAYED       too late    | not_sent:store_unavailable | 0 | not_sent:store_unavailable | 0 | not_sent:store_unavailable
REPLAYED      applied     | accepted                   | 1 | accepted                   | 1 | accepted
ERROR         not applied | not_sent:store_unavailable | 0 | not_sent:store_unavailable | 0 | not_sent:store_unavailable
ERROR_AFTER   applied     | not_sent:store_unavailable | 0 | not_sent:store_unavailable | 0 | not_sent:store_unavailable
BUSY          not applied | not_sent:store_unavailable | 0 | not_sent:store_unavailable | 0 | not_sent:store_unavailable
REDIRECT      not applied | not_sent:store_unavailable | 0 | not_sent:store_unavailable | 0 | not_sent:store_unavailable
TRUNCATED     applied     | not_sent:store_unavailable | 0 | not_sent:store_unavailable | 0 | not_sent:store_unavailable
STALL         not applied | not_sent:store_unavailable | 0 | not_sent:store_unavailable | 0 | not_sent:store_unavailable
STALL_AFTER   applied     | not_sent:store_unavailable | 0 | not_sent:store_unavailable | 0 | not_sent:store_unavailable
EMPTIED       forgotten   | accepted+record_lost       | 1 | prepared_not_found         | 1 | prepared_not_found
EVICTED       forgotten   | accepted+record_lost       | 1 | prepared_not_found         | 1 | prepared_not_found
"""

# The same, and the store stays away until the call has given up.
BEGIN_THEN_DOWN = """
REQUEST_LOST  not applied | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | not_sent
REPLY_LOST    applied     | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | unknown
DELAYED       applied     | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | unknown
ERROR         not applied | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | not_sent
ERROR_AFTER   applied     | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | unknown
BUSY          not applied | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | not_sent
REDIRECT      not applied | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | not_sent
TRUNCATED     applied     | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | unknown
STALL         not applied | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | not_sent
STALL_AFTER   applied     | not_sent:store_unavailable+record_not_saved | 0 | sending | 0 | unknown
"""

# The outcome is written twice where no answer comes; here the fault happens both times.
OUTCOME = """
REQUEST_LOST  not applied | accepted+record_not_saved | 1 | sending            | 1 | unknown
REPLY_LOST    applied     | accepted+record_not_saved | 1 | accepted           | 1 | accepted
DELAYED       applied     | accepted+record_not_saved | 1 | accepted           | 1 | accepted
REPLAYED      applied     | accepted                  | 1 | accepted           | 1 | accepted
ERROR         not applied | accepted+record_not_saved | 1 | sending            | 1 | unknown
ERROR_AFTER   applied     | accepted+record_not_saved | 1 | accepted           | 1 | accepted
BUSY          not applied | accepted+record_not_saved | 1 | sending            | 1 | unknown
REDIRECT      not applied | accepted+record_not_saved | 1 | sending            | 1 | unknown
TRUNCATED     applied     | accepted+record_not_saved | 1 | accepted           | 1 | accepted
STALL         not applied | accepted+record_not_saved | 1 | sending            | 1 | unknown
STALL_AFTER   applied     | accepted+record_not_saved | 1 | accepted           | 1 | accepted
EMPTIED       forgotten   | accepted                  | 1 | prepared_not_found | 1 | prepared_not_found
EVICTED       forgotten   | accepted                  | 1 | prepared_not_found | 1 | prepared_not_found
"""

# The outcome is lost both times, for each thing a server can say to the dot. `same`: without the warning.
OTHER_ENDINGS = """
REQUEST_LOST  250 2.0.0 ok | accepted+record_not_saved                      | 1 | sending | 1 | unknown
REQUEST_LOST  554 5.6.0 no | rejected:upstream_refused+record_not_saved     | 1 | sending | 1 | unknown
REQUEST_LOST  451 4.3.0 no | rejected:upstream_refused+record_not_saved     | 1 | sending | 1 | unknown
REQUEST_LOST  silence      | unknown:upstream_unavailable+record_not_saved  | 1 | sending | 1 | unknown
REPLY_LOST    554 5.6.0 no | rejected:upstream_refused+record_not_saved     | 1 | same | 1 | same
REPLY_LOST    silence      | unknown:upstream_unavailable+record_not_saved  | 1 | same | 1 | same
"""


@dataclass(frozen=True)
class Cell:
    fault: Fault
    note: str
    first: str
    dots: int
    repeat: str = ""
    dots_then: int = 0
    later: str = ""

    @property
    def seconds(self) -> float:
        return SHORT if self.fault in STALLS else SECONDS


def cells(table: str) -> list[Cell]:
    made = []
    for line in table.strip().splitlines():
        head, *rest = (word.strip() for word in line.split("|"))
        name, _, note = head.partition(" ")
        same = rest[0].partition("+")[0]
        values = [int(word) if word.isdigit() else same if word == "same" else word for word in rest]
        made.append(Cell(Fault[name], note.strip(), *values))  # type: ignore[arg-type]
    return made


def every(table: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("cell", cells(table), ids=lambda cell: f"{cell.fault.name}-{cell.note}")


def test_each_table_has_each_fault() -> None:
    for table in (PREPARE, CLAIM, BEGIN, OUTCOME):
        assert {cell.fault for cell in cells(table)} == set(Fault)
    answered = {Fault.REPLAYED, Fault.EMPTIED, Fault.EVICTED}
    assert {cell.fault for cell in cells(BEGIN_THEN_DOWN)} == set(Fault) - answered


@every(PREPARE)
async def test_at_prepare_nobody_learns_an_id_that_is_in_doubt(remote: Scene, cell: Cell) -> None:
    async with remote.service(seconds=cell.seconds) as service:
        arrange(remote.place, cell.fault.value)
        answer = await service.call("mail_prepare_send", {"message": {"to": ["ann@example.com"], "text": "T"}})
        await faults_of(remote.place).release()
        assert len(stored(remote)) == cell.dots
        if cell.first == "prepared":
            assert answer.structured is not None
            assert await service.outcome(answer.structured) == "prepared_not_found"
            assert await remote.confirmed_elsewhere(answer.structured) == "prepared_not_found"
            assert remote.smtp.connections == 0
            return
        assert answer.text.startswith(f"error {cell.first}: ")
        assert "this call sent no message" in answer.text
        assert not [name for name in stored(remote) if name in answer.text]
    async with remote.service() as fresh:
        assert await fresh.outcome(await fresh.prepare()) == "accepted"
    assert (remote.smtp.dots, remote.smtp.connections) == (1, 1)


@every(CLAIM)
async def test_at_claim_nothing_is_sent_without_an_acknowledged_claim(remote: Scene, cell: Cell) -> None:
    async with remote.service(seconds=cell.seconds) as service:
        review = await service.prepare()
        arrange(remote.place, cell.fault.value)
        assert await service.outcome(review) == cell.first
        await faults_of(remote.place).release()
    if cell.first == "store_unavailable":
        assert remote.smtp.connections == 0
    await then(remote, review, cell)


@every(BEGIN)
async def test_at_begin_there_is_no_data_without_an_acknowledged_leave(remote: Scene, cell: Cell) -> None:
    await at_begin(remote, cell)


@every(BEGIN_THEN_DOWN)
async def test_at_begin_with_a_store_that_stays_away(remote: Scene, cell: Cell) -> None:
    await at_begin(remote, cell, DOWN, DOWN)


async def at_begin(remote: Scene, cell: Cell, *more: tuple[RestFault, RespFault]) -> None:
    async with remote.service(seconds=cell.seconds) as service:
        review = await service.prepare()
        arrange(remote.place, None, cell.fault.value, *more)
        assert await service.outcome(review) == cell.first
        await faults_of(remote.place).release()
    assert remote.smtp.said("DATA") == cell.dots
    assert remote.smtp.said("RSET") == 1 - cell.dots
    await then(remote, review, cell)
    assert (remote.smtp.said("DATA"), remote.smtp.connections) == (cell.dots, 1)


@every(OUTCOME)
async def test_at_the_outcome_the_call_says_what_happened(remote: Scene, cell: Cell) -> None:
    await at_outcome(remote, cell)


@every(OTHER_ENDINGS)
async def test_at_the_outcome_whatever_the_mail_server_said(remote: Scene, cell: Cell) -> None:
    remote.smtp.ending = None if cell.note == "silence" else cell.note
    await at_outcome(remote, cell)


async def at_outcome(remote: Scene, cell: Cell) -> None:
    async with remote.service(seconds=cell.seconds) as service:
        review = await service.prepare()
        arrange(remote.place, None, None, cell.fault.value, cell.fault.value)
        assert await service.outcome(review) == cell.first
        await faults_of(remote.place).release()
    await then(remote, review, cell)
    assert (remote.smtp.said("DATA"), remote.smtp.connections) == (1, 1)


@pytest.mark.parametrize("fault", [Fault.REQUEST_LOST, Fault.REPLY_LOST, Fault.ERROR, Fault.TRUNCATED, Fault.STALL])
async def test_an_outcome_that_is_lost_once_is_written_again(remote: Scene, fault: Fault) -> None:
    async with remote.service(seconds=SHORT if fault in STALLS else SECONDS) as service:
        review = await service.prepare()
        arrange(remote.place, None, None, fault.value)
        assert await service.outcome(review) == "accepted"
    assert await remote.confirmed_elsewhere(review) == "accepted"
    assert (remote.smtp.dots, remote.smtp.connections) == (1, 1)


async def test_a_claim_that_arrives_after_another_process_has_sent_changes_nothing(remote: Scene) -> None:
    async with remote.service() as service:
        review = await service.prepare()
        arrange(remote.place, Fault.DELAYED.value)
        assert await service.outcome(review) == "store_unavailable"
        assert await remote.confirmed_elsewhere(review) == "accepted"
        await faults_of(remote.place).release()
        assert await service.outcome(review) == "accepted"
    assert (remote.smtp.dots, remote.smtp.connections) == (1, 1)


async def test_a_leave_that_arrives_after_the_claim_was_abandoned_gives_none(remote: Scene) -> None:
    """Another caller ends the slow claim at the very moment before DATA."""
    async with remote.service() as service:
        review = await service.prepare()

        async def abandoned_meanwhile() -> None:
            remote.backdoor.age(SEND_DEADLINE_DEFAULT + 1)
            assert await remote.confirmed_elsewhere(review) == "not_sent"

        remote.smtp.at_mail = abandoned_meanwhile
        assert await service.outcome(review) == "not_sent"
    assert await remote.confirmed_elsewhere(review) == "not_sent"
    assert (remote.smtp.said("DATA"), remote.smtp.said("RSET"), remote.smtp.connections) == (0, 1, 1)


@pytest.mark.parametrize("fault", [Fault.REQUEST_LOST, Fault.ERROR, Fault.REDIRECT, Fault.TRUNCATED, Fault.STALL])
async def test_looking_up_the_recipients_consumes_nothing(remote: Scene, fault: Fault) -> None:
    remote.extra["MAIL_ALLOWED_RECIPIENTS"] = "@example.com,@example.net,@example.org"
    async with remote.service(seconds=SHORT if fault in STALLS else SECONDS) as service:
        review = await service.prepare()
        arrange(remote.place, fault.value)
        assert await service.outcome(review) == "store_unavailable"
        assert remote.smtp.connections == 0
        assert await service.outcome(review) == "accepted"
    assert remote.smtp.dots == 1


async def then(scene: Scene, review: dict[str, object], cell: Cell) -> None:
    """The same confirmation by fresh services, now and once the deadline is over."""
    assert scene.smtp.dots == cell.dots
    assert await scene.confirmed_elsewhere(review) == cell.repeat
    assert scene.smtp.dots == cell.dots_then
    scene.backdoor.age(SEND_DEADLINE_DEFAULT + 1)
    assert await scene.confirmed_elsewhere(review) == cell.later
    assert scene.smtp.dots == cell.dots_then <= 1
    assert scene.smtp.said("DATA") == scene.smtp.dots
    if cell.dots_then == 0:
        assert scene.smtp.octets.count(b"\r\n.\r\n") == 0


def stored(scene: Scene) -> list[str]:
    """The ids of the records in the store."""
    return scene.backdoor.ids()


async def test_without_being_told_otherwise_a_step_has_five_seconds(scene: Scene) -> None:
    store = build_store(load_settings(scene.variables()), Deployment(scene.login))
    assert store is not None
    assert store._seconds == STORE_SECONDS == 5.0  # type: ignore[attr-defined]
    await store.aclose()
