"""The HTTP server under the application: uvicorn, one process, nothing of a request ever logged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from math import ceil
from signal import SIGINT, SIGTERM, signal
from socket import IPPROTO_TCP, TCP_NODELAY
from sys import stderr
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from socket import socket
    from types import FrameType

    from mailgate.server.http import HttpSurface


class QuietServer(uvicorn.Server):
    """A server inside a larger program, which keeps the signals to itself."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves the signal handlers as they are."""
        yield


class DrainingServer(uvicorn.Server):
    """A server that tells its application first when it is asked to end: what still arrives is no longer begun."""

    def __init__(self, config: uvicorn.Config, surface: HttpSurface) -> None:
        super().__init__(config)
        self._surface = surface

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """For SIGTERM and SIGINT; calls that run have the configured time to finish."""
        self._surface.stop_taking()
        super().handle_exit(sig, frame)


def draining_server(config: uvicorn.Config, surface: HttpSurface) -> DrainingServer:
    """A server that ends at SIGTERM or Ctrl-C from now on, and lets running calls finish."""
    server = DrainingServer(config, surface)
    # uvicorn handles signals only while its loop runs, and raises them once more at the end; whenever one comes, it is
    # the ordinary end of a server and not a failure.
    for number in (SIGINT, SIGTERM):
        signal(number, server.handle_exit)
    return server


def http_config(app: Callable[..., Awaitable[None]], *, host: str, port: int, drain_seconds: float) -> uvicorn.Config:
    """How mailgate is served. On SIGTERM no new call is taken, and running ones may finish for that long.

    No access log: a request line and its headers hold what must not be logged. `X-Forwarded-*` is not believed.
    """
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http="h11",
        ws="none",
        workers=1,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=ceil(drain_seconds),
    )


def listen(config: uvicorn.Config) -> tuple[socket, int]:
    """Binds and listens at once, so that whoever reads the port printed can connect; exits 1 when it is taken."""
    try:
        bound = config.bind_socket()
    except SystemExit:
        # uvicorn has logged the reason; its own status for this is 3.
        print(
            f"mailgate: port {config.port} cannot be used; choose another with --port (0 takes a free one)", file=stderr
        )
        raise SystemExit(1) from None
    # Connections inherit it. asyncio would set it on each, but not where the socket was made without a protocol, as
    # uvicorn does; without it every answer waits 40 ms for the client's delayed ACK between header and body.
    bound.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    bound.listen(config.backlog)
    return bound, bound.getsockname()[1]
