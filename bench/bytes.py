"""What moves and what is held in memory: the text of a message of 20 MB, and an attachment of 2 MiB from it.

mailgate runs over stdio, behind a line that counts octets. Each call is made in a new process (cold: connecting is in
the octets, and libraries that are first needed now are in the memory, which therefore has no aim) and again in the same
one (warm). Memory is what was resident at the highest during the call, beyond what was resident before it. An aim that
is missed says so, and the exit status is 1.

    scripts/bench bytes [--calls 3]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.contenders import mailbox
from bench.contenders.contenders import Mailgate, Place
from bench.contenders.environments import Environments
from bench.contenders.process import Running
from bench.peers import Lines
from tests.peers.authority import authority
from tests.peers.dovecot import Dovecot

KIB: Final = 1024
MIB: Final = 1024 * 1024
SIZE: Final = 200
ENCODED: Final = -(-len(mailbox.FILE_BYTES) // 57) * 78
"""Of the attachment: 57 octets make a line of 76 characters and CRLF (RFC 2045, 6.8)."""


@dataclass(frozen=True)
class Subject:
    """A call, the octets of mail it is about as they are on the line, and how many of them may move at most."""

    name: str
    tool: str
    uid: int
    more: dict[str, Any]
    about: int
    most: Callable[[int], float]


SUBJECTS: Final = (
    Subject(
        "text of the 20 MB message",
        "mail_read",
        mailbox.LARGE_UID,
        {},
        len(mailbox.LARGE_TEXT),
        lambda n: 64 * KIB + 2 * n,
    ),
    Subject(
        "its attachment of 2 MiB", "mail_get_attachment", mailbox.LARGE_UID, {"index": 2}, ENCODED, lambda n: 1.4 * n
    ),
    Subject("a small message", "mail_read", mailbox.SMALL_UID, {}, 0, lambda n: 64 * KIB),
)


@dataclass(frozen=True)
class Moved:
    """Octets of one call: to the server, to the client, in the answer, and resident beyond before."""

    up: int
    down: int
    answer: int
    growth: int
    wrong: str

    def misses(self, subject: Subject, *, cold: bool) -> list[str]:
        """The aims that are missed."""
        missed = [self.wrong] if self.wrong else []
        if self.up + self.down > subject.most(subject.about):
            missed.append("too many octets")
        if not cold and self.growth > memory_aim(self.answer):
            missed.append("too much memory")
        return missed


def memory_aim(answer: int) -> int:
    """How far memory may rise for an answer of so many octets."""
    return 4 * answer + 8 * MIB


async def asked(running: Running, subject: Subject, lines: Lines) -> Moved:
    """One call."""
    reference = {"folder": "INBOX", "uid_validity": mailbox.UID_VALIDITY, "uid": subject.uid}
    await lines.passed()
    growth = running.growth_of()
    result = await running.ask(
        "tools/call", {"name": subject.tool, "arguments": {"reference": reference, **subject.more}}
    )
    grown = growth.octets()
    passed = await lines.passed()
    wrong = result["content"][0]["text"].splitlines()[0][:100] if result.get("isError") else ""
    return Moved(passed["up"], passed["down"], len(json.dumps(result).encode()), grown, wrong)


def row(subject: Subject, call: int, moved: Moved) -> str:
    """One line of the table."""
    times = f"{(moved.up + moved.down) / subject.about:.2f}" if subject.about else "–"
    aims = f"{subject.most(subject.about) / KIB:,.0f} | " + (f"{memory_aim(moved.answer) / MIB:.1f}" if call else "–")
    kind = f"warm {call}" if call else "cold"
    verdict = "; ".join(moved.misses(subject, cold=not call)) or "met"
    return (
        f"| {subject.name} | {kind} | {moved.up / KIB:,.1f} | {moved.down / KIB:,.1f} | {times} "
        f"| {moved.answer / KIB:,.0f} | {moved.growth / MIB:.1f} | {aims} | {verdict} |"
    )


async def measured(calls: int) -> bool:
    """Print a row for each call; whether every aim is met."""
    certificates = authority()
    certificate = certificates.certificate()
    server = Dovecot(certificate.chain, certificate.key)
    lines = Lines(0)
    met = True
    print("| | | KiB up | KiB down | × encoded | KiB answer | MiB grown | aim KiB | aim MiB | |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|---|")
    try:
        user = mailbox.filled(server, SIZE)
        await lines.open(server.tls_port, server.plain_port)
        with tempfile.TemporaryDirectory(prefix="mailgate-bench-") as folder:
            place = Place(*lines.ports, user.name, user.password, str(certificates.ca_file), Path(folder))
            for subject in SUBJECTS:
                running = await Mailgate(Environments.of_this_machine()).start(place)
                try:
                    for call in range(calls + 1):
                        moved = await asked(running, subject, lines)
                        print(row(subject, call, moved), flush=True)
                        met = met and not moved.misses(subject, cold=not call)
                finally:
                    await running.stop()
    finally:
        await lines.close()
        server.stop()
    return met


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=3, help="warm calls of each")
    if not asyncio.run(measured(parser.parse_args().calls)):
        sys.exit(1)


if __name__ == "__main__":
    main()
