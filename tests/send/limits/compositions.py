"""Compositions at the edge of what is legal, as a client would write them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

MIB = 2**20
COMPLETE = 5 * MIB
DECODED = 3 * MIB
RECIPIENTS = 50
SUBJECT = "é" * 256
"""512 octets of UTF-8."""
LONGEST_NAME = "😀" * 196 + ".bin"
"""200 characters."""
LINE = "0123456789" * 7 + "\n"
"""A line of text, which is one octet longer in a message."""

Result = dict[str, Any]
Prepare = Callable[[Result], Awaitable[Result]]


def noise(octets: int, seed: int = 0) -> bytes:
    """Octets that nothing can shorten, the same ones every time."""
    return hashlib.shake_256(str(seed).encode()).digest(octets)


def attachments(sizes: Sequence[int], name: str = LONGEST_NAME) -> list[Result]:
    """Files of these decoded sizes, their names told apart by a number at the end."""
    return [
        {
            "filename": f"{name[: 200 - 4 - len(str(number))]}{number}.bin",
            "content_type": "application/octet-stream",
            "data_base64": base64.b64encode(noise(size, number)).decode(),
        }
        for number, size in enumerate(sizes)
    ]


def split(total: int, count: int) -> list[int]:
    """That many numbers that add up to `total`."""
    return [total // count + (1 if number < total % count else 0) for number in range(count)]


def people(count: int) -> list[str]:
    """That many addresses."""
    return [f"someone.number-{number:02}@mail.example.com" for number in range(count)]


def everything() -> Result:
    """Every bound at once but for the text: whom `brimful` fills up to the size of a whole message."""
    everybody = people(RECIPIENTS)
    return {
        "to": everybody[:20],
        "cc": everybody[20:40],
        "bcc": everybody[40:],
        "subject": SUBJECT,
        "attachments": attachments(split(DECODED, 20)),
    }


async def brimful(prepare: Prepare, *, over: int = 0, **changes: Any) -> tuple[Result, Result]:
    """Prepare a message of exactly 5 MiB (and `over` octets more): the review of it, and the composition.

    3 MiB of attachments are 4 MiB and more in base64, so 1 MiB of text never fits beside them: the text takes what the
    rest leaves. What the rest is, a first message tells.
    """
    message = {**everything(), **changes}
    first = await prepare({**message, "text": LINE})
    room = COMPLETE + over - int(first["size"])
    lines, rest = divmod(room, len(LINE) + 1)
    message["text"] = LINE * (lines + 1) + ("y" * (rest - 2) + "\n" if rest >= 2 else "")
    if rest == 1:
        # One octet more on the last line.
        message["text"] = message["text"].removesuffix("\n") + "x\n"
    return await prepare(message), message
