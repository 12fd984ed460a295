"""The same server over standard input and output: the local user is the owner."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Any, Final, Self, cast

from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError

from mailgate.policy import ALL_SCOPES, Principal, Scope
from mailgate.server import telemetry
from mailgate.server.dispatch import Dispatcher
from mailgate.server.envelope import BadRequest, Envelope, is_request_id, parse_envelope
from mailgate.server.mcp import build_server

_CHUNK: Final = 64 * 1024
_GRACE_SECONDS: Final = 2.0
"""Beyond the deadline of a call, for its answer to be written."""


def local_principal(scopes: Iterable[Scope] = ALL_SCOPES) -> Principal:
    """The local user, with all scopes unless narrowed. Gates apply all the same."""
    return Principal("local", "owner", frozenset(scopes))


async def serve_stdio(dispatcher: Dispatcher, scopes: Iterable[Scope] = ALL_SCOPES) -> None:
    """Serve until standard input ends, or SIGTERM or SIGINT comes; what was asked until then is answered first.

    A call that changes mail must not be dropped between its two halves because nobody listens any more.
    """
    server = build_server(dispatcher, local_principal(scopes))
    settings = dispatcher.backend.settings
    patience = max(settings.upstream_timeout_seconds, settings.send_deadline_seconds) + _GRACE_SECONDS
    lines = _CheckedLines(_Lines(asyncio.get_running_loop()), patience)
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError, RuntimeError):  # not on every system, and only in the main thread
            asyncio.get_running_loop().add_signal_handler(number, lines.stop)
    async with stdio_server(cast(Any, lines)) as (incoming, outgoing):
        answers = lines.answers = _Answers(outgoing)
        # Only now are the SDK's stdio loggers sure to exist.
        telemetry.silence("mcp")
        await server.run(incoming, cast(Any, answers), server.create_initialization_options())


class _Lines:
    """Standard input by lines, read in a thread that nobody has to wait for: a blocked read cannot be cancelled."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=16)
        threading.Thread(target=self._read, args=(sys.stdin.fileno(),), daemon=True).start()

    async def next(self) -> bytes | None:
        """The next line, or None at the end of the input."""
        return await self._queue.get()

    def end(self) -> None:
        """Whatever else comes is not read."""
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(None)

    def _read(self, descriptor: int) -> None:
        pending = bytearray()
        with suppress(RuntimeError, asyncio.CancelledError):  # the loop has ended
            while chunk := os.read(descriptor, _CHUNK):
                pending += chunk
                if b"\n" in chunk:
                    *lines, rest = bytes(pending).split(b"\n")
                    pending = bytearray(rest)
                    for line in lines:
                        self._put(line)
            self._put(bytes(pending))
            self._put(None)

    def _put(self, line: bytes | None) -> None:
        asyncio.run_coroutine_threadsafe(self._queue.put(line), self._loop).result()


class _Answers:
    """The stream to the client, which knows whether everything asked has been answered."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._open: set[object] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    def expect(self, request: str | int) -> None:
        """A request with this id goes in."""
        self._open.add(request)
        self._idle.clear()

    def forget(self, request: object) -> None:
        """The request with this id needs no answer any more."""
        if isinstance(request, str | int):
            self._open.discard(request)
        if not self._open:
            self._idle.set()

    async def all(self, seconds: float) -> None:
        """Wait until nothing is open, and not for ever."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()

    async def send(self, item: SessionMessage) -> None:
        """To the client."""
        await self._stream.send(item)
        self.forget(getattr(item.message, "id", None))

    async def aclose(self) -> None:
        """As the stream's own."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _CheckedLines:
    """What the SDK reads: each line one JSON-RPC message by the same strict reading as over HTTP.

    The SDK drops a line that it cannot read, and a client would wait for its answer until it gives up. Here such a line
    is answered and goes no further.
    """

    def __init__(self, lines: _Lines, patience: float) -> None:
        self._lines = lines
        self._patience = patience
        self.answers: _Answers | None = None

    def stop(self) -> None:
        """Take nothing more."""
        self._lines.end()

    async def __aiter__(self) -> AsyncIterator[str]:
        while (line := await self._lines.next()) is not None:
            if not line.strip():
                continue
            try:
                envelope = parse_envelope(line)
            except BadRequest as bad:
                await self._refuse(line, bad)
                continue
            if self.answers is not None:
                self._note(self.answers, envelope, line)
            yield line.decode()
        if self.answers is not None:
            # The SDK cancels what still runs when its input ends.
            await self.answers.all(self._patience)

    @staticmethod
    def _note(answers: _Answers, envelope: Envelope, line: bytes) -> None:
        if envelope.request_id is not None:
            answers.expect(envelope.request_id)
        elif envelope.method == "notifications/cancelled":
            # A cancelled request may or may not be answered; whoever cancelled it does not wait.
            parameters = _loosely(line).get("params")
            answers.forget(parameters.get("requestId") if isinstance(parameters, dict) else None)

    async def _refuse(self, line: bytes, bad: BadRequest) -> None:
        message = _loosely(line)
        if self.answers is None or ("method" not in message and ("result" in message or "error" in message)):
            # An answer to a question that was never asked needs no answer.
            return
        named = message.get("id")
        error = ErrorData(code=bad.rpc_code, message=bad.sentence)
        answer = JSONRPCError(jsonrpc="2.0", id=named if is_request_id(named) else None, error=error)
        await self.answers.send(SessionMessage(answer))


def _loosely(line: bytes) -> dict[str, Any]:
    """As much of a refused message as is needed to say whose answer this is."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}
