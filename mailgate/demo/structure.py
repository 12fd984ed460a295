"""A message's MIME tree as octets (RFC 2045, RFC 2046): enough to serve sections, BODYSTRUCTURE and searching.

Any octets are a message: what cannot be understood is one opaque part. Nothing here decodes a body.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_DEPTH = 32
"""Parts nested deeper are served as opaque octets."""
MAX_PARTS = 1000

_BLANK_LINE = re.compile(rb"(?:\A|\n)\r?\n")
_FIELD = re.compile(rb"^([^\x00-\x20:\x7f-\xff]+)[ \t]*:[ \t]*(.*?)(?=\r?\n(?![ \t])|\Z)", re.S | re.M)
_TOKEN = rb"[^\x00-\x20()<>@,;:\\\"/\[\]?=\x7f]+"
_MEDIA = re.compile(rb"\s*(" + _TOKEN + rb")\s*/\s*(" + _TOKEN + rb")")
_PARAMETER = re.compile(rb";\s*(" + _TOKEN + rb")\s*=\s*(\"(?:[^\"\\]|\\.)*\"|[^;\s\"]*)", re.S)


@dataclass(frozen=True, slots=True)
class Part:
    """A MIME part, or a whole message: its header with the blank line, its body, and the parts inside.

    `children` are the parts of a multipart, or the one message inside a message/rfc822.
    """

    header: bytes
    body: bytes
    fields: tuple[tuple[bytes, bytes], ...]
    media: tuple[bytes, bytes]
    parameters: tuple[tuple[bytes, bytes], ...]
    children: tuple[Part, ...] = ()

    @property
    def is_multipart(self) -> bool:
        """Whether the body was split into parts."""
        return self.media[0] == b"multipart" and bool(self.children)

    @property
    def is_message(self) -> bool:
        """Whether the body is itself a message."""
        return self.media == (b"message", b"rfc822") and bool(self.children)

    def value(self, name: bytes) -> bytes | None:
        """The first field of that name (lower case), its line breaks still in it."""
        return next((value for field, value in self.fields if field.lower() == name), None)


def parse_value(value: bytes) -> tuple[bytes, tuple[tuple[bytes, bytes], ...]]:
    """`token; name=value; ...` as the lower-case token and its parameters (RFC 2045, 5.1)."""
    head, _, _ = value.partition(b";")
    parameters = tuple((name.lower(), _unquoted(text)) for name, text in _PARAMETER.findall(value))
    return head.strip().lower(), parameters


def _unquoted(text: bytes) -> bytes:
    return re.sub(rb"\\(.)", rb"\1", text[1:-1], flags=re.S) if text.startswith(b'"') else text


@lru_cache(maxsize=512)
def parse_structure(raw: bytes) -> Part:
    """The tree of a whole message. Never raises."""
    return _Parser().part(raw, (b"text", b"plain"), 0)


_NO_PARAMETERS: tuple[tuple[bytes, bytes], ...] = ()


class _Parser:
    """Counts the parts of one message while it takes them apart."""

    def __init__(self) -> None:
        self._parts = 0

    def part(self, octets: bytes, default: tuple[bytes, bytes], depth: int) -> Part:
        self._parts += 1
        header, body = split_header(octets)
        fields = tuple((name, value) for name, value in _FIELD.findall(header))
        part = Part(header, body, fields, default, ())
        content_type = part.value(b"content-type")
        media, parameters = default, _NO_PARAMETERS
        found = _MEDIA.match(content_type or b"")
        if found:
            media = (found.group(1).lower(), found.group(2).lower())
            parameters = parse_value(content_type or b"")[1]
        children = self._children(body, media, parameters, depth) if depth < MAX_DEPTH else ()
        return Part(header, body, fields, media, parameters, children)

    def _children(
        self, body: bytes, media: tuple[bytes, bytes], parameters: tuple[tuple[bytes, bytes], ...], depth: int
    ) -> tuple[Part, ...]:
        if media == (b"message", b"rfc822"):
            return (self.part(body, (b"text", b"plain"), depth + 1),)
        boundary = dict(parameters).get(b"boundary")
        if media[0] != b"multipart" or not boundary:
            return ()
        # RFC 2046, 5.1.5: in a digest, a part without a type is a message.
        default = (b"message", b"rfc822") if media[1] == b"digest" else (b"text", b"plain")
        # A multipart has at least one part (RFC 2046, 5.1.1): where none is found, an empty one.
        pieces = split_multipart(body, boundary)[: MAX_PARTS - self._parts] or [b""]
        return tuple(self.part(piece, default, depth + 1) for piece in pieces)


def split_header(octets: bytes) -> tuple[bytes, bytes]:
    """Header with its blank line, and body (RFC 5322, 2.1)."""
    blank = _BLANK_LINE.search(octets)
    return (octets, b"") if blank is None else (octets[: blank.end()], octets[blank.end() :])


def split_multipart(body: bytes, boundary: bytes) -> list[bytes]:
    """The parts between boundary lines; the line break before a boundary belongs to it (RFC 2046, 5.1.1).

    Without a closing boundary the last part runs to the end.
    """
    line = re.compile(rb"(?:\A|\r?\n)--" + re.escape(boundary) + rb"(--)?[ \t]*(?=\r?\n|\Z)")
    pieces, start = [], -1
    for found in line.finditer(body):
        if start >= 0:
            pieces.append(body[start : found.start()] if found.start() >= start else b"")
        start = found.end() + len(re.match(rb"\r?\n|", body[found.end() : found.end() + 2]).group())  # type: ignore[union-attr]
        if found.group(1):
            return pieces
    if start >= 0:
        pieces.append(body[start:])
    return pieces
