"""K1 to K6: up to a claim. Nothing is consumed."""

from __future__ import annotations

import asyncio

from tests.send.crash.answers import Class
from tests.send.crash.places import SQLITE
from tests.send.crash.points import Moment, Rule, Step
from tests.send.crash.rows import after, before, inside, lost, row
from tests.send.crash.run import Run
from tests.server.fakes import READ_TOKEN

EXPIRED = 15 * 60 + 1.0


async def _anew(run: Run) -> None:
    """After whatever happened to the first message, another one is prepared by a new server, and goes out."""
    server = await run.start()
    await run.prepare(server)
    await run.see_out(server)


# --- K1, K2: preparing -------------------------------------------------------------------------------------------


@row("K1", "prepare: the write is lost", first=Class.ERR, repeat="ACC", dots=1)
async def prepare_lost(run: Run) -> None:
    server = await run.start(lost(Step.PREPARE, Moment.BEFORE))
    run.first = await run.ask_prepare(server)
    run.expect("p_" not in run.first.text, "a failed prepare discloses an id")
    run.expect(run.place.records.statuses() == [], "there is a record")
    await _anew(run)


@row("K2", "prepare: applied and its answer lost", first=Class.ERR, repeat="ACC", dots=1)
async def prepare_unanswered(run: Run) -> None:
    server = await run.start(lost(Step.PREPARE, Moment.AFTER))
    run.first = await run.ask_prepare(server)
    run.expect("p_" not in run.first.text, "a failed prepare discloses an id")
    run.expect(run.place.records.statuses() == ["prepared"], "there is no orphan")
    await _anew(run)


def _killed_preparing(number: str, place: str, at: Rule, orphans: list[str], **expected: object) -> None:
    async def story(run: Run) -> None:
        server = await run.start(at)
        asking = asyncio.ensure_future(run.ask_prepare(server))
        await run.place.gate.reached()
        await server.kill()
        run.first = await asking
        run.place.gate.let_all_go()
        run.expect(run.place.records.statuses() == orphans, f"records: {run.place.records.statuses()}")
        await _anew(run)

    row(number, place, kill=True, repeat="ACC", dots=1, **expected)(story)


_killed_preparing("K1", "killed before the prepare is applied", before(Step.PREPARE), [])
_killed_preparing("K1", "killed inside the transaction of the prepare", inside(Step.PREPARE), [], stores=SQLITE)
_killed_preparing("K2", "killed when the prepare is applied, unanswered", after(Step.PREPARE), ["prepared"])


# --- K3, K4: prepared --------------------------------------------------------------------------------------------


@row("K3", "the client is gone before it hears the id", repeat="ACC", dots=1)
async def client_gone(run: Run) -> None:
    server = await run.start(after(Step.PREPARE))
    asking = asyncio.ensure_future(run.ask_prepare(server))
    held = await run.place.gate.reached()
    asking.cancel()
    held.release()
    await _anew(run)
    run.expect("prepared" in run.place.records.statuses(), "the orphan is not there")
    run.place.records.age(EXPIRED)
    await run.ask_prepare(await run.start())
    run.expect(run.place.records.statuses().count("prepared") == 1, "the orphan does not expire")


@row("K3", "killed when it is prepared", kill=True, repeat="ACC", dots=1)
async def killed_prepared(run: Run) -> None:
    server = await run.start()
    await run.prepare(server)
    await server.kill()
    await run.see_out(await run.start())


@row("K4", "prepared, and its time passes", first=Class.NF, repeat="NF")
async def expires(run: Run) -> None:
    server = await run.start()
    await run.prepare(server)
    run.place.records.age(EXPIRED)
    run.first = await run.confirm(server)
    await run.see_out(server)
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")


@row("K4", "killed when it is prepared, and its time passes", kill=True, repeat="NF")
async def killed_and_expires(run: Run) -> None:
    server = await run.start()
    await run.prepare(server)
    await server.kill()
    run.place.records.age(EXPIRED)
    await run.see_out(await run.start())
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")


# --- K5, K6: refused ---------------------------------------------------------------------------------------------


async def _wrong_digest(run: Run, *, kill: bool) -> None:
    server = await run.start()
    await run.prepare(server)
    run.first = await run.confirm(server, digest="0" * 64)
    run.expect(run.first.code == "digest_mismatch", run.first.code)
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")
    if kill:
        await server.kill()
        server = await run.start()
    await run.see_out(server)


@row("K5", "wrong digest, then the right one", first=Class.ERR, repeat="ACC", dots=1)
async def wrong_digest(run: Run) -> None:
    await _wrong_digest(run, kill=False)


@row("K5", "wrong digest, killed, then the right one", kill=True, first=Class.ERR, repeat="ACC", dots=1)
async def wrong_digest_killed(run: Run) -> None:
    await _wrong_digest(run, kill=True)


@row("K6", "the token lacks the scope", first=Class.ERR, repeat="ACC", dots=1)
async def no_scope(run: Run) -> None:
    server = await run.start()
    await run.prepare(server)
    run.first = await run.confirm(server, token=READ_TOKEN)
    run.expect(run.first.code == "http_403", run.first.code)
    await run.see_out(server)


async def _gate_closed(run: Run, variable: str, *, append_sent: bool, kill: bool) -> None:
    server = await run.start()
    await run.prepare(server)
    closed = await run.start(changes={variable: ""})
    run.first = await run.confirm(closed, append_sent=append_sent)
    run.expect(run.first.code == "gate_closed", run.first.code)
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")
    if kill:
        await closed.kill()
        await server.kill()
    await run.see_out(await run.start())


@row("K6", "the gate for sending is closed", first=Class.ERR, repeat="ACC", dots=1)
async def sending_closed(run: Run) -> None:
    await _gate_closed(run, "MAIL_ENABLE_SEND", append_sent=False, kill=False)


@row("K6", "append_sent and the gate for writing is closed", first=Class.ERR, repeat="ACC", dots=1)
async def writing_closed(run: Run) -> None:
    await _gate_closed(run, "MAIL_ENABLE_WRITES", append_sent=True, kill=False)


@row("K6", "the gate is closed, killed, then it is open", kill=True, first=Class.ERR, repeat="ACC", dots=1)
async def closed_and_killed(run: Run) -> None:
    await _gate_closed(run, "MAIL_ENABLE_SEND", append_sent=False, kill=True)
