"""Folders of any size cost the same number of commands a page, and large messages cost what is read of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.peers.dovecot import Dovecot, MailUser
from tests.peers.fault_proxy import FaultProxy
from tests.real.letters import large, letter
from tests.real.tools import Tools, settings_for, uids

MIB = 1024 * 1024
HANDFUL = 8


async def commands_for_a_page(tools: Tools, user: MailUser, **arguments: object) -> list[str]:
    """The names of the commands that one page costs on a connection that is already there."""
    await tools.search(folder="INBOX")
    before = len(user.commands())
    page = await tools.search(**arguments)
    assert len(page["messages"]) == 25
    return [command.name for command in user.commands()[before:]]


@pytest.mark.requirement("S8")
async def test_a_page_of_100_000_messages_costs_the_commands_of_a_page_of_1_000(
    mail_user: MailUser, dovecot_tools: Tools
) -> None:
    mail_user.fill("Small", range(1, 1_001))
    mail_user.fill("Large", range(1, 100_001))
    for filters in ({}, {"from_": "sender"}, {"query": "text of message"}, {"order": "oldest"}):
        small = await commands_for_a_page(dovecot_tools, mail_user, folder="Small", **filters)
        large_ = await commands_for_a_page(dovecot_tools, mail_user, folder="Large", **filters)
        assert small == large_
        assert len(small) <= 4
    page = await dovecot_tools.search(folder="Large")
    assert uids(page["messages"]) == list(range(100_000, 99_975, -1))


@pytest.mark.requirement("S8", "S7")
@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_200_messages_over_300_000_uids_are_searched_to_the_end_in_a_handful_of_calls(
    mail_user: MailUser, dovecot_tools: Tools, order: str
) -> None:
    spread = range(1_500, 300_001, 1_500)
    mail_user.fill("Sparse", spread)
    rows, calls = await dovecot_tools.search_all(folder="Sparse", order=order, limit=100)
    assert sorted(uids(rows)) == list(spread)
    assert calls <= HANDFUL
    found, calls = await dovecot_tools.search_all(folder="Sparse", order=order, subject="number 3")
    assert {row["untrusted"]["subject"] for row in found} == {
        f"Message number {number}" for number in range(1, 201) if str(number).startswith("3")
    }
    assert calls <= HANDFUL


@pytest.mark.requirement("M8", "L1")
async def test_of_20_mib_little_more_than_the_text_is_fetched(mail_user: MailUser, dovecot: Dovecot) -> None:
    raw = large(20 * MIB)
    assert len(raw) > 19 * MIB
    mail_user.append(raw)
    async with FaultProxy(dovecot.plain_port) as proxy:
        tools = Tools(settings_for(mail_user, MAIL_IMAP_PORT=str(proxy.port)))
        reference = (await tools.search())["messages"][0]["reference"]
        proxy.traffic.reset()
        message = await tools.read(reference)
        await tools.aclose()
        assert proxy.traffic.down <= 64 * 1024
    assert message["size"] == len(raw)
    assert message["untrusted"]["text"].strip() == "The text comes first."
    (listed,) = message["untrusted"]["attachments"]
    assert listed["filename"] == "big.bin"
    assert listed["size_estimated"] is True
    assert abs(listed["size"] - 20 * MIB * 54 // 74) < 3
    assert message["truncated_by"] == "none"
    assert message["warnings"] == []


@pytest.mark.requirement("L2")
async def test_reading_20_mib_takes_bounded_memory(mail_user: MailUser) -> None:
    mail_user.append_all([bytes(letter()), large(20 * MIB)])
    grown = await _cost(settings_for(mail_user), "mail_read", {"uid": 2}, {"uid": 1})
    assert grown["grown"] is not None
    assert grown["grown"] <= 4 * grown["returned"] + 8 * MIB


@pytest.mark.requirement("L2", "G3")
@pytest.mark.parametrize("kind", [{}, {"as": "text"}])
async def test_an_attachment_of_2_mib_takes_bounded_memory(mail_user: MailUser, kind: dict[str, object]) -> None:
    files = [letter("small"), letter("large")]
    for message, octets in zip(files, (100, 2 * MIB), strict=True):
        data = (b"words and more words\r\n" * (octets // 22 + 1))[:octets]
        message.add_attachment(data, maintype="application", subtype="pdf", filename="a.pdf")
        message.add_attachment(data, maintype="text", subtype="calendar", filename="b.ics", cte="base64")
        message.add_attachment(bytes(20 * octets), maintype="application", subtype="zip", filename="c.zip")
    mail_user.append_all([bytes(message) for message in files])
    index = 2 if kind else 1
    cost = await _cost(
        settings_for(mail_user), "mail_get_attachment", *[{"uid": uid, "index": index, **kind} for uid in (2, 1)]
    )
    assert cost["grown"] is not None
    assert cost["returned"] > (2 * MIB if not kind else 0)
    # The octets are what is given, whatever base64 adds to them.
    assert cost["grown"] <= 4 * 2 * MIB + 8 * MIB


async def _cost(environ: dict[str, str], tool: str, *calls: dict[str, object]) -> dict[str, int]:
    """What the first call costs in a process that has made the second one."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.real.read_once", tool, *map(json.dumps, calls)],
        env={**environ, "PATH": os.environ.get("PATH", "")},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found: dict[str, int] = json.loads(done.stdout)
    return found
