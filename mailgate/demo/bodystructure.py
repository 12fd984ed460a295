"""BODYSTRUCTURE, BODY and ENVELOPE of a message (RFC 3501, 7.4.2)."""

from __future__ import annotations

import re
from email.utils import getaddresses

from mailgate.demo.grammar import serialize_nstring, serialize_string
from mailgate.demo.structure import Part, parse_value

_ADDRESS_FIELDS = (b"from", b"sender", b"reply-to", b"to", b"cc", b"bcc")
_CONTINUED = re.compile(rb"(.+?)\*(\d+)(\*?)")


def unfold(value: bytes | None) -> bytes | None:
    """A field's value on one line (RFC 5322, 2.2.3)."""
    return None if value is None else re.sub(rb"\r?\n(?=[ \t])", b"", value).strip()


def body_structure(part: Part, *, extended: bool) -> bytes:
    """`body`: with `extended` (BODYSTRUCTURE) also the extension data, without it (BODY) not."""
    if part.is_multipart:
        inner = b"".join(body_structure(child, extended=extended) for child in part.children)
        words = [inner, serialize_string(part.media[1])]
        if extended:
            words += [_parameters(part.parameters), *_placement(part)]
        return b"(" + b" ".join(words) + b")"
    words = [*_basic_fields(part)]
    if part.is_message:
        inner_message = part.children[0]
        words += [envelope(inner_message), body_structure(inner_message, extended=extended), _lines(part.body)]
    elif part.media[0] == b"text":
        words.append(_lines(part.body))
    if extended:
        words += [serialize_nstring(unfold(part.value(b"content-md5"))), *_placement(part)]
    return b"(" + b" ".join(words) + b")"


def _basic_fields(part: Part) -> tuple[bytes, ...]:
    media = part.media
    if media[0] == b"multipart":
        # A multipart without a boundary has no place in the grammar but that of opaque octets.
        media = (b"application", b"octet-stream")
    encoding = unfold(part.value(b"content-transfer-encoding")) or b"7bit"
    return (
        serialize_string(media[0]),
        serialize_string(media[1]),
        _parameters(_with_charset(part.parameters) if media[0] == b"text" else part.parameters),
        serialize_nstring(unfold(part.value(b"content-id"))),
        serialize_nstring(unfold(part.value(b"content-description"))),
        serialize_string(encoding.lower()),
        b"%d" % len(part.body),
    )


def _with_charset(parameters: tuple[tuple[bytes, bytes], ...]) -> tuple[tuple[bytes, bytes], ...]:
    """Text without a charset is US-ASCII (RFC 2045, 5.2)."""
    return parameters if b"charset" in dict(parameters) else (*parameters, (b"charset", b"us-ascii"))


def _lines(body: bytes) -> bytes:
    return b"%d" % body.count(b"\n")


def _parameters(parameters: tuple[tuple[bytes, bytes], ...]) -> bytes:
    pairs = [serialize_string(text) for pair in _joined(parameters) for text in pair]
    return b"(" + b" ".join(pairs) + b")" if pairs else b"NIL"


def _joined(parameters: tuple[tuple[bytes, bytes], ...]) -> list[tuple[bytes, bytes]]:
    """RFC 2231, 3: the numbered pieces of one parameter put together, in the order of their numbers and up to a gap."""
    whole: list[tuple[bytes, bytes]] = []
    pieces: dict[bytes, list[tuple[int, bytes, bytes]]] = {}
    for name, value in parameters:
        found = _CONTINUED.fullmatch(name)
        if found is None:
            whole.append((name, value))
        else:
            pieces.setdefault(found.group(1), []).append((int(found.group(2)), found.group(3), value))
    for name, several in pieces.items():
        several.sort()
        following = [one for at, one in enumerate(several) if one[0] == several[0][0] + at]
        starred = b"*" if any(star for _, star, _ in following) else b""
        # Within an extended value a percent sign that stands for itself has to be encoded.
        pieces_of = (value if star or not starred else value.replace(b"%", b"%25") for _, star, value in following)
        whole.append((name + starred, b"".join(pieces_of)))
    return whole


def _placement(part: Part) -> list[bytes]:
    """`body-fld-dsp`, `body-fld-lang`, `body-fld-loc`."""
    disposition = part.value(b"content-disposition")
    shown = b"NIL"
    if disposition is not None:
        kind, parameters = parse_value(disposition)
        shown = b"(" + serialize_string(kind) + b" " + _parameters(parameters) + b")"
    language = unfold(part.value(b"content-language"))
    tags = [serialize_string(tag.strip()) for tag in (language or b"").split(b",") if tag.strip()]
    return [
        shown,
        b"(" + b" ".join(tags) + b")" if tags else b"NIL",
        serialize_nstring(unfold(part.value(b"content-location"))),
    ]


def envelope(part: Part) -> bytes:
    """`envelope`: ten fields; a missing Sender or Reply-To repeats From (RFC 3501, 7.4.2)."""
    lists = {name: _addresses(part.value(name)) for name in _ADDRESS_FIELDS}
    for name in (b"sender", b"reply-to"):
        if lists[name] == b"NIL":
            lists[name] = lists[b"from"]
    single = {
        name: serialize_nstring(unfold(part.value(name)))
        for name in (b"date", b"subject", b"in-reply-to", b"message-id")
    }
    order = [single[b"date"], single[b"subject"], *lists.values(), single[b"in-reply-to"], single[b"message-id"]]
    return b"(" + b" ".join(order) + b")"


def _addresses(value: bytes | None) -> bytes:
    text = (unfold(value) or b"").decode("utf-8", "surrogateescape")
    rows = []
    for name, address in getaddresses([text]):
        local, _, host = address.rpartition("@") if "@" in address else (address, "", "")
        if name or address:
            rows.append(b"(" + b" ".join([_nstring(name), b"NIL", _nstring(local), _nstring(host)]) + b")")
    return b"(" + b"".join(rows) + b")" if rows else b"NIL"


def _nstring(text: str) -> bytes:
    return serialize_nstring(text.encode("utf-8", "surrogateescape") or None)
