"""A request whose client may leave before its answer: reading is ended soon, everything else is seen through.

Who hangs up does not wait for an answer, and what only reads costs the mail server time for nobody. What changes or
sends anything goes on: broken off half way, nobody could tell what it did. (In JSON mode the SDK never looks.)
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mailgate.server.envelope import ClientGone, Envelope


async def serve_until_gone(
    endpoint: ASGIApp, envelope: Envelope, scope: Scope, receive: Receive, send: Send, *, may_end: bool
) -> None:
    """Run `endpoint` for one request whose body was read already.

    `may_end`: the call only reads. Raises `ClientGone` when it was ended because the client has left. Cancelling this
    cancels the endpoint.
    """
    gone = asyncio.Event()

    answered = False

    async def say(message: Message) -> None:
        nonlocal answered
        # Noted before it leaves: the end of a whole response is reported as a disconnect too (ASGI, HTTP 2.3).
        answered = answered or (message["type"] == "http.response.body" and not message.get("more_body", False))
        await send(message)

    async def hear() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    watch = _task(_watch(receive, gone))
    work = _task(_run(endpoint, scope, envelope.replay(hear), say))
    try:
        await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
        left = may_end and gone.is_set() and not answered and work.cancel()
        await asyncio.wait({work})
    except asyncio.CancelledError:
        work.cancel()
        await asyncio.wait({work})
        raise
    finally:
        # Waited for: a loop that only runs while a request does would otherwise keep it for the next one.
        watch.cancel()
        await asyncio.wait({watch})
    if left and work.cancelled():
        raise ClientGone
    await work


def _task(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    return asyncio.get_running_loop().create_task(work)


async def _run(endpoint: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await endpoint(scope, receive, send)


async def _watch(receive: Receive, gone: asyncio.Event) -> None:
    """Only `http.disconnect` can follow a complete body (ASGI, HTTP 2.3); a host that says more is not asked again."""
    message = await receive()
    if message["type"] == "http.disconnect":
        gone.set()
