"""What everybody is asked to do, and the least that it can take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bench.contenders.mailbox import FILE_BYTES

CONNECT_TLS: Final = 4
"""TCP, TLS 1.3, the greeting, the login: round trips before the first useful command."""
CONNECT_PLAINTEXT: Final = 3


@dataclass(frozen=True)
class Job:
    """`cold` and `warm`: round trips that cannot be avoided, connecting apart. `octets`: payload on the line."""

    name: str
    cold: int
    warm: int
    octets: int = 0

    def floor(self, rtt: float, mbit: float, *, cold: bool, tls: bool = True) -> float:
        """Milliseconds, for a round trip of `rtt` milliseconds."""
        connect = (CONNECT_TLS if tls else CONNECT_PLAINTEXT) if cold else 0
        return (connect + (self.cold if cold else self.warm)) * rtt + self.octets * 8 / (mbit * 1000)


JOBS: Final = {
    job.name: job
    for job in (
        Job("list", 1, 1),
        Job("newest", 2, 1),
        Job("filter", 2, 2),
        Job("read", 1, 1),
        Job("read20m", 1, 1),
        Job("attach2m", 2, 1, octets=len(FILE_BYTES) * 4 * 78 // (3 * 76)),
        Job("mark", 2, 1),
        Job("draft", 2, 1),
    )
}
