"""Messages and what they say, put together from the standards and from nothing of mailgate's own.

Everything here writes what RFC 5322, 2045 to 2047, 2231 and 2183 describe; what a message means is known before it
is written, so that it never has to be read off any parser.
"""

from __future__ import annotations

import base64
import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

WORD_MAX = 75
"""Characters of an encoded word (RFC 2047, 2)."""


@dataclass(frozen=True)
class Case:
    """One message: its file's name, its octets, and what a reader has to find in it."""

    name: str
    source: bytes
    expected: dict[str, Any]


@dataclass(frozen=True)
class Node:
    """An entity: its fields, its body, and the attachments in it in order of appearance."""

    fields: tuple[str, ...]
    body: bytes
    attachments: tuple[dict[str, Any], ...] = field(default=())

    @property
    def source(self) -> bytes:
        return b"".join(line.encode() + b"\r\n" for line in self.fields) + b"\r\n" + self.body


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n") + "\r\n"


def in_charset(text: str, charset: str) -> bytes:
    """Strict, so that no letter says something that its charset cannot."""
    codec = {"iso-8859-8-i": "iso8859-8", "windows-874": "cp874", "ks_c_5601-1987": "cp949", "macintosh": "mac-roman",
             "hz-gb-2312": "hz"}.get(charset.lower(), charset)  # fmt: skip
    if charset.lower() == "gb2312":
        codec = "gbk"  # what senders that say gb2312 write
    return text.encode(codec)


def spelled_for(text: str, charset: str) -> str:
    """Windows-1258 has tones as combining characters: there a letter is its base with the tone after it."""
    if charset.lower() != "windows-1258":
        return text
    return "".join(map(_vietnamese, text))


def _vietnamese(character: str) -> str:
    try:
        character.encode("cp1258")
        return character
    except UnicodeEncodeError:
        tones = "\u0300\u0301\u0303\u0309\u0323"
        apart = unicodedata.normalize("NFD", character)
        base = "".join(one for one in apart if one not in tones)
        return unicodedata.normalize("NFC", base) + "".join(one for one in apart if one in tones)


# --- headers ---------------------------------------------------------------------------------------------------


def encoded_words(text: str, charset: str, form: str) -> str:
    """Encoded words, each whole characters only, folded where there are several; plain ASCII stays as it is."""
    if text.isascii() or form == "8":
        return text
    return "\r\n ".join(_words(text, charset, form))


def _words(text: str, charset: str, form: str) -> Iterator[str]:
    taken = ""
    for character in text:
        if len(_word(taken + character, charset, form)) > WORD_MAX:
            yield _word(taken, charset, form)
            taken = ""
        taken += character
    yield _word(taken, charset, form)


def _word(text: str, charset: str, form: str) -> str:
    # A word in UTF-16 has no place for a byte order mark; its name says UTF-8 instead, as senders do.
    charset = "utf-8" if charset.lower().startswith("utf-16") else charset
    octets = in_charset(text, charset)
    if form == "B":
        return f"=?{charset}?B?{base64.b64encode(octets).decode()}?="
    plain = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/"
    shown = "".join(chr(one) if one in plain else "_" if one == 0x20 else f"={one:02X}" for one in octets)
    return f"=?{charset}?Q?{shown}?="


def percent(octets: bytes) -> str:
    """RFC 2231, 7: everything but attribute characters as `%XX`."""
    kept = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_"
    return "".join(chr(one) if one in kept else f"%{one:02X}" for one in octets)


# --- bodies ----------------------------------------------------------------------------------------------------


def transfer_encoded(octets: bytes, encoding: str, width: int = 76) -> bytes:
    """The octets under a transfer encoding of RFC 2045, 6."""
    if encoding == "base64":
        digits = base64.b64encode(octets)
        return b"".join(digits[at : at + width] + b"\r\n" for at in range(0, len(digits), width))
    if encoding == "quoted-printable":
        return b"".join(_quoted_lines(octets))
    return octets


def _quoted_lines(octets: bytes) -> Iterator[bytes]:
    """Text lines keep their ends; every other CR and LF is data and is written as an escape."""
    for number, line in enumerate(octets.split(b"\r\n")):
        if number:
            yield b"\r\n"
        written = b""
        for at, one in enumerate(line):
            is_last = at == len(line) - 1
            plain = (33 <= one <= 126 and one != 0x3D) or (one in (9, 32) and not is_last)
            piece = bytes([one]) if plain else b"=%02X" % one
            if len(written) + len(piece) > 75:
                yield written + b"=\r\n"
                written = b""
            written += piece
        yield written


def text_node(text: str, charset: str = "utf-8", encoding: str = "quoted-printable", kind: str = "plain") -> Node:
    octets = transfer_encoded(in_charset(crlf(text), charset), encoding)
    return Node((f"Content-Type: text/{kind}; charset={charset}", f"Content-Transfer-Encoding: {encoding}"), octets)


def html_node(text: str) -> Node:
    """The same words as HTML."""
    paragraphs = "".join(f"<p>{one.replace(chr(10), '<br>')}</p>\n" for one in text.split("\n\n"))
    return text_node(f"<html><body>\n{paragraphs}</body></html>", kind="html")


def multipart(kind: str, children: list[Node], boundary: str, parameters: str = "") -> Node:
    delimiter = f"--{boundary}".encode()
    body = b"".join(delimiter + b"\r\n" + child.source + b"\r\n" for child in children) + delimiter + b"--\r\n"
    found = tuple(one for child in children for one in child.attachments)
    return Node((f'Content-Type: multipart/{kind}; boundary="{boundary}"{parameters}',), body, found)


def attached(data: bytes, content_type: str, filename: str | None, **more: Any) -> dict[str, Any]:
    """What is to be found of an attachment."""
    facts = {"filename": filename, "content_type": content_type, "size": len(data),
             "sha256": hashlib.sha256(data).hexdigest()}  # fmt: skip
    return facts | {key: value for key, value in more.items() if value}


def message(node: Node, fields: list[str]) -> bytes:
    head = "".join(f"{line}\r\n" for line in [*fields, "MIME-Version: 1.0"])
    return head.encode() + node.source
