"""The send store in a Redis server (redis:// and rediss://), each step one script in one connection of its own.

A send is rare and confirmed by a person, so nothing is gained by keeping connections: a kept one may have died without
notice, and one in doubt must never be used again.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, NoPermissionError

from mailgate.errors import StoreUnavailable
from mailgate.faults import Fault
from mailgate.limits import STORE_SECONDS
from mailgate.send.scripted_store import ScriptedStore


class RedisStore(ScriptedStore):
    """`url` is redis[s]://[user:password@]host[:port][/number]; `ca_file` adds trust anchors (PEM) for rediss."""

    def __init__(
        self, url: str, deployment_tag: str, *, ca_file: Path | None = None, seconds: float = STORE_SECONDS
    ) -> None:
        super().__init__(deployment_tag, seconds=seconds)
        self._options = _options(url, ca_file)

    async def _execute(self, command: Sequence[str]) -> object:
        # A step that was answered late is a step that may have happened: the library must not repeat it.
        client = Redis(
            **self._options,
            socket_timeout=self._seconds,
            socket_connect_timeout=self._seconds,
            retry=Retry(NoBackoff(), 0),
            protocol=2,
            single_connection_client=False,
            max_connections=1,
        )
        try:
            execute = cast("Callable[..., Awaitable[object]]", client.execute_command)
            return await execute(*command)
        except AuthenticationError:
            raise StoreUnavailable().because(Fault.PASSWORD_WRONG) from None
        except NoPermissionError:
            raise StoreUnavailable().because(Fault.NOT_PERMITTED) from None
        finally:
            await client.aclose(close_connection_pool=True)

    async def aclose(self) -> None:
        """Nothing is kept."""


def _options(url: str, ca_file: Path | None) -> dict[str, Any]:
    """The parts of the URL; options in it are never passed on, for one of them switches verification off."""
    parts = urlsplit(url)
    options: dict[str, Any] = {
        "host": parts.hostname or "localhost",
        "port": parts.port or 6379,
        "db": int(parts.path.strip("/") or 0),
        "username": unquote(parts.username) if parts.username else None,
        "password": unquote(parts.password) if parts.password else None,
    }
    if parts.scheme == "rediss":
        # RFC 9325, 3.1.1: nothing below TLS 1.2. The anchors are added to the system's.
        options |= {
            "ssl": True,
            "ssl_cert_reqs": "required",
            "ssl_check_hostname": True,
            "ssl_min_version": ssl.TLSVersion.TLSv1_2,
            "ssl_ca_certs": str(ca_file) if ca_file else None,
        }
    return options
