"""K17 to K24: from the leave to send to the server's last word. From here on silence means that nobody knows."""

from __future__ import annotations

from tests.send.crash.answers import Class
from tests.send.crash.places import SQLITE
from tests.send.crash.points import Step
from tests.send.crash.rows import STALE_UNK, before, inside, killed, row, said
from tests.send.crash.run import Run
from tests.send.crash.smtp import CLOSE, SILENCE, Say, Stage, Then

LARGE = {"text": "Hello there.\n" * 60_000}
"""Many times what the system takes on its way while the server does not read."""
WINDOW = 4096


def _answered(
    number: str, place: str, stage: Stage, say: Say, told: Class, dots: int, *, large: bool = False, **more: object
) -> None:
    """The SMTP server says this at this stage; the call and a repeat by a new server both tell what came of it."""

    async def story(run: Run) -> None:
        said(run, stage, say)
        server = await run.start()
        await run.prepare(server, **(LARGE if large else {}))
        run.first = await run.confirm(server)
        await server.kill()
        await run.see_out(await run.start())

    row(number, place, first=told, repeat=told.value, dots=dots, window=WINDOW if large else 0, **more)(story)


# --- K17, K18: DATA ------------------------------------------------------------------------------------------------

killed("K17", "killed before the reply to DATA", Stage.DATA, repeat=STALE_UNK)
_answered("K18", "DATA is refused for good", Stage.DATA, Say(b"554 5.7.1 no\r\n"), Class.NEG, 0)
_answered("K18", "DATA is refused for now", Stage.DATA, Say(b"451 4.3.0 later\r\n"), Class.NEG, 0)
_answered("K18", "the connection ends at DATA", Stage.DATA, CLOSE, Class.NEG, 0)
killed(
    *("K18", "killed when DATA is refused, before the outcome", before(Step.SETTLE)),
    setting=lambda run: said(run, Stage.DATA, Say(b"554 5.7.1 no\r\n")),
    repeat=STALE_UNK,
)


# --- K19: inside the message ---------------------------------------------------------------------------------------

_answered("K19", "the connection ends inside the message", Stage.BODY, CLOSE, Class.UNK, 0, large=True)
_answered(
    "K19", "the server stops reading inside the message", Stage.BODY, SILENCE, Class.UNK, 0, large=True, deadline=5.0
)
killed(
    *("K19", "killed inside the message", Stage.BODY),
    message=LARGE,
    repeat=STALE_UNK,
    window=WINDOW,
)


# --- K20 to K23: the reply to the dot ------------------------------------------------------------------------------

_answered("K20", "the connection ends after the dot", Stage.DOT, CLOSE, Class.UNK, 1)
_answered("K20", "silence after the dot", Stage.DOT, SILENCE, Class.UNK, 1, deadline=5.0)
killed("K20", "killed after the dot, before its reply", Stage.DOT, repeat=STALE_UNK, dots=1)
_answered("K21", "half a reply, then the end", Stage.DOT, Say(b"250 2.0", Then.CLOSE), Class.UNK, 1)
_answered(
    "K21", "an unfinished reply, then silence", Stage.DOT, Say(b"250-2.0\r\n", Then.SILENCE), Class.UNK, 1, deadline=5.0
)
_answered("K21", "a reply with two codes", Stage.DOT, Say(b"250-yes\r\n550 no\r\n"), Class.UNK, 1)
_answered("K21", "a reply that is none", Stage.DOT, Say(b"OK\r\n"), Class.UNK, 1)
killed(
    *("K21", "killed after half a reply", Stage.DOT),
    setting=lambda run: said(run, Stage.DOT, Say(b"250 2.0", Then.SILENCE)),
    repeat=STALE_UNK,
    dots=1,
)
_answered("K22", "refused for now after the dot", Stage.DOT, Say(b"451 4.3.0 later\r\n"), Class.NEG, 1)
_answered("K22", "refused for good after the dot", Stage.DOT, Say(b"554 5.6.0 no\r\n"), Class.NEG, 1)
killed(
    *("K22", "killed when it is refused after the dot, before the outcome", before(Step.SETTLE)),
    setting=lambda run: said(run, Stage.DOT, Say(b"554 5.6.0 no\r\n")),
    repeat=STALE_UNK,
    dots=1,
)
_answered("K23", "250 to the dot", Stage.DOT, Say(b"250 2.0.0 taken\r\n"), Class.ACC, 1)
_answered("K23", "252 to the dot", Stage.DOT, Say(b"252 fine\r\n"), Class.ACC, 1)
_answered("K23", "a reply of several lines to the dot", Stage.DOT, Say(b"250-taken\r\n250 as 1\r\n"), Class.ACC, 1)
_answered("K23", "250 to the dot, then the end", Stage.DOT, Say(b"250 ok\r\n", Then.CLOSE), Class.ACC, 1)


# --- K24: accepted, and nobody has written it down -----------------------------------------------------------------

killed("K24", "killed after 250, before the outcome is applied", before(Step.SETTLE), repeat=STALE_UNK, dots=1)
killed(
    *("K24", "killed after 250, inside the transaction of the outcome", inside(Step.SETTLE)),
    repeat=STALE_UNK,
    dots=1,
    stores=SQLITE,
)
