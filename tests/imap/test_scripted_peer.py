"""The peer itself: a client that departs from the script is found out."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.peers.scripted_imap import ScriptedImap, load_dialogue, parse_dialogue, script


async def talk(peer: ScriptedImap, *lines: bytes, read: bool = True) -> bytes:
    """Send lines, then read until the peer closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", peer.port)
    try:
        for line in lines:
            writer.write(line + b"\r\n")
        writer.write_eof()
        return await reader.read(-1) if read else b""
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()


async def test_it_answers_with_the_clients_own_tags_and_octets() -> None:
    text = "C: $ ONE\nS: $ OK \\xFF\nC: $ TWO ... x\nS: $-1 OK old\nS-raw: $ NO\\r\\nrest"
    async with ScriptedImap([script(text)]) as peer:
        answer = await talk(peer, b"a ONE", b"b TWO anything x")
        assert answer == b"a OK \xff\r\na OK old\r\nb NO\r\nrest"
        assert peer.problems == []
        assert peer.commands == [b"ONE", b"TWO anything x"]


@pytest.mark.parametrize(
    "lines",
    [[b"a OTHER"], [b"a ONE more"], [b"ONE"], [], [b"a ONE", b"b UNEXPECTED"]],
    ids=["other", "longer", "no tag", "nothing", "too much"],
)
async def test_every_departure_is_a_problem(lines: list[bytes]) -> None:
    async with ScriptedImap([script("C: $ ONE\nS: $ OK")]) as peer:
        await talk(peer, *lines)
        await peer.done()
        assert len(peer.problems) == 1


async def test_a_connection_too_many_is_a_problem() -> None:
    async with ScriptedImap([script("S: hello")]) as peer:
        await talk(peer)
        await talk(peer)
        assert len(peer.problems) == 1


async def test_a_client_that_goes_on_where_it_must_go_is_a_problem() -> None:
    async with ScriptedImap([script("S: hello\nC-gone")] * 2) as peer:
        await talk(peer)
        assert peer.problems == []
        await talk(peer, b"a LOGIN user secret")
        assert len(peer.problems) == 1


async def test_logout_after_the_last_step_is_answered() -> None:
    async with ScriptedImap([script("S: hello")]) as peer:
        assert await talk(peer, b"z LOGOUT") == b"hello\r\n* BYE\r\nz OK bye\r\n"
        assert peer.problems == []


def test_a_file_that_is_no_dialogue_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a line"):
        parse_dialogue("X: what")
    with pytest.raises(ValueError, match="expectation"):
        parse_dialogue('# call: {"do": "search"}')
    path = tmp_path / "one_thing_leads_to_another.imap"
    path.write_text("# words\nS: hi\n")
    assert load_dialogue(path).title == "one thing leads to another"
