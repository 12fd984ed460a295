"""Messages put together for the tests of this folder."""

from __future__ import annotations

from collections.abc import Sequence

from mailgate.mime.model import ParsedMessage, RawMessage
from mailgate.mime.parse import parse_message


def part(body: bytes, *fields: str) -> bytes:
    """One entity: its fields, a blank line, its body."""
    return "".join(f"{field}\r\n" for field in fields).encode() + b"\r\n" + body


def text(body: str, kind: str = "text/plain") -> bytes:
    return part(body.encode(), f"Content-Type: {kind}; charset=utf-8")


def html(body: str) -> bytes:
    return text(body, "text/html")


def attachment(body: bytes = b"data", kind: str = "application/pdf", name: str = "a.pdf") -> bytes:
    return part(body, f"Content-Type: {kind}", f'Content-Disposition: attachment; filename="{name}"')


def multipart(kind: str, children: Sequence[bytes], *fields: str, boundary: str = "", close: bool = True) -> bytes:
    """A multipart of the given children; its boundary is its own unless given."""
    boundary = boundary or f"{kind}-{len(children)}-{sum(map(len, children))}"
    delimiter = f"--{boundary}".encode()
    body = b"".join(delimiter + b"\r\n" + child + b"\r\n" for child in children)
    return part(
        body + (delimiter + b"--\r\n" if close else b""),
        f'Content-Type: multipart/{kind}; boundary="{boundary}"',
        *fields,
    )


def read(source: bytes, *, truncated: bool = False) -> ParsedMessage:
    return parse_message(RawMessage(source, truncated))


def codes(message: ParsedMessage) -> set[str]:
    return {warning.code for warning in message.warnings}
