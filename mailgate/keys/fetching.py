"""The one way to the issuer: GET of a document, bounded in size, no redirects, TLS verified.

Nothing of a request to mailgate goes into these; the caller's token least of all.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import Final

import httpx2

from mailgate.errors import UpstreamUnavailable
from mailgate.imap.tls import client_context
from mailgate.keys.discovery import Get
from mailgate.keys.trouble import KeysUnavailable, KeyTrouble
from mailgate.limits import KEY_DOCUMENT_BYTES_MAX

_FIELDS: Final = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "mailgate"}


class HttpDocuments:
    """Opens sessions with the issuer's hosts; `ca_file` adds trust anchors (PEM).

    Each session has a client of its own: a kept one would belong to an event loop that may be gone.
    """

    def __init__(self, ca_file: Path | None = None) -> None:
        self._ca_file = ca_file

    @asynccontextmanager
    async def session(self) -> AsyncIterator[Get]:
        """What fetches documents until the end of the block. The caller bounds the time."""
        async with httpx2.AsyncClient(
            # A proxy or a certificate file named in the environment is nobody's decision here.
            transport=httpx2.AsyncHTTPTransport(verify=self._context, trust_env=False, retries=0),
            headers=_FIELDS,
            timeout=None,
            follow_redirects=False,
            trust_env=False,
        ) as client:

            async def get(url: str) -> bytes:
                return await _document(client, url)

            yield get

    @cached_property
    def _context(self) -> ssl.SSLContext:
        try:
            return client_context(self._ca_file)
        except UpstreamUnavailable:
            raise KeysUnavailable(KeyTrouble.CA_FILE) from None


async def _document(client: httpx2.AsyncClient, url: str) -> bytes:
    try:
        async with client.stream("GET", url) as response:
            return await _body(response)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise KeysUnavailable(_trouble(error)) from None


async def _body(response: httpx2.Response) -> bytes:
    if response.is_redirect:
        raise KeysUnavailable(KeyTrouble.REDIRECT)
    if response.status_code != httpx2.codes.OK:
        raise KeysUnavailable(KeyTrouble.STATUS)
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        # Nobody asked for it, and a few octets of it can become very many.
        raise KeysUnavailable(KeyTrouble.ENCODED)
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > KEY_DOCUMENT_BYTES_MAX:
            raise KeysUnavailable(KeyTrouble.TOO_LARGE)
    return bytes(body)


def _trouble(error: BaseException) -> KeyTrouble:
    if isinstance(error, httpx2.TimeoutException):
        return KeyTrouble.TIMEOUT
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            return KeyTrouble.TLS
        seen = seen.__cause__ or seen.__context__
    return KeyTrouble.UNREACHABLE
