"""Connections to a scripted peer, for tests that look at one layer only."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from mailgate.imap.connection import ImapConnection
from mailgate.imap.endpoint import Credentials, ImapEndpoint, Security
from mailgate.imap.mailbox import Mailbox
from tests.peers.scripted_imap import ScriptedImap, script

USER = Credentials("user", "secret")


def loopback(port: int, **fields: object) -> ImapEndpoint:
    """An unprotected endpoint on this machine."""
    return ImapEndpoint("127.0.0.1", port, Security.PLAINTEXT, **fields)  # type: ignore[arg-type]


@dataclass
class Session:
    """A connection that has only seen the greeting, and the peer at its other end."""

    connection: ImapConnection
    peer: ScriptedImap


@asynccontextmanager
async def session(text: str) -> AsyncIterator[Session]:
    """Connect to a peer that greets and then plays the script; every departure from it fails the test."""
    async with ScriptedImap([script("S: * OK hello\n" + text)]) as peer:
        connection, _ = await ImapConnection.open(loopback(peer.port), None, seconds=2)
        try:
            yield Session(connection, peer)
        finally:
            connection.abort()
            await peer.done()
        assert peer.problems == []


@asynccontextmanager
async def mailbox_on(*scripts: str, **options: object) -> AsyncIterator[tuple[Mailbox, ScriptedImap]]:
    """A mailbox whose connections are played one script each."""
    async with ScriptedImap([script(text) for text in scripts]) as peer:
        mailbox = Mailbox(loopback(peer.port), USER, **options)  # type: ignore[arg-type]
        try:
            yield mailbox, peer
        finally:
            await mailbox.aclose()


@contextmanager
def peer_in_a_thread(*scripts: str) -> Iterator[ScriptedImap]:
    """A peer with a loop and a thread of its own, for clients whose loop ends before the peer does."""
    peer = ScriptedImap([script(text) for text in scripts])
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(peer.__aenter__(), loop).result(5)
        yield peer
        asyncio.run_coroutine_threadsafe(peer.done(), loop).result(5)
        assert peer.problems == []
    finally:
        asyncio.run_coroutine_threadsafe(peer.__aexit__(), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()
