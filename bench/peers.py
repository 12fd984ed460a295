"""mailgate, other mail servers for MCP, and code by hand: the same jobs on the same mailbox over one measured line.

Each cell is checked: an answer that is not right is marked and says why. Before each call for the newest page one
message arrives behind everybody's back, and the answer must show it. Cold is the first call of a new process, which has
been introduced and has connected to nothing; warm is the median of further calls. Ratios are to the floor: round trips
that cannot be avoided, and the payload at the line's bandwidth.

    scripts/bench peers                                          1,000 messages, a round trip of 40 ms
    scripts/bench peers --rtt 0,40,150 --sizes 1k,10k,100k       everything
    scripts/bench peers --only mailgate,mcp-mail-server --jobs read,newest
    scripts/bench peers --write docs/performance.md              put the tables between the marks in that page
    scripts/bench peers --keep cells.jsonl                       keep every figure, a line of JSON for each
    scripts/bench peers --again cells.jsonl --write PAGE         the tables from such a file, without measuring
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.contenders import contenders, mailbox, tables
from bench.contenders.contenders import Contender, Place, WrongAnswer
from bench.contenders.environments import Environments
from bench.contenders.jobs import JOBS
from bench.contenders.over_http import MailgateOverHttp
from bench.contenders.process import PeerFailed, Running
from bench.contenders.sc_imap_mcp import ScImapMcp
from tests.peers.authority import authority, foreign_authority
from tests.peers.dovecot import Dovecot, MailUser

ALL: list[type[Contender]] = [
    contenders.Mailgate,
    MailgateOverHttp,
    contenders.McpEmailServer,
    contenders.CodefuturistEmailMcp,
    contenders.McpMailServer,
    ScImapMcp,
    contenders.ByImapClient,
    contenders.ByImapFlow,
]
MBIT = 100.0
READS = {"read": mailbox.SMALL_UID, "read20m": mailbox.LARGE_UID, "attach2m": mailbox.LARGE_UID}
"""What each job looks at, which must not change it."""


@dataclass
class Cell:
    """One job of one contender. Milliseconds; round trips with those of TCP; octets; `wrong` says what is not right."""

    contender: str
    job: str
    size: int
    rtt: float
    cold: float | None = None
    warm: float | None = None
    cold_turns: int = 0
    cold_connections: int = 0
    cold_down: int = 0
    warm_turns: int = 0
    warm_connections: int = 0
    warm_up: int = 0
    warm_down: int = 0
    peak: int = 0
    start: float | None = None
    tls: bool = True
    any_certificate: bool = False
    wrong: str = ""


class Lines:
    """The two lines to one server: with TLS, and without."""

    def __init__(self, rtt: float) -> None:
        self._rtt = rtt
        self._processes: list[asyncio.subprocess.Process] = []
        self.ports: list[int] = []

    async def open(self, *ports: int) -> None:
        """Put a line in front of each port."""
        for port in ports:
            command = [sys.executable, "-m", "bench.contenders.line", "--to", str(port), "--rtt", str(self._rtt)]
            process = await asyncio.create_subprocess_exec(
                *command, "--mbit", str(MBIT), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
            )
            self._processes.append(process)
            self.ports.append(int(await process.stdout.readline()))  # type: ignore[union-attr]

    async def passed(self) -> dict[str, int]:
        """What has passed since the last time, on both."""
        total = {"turns": 0, "connections": 0, "up": 0, "down": 0}
        for process in self._processes:
            process.stdin.write(b"\n")  # type: ignore[union-attr]
            await process.stdin.drain()  # type: ignore[union-attr]
            for name, value in json.loads(await process.stdout.readline()).items():  # type: ignore[union-attr]
                total[name] += value
        return total

    async def close(self) -> None:
        """End them."""
        for process in self._processes:
            process.stdin.close()  # type: ignore[union-attr]
            await process.wait()


class Measurement:
    """All jobs of all contenders on one mailbox over one line."""

    def __init__(
        self, user: MailUser, place: Place, lines: Lines, *, size: int, rtt: float, repeats: int, starts: int
    ) -> None:
        self._user, self._place, self._lines = user, place, lines
        self._size, self._rtt, self._repeats, self._starts = size, rtt, repeats, starts
        self._calls = 0

    async def cell(self, contender: Contender, job: str) -> Cell:
        """One job, cold in several new processes, and warm in the last of them."""
        cell = Cell(contender.name, job, self._size, self._rtt, tls=contender.tls)
        cell.wrong = contender.remarks.get(job, "")
        self._unread(job)
        colds, starts = [], []
        for attempt in range(self._starts):
            begun = time.perf_counter()
            running = await contender.start(self._place)
            starts.append((time.perf_counter() - begun) * 1000)
            # Whoever connects before it is asked has done so outside of what is timed; what passed then is not counted.
            await self._lines.passed()
            try:
                colds.append(await self._call(contender, job, running, cell))
                passed = await self._lines.passed()
                cell.cold_turns, cell.cold_down = passed["turns"] + passed["connections"], passed["down"]
                cell.cold_connections = passed["connections"]
                if attempt == self._starts - 1:
                    await self._warm(contender, job, running, cell)
            except (PeerFailed, TimeoutError) as error:
                cell.wrong = cell.wrong or f"failed: {' '.join(str(error)[:120].split())}"
                return cell
            finally:
                await running.stop()
                await self._lines.passed()
        if self._is_marked(job):
            cell.wrong = cell.wrong or "marks the message as read"
        cell.cold, cell.start = statistics.median(colds), statistics.median(starts)
        return cell

    def _unread(self, job: str) -> None:
        # Once before the first call: a flag that changes between calls is news that every session has to take in.
        if self._is_marked(job):
            self._user.mark(READS[job], "\\Seen", sign="-")

    def _is_marked(self, job: str) -> bool:
        return job in READS and "\\Seen" in self._user.flags(READS[job])

    async def accepts_any_certificate(self, contender: Contender) -> bool:
        """Whether it hands the password to a server whose certificate nobody it trusts has issued."""
        stranger = replace(self._place, ca_file=str(foreign_authority().ca_file))
        try:
            running = await contender.start(stranger)
        except (PeerFailed, TimeoutError):
            return False
        try:
            await contender.do("list", running, 0, stranger)
        except (PeerFailed, TimeoutError, WrongAnswer):
            return False
        finally:
            await running.stop()
            await self._lines.passed()
        return True

    async def _warm(self, contender: Contender, job: str, running: Running, cell: Cell) -> None:
        await self._call(contender, job, running, cell)
        await self._lines.passed()
        times = []
        for _ in range(self._repeats):
            times.append(await self._call(contender, job, running, cell))
            passed = await self._lines.passed()
            cell.warm_turns, cell.warm_down = passed["turns"] + passed["connections"], passed["down"]
            cell.warm_connections, cell.warm_up = passed["connections"], passed["up"]
        cell.warm = statistics.median(times)
        cell.peak = running.peak()

    async def _call(self, contender: Contender, job: str, running: Running, cell: Cell) -> float:
        self._calls += 1
        if job == "newest":
            self._user.append(mailbox.fresh(self._calls))
        begun = time.perf_counter()
        try:
            await contender.do(job, running, self._calls, self._place)
        except WrongAnswer as wrong:
            cell.wrong = cell.wrong or " ".join(str(wrong).split())
        took = (time.perf_counter() - begun) * 1000
        if job == "mark" and "\\Seen" not in self._user.flags(mailbox.FIRST_UNREAD + self._calls):
            cell.wrong = cell.wrong or "the flag is not set"
        return took


async def measured(options: argparse.Namespace) -> list[Cell]:
    """Every cell, printed as it comes."""
    certificates = authority()
    certificate = certificates.certificate()
    server = Dovecot(certificate.chain, certificate.key)
    environments = Environments.of_this_machine()
    chosen = [each(environments) for each in ALL if not options.only or each.name in options.only.split(",")]
    cells = []
    try:
        for size in map(number_of, options.sizes.split(",")):
            for rtt in map(float, options.rtt.split(",")):
                user = mailbox.filled(server, size)
                lines = Lines(rtt)
                await lines.open(server.tls_port, server.plain_port)
                with tempfile.TemporaryDirectory(prefix="mailgate-bench-") as folder:
                    place = Place(*lines.ports, user.name, user.password, str(certificates.ca_file), Path(folder))
                    run = Measurement(
                        user, place, lines, size=size, rtt=rtt, repeats=options.repeats, starts=options.starts
                    )
                    for contender in chosen:
                        careless = contender.tls and await run.accepts_any_certificate(contender)
                        for job in wanted_jobs(options.jobs):
                            if contender.can(job):
                                cells.append(await run.cell(contender, job))
                                cells[-1].any_certificate = careless
                                print(tables.plain(cells[-1], MBIT), flush=True)
                await lines.close()
    finally:
        server.stop()
    return cells


def number_of(text: str) -> int:
    """`10k` or `10000`."""
    return int(text.removesuffix("k")) * (1000 if text.endswith("k") else 1)


def kept(path: Path) -> list[Cell]:
    """The cells of an earlier run."""
    return [Cell(**json.loads(line)) for line in path.read_text().splitlines()]


def wanted_jobs(named: str) -> Iterable[str]:
    """The jobs that were asked for, in the order of the table."""
    return [job for job in JOBS if not named or job in named.split(",")]


def main() -> None:
    """Measure and print; `--keep` writes the cells as JSON lines, `--write` puts the tables into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rtt", default="40")
    parser.add_argument("--sizes", default="1k")
    parser.add_argument("--jobs", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--starts", type=int, default=3, help="new processes for each cold figure")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--again", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    cells = kept(options.again) if options.again else asyncio.run(measured(options))
    if options.keep:
        options.keep.write_text("".join(json.dumps(asdict(cell)) + "\n" for cell in cells))
    print(tables.page(cells, MBIT))
    if options.write:
        tables.write(options.write, tables.page(cells, MBIT))


if __name__ == "__main__":
    main()
