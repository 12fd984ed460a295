"""Processes that confirm, each with settings of its own: `python -m tests.send.parallel.caller`.

This process imports everything once and waits. For each line of its input (JSON: environment, port, confirmations) it
forks; the child builds a service, connects to the port, says `ready`, waits for a line, makes all the calls at once,
says how each ended as soon as it has, and `done`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import Any

from mailgate.app import build_service
from mailgate.settings import load_settings
from tests.send.faults.scene import Sending


async def child(environment: dict[str, str], port: int, asked: list[dict[str, Any]]) -> None:
    service = Sending(build_service(load_settings(environment)))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    def say(line: str) -> None:
        writer.write(line.encode() + b"\n")

    async def confirm(review: dict[str, Any]) -> None:
        say(await service.outcome(review))

    say("ready")
    await reader.readline()
    await asyncio.gather(*map(confirm, asked))
    await service.service.aclose()
    say("done")
    await writer.drain()


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if os.fork() == 0:
            try:
                asyncio.run(child(**json.loads(line)))
            finally:
                os._exit(0)


if __name__ == "__main__":
    main()
