"""Declarations of a style attribute or of the block of a rule, read as a browser reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from mailgate.mime.html_pieces import split_outside, tidied, unescaped
from mailgate.mime.html_values import SHORTHANDS, VALID, canonical, longhands

_VALUE_CHARS_MAX: Final = 4000
_IMPORTANT: Final = re.compile(r"!\s*important\s*\Z", re.IGNORECASE)
_VARIABLE: Final = re.compile(r"\bvar\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A value in lower case without superfluous blanks, and whether it is `!important`. `of`: the property as it was
    written, where the value has variables in it and is not yet known; the letters of such a value are as written."""

    value: str
    important: bool = False
    of: str = ""


Declarations = Mapping[str, Declaration]


def declarations(style: str, *, quirks: bool = False) -> dict[str, Declaration]:
    """What is declared of the properties in `VALID`, shorthands spelled out, and of custom properties."""
    return declarations_of(tidied(style), quirks=quirks)


def declarations_of(text: str, *, quirks: bool = False) -> dict[str, Declaration]:
    """The same for text that is tidied already."""
    found: dict[str, Declaration] = {}
    for piece in split_outside(text, ";"):
        for key, declaration in _declared(piece, quirks):
            if key == "all":
                kept = (
                    name for name, each in found.items() if name[:2] == "--" or each.important > declaration.important
                )
                found = {name: found[name] for name in kept}
            previous = found.get(key)
            if declaration.important or previous is None or not previous.important:
                found[key] = declaration
    return found


def _declared(piece: str, quirks: bool) -> Iterator[tuple[str, Declaration]]:
    name, colon, value = piece.partition(":")
    name = unescaped(name.strip(" \t\n\r\f"))
    if not colon or len(value) > _VALUE_CHARS_MAX:
        return
    bare = _IMPORTANT.sub("", value)
    important = bare != value
    bare = " ".join(bare.split())
    if name.startswith("--"):
        if len(name) > 2:
            yield name, Declaration(bare, important)
        return
    if "!" in bare:
        return
    name = canonical(name.lower())
    if name not in VALID and name not in SHORTHANDS:
        return
    if _VARIABLE.search(bare):
        for key in SHORTHANDS.get(name, (name,)):
            yield key, Declaration(bare, important, name)
        return
    # A blank that comes of an escape stays a part of its word, so that `none\9` is not `none`.
    for key, part in longhands(name, unescaped(bare).lower(), quirks=quirks):
        yield key, Declaration(part, important)
