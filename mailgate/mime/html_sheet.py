"""The rules of a style sheet that hold, out of the groups they stand in (CSS Syntax 3, CSS Nesting, CSS Cascade 5).

One pass over the braces, with a list of what is open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, NamedTuple

from mailgate.mime.html_media import container_holds, media_holds, supports_holds
from mailgate.mime.html_pieces import split_outside, tidied

_BRACE: Final = re.compile(r"([{}])")
_OUTER_CHARS_MAX: Final = 400
_CONTAINER: Final = re.compile(r"container(?:-type)?\s*:", re.IGNORECASE)
_LAYERS_MAX: Final = 200
UNLAYERED: Final = 10_000
"""The layer of what is in none: it wins over all."""
FRAMES: Final = "@"
"""Begins the selector of a rule that is the last frame of an animation; its name follows."""


class Rule(NamedTuple):
    """A list of selectors, tidied declarations, and the layer they are in (CSS Cascade, 6.4.2)."""

    selectors: str
    declared: str
    layer: int = UNLAYERED


@dataclass(frozen=True, slots=True)
class _Open:
    """What a brace opened: the selectors of a rule, the root of a scope, the name of the layer."""

    selectors: str = ""
    scope: str = ""
    layer: str = ""
    frames: str = ""


class _Layers:
    """Names of layers in the order in which they came, which is the order of their weight."""

    def __init__(self) -> None:
        self._order: dict[str, int] = {}

    def of(self, name: str) -> int:
        return self._order.setdefault(name, min(len(self._order), _LAYERS_MAX)) if name else UNLAYERED

    def inside(self, outer: str, name: str) -> str:
        whole = f"{outer}.{name or len(self._order)}"[-200:].strip(".")
        self.of(whole)
        return whole


def rules(css: str, selector_holds: Callable[[str], bool | None] = lambda text: None) -> Iterator[Rule]:
    """Every rule that holds; what is under a query that does not is passed over."""
    text = tidied(css)
    if "<!--" in text or "-->" in text:
        text = text.replace("<!--", " ").replace("-->", " ")
    layers = _Layers()
    has_containers = _CONTAINER.search(text) is not None
    passed_over = 0
    stray = ""
    opened: list[_Open] = []
    pieces = _BRACE.split(text)
    # What is open at the end is closed there (CSS Syntax, 5.4).
    for piece, brace in zip_longest(pieces[::2], pieces[1::2], fillvalue="}"):
        if passed_over:
            passed_over += 1 if brace == "{" else -1
            continue
        outer = opened[-1] if opened else _Open()
        if brace == "}":
            if opened:
                opened.pop()
                if outer.selectors:
                    yield Rule(outer.selectors, piece, layers.of(outer.layer))
            else:
                stray = "}"  # belongs to the selector that follows, and makes it none
            continue
        declared, _, prelude = piece.rpartition(";")
        for statement in declared.split(";"):
            if statement.lstrip().lower().startswith("@layer"):
                for name in statement.lstrip()[6:].split(","):
                    layers.inside(outer.layer, name.strip())
        if outer.selectors and declared:
            yield Rule(outer.selectors, declared, layers.of(outer.layer))
        prelude, stray = stray + prelude.strip(), ""
        inner = (
            _group(prelude, outer, layers, selector_holds, has_containers)
            if prelude.startswith("@")
            else _Open(_nested(outer, prelude), outer.scope, outer.layer)
        )
        if inner is None:
            passed_over = 1
        else:
            opened.append(inner)


def _nested(outer: _Open, prelude: str) -> str:
    """The selectors of a rule within a rule (CSS Nesting, 3) or a scope; empty where it is not followed."""
    if not prelude:
        return ""
    if outer.frames:
        last = {"to", "100%"} & {piece.strip().lower() for piece in prelude.split(",")}
        return FRAMES + outer.frames if last else FRAMES
    if outer.selectors:
        if len(outer.selectors) > _OUTER_CHARS_MAX:
            return ""
        around = f":is({outer.selectors})"
        pieces = [piece.strip() for piece in split_outside(prelude, ",")]
        return ",".join(
            piece.replace("&", around) if "&" in piece else f"{around} {piece}" for piece in pieces if piece
        )
    if outer.scope:
        pieces = [piece.strip() for piece in split_outside(prelude, ",")]
        return ",".join(
            piece.replace(":scope", outer.scope)
            if ":scope" in piece
            else f"{piece}:where({outer.scope},{outer.scope} *)"
            for piece in pieces
            if piece
        )
    return prelude


def _group(
    prelude: str, outer: _Open, layers: _Layers, selector_holds: Callable[[str], bool | None], has_containers: bool
) -> _Open | None:
    """What is open within a group; None for one that does not hold."""
    name = re.split(r"[\s(\"']", prelude[1:], maxsplit=1)[0].lower()
    rest = prelude[1 + len(name) :].strip()
    match name:
        case "media":
            return outer if media_holds(rest) else None
        case "supports":
            return outer if supports_holds(rest.lower(), selector_holds) else None
        case "container":
            return outer if has_containers and container_holds(rest.lower()) else None
        case "layer":
            return _Open(outer.selectors, outer.scope, layers.inside(outer.layer, rest))
        case "scope":
            return _scoped(rest, outer)
        case "keyframes" | "-webkit-keyframes":
            return _Open(frames=rest.strip("\"'")[:100].lower())
    return None


def _scoped(rest: str, outer: _Open) -> _Open | None:
    """The root of a scope; what lies below its limit is taken for inside (CSS Cascade 6, 2.5)."""
    start = rest.partition(" to ")[0].strip()
    if not start.startswith("("):
        return outer
    root = start[1:].removesuffix(")").strip()
    if len(root) > _OUTER_CHARS_MAX or outer.scope:
        return None
    return _Open(outer.selectors, f":where({root})", outer.layer)
