"""How many messages a second are read, how long one caller in a hundred waits, and where the time goes.

Everything is measured in one run on this machine, without any delay on the line: mail_read over HTTP with 1 and with 16
callers; beside it a tool that does nothing, on a bare low-level server of the same SDK; and the same read without HTTP
and MCP, as mailgate does it and as the mail server alone answers it. Then a page of a folder of 100,000 messages beside
one of 1,000, each time with the mail server's own time for such commands.

    scripts/bench load [--calls 400] [--large 100000]
"""

from __future__ import annotations

import argparse
import asyncio
import imaplib
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import Any

import httpx

from bench.contenders import mailbox
from bench.contenders.contenders import Mailgate, Place
from bench.contenders.environments import Environments
from bench.contenders.over_http import MailgateOverHttp, RunningOverHttp, free_port, until_ready
from bench.contenders.process import Program
from mailgate.app import build_service
from mailgate.imap.values import FolderName, MessageRef, Uid, UidValidity
from mailgate.read.message import read_message
from mailgate.settings import load_settings
from tests.peers.authority import authority
from tests.peers.dovecot import Dovecot, MailUser

Once = Callable[[], Awaitable[Any]]
SIZE = 1000
FIELDS = "FROM TO SUBJECT DATE MESSAGE-ID"
PAGES: dict[str, dict[str, str]] = {
    "newest": {},
    "filtered, many match": {"subject": "letter number"},
    "filtered, three match": {"from": mailbox.NEEDLE_FROM},
}


async def under_load(once: Once, *, callers: int, calls: int) -> tuple[float, float, float]:
    """Calls a second, and milliseconds: the median and the 99th of a hundred."""
    times: list[float] = []

    async def caller(share: int) -> None:
        for _ in range(share):
            begun = time.perf_counter()
            await once()
            times.append((time.perf_counter() - begun) * 1000)

    await caller(20)
    times.clear()
    begun = time.perf_counter()
    await asyncio.gather(*(caller(calls // callers) for _ in range(callers)))
    took = time.perf_counter() - begun
    times.sort()
    return len(times) / took, statistics.median(times), times[int(len(times) * 0.99) - 1]


async def over_http(place: Place, calls: int) -> None:
    """mail_read, and beside it the tool that does nothing."""
    ours = await MailgateOverHttp(Environments.of_this_machine()).start(place)
    port = free_port()
    bare = await RunningOverHttp.begin(
        Program([sys.executable, "-m", "bench.contenders.bare", str(port)], {"PYTHONPATH": "."})
    )
    bare.client = httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{port}", headers={"accept": "application/json, text/event-stream"}
    )
    await until_ready(bare)
    reference = {"folder": "INBOX", "uid_validity": mailbox.UID_VALIDITY, "uid": mailbox.SMALL_UID}
    print(f"{'':<44}{'a second':>10}{'p50 ms':>9}{'p99 ms':>9}")
    try:
        for callers in (1, 16):
            for name, once in (
                ("a tool that does nothing, bare server", lambda: bare.call("noop", {})),
                ("mail_read", lambda: ours.call("mail_read", {"reference": reference})),
            ):
                row(f"{name}, {callers} callers", await under_load(once, callers=callers, calls=calls))
    finally:
        await ours.stop()
        await bare.stop()


async def without_http(place: Place, user: MailUser, calls: int) -> None:
    """The same read inside one process, and the mail server's part of it."""
    environment = Mailgate(Environments.of_this_machine()).environment(place)
    service = build_service(load_settings(environment))
    box = service.mailbox
    assert box is not None
    reference = MessageRef(FolderName("INBOX"), UidValidity(mailbox.UID_VALIDITY), Uid(mailbox.SMALL_UID))
    row(
        "the read alone, no HTTP and no MCP",
        await under_load(lambda: read_message(box, reference), callers=1, calls=calls),
    )
    await service.aclose()
    with user.client() as client:
        row("EXAMINE and UID FETCH alone, by imaplib", await under_load(lambda: _raw(client), callers=1, calls=calls))
        row("the same, and parsed by email", await under_load(lambda: _parsed(client), callers=1, calls=calls))


async def _raw(client: imaplib.IMAP4) -> bytes:
    client.select("INBOX", readonly=True)
    _, rows = client.uid("FETCH", str(mailbox.SMALL_UID), "(UID FLAGS INTERNALDATE RFC822.SIZE BODY.PEEK[]<0.49152>)")
    return bytes(rows[0][1])


async def _parsed(client: imaplib.IMAP4) -> str:
    body = message_from_bytes(await _raw(client), policy=default).get_body(("plain",))
    assert body is not None
    return str(body.get_content())


async def _page(client: imaplib.IMAP4, criteria: Sequence[str]) -> None:
    """The newest 25, of all or of what matches."""
    client.select("INBOX", readonly=True)
    last = int(client.response("UIDNEXT")[1][0] or 0)
    uids = f"{max(1, last - 25)}:{last}"
    if criteria:
        uids = b",".join(client.uid("SEARCH", *criteria)[1][0].split()[-25:]).decode()
    client.uid("FETCH", uids, f"(UID FLAGS INTERNALDATE RFC822.SIZE BODYSTRUCTURE BODY.PEEK[HEADER.FIELDS ({FIELDS})])")


def row(name: str, figures: Sequence[float]) -> None:
    """One line."""
    rate, median, last = figures
    print(f"{name:<44}{rate:>10,.0f}{median:>9.2f}{last:>9.2f}", flush=True)


async def pages(server: Dovecot, place_of: Callable[[MailUser], Place], large: int, calls: int) -> None:
    """A page of a large folder beside one of a small folder."""
    found: dict[tuple[int, str], float] = {}
    contender = Mailgate(Environments.of_this_machine())
    for size in (SIZE, large):
        user = mailbox.filled(server, size)
        running = await contender.start(place_of(user))
        for name, wanted in PAGES.items():
            _, median, _ = await under_load(
                lambda w=wanted, r=running: r.call("mail_search", w), callers=1, calls=calls
            )
            found[size, name] = median
        await running.stop()
        with user.client() as client:
            for name, wanted in PAGES.items():
                criteria = [part for key, value in wanted.items() for part in (key.upper(), f'"{value}"')]
                _, median, _ = await under_load(lambda c=client, w=criteria: _page(c, w), callers=1, calls=calls)
                found[size, f"{name}, server alone"] = median
    for name in (each + more for each in PAGES for more in ("", ", server alone")):
        small, big = found[SIZE, name], found[large, name]
        print(
            f"page, {name:<36} {SIZE:,}: {small:7.2f} ms   {large:,}: {big:7.2f} ms   ratio {big / small:.2f}",
            flush=True,
        )


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--large", type=int, default=100_000)
    options = parser.parse_args()
    certificates = authority()
    certificate = certificates.certificate()
    server = Dovecot(certificate.chain, certificate.key)
    try:
        with tempfile.TemporaryDirectory(prefix="mailgate-bench-") as folder:

            def place_of(user: MailUser) -> Place:
                ports = (server.tls_port, server.plain_port)
                return Place(*ports, user.name, user.password, str(certificates.ca_file), Path(folder))

            user = mailbox.filled(server, SIZE)
            await over_http(place_of(user), options.calls)
            await without_http(place_of(user), user, options.calls)
            await pages(server, place_of, options.large, max(40, options.calls // 10))
    finally:
        server.stop()


if __name__ == "__main__":
    asyncio.run(main())
