"""Forks server processes from one that has mailgate loaded: `python -m tests.send.crash.nursery`.

One line of JSON a request on stdin: `{"serve": NAME, "environment": {...}, "log": PATH, "plan": {...}, "arguments":
[...]}` or `{"signal": NUMBER, "pid": PID}`. On stdout: `{"born": NAME, "pid": PID}`, `{"ended": PID, "status": CODE}`.
Only this process' own, living children are ever signalled. When stdin ends, all of them are.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any

from tests.send.crash import held
from tests.send.crash.points import Plan

_LOADED = (
    *("mailgate.app", "mailgate.cli", "mailgate.cli_web", "uvicorn", "uvicorn.lifespan.on", "redis.asyncio"),
    *("uvicorn.protocols.http.h11_impl", "upstash_redis.asyncio", "httpx"),
)
_PR_SET_PDEATHSIG = 1
_living: set[int] = set()


def main() -> int:
    for name in _LOADED:
        importlib.import_module(name)
    # What is shared with the children stays shared when they collect garbage.
    gc.freeze()
    signal.signal(signal.SIGCHLD, _reap)
    _say({"ready": True})
    for line in sys.stdin:
        _obey(json.loads(line))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for pid in _living:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return 0


def _obey(request: dict[str, Any]) -> None:
    if "serve" in request:
        pid = os.fork()
        if pid == 0:
            os._exit(_serve(request))
        _living.add(pid)
        _say({"born": request["serve"], "pid": pid})
        _reap()
    elif request["pid"] in _living:
        os.kill(request["pid"], request["signal"])


def _reap(*_: object) -> None:
    for pid in list(_living):
        with suppress(ChildProcessError):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                _living.discard(pid)
                _say({"ended": pid, "status": os.waitstatus_to_exitcode(status)})


def _say(report: dict[str, Any]) -> None:
    # One write a line: the signal handler may come in between two.
    os.write(1, json.dumps(report).encode() + b"\n")


def _serve(request: dict[str, Any]) -> int:
    """In the child: become the server."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    nothing, log = os.open(os.devnull, os.O_RDONLY), os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for source, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(source, target)
    os.environ.clear()
    os.environ.update(request["environment"])
    held.apply(Plan.of_json(request["plan"]))
    from mailgate.cli import main as mailgate

    return mailgate(request["arguments"])


if __name__ == "__main__":
    sys.exit(main())
