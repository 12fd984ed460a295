"""Messages made to cost: each is read off the event loop with the wall clock, a probe beside it.

The probe asks every few milliseconds how late it is: that is how long the loop was blocked. It also looks at the
process's memory. The run fails when the loop was blocked for longer than `BLOCKED_MAX`, a message needed more than
`MEMORY_MAX` above what was there, or the wall clock ran out. `python -m bench.hostile [NAME ...]`
"""

from __future__ import annotations

import asyncio
import resource
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from mailgate.limits import KIB, MIB, PARSE_SECONDS, SOURCE_BYTES_MAX
from mailgate.mime.model import ParsedMessage, RawMessage
from mailgate.mime.parse import parse_message
from mailgate.read.offload import OutOfTime, off_loop

BLOCKED_MAX = 0.5
MEMORY_MAX = 128 * MIB
TICK = 0.005


def levels(count: int) -> bytes:
    """Multiparts within one another, each with its own boundary."""
    return b"".join(b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(count))


def field(name: str, value: bytes) -> bytes:
    return name.encode() + b": " + value + b"\r\n\r\nbody"


def body(kind: str, content: bytes, *fields: str) -> bytes:
    head = "".join(f"{one}\r\n" for one in (f"Content-Type: {kind}", *fields))
    return head.encode() + b"\r\n" + content


def filled(unit: bytes, size: int = SOURCE_BYTES_MAX - KIB) -> bytes:
    return unit * (size // len(unit))


def alternatives(plain: bytes, html: bytes) -> bytes:
    parts = (b"Content-Type: text/plain\r\n\r\n" + plain, b"Content-Type: text/html\r\n\r\n" + html)
    return body("multipart/alternative; boundary=b", b"".join(b"\r\n--b\r\n" + part for part in parts) + b"\r\n--b--")


BASE64 = "Content-Transfer-Encoding: base64"
QUOTED = "Content-Transfer-Encoding: quoted-printable"
UUENCODED = "Content-Transfer-Encoding: x-uuencode"
FLOWED = "text/plain; format=flowed"

CASES: dict[str, Callable[[], bytes]] = {
    "64 KiB of ; in Content-Type": lambda: field("Content-Type", b"text/plain" + b";" * 64 * KIB),
    "64 KiB of ;a= in Content-Type": lambda: field("Content-Type", filled(b";a=", 64 * KIB)),
    '64 KiB of ;a=" in Content-Type': lambda: field("Content-Type", filled(b';a="', 64 * KIB)),
    "8 KiB of ( in From": lambda: field("From", b"(" * 8 * KIB),
    "8 KiB of < in From": lambda: field("From", b"<" * 8 * KIB),
    "1 MiB of Subject": lambda: field("Subject", b"x" * MIB),
    "64 KiB of References": lambda: field("References", filled(b"<a@b> ", 64 * KIB)),
    "5,000 fields": lambda: b"X-Field: value\r\n" * 5000 + b"\r\nbody",
    "32 KiB of =?": lambda: field("Subject", filled(b"=?", 32 * KIB)),
    "32 KiB of encoded words": lambda: field("Subject", filled(b"=?utf-8?B?R3L?= ", 32 * KIB)),
    "10,000 pieces of a name": lambda: field("Content-Type", b"a/b" + b"".join(b";n*%d*=x" % n for n in range(10_000))),
    "100,000 parts": lambda: body("multipart/mixed; boundary=b", b"--b\r\n\r\nx\r\n" * 100_000),
    "100,000 empty delimiters": lambda: body("multipart/mixed; boundary=b", b"--b\r\n" * 100_000),
    "5,000 levels": lambda: levels(5000),
    "5,000 attached messages": lambda: b"Content-Type: message/rfc822\r\n\r\n" * 5000,
    "lines like boundaries": lambda: body("multipart/mixed; boundary=" + "b" * 70, filled(b"--" + b"b" * 69 + b"\r\n")),
    "base64: padding": lambda: body("text/plain", filled(b"="), BASE64),
    "base64: lines of words": lambda: body("text/plain", b"A" * 76 + b"\n" + filled(b"a b\n"), BASE64),
    "base64: empty lines": lambda: body("text/plain", filled(b" \n"), BASE64),
    "base64: one line of words": lambda: body("text/plain", b"A" * 76 + b"\n" + filled(b"a b "), BASE64),
    "quoted-printable: =": lambda: body("text/plain", filled(b"="), QUOTED),
    "quoted-printable: =41": lambda: body("text/plain", filled(b"=41"), QUOTED),
    "quoted-printable: blanks": lambda: body("text/plain", filled(b" "), QUOTED),
    "uuencode: headers": lambda: body("text/plain", filled(b"begin 644 x\nM\n")),
    "uuencode: lines": lambda: body("text/plain", b"begin 644 x\n" + filled(b"!A\n"), UUENCODED),
    "flowed: blanks": lambda: body(FLOWED, filled(b"x \n")),
    "flowed: marks": lambda: body(FLOWED, filled(b"> \n")),
    "flowed: one line of marks": lambda: body(FLOWED, filled(b">")),
    "unlabelled octets": lambda: body("text/plain", filled(b"\xe9\xe8\xff ")),
    "unlabelled octets, one line": lambda: body("text/plain", filled(b"a", 4 * MIB) + filled(b"\xc0", MIB - KIB)),
    "escapes of ISO-2022-JP": lambda: body("text/plain; charset=iso-2022-jp", filled(b"\x1b$B-!\x1b(B")),
    "UTF-16": lambda: body("text/plain; charset=utf-16", filled(b"\xd8\x00")),
    "NUL": lambda: body("text/plain", filled(b"\x00")),
    "lone CR": lambda: body("text/plain", filled(b"\r")),
    "alternatives: amounts": lambda: alternatives(filled(b",000", MIB), filled(b"1 EUR ", MIB)),
    "alternatives: links": lambda: alternatives(filled(b"](https://a.b/ ", MIB), filled(b"](", MIB)),
    "alternatives: words": lambda: alternatives(filled(b"abc def ", MIB), filled(b"<p>ghi jkl", MIB)),
    "<a ": lambda: body("text/html", filled(b"<a ", 64 * KIB)),
    "<!--": lambda: body("text/html", filled(b"<!--", 64 * KIB)),
    "1 MiB of <a ": lambda: body("text/html", filled(b"<a ", MIB)),
    "1 MiB of <!--": lambda: body("text/html", filled(b"<!--", MIB)),
    "3,000 nested lists": lambda: body("text/html", b"<ul><li>" * 3000),
    "HTML: overlapping elements": lambda: body("text/html", b"<p style='margin-top:-1px;color:#fff'>x" * 20_000),
    "HTML: variables of variables": lambda: body(
        "text/html",
        b"<style>:root{%b}p{color:var(--a0)}</style>"
        % b"".join(b"--a%d:var(--a%d)var(--a%d);" % (n, n + 1, n + 1) for n in range(200))
        + b"<p>x" * 9000,
    ),
    "HTML: distinct styles": lambda: body(
        "text/html", b"".join(b"<p style='all:initial;left:%dpx'>x" % n for n in range(16_000))
    ),
    "a million nested tags": lambda: body("text/html", b"<b>" * 1_000_000),
}


def resident() -> int:
    """Octets of memory that this process has now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


class Probe:
    """How long the loop was blocked at most, and how much memory there was."""

    def __init__(self) -> None:
        self.blocked = 0.0
        self.memory = resident()

    async def run(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(TICK)
            self.blocked = max(self.blocked, time.monotonic() - before - TICK)
            self.memory = max(self.memory, resident())


async def measured(source: bytes) -> tuple[float, float, int, ParsedMessage | None]:
    """Seconds, longest block, octets of memory above what was there, and the message unless time ran out."""
    raw = RawMessage(source[:SOURCE_BYTES_MAX], truncated=len(source) > SOURCE_BYTES_MAX)
    probe = Probe()
    at_rest = probe.memory
    watching = asyncio.create_task(probe.run())
    await asyncio.sleep(2 * TICK)
    began = time.monotonic()
    message: ParsedMessage | None = None
    with suppress(OutOfTime):
        message = await off_loop(lambda deadline: parse_message(raw, deadline=deadline), seconds=PARSE_SECONDS)
    seconds = time.monotonic() - began
    watching.cancel()
    return seconds, probe.blocked, probe.memory - at_rest, message


async def run(names: list[str]) -> bool:
    """All cases, or those named; whether each kept its bounds."""
    good = True
    for name in names or CASES:
        seconds, blocked, memory, message = await measured(CASES[name]())
        kept = blocked <= BLOCKED_MAX and memory <= MEMORY_MAX and message is not None
        good = good and kept
        outcome = "" if kept else "  TOO MUCH"
        parts = len(message.attachments) if message else 0
        print(
            f"{name:<32} {seconds:6.2f} s  blocked {1000 * blocked:5.0f} ms  {memory / MIB:6.1f} MiB  "
            f"{parts:3} attachments{outcome}",
            flush=True,
        )
    return good


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(run(sys.argv[1:])) else 1)
