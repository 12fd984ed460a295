"""Make one call in a process of its own and print in JSON what it cost in resident memory and what it gave.

    python -m tests.real.read_once mail_read '{"uid": 1}'

`grown`: the most that it held above what it held just before; a smaller call of the same tool may be made first. Linux
counts that, elsewhere it is null. `returned`: characters of what the answer says of the message.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from pathlib import Path

from tests.real.tools import Tools

KIB = 1024


def _resident(name: str) -> int | None:
    """`VmRSS` or `VmHWM` (proc(5)) in octets."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * KIB
    return None


def _forget_peak() -> bool:
    """Start the high-water mark anew (proc(5), clear_refs)."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


async def main(tool: str, arguments: dict[str, object], first: dict[str, object] | None) -> dict[str, int | None]:
    """Search for the UIDVALIDITY, call, measure."""
    tools = Tools(dict(os.environ))
    page = await tools.search()
    place = {"folder": "INBOX", "uid_validity": page["uid_validity"]}
    if first is not None:
        await _call(tools, tool, place, first)
    gc.collect()
    before = _resident("VmRSS") if _forget_peak() else None
    returned = await _call(tools, tool, place, arguments)
    grown = None if before is None else (_resident("VmHWM") or 0) - before
    await tools.aclose()
    return {"grown": grown, "returned": returned}


async def _call(tools: Tools, tool: str, place: dict[str, object], arguments: dict[str, object]) -> int:
    given = {key: value for key, value in arguments.items() if key != "uid"}
    answer = await tools.call(tool, reference={**place, "uid": arguments["uid"]}, **given)
    return sum(len(value) for value in answer["untrusted"].values() if isinstance(value, str))


if __name__ == "__main__":
    tool, arguments, *more = sys.argv[1:]
    print(json.dumps(asyncio.run(main(tool, json.loads(arguments), json.loads(more[0]) if more else None))))
