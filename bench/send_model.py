"""The model of the two-call send, deeper than the tests walk it: `scripts/bench send_model [ATTEMPTS]`.

Prints how many states the design reaches with four attempts (or as many as asked for) and fails when one is bad.
"""

from __future__ import annotations

import sys
import time

from tests.send.model import Design, walk


def main(attempts: int = 4) -> int:
    """Walk the design as it is, and with a preparation that arrives again in a store that keeps everything."""
    designs = {
        "the design": Design(),
        "preparing arrives again, nothing is evicted": Design(prepare_arrives_again=True, eviction=False),
    }
    bad = 0
    for name, design in designs.items():
        begun = time.monotonic()
        result = walk(design, attempts=attempts)
        bad += bool(result.broken)
        verdict = "BROKEN: " + ", ".join(result.broken) if result.broken else "holds"
        seconds = time.monotonic() - begun
        print(f"{name}, {attempts} attempts: {verdict}, {result.states:,} states, {seconds:.0f} s", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:2])))
