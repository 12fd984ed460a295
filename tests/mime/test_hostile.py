"""Messages made to cost: what they can make the parser do is counted, not timed. `bench/hostile.py` times them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.hostile import CASES, MEMORY_MAX
from mailgate.limits import HEADER_VALUE_CHARS_MAX, MIB, MIME_DEPTH_MAX, MIME_PARTS_MAX, TEXT_BYTES_MAX
from mailgate.mime import structure, text
from mailgate.mime.content import content_of
from mailgate.mime.model import RawMessage
from mailgate.mime.parse import parse_message
from mailgate.mime.transfer import decode_up_to
from tests.mime.messages import attachment, codes, html, multipart, part, read
from tests.mime.messages import text as plain_text

ROOT = Path(__file__).parent.parent.parent
MUST_SHOW = [
    "64 KiB of ; in Content-Type",
    "8 KiB of ( in From",
    "1 MiB of Subject",
    "5,000 fields",
    "64 KiB of References",
    "100,000 parts",
    "5,000 levels",
    "5,000 attached messages",
    "lines like boundaries",
    "base64: padding",
    "base64: lines of words",
    "quoted-printable: =",
    "quoted-printable: =41",
    "uuencode: headers",
    "flowed: marks",
    "unlabelled octets, one line",
    "<a ",
    "<!--",
    "3,000 nested lists",
]


@pytest.mark.parametrize("name", [*CASES])
def test_a_message_made_to_cost_is_answered_within_bounds(name: str) -> None:
    message = parse_message(RawMessage(CASES[name]()))
    assert len(message.text.text.encode("utf-8")) <= TEXT_BYTES_MAX
    assert len(message.attachments) <= MIME_PARTS_MAX
    assert len(message.headers.subject or "") <= HEADER_VALUE_CHARS_MAX
    assert sum(map(len, message.headers.references)) <= 2 * HEADER_VALUE_CHARS_MAX
    assert "part_unreadable" not in {warning.code for warning in message.warnings}


PROGRAM = """
import json, resource, sys
from bench.hostile import CASES
from mailgate.limits import SOURCE_BYTES_MAX
from mailgate.mime.model import RawMessage
from mailgate.mime.parse import parse_message

def most():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

found = {}
for name in json.loads(sys.argv[1]):
    raw = RawMessage(CASES[name]()[:SOURCE_BYTES_MAX])
    before = most()
    parse_message(raw)
    found[name] = most() - before
print(json.dumps(found))
"""


def test_no_message_takes_more_memory_than_allowed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(MUST_SHOW)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    # The high-water mark only rises, so all of them together are below the bound for one.
    assert sum(json.loads(done.stdout).values()) <= MEMORY_MAX


def test_a_hundred_thousand_parts_cost_no_more_than_the_limit_of_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    read_headers: list[object] = []

    def counted(*arguments: object) -> object:
        read_headers.append(None)
        return content_of(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(structure, "content_of", counted)
    message = parse_message(RawMessage(CASES["100,000 parts"]()))
    assert len(read_headers) <= 2 * MIME_PARTS_MAX
    assert "parts_limit" in {warning.code for warning in message.warnings}


@pytest.mark.parametrize("levels", [1000, 5000])
@pytest.mark.parametrize("kind", ["multipart", "message"])
def test_thousands_of_levels_are_opened_only_to_the_limit(
    levels: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []

    def counted(*arguments: object) -> object:
        opened.append(None)
        return content_of(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(structure, "content_of", counted)
    name = "5,000 levels" if kind == "multipart" else "5,000 attached messages"
    source = CASES[name]()[: levels * 20]
    message = parse_message(RawMessage(source))
    assert len(opened) <= MIME_DEPTH_MAX + 1
    assert len(message.attachments) == 1


def test_no_part_of_the_text_is_decoded_twice_and_none_beyond_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[int] = []

    def counted(source: bytes, start: int, end: int, encoding: str, limit: int) -> object:
        limits.append(limit)
        return decode_up_to(source, start, end, encoding, limit)

    monkeypatch.setattr(text, "decode_up_to", counted)
    pair = multipart("alternative", [plain_text("x" * 1000), html("<p>" + "x" * 1000)])
    read(multipart("mixed", [pair, attachment(), pair, html("y")]))
    assert len(limits) == 5
    assert max(limits) <= 4 * TEXT_BYTES_MAX


def test_a_part_far_larger_than_it_says_is_measured_and_not_kept() -> None:
    body = b"QUFB" * MIB
    source = part(body, "Content-Type: a/b", "Content-Transfer-Encoding: base64", "Content-Length: 3")
    assert [info.size for info in read(multipart("mixed", [plain_text("x"), source])).attachments] == [3 * MIB]


def test_time_that_is_up_ends_the_reading_with_what_there_is() -> None:
    calls = 0

    def up() -> bool:
        nonlocal calls
        calls += 1
        return calls > 3

    message = parse_message(RawMessage(multipart("mixed", [plain_text("x"), attachment()] * 20)), deadline=up)
    assert "time_limit" in codes(message)
    assert len(message.attachments) < 20
