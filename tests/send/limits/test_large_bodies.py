"""A request body beyond MAIL_MAX_REQUEST_BYTES is refused as soon as that is known, and never held whole."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from tests.send.limits.compositions import MIB
from tests.send.limits.conftest import Preparing
from tests.send.real.serving import headers_of
from tests.server.fakes import Post

TWENTY = 20 * MIB
LIMIT = 8 * MIB
PIECE = b"x" * 65_536


def head_of(at: Preparing, **fields: str) -> bytes:
    post = Post.call("mail_prepare_send", {}, era="legacy")
    lines = {**headers_of(post), "Host": f"127.0.0.1:{at.server.port}", **fields}
    return ("POST /mcp HTTP/1.1\r\n" + "".join(f"{key}: {value}\r\n" for key, value in lines.items()) + "\r\n").encode()


async def status_of(reader: asyncio.StreamReader) -> int:
    return int((await asyncio.wait_for(reader.readline(), 30)).split()[1])


async def test_a_declared_size_is_refused_before_any_of_it_is_sent(preparing: Preparing) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", preparing.server.port)
    writer.write(head_of(preparing, **{"Content-Length": str(TWENTY)}))
    assert await status_of(reader) == 413
    writer.close()


@pytest.mark.parametrize("declared", [True, False], ids=["declared", "in pieces"])
async def test_twenty_mebibytes_are_never_held(preparing: Preparing, declared: bool) -> None:
    """The peak of the process's memory: little of a body that says how large it is, else the limit, twice at most."""
    await preparing.server.ok("mail_capabilities", {})
    before = preparing.server.memory_from_now()
    reader, writer = await asyncio.open_connection("127.0.0.1", preparing.server.port)
    field = {"Content-Length": str(TWENTY)} if declared else {"Transfer-Encoding": "chunked"}
    writer.write(head_of(preparing, **field))
    sent = 0
    with suppress(ConnectionError):
        while sent < TWENTY and not reader.at_eof():
            writer.write(PIECE if declared else b"%x\r\n%s\r\n" % (len(PIECE), PIECE))
            sent += len(PIECE)
            await writer.drain()
    with suppress(ConnectionError):
        assert await status_of(reader) == 413
    writer.close()
    grown = preparing.server.most_memory - before
    assert grown < (4 * MIB if declared else 2 * LIMIT), f"{grown} octets more"
    assert (await preparing.server.ok("mail_capabilities", {}))["store"]["kind"] == "sqlite"


@pytest.mark.parametrize(("octets", "status"), [(LIMIT, 200), (LIMIT + 1, 413)], ids=["the limit", "one octet more"])
async def test_the_limit_is_exact(preparing: Preparing, octets: int, status: int) -> None:
    body = Post.call("mail_capabilities").content()
    response = await preparing.server.post(Post.call("mail_capabilities", body=body + b" " * (octets - len(body))))
    assert response.status_code == status
