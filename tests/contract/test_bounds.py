"""L1 and L2: how much of a message is examined, and that hostile mail cannot hold anything up."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from mailgate.mime.parse import extract_attachment, parse_headers, parse_message
from mailgate.read import attachment, message, summary
from tests.contract.deployment import (
    Deployment,
    Result,
    codes,
    html,
    mailbox_with,
    multipart,
    on_demo,
    raw,
)

KIB, MIB = 1024, 1024 * 1024
TEXT = "Content-Type: text/plain\n\n"


async def read(source: bytes) -> Result:
    """mail_read of a message alone in INBOX, as much as can be had."""
    async with on_demo(mailbox_with(source)) as box:
        return await box.read(await box.reference(), max_chars=262_144)


# --- L1 ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("L1")
@pytest.mark.parametrize(("octets", "whole"), [(4 * MIB, True), (5 * MIB + 100, False)])
async def test_five_mebibytes_of_a_text_are_examined(octets: int, whole: bool) -> None:
    answer = await read(raw("words" * (octets // 5 + 1), content_type="text/plain"))
    assert answer["size"] > octets
    assert ("source_truncated" in codes(answer)) is not whole
    assert answer["truncated_by"] == ("text_limit" if whole else "source_limit")


@pytest.mark.requirement("L1", "M7")
@pytest.mark.parametrize("octets", [5 * MIB - 1, 5 * MIB + 100])
async def test_attachments_are_listed_wherever_they_lie(octets: int) -> None:
    head = multipart(TEXT + "words", "Content-Type: application/x\n\n").removesuffix(b"\r\n--b--\r\n")
    tail = b"\r\n--b\r\nContent-Type: image/png\r\n\r\nx\r\n--b--\r\n"
    filling = octets - len(head) - len(tail)
    answer = await read(head + b"y" * filling + tail)
    assert answer["size"] == octets
    assert "source_truncated" not in codes(answer)
    listed = answer["untrusted"]["attachments"]
    assert [(each["content_type"], each["size"]) for each in listed] == [("application/x", filling), ("image/png", 1)]


@pytest.mark.requirement("L1")
@pytest.mark.parametrize(("octets", "kept", "cut"), [(256 * KIB, 256 * KIB, False), (256 * KIB + 1, 256 * KIB, True)])
@pytest.mark.parametrize("letter", ["x", "\N{GRINNING FACE}"])
async def test_256_kib_of_text_are_kept(octets: int, kept: int, cut: bool, letter: str) -> None:
    width = len(letter.encode())
    text = letter * (octets // width) + "x" * (octets % width)
    answer = await read(raw(text, content_type="text/plain; charset=utf-8"))
    assert len(answer["untrusted"]["text"].encode()) == kept
    assert answer["truncated_by"] == ("text_limit" if cut else "none")
    assert answer["text_chars"] == len(answer["untrusted"]["text"])


def levels(count: int) -> bytes:
    """A message of `count` levels; the text is on the last."""
    part = TEXT + "At the bottom."
    for level in range(count - 1):
        part = f'Content-Type: multipart/mixed; boundary="b{level}"\n\n--b{level}\n{part}\n--b{level}--'
    return b"From: ann@example.org\r\nMIME-Version: 1.0\r\n" + part.replace("\n", "\r\n").encode() + b"\r\n"


@pytest.mark.requirement("L1")
@pytest.mark.parametrize(("count", "within"), [(12, True), (13, False), (400, False)])
async def test_twelve_levels_are_opened(count: int, within: bool) -> None:
    answer = await read(levels(count))
    assert ("depth_limit" in codes(answer)) is not within
    assert (answer["untrusted"]["text"] == "At the bottom.") is within


@pytest.mark.requirement("L1")
@pytest.mark.parametrize(("count", "listed", "within"), [(100, 99, True), (101, 99, False), (5000, 99, False)])
async def test_a_hundred_parts_are_listed(count: int, listed: int, within: bool) -> None:
    answer = await read(multipart(TEXT + "words", *["Content-Type: image/png\n\nx"] * (count - 1)))
    assert len(answer["untrusted"]["attachments"]) == listed
    assert ("parts_limit" in codes(answer)) is not within
    assert answer["untrusted"]["text"] == "words"


def filled(octets: int) -> str:
    """HTML of about that many octets with next to no tokens, whose last words are MARK."""
    comment = "<!--" + "x" * (32 * KIB - 7) + "-->"
    return "<p>first</p>" + comment * ((octets - 30) // len(comment)) + "<p>MARK</p>"


def run(octets: int) -> str:
    """That much text without a tag; most of it is blanks, which a reader does not see."""
    return "first" + " " * octets


HTML = {
    "octets": (filled(MIB - 40 * KIB), filled(MIB + 40 * KIB)),
    "octets of a token": (run(60 * KIB) + "<br>" * 19_980 + "MARK", run(200 * KIB) + "<br>" * 19_993 + "MARK"),
    "tokens": ("<br>" * 19_900 + "MARK", "<br>" * 20_100 + "MARK"),
    "open elements": ("<div>" * 127 + "MARK", "<div>" * 130 + "MARK"),
}


@pytest.mark.requirement("L1")
@pytest.mark.parametrize("what", list(HTML))
async def test_html_is_read_up_to_its_bounds(what: str) -> None:
    below, above = [await read(html("<p>first</p>" + markup)) for markup in HTML[what]]
    assert "MARK" in below["untrusted"]["text"]
    assert codes(below) == []
    assert below["truncated_by"] == "none"
    assert above["untrusted"]["text"].startswith("first")
    assert "html_limit" in codes(above)
    assert above["truncated_by"] == "text_limit"
    assert "MARK" not in above["untrusted"]["text"]


@pytest.mark.requirement("L1")
async def test_the_bounds_are_the_ones_that_are_told(small: Deployment) -> None:
    limits = (await small.ok("mail_capabilities"))["limits"]
    assert [limits[name] for name in ("source_bytes", "text_bytes", "mime_depth", "mime_parts")] == [
        5 * MIB,
        256 * KIB,
        12,
        100,
    ]
    assert [limits[f"html_{name}"] for name in ("bytes", "token_bytes", "tokens", "open_elements")] == [
        MIB,
        64 * KIB,
        20_000,
        128,
    ]


# --- L2 ----------------------------------------------------------------------------------------------------------

FILE = "Content-Type: image/png\n\nx"
USES: list[tuple[Any, str, Any, str]] = [
    (message, "parse_message", parse_message, "mail_read"),
    (summary, "parse_headers", parse_headers, "mail_search"),
    (attachment, "extract_attachment", extract_attachment, "mail_get_attachment"),
]


class Gate:
    """Stands before a parser: it waits until the test says go."""

    def __init__(self, parser: Any) -> None:
        self.parser, self.reached, self.go = parser, threading.Event(), threading.Event()
        self.threads: list[str] = []

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        self.threads.append(threading.current_thread().name)
        self.reached.set()
        assert self.go.wait(10), "nobody let the parser go on"
        return self.parser(*arguments, **more)


async def arguments_for(box: Deployment, name: str) -> dict[str, Any]:
    reference = await box.reference()
    return {"mail_read": {"reference": reference}, "mail_search": {}}.get(name, {"reference": reference, "index": 1})


@pytest.mark.requirement("L2")
@pytest.mark.parametrize(("module", "function", "parser", "name"), USES, ids=[use[3] for use in USES])
async def test_while_a_message_is_parsed_other_calls_are_answered(
    module: Any, function: str, parser: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(parser)
    async with on_demo(mailbox_with(multipart(TEXT + "words", FILE))) as box:
        arguments = await arguments_for(box, name)
        monkeypatch.setattr(module, function, gate)
        try:
            parsing = asyncio.create_task(box.ok(name, arguments))
            await asyncio.to_thread(gate.reached.wait, 10)
            await box.ok("mail_list_folders")
            assert not parsing.done()
        finally:
            gate.go.set()
        await parsing
    assert gate.threads
    assert threading.main_thread().name not in gate.threads


@pytest.mark.requirement("L2")
@pytest.mark.parametrize(("module", "function", "parser", "name"), USES, ids=[use[3] for use in USES])
async def test_parsing_that_takes_too_long_is_given_up(
    module: Any, function: str, parser: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(parser)
    async with on_demo(mailbox_with(multipart(TEXT + "words", FILE))) as box:
        arguments = await arguments_for(box, name)
        monkeypatch.setattr(module, function, gate)
        monkeypatch.setattr(module, "PARSE_SECONDS", 0.05)
        try:
            async with asyncio.timeout(5):
                answer = await box.call(name, arguments)
        finally:
            gate.go.set()
    if name == "mail_get_attachment":
        assert answer.text.startswith("error limit_exceeded: ")
        return
    assert answer.structured is not None
    if name == "mail_read":
        assert codes(answer.structured) == ["time_limit"]
        assert answer.structured["untrusted"]["headers"]["subject"] == "Hello"
    else:
        (row,) = answer.structured["messages"]
        assert codes(row) == ["message_unreadable"]


@pytest.mark.requirement("L2")
async def test_a_parser_that_listens_stops_in_time_with_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """The wall clock reaches the parser: a message of many parts is left half read, not waited for."""
    monkeypatch.setattr(message, "PARSE_SECONDS", 30.0)

    def spent(*arguments: Any, deadline: Any, **more: Any) -> Any:
        assert deadline() is False
        return parse_message(*arguments, deadline=lambda: True, **more)

    monkeypatch.setattr(message, "parse_message", spent)
    answer = await read(multipart(TEXT + "words", *[FILE] * 20))
    assert "time_limit" in codes(answer)
    assert len(answer["untrusted"]["attachments"]) < 20


HOSTILE = {
    "tags": html("<div>" * 100_000),
    "unclosed comments": html("<!--" * 125_000),
    "attributes": html("<a" + " b=c" * 125_000),
    "formatting": html("<b><i><u><font>" * 30_000),
    "tables": html("<table><tr><td>" * 30_000),
    "entities": html("&#x41;" * 75_000),
    "parts": multipart(*["x"] * 50_000),
    "almost boundaries": multipart(TEXT + "--b-\n--bb\n" * 50_000),
    "header fields": b"X: y\r\n" * 100_000 + b"\r\nwords\r\n",
    "one long field": b"Subject: " + b"=?utf-8?q?x?= " * 40_000 + b"\r\n\r\nwords\r\n",
    "addresses": b"From: " + b"a@b.example," * 40_000 + b"\r\n\r\nwords\r\n",
    "comments in addresses": b"From: " + b"(" * 500_000 + b"\r\n\r\nwords\r\n",
    "quotes": b'From: "' + b'\\"' * 300_000 + b"\r\n\r\nwords\r\n",
    "parameters": b"Content-Type: text/plain" + b"; x*0*=y" * 50_000 + b"\r\n\r\nwords\r\n",
    "quoted-printable": raw("=\n" * 500_000, content_transfer_encoding="quoted-printable"),
    "base64": raw("=" * 1_000_000, content_transfer_encoding="base64"),
}


@pytest.mark.requirement("L2")
@pytest.mark.parametrize("what", list(HOSTILE))
async def test_half_a_mebibyte_of_hostility_is_an_answer(what: str) -> None:
    """Work that grows with the square of the input would take minutes here; the deadline is the one of a call."""
    async with on_demo(mailbox_with(HOSTILE[what])) as box:
        (row,) = (await box.search())["messages"]
        answer = await box.read(row["reference"])
    assert "time_limit" not in codes(answer)
    assert "message_unreadable" not in codes(row)
