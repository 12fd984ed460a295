"""SIGKILL at every place where a send can stop, on each store: `scripts/bench crash [--exec] [--at-once N] [WORD ...]`.

Prints one line a run and the total, as docs/crash-points.md keeps it; ends with 1 when something was violated. Rows
whose number or sentence holds one of the words; all without words. `--exec` starts each server as a program of its own
instead of forking it from one that is loaded: the same, and ten times as slow. Deadlines pass in real time.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from tests.peers.authority import authority
from tests.peers.redis_server import RedisServer
from tests.send.crash.places import Store
from tests.send.crash.rows_all import all_rows
from tests.send.crash.run import Clock, Outcome, Row, carry_out_all
from tests.send.crash.servers import ForkedServers, StartedServers

FORKED_DEADLINE, STARTED_DEADLINE = 10.0, 30.0
"""Seconds of an attempt where it has to pass. A new server has to answer within it, or nobody sees RUN."""
HEAD = ("row", "where it stops", "kill -9", "store", "dots", "first", "repeat", "expected", "verdict")


def main(arguments: list[str]) -> int:
    options = _options(arguments)
    rows = [row for row in all_rows() if not options.words or any(_names(row, word) for word in options.words)]
    begun = time.monotonic()
    outcomes = asyncio.run(_all(rows, options))
    for cells in (HEAD, tuple("---" for _ in HEAD), *map(_cells, outcomes)):
        print("| " + " | ".join(cells) + " |")
    bad = [outcome for outcome in outcomes if outcome.problems]
    killed = sum(outcome.row.kill for outcome in outcomes)
    beyond = sum(outcome.row.beyond for outcome in outcomes)
    twice = sum(outcome.dots > 1 and not outcome.row.beyond for outcome in outcomes)
    print(
        f"\n{len(outcomes)} runs of {len(rows)} rows, {killed} of them with SIGKILL: {len(bad)} violated, "
        f"{twice} with a second dot; {beyond} with a broken assumption. "
        f"{time.monotonic() - begun:.0f} s, servers {'started' if options.exec else 'forked'}."
    )
    return int(bool(bad))


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench crash")
    parser.add_argument("--exec", action="store_true", help="start every server as a program of its own")
    parser.add_argument("--at-once", type=int, default=10, help="rows under way at the same time (default 10)")
    parser.add_argument("words", nargs="*", help="rows with one of these in number or sentence")
    return parser.parse_args(arguments)


def _names(row: Row, word: str) -> bool:
    return word == row.number or word in row.place


async def _all(rows: list[Row], options: argparse.Namespace) -> list[Outcome]:
    clock = Clock(STARTED_DEADLINE if options.exec else FORKED_DEADLINE, waits=True)
    wanted = [(row, store) for row in rows for store in Store if store in row.stores]
    redis = RedisServer(authority().certificate())
    try:
        async with StartedServers() if options.exec else ForkedServers() as servers:
            return await carry_out_all(wanted, servers, redis, at_once=options.at_once, clock=clock)
    finally:
        redis.stop()


def _cells(outcome: Outcome) -> tuple[str, ...]:
    row = outcome.row
    expected = f"{row.first}, then {row.repeat}" if row.repeat != "n/a" else row.first
    kill = "yes" if row.kill else ""
    seen = (outcome.store.value, str(outcome.dots), outcome.first, outcome.repeat)
    return (row.number, row.place, kill, *seen, expected, outcome.verdict)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
