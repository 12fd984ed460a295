"""The octets of a body: the largest call there can be, bodies that are too large, and two readers that agree."""

from __future__ import annotations

import asyncio
import base64
import json
import math
from typing import Any

import pydantic_core
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailgate.limits import UPLOAD_BYTES_MAX, UPLOADS_MAX
from mailgate.server import strict_json
from mailgate.server.strict_json import NotStrictJson
from tests.server.fakes import ERAS, OWNER_TOKEN, Post, application, settings, writable
from tests.server.transport.serving import served
from tests.test_surface_eras import OPEN

MIB = 1 << 20


def largest() -> dict[str, Any]:
    """Every attachment there may be, as large as they may be together, and text that doubles in JSON."""
    size = UPLOAD_BYTES_MAX // UPLOADS_MAX
    sizes = [size] * (UPLOADS_MAX - 1) + [UPLOAD_BYTES_MAX - size * (UPLOADS_MAX - 1)]
    attachments = [
        {
            "filename": f"part-{number}.bin",
            "content_type": "application/octet-stream",
            "data_base64": base64.b64encode(bytes([number]) * octets).decode(),
        }
        for number, octets in enumerate(sizes)
    ]
    return {"message": {"to": ["a@example.com"], "subject": "All", "text": "é" * 200_000, "attachments": attachments}}


@pytest.mark.parametrize("era", ERAS)
async def test_the_largest_legal_message_is_accepted_over_a_socket(era: str) -> None:
    post = Post.call("mail_prepare_send", largest(), era=era)
    assert len(post.content()) > 5 * MIB
    async with served(application(settings(**OPEN), writable())) as server:
        reply = await server.call(post)
    result = reply.json["result"]
    assert not result.get("isError"), result["content"]
    shown = (
        result["structuredContent"]["untrusted"]
        if "untrusted" in result["structuredContent"]
        else result["structuredContent"]
    )
    assert sum(each["size"] for each in shown["attachments"]) == UPLOAD_BYTES_MAX
    assert len(shown["attachments"]) == UPLOADS_MAX


@pytest.mark.parametrize("era", ERAS)
async def test_twenty_mebibytes_are_refused_by_what_they_declare_before_they_are_sent(era: str) -> None:
    async with served(application()) as server:
        client = await server.connect()
        await client.send(Post(body=b"", era=era), declare=20 * MIB)
        reply = await client.reply()
    assert (reply.status, reply.json["error"]["code"]) == (413, -32600)


async def test_twenty_mebibytes_without_a_length_are_refused_long_before_their_end() -> None:
    sent = 0
    async with served(application()) as server:
        client = await server.connect()
        head = (
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {OWNER_TOKEN}\r\n\r\n"
        )
        client.writer.write(head.encode())
        reply = asyncio.ensure_future(client.reply())
        piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
        while sent < 20 * MIB and not reply.done():
            client.writer.write(piece)
            sent += 0x10000
            try:
                await client.writer.drain()
            except ConnectionError:
                break
            await asyncio.sleep(0)
        assert (await reply).status == 413
    assert sent < 12 * MIB


async def test_a_stranger_s_body_is_not_read_at_all() -> None:
    async with served(application()) as server:
        client = await server.connect()
        await client.send(Post(body=b"", token=None), declare=20 * MIB)
        assert (await client.reply()).status == 401


# --- the SDK reads the same octets again, with one parser in each era ---------------------------------------------


def exactly(value: Any) -> Any:
    """The value with its types, so that 1 is not 1.0 and -0.0 not 0.0."""
    if isinstance(value, float):
        return ("float", value.hex())
    if isinstance(value, dict):
        return {key: exactly(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [exactly(inner) for inner in value]
    return (type(value).__name__, value)


NUMBERS = st.one_of(
    st.integers(),
    st.integers(min_value=-(10**290), max_value=10**290),
    st.floats(allow_nan=False, allow_infinity=False),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, st.text())
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)), max_leaves=30
)


@given(DOCUMENTS, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_what_is_accepted_means_the_same_to_both_parsers_of_the_sdk(value: Any, escaped: bool, indent: Any) -> None:
    try:
        text = json.dumps(value, ensure_ascii=escaped, indent=indent).encode()
    except UnicodeEncodeError:
        return
    try:
        ours = strict_json.loads(text)
    except NotStrictJson:
        return
    assert exactly(ours) == exactly(json.loads(text)) == exactly(pydantic_core.from_json(text))


ODD = st.lists(
    st.sampled_from(
        ['{"a":', "}", "[", "]", ",", ":", '"', "\\u", "d83d", "\\ude00", "\\", "1", "-", "0", ".", "e", "E+", "9" * 40,
         "true", "null", "NaN", "Infinity", " ", "\t", "\n", "\x0b", "\xa0", "\x00", "\ufeff", "é", "/", "'"]
    ),
    max_size=12,
)  # fmt: skip


@given(ODD)
def test_whatever_text_is_accepted_is_accepted_by_both_parsers_of_the_sdk(pieces: list[str]) -> None:
    text = "".join(pieces).encode()
    try:
        ours = strict_json.loads(text)
    except NotStrictJson:
        return
    assert exactly(ours) == exactly(json.loads(text)) == exactly(pydantic_core.from_json(text))


@pytest.mark.parametrize("text", ["-0", "-0.0", "1E+22", "5e-324", "1.7976931348623157e308", "9" * 300, '"\\u0000"'])
def test_numbers_at_the_edges_mean_the_same_to_all_three(text: str) -> None:
    assert exactly(strict_json.loads(text)) == exactly(json.loads(text)) == exactly(pydantic_core.from_json(text))


@pytest.mark.parametrize("text", ["1e309", "-1e400", "179769313486231580793e289"])
def test_what_becomes_infinite_is_refused_though_the_sdk_would_take_it(text: str) -> None:
    assert math.isinf(json.loads(text))
    with pytest.raises(NotStrictJson):
        strict_json.loads(text)
