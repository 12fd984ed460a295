"""A process of its own that claims: `python -m tests.send.stores.claimant DATABASE TAG ID DIGEST COUNT`.

Prints how many of its claims won, then kills itself without any chance to tidy up.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from mailgate.send.record import Digest, Nonce, PreparedId
from mailgate.send.sqlite_store import SqliteStore
from mailgate.send.store import StoredClaim
from tests.send.stores.harness import DEADLINE, OWNER


async def main(database: str, tag: str, prepared_id: str, digest: str, count: str) -> None:
    store = SqliteStore(Path(database), tag)
    claims = (
        store.claim(
            PreparedId(prepared_id),
            OWNER,
            Digest(digest),
            Nonce.new(),
            limit_per_hour=None,
            deadline_seconds=DEADLINE,
        )
        for _ in range(int(count))
    )
    answers = await asyncio.gather(*claims)
    print(sum(isinstance(answer, StoredClaim) for answer in answers), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
