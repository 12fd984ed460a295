"""The send store in Upstash Redis, over its REST interface: one script, one POST, no repetition.

The library repeats a failed request by default, even one that took effect, waits without end, reports about its host,
and reads answers of any size; each of these is switched off or bounded here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from pathlib import Path

import httpx
from upstash_redis.asyncio import Redis

from mailgate.errors import LimitExceeded, StoreUnavailable, UpstreamUnavailable
from mailgate.faults import Fault
from mailgate.imap.tls import client_context
from mailgate.limits import STORE_REQUEST_BYTES_MAX, STORE_SECONDS
from mailgate.send.scripted_store import ScriptedStore

_NOT_KEPT = httpx.Limits(max_keepalive_connections=0)
"""One connection a step: a kept one may have died without notice, and a host may change event loops between calls."""
_REFUSED = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
_ENVELOPE_BYTES = 4096
"""Room for what surrounds the arguments in a request: quotes, commas, the command."""


class UpstashStore(ScriptedStore):
    """`url` and `token` as Upstash gives them; `ca_file` adds trust anchors (PEM)."""

    def __init__(
        self, url: str, token: str, deployment_tag: str, *, ca_file: Path | None = None, seconds: float = STORE_SECONDS
    ) -> None:
        super().__init__(deployment_tag, seconds=seconds)
        self._url = url
        self._token = token
        self._ca_file = ca_file

    async def _execute(self, command: Sequence[str]) -> object:
        if sum(len(each) + 4 for each in command) + _ENVELOPE_BYTES > STORE_REQUEST_BYTES_MAX:
            raise LimitExceeded("The message is larger than the store takes in one request.")
        return await self._client.execute(list(command))

    async def aclose(self) -> None:
        """Close the HTTP client; a later step opens a new one."""
        client: Redis | None = self.__dict__.pop("_client", None)
        if client is not None:
            await client.close()

    @cached_property
    def _client(self) -> Redis:
        # Made at the first step, for a file of anchors that cannot be read is an unavailable store. Every step is a
        # writing script, so there is no read that would have to wait for a write.
        client = Redis(
            self._url,
            self._token,
            rest_encoding="base64",
            rest_retries=0,
            allow_telemetry=False,
            read_your_writes=False,
        )
        client._http._client = _http_client(self._ca_file, self._seconds)
        return client


def _http_client(ca_file: Path | None, seconds: float) -> httpx.AsyncClient:
    try:
        context = client_context(ca_file)
    except UpstreamUnavailable as unusable:
        raise StoreUnavailable(unusable.sentence, next_step=unusable.next_step).because(Fault.CA_FILE) from None
    # A redirect would carry the token elsewhere; a proxy named in the environment is nobody's decision here.
    return httpx.AsyncClient(
        transport=_Bounded(httpx.AsyncHTTPTransport(verify=context, trust_env=False, retries=0, limits=_NOT_KEPT)),
        headers={"Accept-Encoding": "identity"},
        timeout=seconds,
        follow_redirects=False,
        trust_env=False,
    )


class _Bounded(httpx.AsyncBaseTransport):
    """Lets only a plain 200 through, and only so many octets of it."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        if response.status_code != httpx.codes.OK or "content-encoding" in response.headers:
            await response.aclose()
            if response.status_code in _REFUSED:
                raise StoreUnavailable().because(Fault.PASSWORD_WRONG)
            raise httpx.RemoteProtocolError("not a plain 200")
        assert isinstance(response.stream, httpx.AsyncByteStream)
        return httpx.Response(response.status_code, headers=response.headers, stream=_BoundedStream(response.stream))

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        async for chunk in self._inner:
            received += len(chunk)
            if received > STORE_REQUEST_BYTES_MAX:
                raise httpx.RemoteProtocolError("an answer without end")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
