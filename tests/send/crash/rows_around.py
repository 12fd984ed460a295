"""K31 to K37: many at once, other arguments, wrong clocks, and stores that forget, go back or are written to."""

from __future__ import annotations

import asyncio
from collections import Counter

from mailgate.send.record import PreparedId
from tests.send.crash.answers import Answer, Class
from tests.send.crash.points import Step
from tests.send.crash.rows import STALE_UNK, before, row
from tests.send.crash.run import Run
from tests.send.crash.servers import Server
from tests.send.crash.smtp import Stage

HOURS = 5 * 3600.0
MANY = 100

# --- K31: many at once ---------------------------------------------------------------------------------------------


async def _crowd(run: Run, *servers: Server) -> tuple[list[Answer], list[asyncio.Task[Answer]]]:
    """All at once, and one of them is held at the dot: the answers of the others, and that one."""
    await run.prepare(servers[0])
    calls = [run.confirming(servers[number % len(servers)]) for number in range(MANY)]
    await run.smtp.reached()
    pending = set(calls)
    while len(pending) > 1:
        _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
    return [call.result() for call in calls if call.done()], list(pending)


async def _one_of_many(run: Run, processes: int, *, kill: bool = False) -> None:
    run.smtp.hold = Stage.DOT
    servers = [await run.start() for _ in range(processes)]
    others, owner = await _crowd(run, *servers)
    # A call whose claim the store answered too late is told that, and has sent nothing.
    told = Counter("ERR" if answer.code == "store_unavailable" else answer.kind for answer in others)
    run.expect(told.total() == MANY - 1 and told.keys() <= {"RUN", "ERR"}, f"the others were told {dict(told)}")
    if kill:
        for server in servers:
            await server.kill()
    else:
        run.smtp.release()
    run.first = await owner[0]
    run.expect(run.smtp.connections == 1, f"{run.smtp.connections} connections to the SMTP server")
    await run.see_out(await run.start())


@row("K31", "100 confirms at once, one process", alone=True, first=Class.ACC, repeat="ACC", dots=1)
async def crowd_in_one(run: Run) -> None:
    await _one_of_many(run, 1)


@row("K31", "100 confirms at once, four processes", alone=True, first=Class.ACC, repeat="ACC", dots=1)
async def crowd_in_four(run: Run) -> None:
    await _one_of_many(run, 4)


@row("K31", "100 confirms at once, all killed at the dot", alone=True, kill=True, repeat=STALE_UNK, dots=1)
async def crowd_killed(run: Run) -> None:
    await _one_of_many(run, 4, kill=True)


# --- K32, K33: other arguments afterwards --------------------------------------------------------------------------


async def _other_digest(run: Run, server: Server) -> None:
    answer = await run.confirm(server, digest="0" * 64)
    run.expect((answer.kind, answer.code) == (Class.ERR, "digest_mismatch"), f"a wrong digest is told {answer.kind}")


@row("K32", "wrong digest after it was sent", first=Class.ACC, repeat="ACC", dots=1)
async def wrong_afterwards(run: Run) -> None:
    server = await run.start()
    await run.prepare(server)
    run.first = await run.confirm(server)
    await _other_digest(run, server)
    await run.see_out(server)


@row("K32", "killed after the dot, wrong digest, right digest", kill=True, repeat=STALE_UNK, dots=1)
async def killed_then_wrong(run: Run) -> None:
    run.smtp.hold = Stage.DOT
    server = await run.start()
    await run.prepare(server)
    attempt = run.confirming(server)
    await run.smtp.reached()
    await server.kill()
    run.first = await attempt
    again = await run.start()
    await _other_digest(run, again)
    await run.see_out(again)
    await _other_digest(run, again)


@row("K33", "other append_sent after it was sent", imap=True, first=Class.ACC, repeat="ACC", dots=1)
async def copy_afterwards(run: Run) -> None:
    server = await run.start()
    await run.prepare(server)
    run.first = await run.confirm(server)
    await run.see_out(server, append_sent=True)
    run.expect(run.appends() == 0, "a repeat filed a copy")


@row("K33", "killed after 250, then other append_sent", imap=True, kill=True, repeat=STALE_UNK, dots=1)
async def killed_then_copy(run: Run) -> None:
    server = await run.start(before(Step.SETTLE))
    await run.prepare(server)
    attempt = run.confirming(server)
    await run.place.gate.reached()
    await server.kill()
    run.first = await attempt
    await run.see_out(await run.start(), append_sent=True)
    run.expect(run.appends() == 0, "a repeat filed a copy")


# --- K34: a wrong clock in a process -------------------------------------------------------------------------------


@row("K34", "confirmed by a process five hours ahead", first=Class.ACC, repeat="ACC", dots=1)
async def clock_ahead(run: Run) -> None:
    await run.prepare(await run.start())
    ahead = await run.start(clock_ahead=HOURS)
    run.first = await run.confirm(ahead)
    await run.see_out(ahead)


@row("K34", "expired, for a process five hours behind", first=Class.NF, repeat="NF")
async def clock_behind(run: Run) -> None:
    behind = await run.start(clock_ahead=-HOURS)
    await run.prepare(behind)
    run.place.records.age(15 * 60 + 1.0)
    run.first = await run.confirm(behind)
    await run.see_out(behind)


@row("K34", "killed after the dot five hours ahead, restarted behind", kill=True, repeat=STALE_UNK, dots=1)
async def clocks_apart(run: Run) -> None:
    run.smtp.hold = Stage.DOT
    ahead = await run.start(clock_ahead=HOURS)
    await run.prepare(ahead)
    attempt = run.confirming(ahead)
    await run.smtp.reached()
    await ahead.kill()
    run.first = await attempt
    await run.see_out(await run.start(clock_ahead=-HOURS))


# --- K35: a store that forgets -------------------------------------------------------------------------------------


async def _forget(run: Run, restart: bool) -> None:
    if restart:
        await run.place.restart_empty()
    else:
        run.place.records.forget(run.prepared_id)


def _forgotten(how: str, restart: bool) -> None:
    own = {"own_redis": restart}

    @row("K35", f"{how} while prepared", first=Class.NF, repeat="NF", **own)
    async def prepared(run: Run) -> None:
        server = await run.start()
        await run.prepare(server)
        await _forget(run, restart)
        if restart:
            server = await run.start()
        run.first = await run.confirm(server)
        await run.see_out(await run.start())
        run.expect(run.smtp.connections == 0, "the SMTP server was asked")

    async def during(run: Run, stage: Stage) -> None:
        run.smtp.hold = stage
        server = await run.start()
        await run.prepare(server)
        attempt = run.confirming(server)
        await run.smtp.reached()
        await _forget(run, restart)
        run.smtp.release()
        run.first = await attempt
        await run.see_out(await run.start())

    @row("K35", f"{how} while claimed", first=Class.NEG, repeat="NF", **own)
    async def claimed(run: Run) -> None:
        await during(run, Stage.RCPT)
        run.expect("record_lost" in run.first.warnings, "nobody says that the record is lost")
        run.expect(Stage.DATA not in run.smtp.stages, "DATA was sent without leave")

    @row("K35", f"{how} while submitting", first=Class.ACC, repeat="NF", dots=1, **own)
    async def submitting(run: Run) -> None:
        await during(run, Stage.DOT)
        run.expect("record_lost" in run.first.warnings, "nobody says that the record is lost")

    @row("K35", f"{how} after it was sent", first=Class.ACC, repeat="NF", dots=1, **own)
    async def finished(run: Run) -> None:
        server = await run.start()
        await run.prepare(server)
        run.first = await run.confirm(server)
        await _forget(run, restart)
        await run.see_out(await run.start())

    @row("K35", f"{how} while submitting, then killed", kill=True, repeat="NF", dots=1, **own)
    async def killed_and_forgotten(run: Run) -> None:
        run.smtp.hold = Stage.DOT
        server = await run.start()
        await run.prepare(server)
        attempt = run.confirming(server)
        await run.smtp.reached()
        await _forget(run, restart)
        await server.kill()
        run.first = await attempt
        await run.see_out(await run.start())


_forgotten("evicted", restart=False)
_forgotten("the store is emptied by a restart", restart=True)


# --- K36: a store that goes back -----------------------------------------------------------------------------------


async def _rolled_back(run: Run, *, same_process: bool) -> None:
    server = await run.start()
    await run.prepare(server)
    backup = run.place.records.snapshot(run.prepared_id)
    run.first = await run.confirm(server)
    run.place.records.restore(run.prepared_id, backup)
    await run.see_out(server if same_process else await run.start())


@row("K36", "rolled back to before the claim, same process", first=Class.ACC, repeat="UNK", dots=1)
async def rolled_back(run: Run) -> None:
    await _rolled_back(run, same_process=True)


@row("K36", "rolled back to before the claim, another process", beyond=True, first=Class.ACC, repeat="ACC", dots=2)
async def rolled_back_elsewhere(run: Run) -> None:
    await _rolled_back(run, same_process=False)


@row(
    *("K36", "killed after the dot, rolled back to before the claim, restarted"),
    kill=True,
    beyond=True,
    repeat="ACC",
    dots=2,
)
async def killed_and_rolled_back(run: Run) -> None:
    run.smtp.hold = Stage.DOT
    server = await run.start()
    await run.prepare(server)
    backup = run.place.records.snapshot(run.prepared_id)
    attempt = run.confirming(server)
    await run.smtp.reached()
    await server.kill()
    run.first = await attempt
    run.place.records.restore(run.prepared_id, backup)
    await run.see_out(await run.start())


# --- K37: a store that is written to -------------------------------------------------------------------------------


@row("K37", "one octet of the content is changed", first=Class.NEG, repeat="NEG")
async def content_changed(run: Run) -> None:
    server = await run.start()
    await run.prepare(server)
    run.place.records.flip(run.prepared_id)
    run.first = await run.confirm(server)
    await run.see_out(await run.start())
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")


@row("K37", "the digest is changed, the owner's is given", first=Class.ERR, repeat="ERR")
async def digest_changed(run: Run) -> None:
    server = await run.start()
    await run.prepare(server)
    run.place.records.change(run.prepared_id, "digest", "0" * 64)
    run.first = await run.confirm(server)
    await run.see_out(await run.start())
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")


@row("K37", "the digest is changed, the changed one is given", first=Class.NEG, repeat="NEG")
async def digest_replaced(run: Run) -> None:
    server = await run.start()
    await run.prepare(server)
    run.place.records.change(run.prepared_id, "digest", "0" * 64)
    run.first = await run.confirm(server, digest="0" * 64)
    await run.see_out(await run.start(), digest="0" * 64)
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")


@row("K37", "another message lies under the id", first=Class.NEG, repeat="NEG")
async def moved(run: Run) -> None:
    server = await run.start()
    other = await run.prepare(server, subject="Another")
    await run.prepare(server)
    backup = run.place.records.snapshot(PreparedId(other["prepared_id"]))
    run.place.records.restore(run.prepared_id, backup)
    run.first = await run.confirm(server, digest=other["digest"])
    await run.see_out(await run.start(), digest=other["digest"])
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")


@row("K37", "killed when a changed content is found, before the outcome", kill=True, repeat="RUN>NEG")
async def killed_on_finding_it(run: Run) -> None:
    server = await run.start(before(Step.SETTLE))
    await run.prepare(server)
    run.place.records.flip(run.prepared_id)
    attempt = run.confirming(server)
    await run.place.gate.reached()
    await server.kill()
    run.first = await attempt
    await run.see_out(await run.start())
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")
