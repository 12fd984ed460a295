"""What IMAP and SMTP have in common on the way to a login: the order of the stages, and telling what answers at all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from mailgate.errors import UpstreamError
from mailgate.faults import Fault, Stage
from mailgate.imap.endpoint import Security
from mailgate.imap.reaching import fault_of

ORDERS: Final = {
    Security.TLS: (Stage.DNS, Stage.CONNECT, Stage.TLS, Stage.GREETING, Stage.LOGIN),
    Security.STARTTLS: (Stage.DNS, Stage.CONNECT, Stage.GREETING, Stage.TLS, Stage.LOGIN),
    Security.PLAINTEXT: (Stage.DNS, Stage.CONNECT, Stage.GREETING, Stage.LOGIN),
}
_MUTE: Final = frozenset({Fault.GREETING_SILENT, Fault.GREETING_CLOSED, Fault.GREETING_ODD})
_NOT_TLS: Final = frozenset({Fault.TLS_ABSENT, Fault.TLS_SILENT, Fault.TLS_FAILED})


async def resolve(host: str, port: int, *, seconds: float) -> Fault | None:
    """Look the name up as the doors do. On its own, because there a silent name server looks like a silent port."""
    try:
        async with asyncio.timeout(seconds):
            await asyncio.get_running_loop().getaddrinfo(host, port)
    except TimeoutError:
        return Fault.NAME_UNANSWERED
    except (OSError, UnicodeError) as error:
        return fault_of(error) or Fault.NAME_UNANSWERED
    return None


async def sharpened(fault: Fault, security: Security, greet_in_tls: Callable[[], Awaitable[None]]) -> Fault:
    """`TLS_EXPECTED` where a port that says nothing in the clear turns out to begin with TLS, else the fault itself.

    `greet_in_tls` connects with TLS, hears the greeting and leaves without a word.
    """
    if fault not in _MUTE or security is Security.TLS:
        return fault
    try:
        await greet_in_tls()
    except UpstreamError as error:
        spoke_tls = error.fault is not None and error.fault.stage is Stage.TLS and error.fault not in _NOT_TLS
        return Fault.TLS_EXPECTED if spoke_tls else fault
    return Fault.TLS_EXPECTED
