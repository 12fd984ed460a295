"""The HTTP server under the application: uvicorn, one process, nothing of a request ever logged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from math import ceil
from sys import stderr
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from socket import socket


class QuietServer(uvicorn.Server):
    """A server inside a larger program, which keeps the signals to itself."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves the signal handlers as they are."""
        yield


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
    bound.listen(config.backlog)
    return bound, bound.getsockname()[1]
