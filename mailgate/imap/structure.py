"""Whether a message has attachments, from BODYSTRUCTURE (RFC 9051, 7.5.2), which many servers get wrong.

The answer is advice for one row of a list: what cannot be understood is "not known", never an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mailgate.imap.tokens import Atom, String, Value
from mailgate.limits import MIME_DEPTH_MAX, MIME_PARTS_MAX

_PARTS_EXAMINED: Final = 10 * MIME_PARTS_MAX
_PARAMETERS: Final = 2
_ID: Final = 3
_FIELDS: Final = 7
"""body-type-basic has seven fields before its extensions: type, subtype and body-fields."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One entity still to be looked at, with what matters of its place in the message."""

    body: Value
    in_related: bool = False
    """It lies in a multipart/related and is not its root, so the body may refer to it."""
    in_alternative: bool = False
    is_root: bool = False
    depth: int = 1


def has_attachments(body_structure: Value) -> bool | None:
    """True or false, or None when the structure is missing or makes no sense.

    body = "(" (body-type-1part / body-type-mpart) ")"

    A leaf is an attachment unless it is the text a reader sees, or an inline part with a Content-ID in a
    multipart/related, to which the body refers. An attached message counts; its own parts are not looked at.
    """
    waiting = [_Part(body_structure, is_root=True)]
    examined, unclear = 0, False
    while waiting:
        part = waiting.pop()
        examined += 1
        if examined > _PARTS_EXAMINED or part.depth > MIME_DEPTH_MAX:
            # Reading stops there too, and lists what it did not open.
            return None
        body = part.body
        if not isinstance(body, list) or not body:
            unclear = True
        elif isinstance(body[0], list):
            waiting += _children(body, part)
        else:
            verdict = _is_attachment(body, part)
            if verdict:
                return True
            unclear = unclear or verdict is None
    return None if unclear else False


def _children(body: list[Value], part: _Part) -> list[_Part]:
    """body-type-mpart = 1*body SP media-subtype [SP body-ext-mpart]"""
    count = next((index for index, value in enumerate(body) if not isinstance(value, list)), len(body))
    subtype = _word(body[count]) if count < len(body) else None
    return [
        _Part(
            child,
            in_related=part.in_related or (subtype == "related" and index > 0),
            in_alternative=subtype == "alternative",
            depth=part.depth + 1,
        )
        for index, child in enumerate(body[:count])
    ]


def _is_attachment(body: list[Value], part: _Part) -> bool | None:
    """One leaf; None when it has not even the fields that every leaf has.

    body-type-1part = (body-type-basic / body-type-msg / body-type-text) [SP body-ext-1part]
    body-type-basic = media-basic SP body-fields
    body-fields     = body-fld-param SP body-fld-id SP body-fld-desc SP body-fld-enc SP body-fld-octets
    """
    kind, subtype = _word(body[0]), _word(body[1]) if len(body) > 1 else None
    if kind is None or subtype is None or len(body) < _FIELDS:
        return None
    disposition, has_filename = _disposition(body, kind, subtype)
    if disposition == "attachment":
        return True
    if part.in_related and body[_ID]:
        return False
    if kind == "text":
        is_body = subtype in ("plain", "html") and (part.is_root or not has_filename)
        return not (is_body or part.is_root or part.in_alternative)
    return True


def _disposition(body: list[Value], kind: str, subtype: str) -> tuple[str | None, bool]:
    """Content-Disposition in lower case, and whether it or Content-Type gives the part a name.

    body-ext-1part = body-fld-md5 [SP body-fld-dsp [SP body-fld-lang [SP body-fld-loc *(SP body-extension)]]]
    body-fld-dsp   = "(" string SP body-fld-param ")" / nil
    """
    value = body[_extensions_start(kind, subtype) + 1 :][:1]
    dsp = value[0] if value else None
    named = _names(body[_PARAMETERS], "name")
    if not isinstance(dsp, list) or not dsp:
        return None, named
    return _word(dsp[0]), named or (len(dsp) > 1 and _names(dsp[1], "filename"))


def _extensions_start(kind: str, subtype: str) -> int:
    """Text has a line count before its extensions; an attached message also envelope and body."""
    if kind == "message" and subtype in ("rfc822", "global"):
        return _FIELDS + 3
    return _FIELDS + 1 if kind == "text" else _FIELDS


def _names(parameters: Value, name: str) -> bool:
    """Whether `body-fld-param` has it, in any of the spellings of RFC 2231 (`name*`, `name*0*`)."""
    if not isinstance(parameters, list):
        return False
    return any((_word(key) or "").partition("*")[0] == name for key in parameters[::2])


def _word(value: Value) -> str | None:
    return value.decode("ascii", "replace").lower() if isinstance(value, (Atom, String)) and value else None
