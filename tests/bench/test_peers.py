"""The floor that everybody is compared with, what the line counts, and how the tables show it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from bench.contenders import mailbox, tables
from bench.contenders.jobs import JOBS
from bench.contenders.line import Line
from bench.peers import MBIT, Cell, kept, number_of


@pytest.mark.parametrize(
    ("job", "cold", "warm"),
    [("list", 200, 40), ("newest", 240, 40), ("filter", 240, 80), ("read", 200, 40), ("mark", 240, 40)],
)
def test_the_floor_is_the_round_trips_that_cannot_be_avoided(job: str, cold: float, warm: float) -> None:
    assert JOBS[job].floor(40, MBIT, cold=True) == cold
    assert JOBS[job].floor(40, MBIT, cold=False) == warm


def test_without_tls_connecting_takes_one_round_trip_less() -> None:
    assert JOBS["read"].floor(40, MBIT, cold=True, tls=False) == 160
    assert JOBS["read"].floor(40, MBIT, cold=False, tls=False) == 40


def test_the_floor_of_an_attachment_holds_the_time_of_its_encoded_octets_on_the_line() -> None:
    encoded = -(-len(mailbox.FILE_BYTES) // 57) * 78
    assert JOBS["attach2m"].floor(0, MBIT, cold=False) == pytest.approx(encoded * 8 / 100_000, rel=0.001)


def test_the_large_message_has_the_size_that_its_name_says_and_the_text_in_front() -> None:
    large = mailbox.large()
    assert 20_000_000 < len(large) < 22_000_000
    assert large.index(mailbox.LARGE_CANARY.encode()) < 2_000


@pytest.mark.parametrize(("text", "number"), [("1k", 1_000), ("100k", 100_000), ("250", 250)])
def test_a_size_may_be_written_in_thousands(text: str, number: int) -> None:
    assert number_of(text) == number


def cell(**more: object) -> Cell:
    return Cell("someone", "read", 1_000, 40.0, **{"cold": 400.0, "warm": 60.0, **more})  # type: ignore[arg-type]


def test_a_figure_is_shown_with_its_multiple_of_the_floor() -> None:
    assert tables.shown(cell(), MBIT, cold=False) == "60 (1.50)"
    assert tables.shown(cell(), MBIT, cold=True) == "400 (2.00)"


def test_a_wrong_answer_is_marked_and_the_page_says_why() -> None:
    wrong = cell(wrong="marks the message as read")
    assert tables.shown(wrong, MBIT, cold=False) == "60 (1.50)!"
    assert "- someone, read: marks the message as read" in tables.page([wrong], MBIT)


def test_the_page_names_who_accepts_any_certificate() -> None:
    assert "nobody that it trusts: someone." in tables.page([cell(any_certificate=True)], MBIT)
    assert "trusts" not in tables.page([cell()], MBIT)


def test_kept_cells_are_read_back_as_they_were(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    file.write_text(json.dumps(asdict(cell(wrong="late"))) + "\n")
    assert kept(file) == [cell(wrong="late")]


def test_tables_go_between_the_marks_of_a_page_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{tables.BEGIN}\nold\n{tables.END}\nafter\n")
    tables.write(page, "new")
    assert page.read_text() == f"before\n{tables.BEGIN}\n\nnew\n{tables.END}\nafter\n"


async def test_the_line_counts_connections_turns_and_octets() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data * 2)
        writer.close()
        await writer.wait_closed()
        echoed.set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await line.serve(reader, writer)
        served.set()

    echoed, served = asyncio.Event(), asyncio.Event()
    echoing = await asyncio.start_server(echo, "127.0.0.1", 0)
    line = Line(echoing.sockets[0].getsockname()[1], 0.0, 1e9)
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
    for word in (b"one", b"three"):
        writer.write(word)
        assert await reader.readexactly(2 * len(word)) == word * 2
    writer.close()
    await writer.wait_closed()
    await served.wait()
    await echoed.wait()
    server.close()
    echoing.close()
    passed = line.passed
    assert (passed.connections, passed.turns, passed.up, passed.down) == (1, 2, 8, 16)
