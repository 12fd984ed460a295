"""K7 to K16: from the claim to the leave to send. No final dot unless the claim had not taken effect."""

from __future__ import annotations

from tests.peers.redis_rest import RestFault
from tests.send.crash.answers import Class
from tests.send.crash.places import REMOTE, SQLITE, UPSTASH
from tests.send.crash.points import Moment, Rule, Step
from tests.send.crash.records import SqliteRecords
from tests.send.crash.rows import STALE_NEG, STALE_UNK, after, before, inside, killed, lost, row, said
from tests.send.crash.run import Run
from tests.send.crash.smtp import CLOSE, SILENCE, Say, Stage

TLS = {"MAIL_SMTP_SECURITY": "tls"}


# --- K7: the store cannot be asked ---------------------------------------------------------------------------------


@row("K7", "the claim is lost on its way", first=Class.ERR, repeat="ACC", dots=1)
async def claim_lost(run: Run) -> None:
    server = await run.start(lost(Step.CLAIM, Moment.BEFORE))
    await run.prepare(server)
    run.first = await run.confirm(server)
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")
    await run.see_out(server)


@row("K7", "the store is too slow at the claim", first=Class.ERR, repeat="ACC", dots=1)
async def claim_slow(run: Run) -> None:
    server = await run.start(before(Step.CLAIM))
    await run.prepare(server)
    attempt = run.confirming(server)
    held = await run.place.gate.reached()
    run.first = await attempt
    held.lose()
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")
    await run.see_out(await run.start())


@row("K7", "another process keeps the file locked", stores=SQLITE, first=Class.ERR, repeat="ACC", dots=1)
async def file_locked(run: Run) -> None:
    server = await run.start()
    await run.prepare(server)
    assert isinstance(run.place.records, SqliteRecords)
    attempt = run.confirming(server)
    with run.place.records.locked():
        run.first = await attempt
    await run.see_out(server)


@row("K7", "the store answers 500", stores=UPSTASH, first=Class.ERR, repeat="ACC", dots=1)
async def claim_500(run: Run) -> None:
    server = await run.start()
    await run.prepare(server)
    assert run.place.rest is not None
    run.place.rest.then(RestFault.ERROR_500)
    run.first = await run.confirm(server)
    await run.see_out(server)


killed("K7", "killed before the claim is applied", before(Step.CLAIM), repeat="ACC", dots=1)
killed("K7", "killed inside the transaction of the claim", inside(Step.CLAIM), repeat="ACC", dots=1, stores=SQLITE)


# --- K8, K9: claimed, and nobody works on it -----------------------------------------------------------------------


@row("K8", "the claim is applied and its answer lost", first=Class.ERR, repeat=STALE_NEG)
async def claim_unanswered(run: Run) -> None:
    server = await run.start(lost(Step.CLAIM, Moment.AFTER))
    await run.prepare(server)
    run.first = await run.confirm(server)
    await run.see_out(await run.start())
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")


killed("K8", "killed when the claim is applied, unanswered", after(Step.CLAIM), repeat=STALE_NEG)


@row("K9", "the claim arrives after the call has given up", first=Class.ERR, repeat=STALE_NEG)
async def claim_late(run: Run) -> None:
    server = await run.start(before(Step.CLAIM))
    await run.prepare(server)
    attempt = run.confirming(server)
    held = await run.place.gate.reached()
    run.first = await attempt
    held.release()
    await run.recorded("claimed")
    await run.see_out(server)
    run.expect(run.smtp.connections == 0, "the SMTP server was asked")


@row("K9", "killed, and the claim arrives afterwards", kill=True, stores=REMOTE, repeat=STALE_NEG)
async def claim_later(run: Run) -> None:
    server = await run.start(before(Step.CLAIM))
    await run.prepare(server)
    attempt = run.confirming(server)
    held = await run.place.gate.reached()
    await server.kill()
    run.first = await attempt
    held.release()
    await run.recorded("claimed")
    await run.see_out(await run.start())


# --- K10: on the way to the SMTP server ----------------------------------------------------------------------------

killed("K10", "killed while connecting, before the greeting", Stage.CONNECT, repeat=STALE_NEG)
killed("K10", "killed before the reply to EHLO", Stage.HELLO, repeat=STALE_NEG)
killed("K10", "killed before the reply to AUTH", Stage.AUTH, repeat=STALE_NEG)


@row("K10", "killed inside the TLS handshake", kill=True, repeat=STALE_NEG)
async def killed_in_tls(run: Run) -> None:
    run.smtp.hold = Stage.TLS
    server = await run.start(changes=TLS)
    await run.prepare(server)
    attempt = run.confirming(server)
    await run.smtp.reached()
    await server.kill()
    run.first = await attempt
    await run.see_out(await run.start())


# --- K11 to K13: refused before DATA -------------------------------------------------------------------------------


@row("K11", "nobody listens at the SMTP server", first=Class.NEG, repeat="NEG")
async def nobody_listens(run: Run) -> None:
    server = await run.start(changes={"MAIL_SMTP_PORT": "1"})
    await run.prepare(server)
    run.first = await run.confirm(server)
    await run.see_out(await run.start())


@row("K11", "TLS is answered in clear text", first=Class.NEG, repeat="NEG")
async def no_tls(run: Run) -> None:
    server = await run.start(changes=TLS)
    await run.prepare(server)
    run.first = await run.confirm(server)
    await run.see_out(await run.start())


def _answered(number: str, place: str, stage: Stage, say: Say, **expected: object) -> None:
    async def story(run: Run) -> None:
        said(run, stage, say)
        server = await run.start()
        await run.prepare(server)
        run.first = await run.confirm(server)
        await run.see_out(await run.start())

    row(number, place, first=Class.NEG, repeat="NEG", **expected)(story)


_answered("K11", "the greeting never comes", Stage.CONNECT, SILENCE, upstream_seconds=5.0)
_answered("K11", "AUTH is refused", Stage.AUTH, Say(b"535 5.7.8 no\r\n"))
_answered("K11", "the connection ends at AUTH", Stage.AUTH, CLOSE)
_answered("K11", "MAIL is refused", Stage.MAIL, Say(b"550 5.7.1 no\r\n"))
_answered("K12", "every recipient is refused", Stage.RCPT, Say(b"550 5.1.1 nobody\r\n"))


@row("K13", "one recipient is refused", first=Class.NEG, repeat="NEG")
async def one_refused(run: Run) -> None:
    run.smtp.refuses = frozenset({"bob@example.org"})
    server = await run.start()
    await run.prepare(server)
    run.first = await run.confirm(server)
    await run.see_out(await run.start())
    for answer in (run.first, *run.repeats):
        run.expect(answer.result["refused"] == [{"address": "bob@example.org", "code": 550}], "refused is not told")


def _refusing(run: Run) -> None:
    run.smtp.refuses = frozenset({"bob@example.org"})


killed(
    *("K11", "killed when AUTH is refused, before the outcome", before(Step.SETTLE)),
    setting=lambda run: said(run, Stage.AUTH, Say(b"535 5.7.8 no\r\n")),
    repeat=STALE_NEG,
)
killed(
    *("K12", "killed when every recipient is refused, before the outcome", before(Step.SETTLE)),
    setting=lambda run: said(run, Stage.RCPT, Say(b"550 5.1.1 nobody\r\n")),
    repeat=STALE_NEG,
)
killed(
    *("K13", "killed when one recipient is refused, before the outcome", before(Step.SETTLE)),
    setting=_refusing,
    repeat=STALE_NEG,
)


# --- K14, K15: the leave to send -----------------------------------------------------------------------------------

killed("K14", "killed before the reply to MAIL", Stage.MAIL, repeat=STALE_NEG)
killed("K14", "killed before the reply to RCPT", Stage.RCPT, repeat=STALE_NEG)
killed("K14", "killed before begin is applied", before(Step.BEGIN), repeat=STALE_NEG)
killed("K14", "killed inside the transaction of begin", inside(Step.BEGIN), repeat=STALE_NEG, stores=SQLITE)


async def _begin_unanswered(run: Run, *more: Rule) -> None:
    server = await run.start(lost(Step.BEGIN, Moment.AFTER), *more)
    await run.prepare(server)
    run.first = await run.confirm(server)
    await run.see_out(await run.start())
    run.expect(Stage.DATA not in run.smtp.stages, "DATA was sent without leave")


@row("K15", "begin is applied, its answer lost, the store is back", first=Class.NEG, repeat="NEG")
async def begin_unanswered(run: Run) -> None:
    await _begin_unanswered(run)


@row("K15", "begin is applied, its answer lost, the store stays away", first=Class.NEG, repeat=STALE_UNK)
async def begin_unanswered_for_good(run: Run) -> None:
    await _begin_unanswered(run, lost(Step.SETTLE, Moment.BEFORE, 2))
    run.expect("record_not_saved" in run.first.warnings, "nobody says that the record was not saved")


@row("K15", "begin is lost on its way", first=Class.NEG, repeat="NEG")
async def begin_lost(run: Run) -> None:
    server = await run.start(lost(Step.BEGIN, Moment.BEFORE))
    await run.prepare(server)
    run.first = await run.confirm(server)
    await run.see_out(await run.start())
    run.expect(Stage.DATA not in run.smtp.stages, "DATA was sent without leave")


killed("K15", "killed when begin is applied, unanswered", after(Step.BEGIN), repeat=STALE_UNK)


# --- K16: abandoned by another -------------------------------------------------------------------------------------


async def _abandoned(run: Run, *, kill: bool) -> None:
    # Started first: begin, once held, waits for the store no longer than five seconds.
    other = await run.start()
    owner = await run.start(before(Step.BEGIN))
    await run.prepare(owner)
    attempt = run.confirming(owner)
    held = await run.place.gate.reached()
    run.place.records.age(run.deadline + 1.0)
    await run.repeat(other)
    if kill:
        await owner.kill()
    else:
        held.release()
    run.first = await attempt
    run.expect((await run.confirm(await run.start())).kind is Class.NEG, "the answer changes")
    run.expect(Stage.DATA not in run.smtp.stages, "DATA was sent without leave")


@row("K16", "another process abandons it, then its owner goes on", first=Class.NEG, repeat="NEG")
async def abandoned(run: Run) -> None:
    await _abandoned(run, kill=False)


@row("K16", "another process abandons it, then its owner is killed", kill=True, repeat="NEG")
async def abandoned_and_killed(run: Run) -> None:
    await _abandoned(run, kill=True)
