"""Builds sample messages octet by octet, so that each says exactly what its author meant, mistakes included."""

from __future__ import annotations

import base64
import quopri
import re
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

OWNER = "Robin Hale <robin@example.com>"
"""Whose mailbox it is."""

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Entity:
    """A body with the MIME fields that describe it."""

    fields: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def octets(self) -> bytes:
        """As a part of a multipart."""
        return header_block(self.fields) + b"\r\n" + self.body


@dataclass(frozen=True, slots=True)
class Sample:
    """A message, the folder it lies in, when it arrived, and its flags."""

    folder: str
    raw: bytes
    arrived: datetime
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Letter:
    """What a sample is made from. `ago` counts back from the date that the whole mailbox hangs on.

    `date` replaces the Date field's text; an empty string leaves the field out, as an empty `sender` does From.
    """

    ago: timedelta
    sender: str
    subject: str
    body: Entity
    to: str = OWNER
    folder: str = "INBOX"
    flags: tuple[str, ...] = ()
    zone: float = 0
    name: str = ""
    extra: tuple[tuple[str, str], ...] = field(default=())
    date: str | None = None

    def at(self, now: datetime) -> Sample:
        """The finished sample."""
        sent = (now - self.ago).astimezone(timezone(timedelta(hours=self.zone)))
        date = format_datetime(sent) if self.date is None else self.date
        fields = [("From", self.sender), ("To", self.to), ("Subject", self.subject), ("Date", date)]
        fields += [("Message-ID", f"<{self.name}@example.org>" if self.name else ""), *self.extra]
        kept = [(name, value) for name, value in fields if value]
        raw = header_block(kept) + b"MIME-Version: 1.0\r\n" + self.body.octets
        return Sample(self.folder, raw, sent + timedelta(seconds=4), self.flags)


def ago(days: float = 0, hours: float = 0, minutes: float = 0) -> timedelta:
    """How long before the reference date."""
    return timedelta(days=days, hours=hours, minutes=minutes)


def crlf(text: str) -> str:
    """Line ends as they go over the wire."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def header_block(fields: Headers) -> bytes:
    """Fields as octets: folded at blanks, non-ASCII runs of words as encoded words (RFC 2047)."""
    return b"".join(f"{name}: {_folded(name, _encoded(value))}\r\n".encode() for name, value in fields)


def _encoded(value: str) -> str:
    """Encodes the words that need it; neighbours together, for the blank between two encoded words is not shown."""
    if value.isascii():
        return value
    return re.sub(r"[^\s<>\",;]*[^\x00-\x7f][^<>\",;]*(?<!\s)", lambda run: encoded_words(run.group()), value)


def encoded_words(text: str, charset: str = "utf-8") -> str:
    """Base64 encoded words of at most 45 octets each, never split inside a character."""
    words, piece = [], ""
    for character in text:
        if len((piece + character).encode(charset)) > 45:
            words.append(piece)
            piece = ""
        piece += character
    return " ".join(encoded_word(word.encode(charset), charset) for word in [*words, piece])


def encoded_word(octets: bytes, charset: str) -> str:
    """One encoded word of these octets, whole characters or not."""
    return f"=?{charset}?B?{base64.b64encode(octets).decode()}?="


def _folded(name: str, value: str) -> str:
    lines, line = [], f"{name}: "
    for word in value.split(" "):
        if len(line) + len(word) > 76 and line.strip():
            lines.append(line.rstrip(" "))
            line = " "
        line += word + " "
    return "\r\n".join([*lines, line.rstrip(" ")]).removeprefix(f"{name}: ").removeprefix(f"{name}:")


def text(
    content: str, *, kind: str = "plain", charset: str = "utf-8", encoding: str = "", extra: Headers = ()
) -> Entity:
    """A text part. Without `encoding`: 7bit for ASCII, else quoted-printable."""
    octets = crlf(content).encode(charset)
    plain = octets.isascii() and max(map(len, octets.split(b"\r\n"))) < 900
    chosen = encoding or ("7bit" if plain else "quoted-printable")
    label = "us-ascii" if chosen == "7bit" and charset == "utf-8" else charset
    return encode(octets, f"text/{kind}; charset={label}", chosen, extra)


def html(content: str, **options: str) -> Entity:
    """An HTML part."""
    return text(content, kind="html", **options)  # type: ignore[arg-type]


def encode(octets: bytes, content_type: str, encoding: str, extra: Headers = ()) -> Entity:
    """Octets under a transfer encoding, labelled as told."""
    fields = (("Content-Type", content_type), ("Content-Transfer-Encoding", encoding), *extra)
    if encoding == "base64":
        octets = base64.encodebytes(octets).replace(b"\n", b"\r\n")
    elif encoding == "quoted-printable":
        octets = quopri.encodestring(octets.replace(b"\r\n", b"\n")).replace(b"\n", b"\r\n")
    return Entity(fields, octets)


def multipart(kind: str, boundary: str, *parts: Entity, parameters: str = "", preamble: str = "") -> Entity:
    """Parts between boundaries; `kind` is `mixed`, `alternative`, ..."""
    delimiter = f"--{boundary}\r\n".encode()
    body = crlf(preamble).encode() + b"".join(delimiter + part.octets + b"\r\n" for part in parts)
    fields = (("Content-Type", f'multipart/{kind}; boundary="{boundary}"{parameters}'),)
    return Entity(fields, body + f"--{boundary}--\r\n".encode())


def attachment(octets: bytes, content_type: str, filename: str, *extra: tuple[str, str]) -> Entity:
    """An attached file; `filename` is the whole parameter, such as `filename="a.pdf"`."""
    return encode(octets, content_type, "base64", (("Content-Disposition", f"attachment; {filename}"), *extra))


def forwarded(raw: bytes, *, inline: bool = False) -> Entity:
    """A whole message as an attachment (RFC 2046, 5.2.1)."""
    placement = "inline" if inline else "attachment"
    return Entity((("Content-Type", "message/rfc822"), ("Content-Disposition", placement)), raw)


def pdf(line: str) -> bytes:
    """A one-page PDF that shows one line of ASCII."""
    drawing = f"BT /F1 18 Tf 60 760 Td ({line}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawing), drawing),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    octets, offsets = b"%PDF-1.4\n", []
    for number, value in enumerate(objects, 1):
        offsets.append(len(octets))
        octets += b"%d 0 obj\n%b\nendobj\n" % (number, value)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % len(octets)
    return octets + b"xref\n0 6\n0000000000 65535 f \n" + table + trailer


def png(red: int, green: int, blue: int, side: int = 8) -> bytes:
    """A square of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes((red, green, blue)) * side) * side
    size = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
