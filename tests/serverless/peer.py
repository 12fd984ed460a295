"""A mail server in a thread of its own: event loops come and go on the other side, and it counts who is connected."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any, TypeVar

from mailgate.app import Service, build_service
from mailgate.imap.endpoint import Credentials, ImapEndpoint, Security
from mailgate.imap.mailbox import Mailbox
from mailgate.settings import Settings, load_settings
from tests.contract.deployment import PASSWORD, USERNAME, demo_server, environ, mailbox_with, raw
from tests.peers.fault_proxy import Action, Direction, Fault, FaultProxy
from tests.peers.processes import wait_until

T = TypeVar("T")


class MailServer:
    """The embedded server behind a proxy; every method may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._stack = AsyncExitStack()
        self.sent: list[bytes] = []

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Carry something out in the server's thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def start(self) -> None:
        """Listen."""
        port, self.sent = await self._stack.enter_async_context(demo_server(mailbox_with(raw(), raw(), raw())))
        self.proxy = await self._stack.enter_async_context(FaultProxy(port))

    async def stop(self) -> None:
        """End."""
        await self._stack.aclose()

    @property
    def port(self) -> int:
        """Where it listens."""
        return self.proxy.port

    @property
    def accepted(self) -> int:
        """Connections since the start."""
        return self.proxy.traffic.connections

    @property
    def connected(self) -> int:
        """Connections that are open now, as the server sees it."""
        return len(list(self.proxy._open()))

    def comes_to(self, connected: int, seconds: float = 5.0) -> bool:
        """Whether so many stay open."""
        return wait_until(lambda: self.connected == connected, seconds=seconds)

    def swallow_noop(self, action: Action = Action.STALL) -> None:
        """From now on a NOOP ends its connection: by silence, or by a reset."""
        self.proxy.conditions.faults = (Fault(Direction.UP, action, pattern=b"NOOP"),)

    def hang_up(self) -> None:
        """Close every connection from this side."""

        async def close() -> None:
            for task in list(self.proxy._open()):
                task.cancel()

        self.run(close())
        assert self.comes_to(0)

    @property
    def settings(self) -> Settings:
        """Settings that lead here."""
        return load_settings(environ(self.port))

    def service(self, clock: Clock | None = None) -> Service:
        """A deployment in front of it, with a clock of the test's."""
        if clock is None:
            return build_service(self.settings)
        endpoint = ImapEndpoint("127.0.0.1", self.port, Security.PLAINTEXT)
        mailbox = Mailbox(endpoint, Credentials(USERNAME, PASSWORD), clock=clock)
        return build_service(self.settings, mailbox=mailbox)


class Clock:
    """Stands still until told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@contextmanager
def mail_server() -> Iterator[MailServer]:
    """One, running."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = MailServer(loop)
    try:
        server.run(server.start())
        try:
            yield server
        finally:
            server.run(server.stop())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)
        loop.close()
