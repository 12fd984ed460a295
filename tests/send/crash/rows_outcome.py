"""K25 to K30: the outcome is known, and the world ends all the same."""

from __future__ import annotations

from collections.abc import Callable

from tests.peers.fault_proxy import Action, Direction, Fault
from tests.send.crash.answers import LOST, Class
from tests.send.crash.points import Moment, Rule, Step
from tests.send.crash.rows import STALE_UNK, after, before, killed, lost, row, said
from tests.send.crash.run import LONG_SECONDS, Run
from tests.send.crash.servers import until
from tests.send.crash.smtp import CLOSE, SILENCE, Say, Stage

# --- K25: the outcome is not written -------------------------------------------------------------------------------


async def _settle_lost(run: Run, moment: Moment, *, times: int) -> None:
    server = await run.start(lost(Step.SETTLE, moment, times))
    await run.prepare(server)
    run.first = await run.confirm(server)
    run.expect(("record_not_saved" in run.first.warnings) is (times == 2), "the warning does not fit")
    await server.kill()
    await run.see_out(await run.start())


@row("K25", "the outcome is lost, the store stays away", first=Class.ACC, repeat=STALE_UNK, dots=1)
async def settle_lost(run: Run) -> None:
    await _settle_lost(run, Moment.BEFORE, times=2)


@row("K25", "the outcome is applied, its answers lost", first=Class.ACC, repeat="ACC", dots=1)
async def settle_unanswered(run: Run) -> None:
    await _settle_lost(run, Moment.AFTER, times=2)


@row("K25", "the outcome is lost once, the store is back", first=Class.ACC, repeat="ACC", dots=1)
async def settle_lost_once(run: Run) -> None:
    await _settle_lost(run, Moment.BEFORE, times=1)


killed(
    *("K25", "the outcome is lost once, killed before it is written again"),
    *(before(Step.SETTLE), lost(Step.SETTLE, Moment.BEFORE)),
    repeat=STALE_UNK,
    dots=1,
)


# --- K26: written, and nobody was told -----------------------------------------------------------------------------

killed("K26", "killed when accepted is written, unanswered", after(Step.SETTLE), repeat="ACC", dots=1)
killed(
    *("K26", "killed when rejected is written, unanswered", after(Step.SETTLE)),
    setting=lambda run: said(run, Stage.DOT, Say(b"554 5.6.0 no\r\n")),
    repeat="NEG",
    dots=1,
)
killed(
    *("K26", "killed when unknown is written, unanswered", after(Step.SETTLE)),
    setting=lambda run: said(run, Stage.DOT, CLOSE),
    repeat="UNK",
    dots=1,
)


@row("K26", "the client is gone when the outcome is written", repeat="ACC", dots=1)
async def gone_at_the_end(run: Run) -> None:
    server = await run.start(after(Step.SETTLE))
    await run.prepare(server)
    attempt = run.confirming(server)
    held = await run.place.gate.reached()
    attempt.cancel()
    held.release()
    await run.settled(server)


# --- K27: QUIT -----------------------------------------------------------------------------------------------------


def _quit(place: str, say: Say) -> None:
    async def story(run: Run) -> None:
        said(run, Stage.QUIT, say)
        server = await run.start()
        await run.prepare(server)
        run.first = await run.confirm(server)
        await run.see_out(server)

    row("K27", place, first=Class.ACC, repeat="ACC", dots=1)(story)


_quit("QUIT is never answered", SILENCE)
_quit("the connection ends at QUIT", CLOSE)
_quit("QUIT is refused", Say(b"421 no\r\n"))


@row("K27", "killed before the reply to QUIT", kill=True, first="ACC", repeat="ACC", dots=1)
async def killed_at_quit(run: Run) -> None:
    run.smtp.hold = Stage.QUIT
    server = await run.start()
    await run.prepare(server)
    run.first = await run.confirm(server)
    await run.smtp.reached()
    await server.kill()
    await run.see_out(await run.start())


# --- K28: the copy in Sent -----------------------------------------------------------------------------------------

APPEND = b" APPEND "


async def _copy_fails(run: Run, arrange: Callable[[Run], None]) -> None:
    run.smtp.hold = Stage.DOT
    server = await run.start()
    await run.prepare(server)
    attempt = run.confirming(server, append_sent=True)
    await run.smtp.reached()
    arrange(run)
    run.smtp.release()
    run.first = await attempt
    run.expect(run.first.result.get("sent_copy") == "failed", "the copy is not told as failed")
    run.expect(len(run.first.warnings) > 0, "no warning about the copy")
    asked = run.appends()
    run.imap.conditions.faults = ()
    await run.see_out(await run.start(), append_sent=True)
    run.expect(run.appends() == asked, "a repeat asked for a copy")


def _fault(action: Action) -> Callable[[Run], None]:
    def arrange(run: Run) -> None:
        run.imap.conditions.faults = (Fault(Direction.UP, action, pattern=APPEND),)

    return arrange


@row("K28", "the connection ends at APPEND", imap=True, first=Class.ACC, repeat="ACC", dots=1)
async def append_cut(run: Run) -> None:
    await _copy_fails(run, _fault(Action.CLOSE))


@row("K28", "APPEND is never answered", imap=True, upstream_seconds=5.0, first=Class.ACC, repeat="ACC", dots=1)
async def append_stalls(run: Run) -> None:
    await _copy_fails(run, _fault(Action.STALL))


@row("K28", "APPEND is refused", imap=True, first=Class.ACC, repeat="ACC", dots=1)
async def append_refused(run: Run) -> None:
    await _copy_fails(run, lambda run: run.mailbox.delete("Sent"))


@row("K28", "killed inside APPEND", imap=True, kill=True, repeat="ACC", dots=1)
async def killed_in_append(run: Run) -> None:
    server = await run.start()
    _fault(Action.STALL)(run)
    await run.prepare(server)
    attempt = run.confirming(server, append_sent=True)
    await until(lambda: run.imap.traffic.faults, seconds=LONG_SECONDS, what="no APPEND came")
    await server.kill()
    run.first = await attempt
    run.imap.conditions.faults = ()
    await run.see_out(await run.start(), append_sent=True)
    run.expect(run.appends() == 0, "a repeat asked for a copy")


async def _killed_at_note(run: Run, rule: Rule) -> None:
    server = await run.start(rule)
    await run.prepare(server)
    attempt = run.confirming(server, append_sent=True)
    await run.place.gate.reached()
    await server.kill()
    run.first = await attempt
    await run.see_out(await run.start(), append_sent=True)
    run.expect(run.appends() == 1, f"{run.appends()} copies were asked for")


@row("K28", "killed after APPEND, before the copy is noted", imap=True, kill=True, repeat="ACC", dots=1)
async def killed_before_note(run: Run) -> None:
    await _killed_at_note(run, before(Step.NOTE_COPY))


@row("K28", "killed when the copy is noted, unanswered", imap=True, kill=True, repeat="ACC", dots=1)
async def killed_after_note(run: Run) -> None:
    await _killed_at_note(run, after(Step.NOTE_COPY))


# --- K29, K30: leaving and ending ----------------------------------------------------------------------------------


@row("K29", "the client leaves after the claim", repeat="RUN>ACC", dots=1)
async def client_leaves(run: Run) -> None:
    run.smtp.hold = Stage.DOT
    server = await run.start()
    await run.prepare(server)
    attempt = run.confirming(server)
    await run.smtp.reached()
    attempt.cancel()
    await run.repeat(server)
    run.smtp.release()
    await run.settled(server)


@row("K29", "the client leaves after the claim, then killed", kill=True, repeat=STALE_UNK, dots=1)
async def leaves_and_killed(run: Run) -> None:
    run.smtp.hold = Stage.DOT
    server = await run.start()
    await run.prepare(server)
    attempt = run.confirming(server)
    await run.smtp.reached()
    attempt.cancel()
    await server.kill()
    await run.see_out(await run.start())


async def _terminated(run: Run, *, leaves: bool = False, kill: bool = False) -> None:
    run.smtp.hold = Stage.DOT
    server = await run.start()
    await run.prepare(server)
    attempt = run.confirming(server)
    await run.smtp.reached()
    if leaves:
        attempt.cancel()
    server.terminate()
    await until(lambda: "Shutting down" in server.log.read_text(), seconds=LONG_SECONDS, what="no shutdown")
    run.expect(server.running, "it does not wait for a send that is under way")
    if kill:
        await server.kill()
    else:
        run.smtp.release()
        await server.ended()
    run.first = LOST if leaves else await attempt
    await run.see_out(await run.start())


@row("K30", "SIGTERM while the dot is unanswered: drained", first=Class.ACC, repeat="ACC", dots=1)
async def drained(run: Run) -> None:
    await _terminated(run)


@row("K30", "SIGTERM, and the client has left: drained", repeat="ACC", dots=1)
async def drained_for_nobody(run: Run) -> None:
    await _terminated(run, leaves=True)


@row("K30", "SIGTERM, then killed while it drains", kill=True, repeat=STALE_UNK, dots=1)
async def drained_and_killed(run: Run) -> None:
    await _terminated(run, kill=True)
