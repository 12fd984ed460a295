"""A message's parts as the server's BODYSTRUCTURE describes them (RFC 9051, 7.5.2), for listing without downloading.

It is the server's account, and many servers get it wrong: what cannot be understood as a whole gives None, never an
error and never half a list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mailgate.imap.tokens import Atom, String, Value
from mailgate.limits import MIME_DEPTH_MAX, MIME_PARTS_MAX

_FIELDS: Final = 7
"""body-type-basic has seven fields before its extensions: type, subtype and body-fields."""
_VALUE_BYTES_MAX: Final = 4096


@dataclass(frozen=True, slots=True)
class PartOutline:
    """One part. Values are octets as sent, bounded; parameters are pairs of name and value, in order.

    `octets`: its size as encoded, None where the server names none. `children`: the parts of a multipart; an attached
    message has none.
    """

    kind: bytes
    subtype: bytes
    parameters: tuple[tuple[bytes, bytes], ...] = ()
    content_id: bytes = b""
    encoding: bytes = b""
    octets: int | None = None
    disposition: bytes = b""
    disposition_parameters: tuple[tuple[bytes, bytes], ...] = ()
    children: tuple[PartOutline, ...] = ()


class _Unclear(Exception):
    """The structure, or something in it, makes no sense."""


def outline_of(body_structure: Value) -> PartOutline | None:
    """The tree, or None where it is missing, makes no sense, or passes the bounds on depth and parts."""
    try:
        return _Outline().part(body_structure, 1)
    except _Unclear:
        return None


class _Outline:
    """Recursion is bounded by `limits.MIME_DEPTH_MAX`, work by `limits.MIME_PARTS_MAX`."""

    def __init__(self) -> None:
        self._parts = 0

    def part(self, body: Value, depth: int) -> PartOutline:
        self._parts += 1
        if not isinstance(body, list) or not body or depth > MIME_DEPTH_MAX or self._parts > 2 * MIME_PARTS_MAX:
            raise _Unclear
        return self._multipart(body, depth) if isinstance(body[0], list) else _leaf(body)

    def _multipart(self, body: list[Value], depth: int) -> PartOutline:
        """body-type-mpart = 1*body SP media-subtype [SP body-fld-param [SP body-fld-dsp ...]]"""
        count = next((index for index, value in enumerate(body) if not isinstance(value, list)), len(body))
        if count == len(body):
            raise _Unclear
        parameters = _parameters(body[count + 1]) if len(body) > count + 1 else ()
        children = tuple(self.part(child, depth + 1) for child in body[:count])
        return PartOutline(b"multipart", _octets(body[count]), parameters, children=children)


def _leaf(body: list[Value]) -> PartOutline:
    """body-type-basic = media-basic SP body-fields; body-fields = param SP id SP desc SP enc SP octets"""
    if len(body) < _FIELDS:
        raise _Unclear
    kind, subtype = _octets(body[0]).lower(), _octets(body[1]).lower()
    if not kind or not subtype:
        raise _Unclear
    disposition, parameters = _disposition(body, _extensions_start(kind, subtype))
    return PartOutline(
        kind=kind,
        subtype=subtype,
        parameters=_parameters(body[2]),
        content_id=_octets(body[3]),
        encoding=_octets(body[5]),
        octets=_number(body[6]),
        disposition=disposition,
        disposition_parameters=parameters,
    )


def _extensions_start(kind: bytes, subtype: bytes) -> int:
    """Text has a line count before its extensions; an attached message also envelope and body."""
    if kind == b"message" and subtype in (b"rfc822", b"global"):
        return _FIELDS + 3
    return _FIELDS + 1 if kind == b"text" else _FIELDS


def _disposition(body: Sequence[Value], start: int) -> tuple[bytes, tuple[tuple[bytes, bytes], ...]]:
    """body-ext-1part = body-fld-md5 [SP body-fld-dsp ...]; body-fld-dsp = "(" string SP body-fld-param ")" / nil"""
    value = body[start + 1] if len(body) > start + 1 else None
    if not isinstance(value, list) or not value:
        return b"", ()
    return _octets(value[0]), _parameters(value[1]) if len(value) > 1 else ()


def _parameters(value: Value) -> tuple[tuple[bytes, bytes], ...]:
    """body-fld-param = "(" string SP string *(SP string SP string) ")" / nil"""
    if not isinstance(value, list):
        return ()
    names, values = value[0:64:2], value[1:64:2]
    return tuple((_octets(name), _octets(given)) for name, given in zip(names, values, strict=False))


def _octets(value: Value) -> bytes:
    return bytes(value[:_VALUE_BYTES_MAX]) if isinstance(value, Atom | String) else b""


def _number(value: Value) -> int | None:
    return int(value) if isinstance(value, Atom) and value.isdigit() and len(value) <= 15 else None
