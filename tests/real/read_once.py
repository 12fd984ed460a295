"""Read one message of INBOX in a process of its own and print the peak of its resident memory in octets."""

from __future__ import annotations

import asyncio
import os
import resource
import sys

from tests.real.tools import Tools


async def main(uid: int) -> None:
    """Search for the UIDVALIDITY, read, print."""
    tools = Tools(dict(os.environ))
    page = await tools.search()
    await tools.call("mail_read", folder="INBOX", uid_validity=page["uid_validity"], uid=uid)
    await tools.aclose()
    # Linux counts in KiB (getrusage(2)).
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
