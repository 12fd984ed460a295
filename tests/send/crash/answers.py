"""One call over HTTP, and the class its answer belongs to."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tests.server.fakes import OWNER_TOKEN, Post

CALL_SECONDS = 60.0


class Class(StrEnum):
    """What an answer amounts to, in the words of the table."""

    ACC = "ACC"
    NEG = "NEG"
    RUN = "RUN"
    UNK = "UNK"
    NF = "NF"
    ERR = "ERR"
    NOBODY = "-"
    """No answer arrived."""


_OF_STATUS = {
    "accepted": Class.ACC,
    "rejected": Class.NEG,
    "not_sent": Class.NEG,
    "sending": Class.RUN,
    "unknown": Class.UNK,
}


@dataclass(frozen=True)
class Answer:
    """`result` is the structured half of a success, `text` the text half of either, `code` a failure's."""

    kind: Class
    text: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""

    @property
    def warnings(self) -> set[str]:
        """The codes of the warnings."""
        return {warning.partition(":")[0] for warning in self.result.get("warnings", ())}


LOST = Answer(Class.NOBODY)


async def call(port: int, tool: str, arguments: Mapping[str, Any], *, token: str = OWNER_TOKEN) -> Answer:
    """Call a tool; `LOST` when the connection ends before the answer is complete.

    Cancelling it closes the connection.
    """
    post = Post.call(tool, arguments)
    content = post.content()
    fields = {**post.fields(), "Host": f"127.0.0.1:{port}", "Authorization": f"Bearer {token}"}
    fields |= {"Content-Length": str(len(content)), "Connection": "close"}
    head = "POST /mcp HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in fields.items()) + "\r\n"
    writer = None
    try:
        async with asyncio.timeout(CALL_SECONDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
            writer.write(head.encode() + content)
            return _understood(await reader.read(-1))
    except ConnectionError:
        return LOST
    finally:
        if writer is not None:
            writer.transport.abort()


def _understood(response: bytes) -> Answer:
    head, _, body = response.partition(b"\r\n\r\n")
    found = re.match(rb"HTTP/1\.1 (\d{3})", head)
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    if found is None or length is None or len(body) < int(length[1]):
        return LOST
    if found[1] != b"200":
        return Answer(Class.ERR, body.decode(), code=f"http_{found[1].decode()}")
    result = json.loads(body)["result"]
    text = result["content"][0]["text"]
    if not result["isError"]:
        told = result["structuredContent"]
        return Answer(_OF_STATUS.get(told.get("status", ""), Class.ACC), text, told)
    code = text.partition(":")[0].removeprefix("error ")
    return Answer(Class.NF if code == "prepared_not_found" else Class.ERR, text, code=code)
