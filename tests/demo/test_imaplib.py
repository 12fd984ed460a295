"""A foreign client, the standard library's, does a day's work on the demo server."""

from __future__ import annotations

import asyncio
import imaplib
from collections.abc import Callable

import pytest

from mailgate.demo.seed import seed_mailbox
from mailgate.demo.store import DemoMailbox
from tests.demo.raw_client import MESSAGE, NOW, PASSWORD, USERNAME, serving


async def with_imaplib(
    work: Callable[[imaplib.IMAP4], None], mailbox: DemoMailbox | None = None, *without: str
) -> None:
    """Runs `work` with a logged-in client in a thread; `imaplib` blocks."""

    def run(port: int) -> None:
        with imaplib.IMAP4("127.0.0.1", port, timeout=10) as client:
            client.login(USERNAME, PASSWORD)
            work(client)

    async with serving(mailbox or seed_mailbox(NOW), *without) as peer:
        await asyncio.to_thread(run, peer.port)


async def test_it_lists_selects_searches_and_fetches() -> None:
    def work(client: imaplib.IMAP4) -> None:
        status, rows = client.list()
        assert status == "OK"
        assert len(rows) == 10
        status, count = client.select("INBOX", readonly=True)
        assert (status, int(count[0] or 0) > 40) == ("OK", True)
        client.literal = "Übermut".encode()  # type: ignore[assignment]
        _, found = client.uid("SEARCH", "CHARSET", "UTF-8", "BODY")
        _, data = client.uid("FETCH", found[0].decode(), "(BODY.PEEK[])")
        assert b"From: =?utf-8?B?" in data[0][1]
        assert client.status("Archive", "(MESSAGES UNSEEN)")[0] == "OK"

    await with_imaplib(work)


async def test_it_appends_stores_copies_and_expunges() -> None:
    def work(client: imaplib.IMAP4) -> None:
        assert client.create("Work")[0] == "OK"
        status, answer = client.append("Work", "(\\Flagged)", imaplib.Time2Internaldate(NOW), MESSAGE)
        assert status == "OK"
        assert b"APPENDUID" in answer[0]
        assert client.select("Work")[1] == [b"1"]
        assert client.fetch("1", "(BODY.PEEK[])")[1][0][1] == MESSAGE  # type: ignore[index]
        assert client.copy("1", "Trash")[0] == "OK"
        assert client.store("1", "+FLAGS", "(\\Deleted)")[1] == [b"1 (FLAGS (\\Deleted \\Flagged))"]
        assert client.expunge()[1] == [b"1"]
        assert client.close()[0] == "OK"
        assert client.rename("Work", "Play")[0] == "OK"
        assert client.delete("Play")[0] == "OK"

    await with_imaplib(work)


@pytest.mark.parametrize("without", [(), ("SASL-IR",), ("LITERAL+",)])
async def test_it_authenticates_with_plain(without: tuple[str, ...]) -> None:
    def run(port: int) -> None:
        with imaplib.IMAP4("127.0.0.1", port, timeout=10) as client:
            assert client.authenticate("PLAIN", lambda _: f"\0{USERNAME}\0{PASSWORD}".encode())[0] == "OK"
            assert client.enable("CONDSTORE")[0] == "OK"
            assert client.namespace()[1] == [b'(("" "/")) NIL NIL']
            assert client.noop()[0] == "OK"

    async with serving(seed_mailbox(NOW), *without) as peer:
        await asyncio.to_thread(run, peer.port)


async def test_it_is_told_about_a_wrong_password() -> None:
    def run(port: int) -> None:
        with imaplib.IMAP4("127.0.0.1", port, timeout=10) as client, pytest.raises(imaplib.IMAP4.error):
            client.login(USERNAME, "wrong")

    async with serving() as peer:
        await asyncio.to_thread(run, peer.port)
