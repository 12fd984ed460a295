"""Each element of the parsed tree: its name, its attributes, what holds for it; and a first walk for overlaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

from mailgate.limits import HTML_OPEN_ELEMENTS_MAX
from mailgate.mime.html_length import ORDINARY, Scale, pixels
from mailgate.mime.html_matching import Element
from mailgate.mime.html_overlap import Behind, Overlaps, is_placed, is_raised, overlaps
from mailgate.mime.html_placing import OUTERMOST, framed
from mailgate.mime.html_rules import TABLE_PARTS
from mailgate.mime.html_styles import StyleSheet
from mailgate.mime.html_visibility import Look, look_inside, removes_subtree

_PIXEL: Final = 3.0
"""Width or height of a picture that is there to be fetched, not to be seen."""
_HINTS: Final = "href hidden popover open bgcolor background color text link size".split()
"""Attributes that decide how text inside looks."""
_COLUMNS: Final = frozenset({"col", "colgroup"})


class Resolved(NamedTuple):
    """`tag`: the name before the scan renamed it. `element`: as selectors see it, where there are any."""

    tag: str
    attributes: Mapping[str, str]
    element: Element | None
    values: Mapping[str, str]


class Resolver:
    """Asks the style sheet about each element, once."""

    def __init__(self, styles: StyleSheet) -> None:
        self._styles = styles
        self._known: dict[int, Resolved] | None = None

    def resolve(self, node: LexborNode, outer: Element | None) -> Resolved:
        """What holds for the element; `outer`: the element around it."""
        if self._known is not None:
            known = self._known.get(node.mem_id)
            if known is not None:
                return known
        attributes = {key: value or "" for key, value in node.attributes.items()}
        tag = attributes.get("was") or (node.tag or "").removeprefix("x-")
        element = None
        if not self._styles.is_empty:
            element = Element(node, tag, attributes, outer, folds=self._styles.quirks)
        resolved = Resolved(tag, attributes, element, self._styles.values(attributes.get("style", ""), element))
        if self._known is not None:
            self._known[node.mem_id] = resolved
        return resolved

    def find_overlaps(self, root: LexborNode) -> Overlaps:
        """Walk the tree under `root` and remember what holds for each element."""
        self._known = {}
        found = Overlaps(is_known=True)
        pending: list[tuple[LexborNode, Element | None, tuple[int, ...], int]] = [(root, None, (), root.mem_id)]
        while pending and not self._styles.exhausted:
            node, outer, above, placed = pending.pop()
            resolved = self.resolve(node, outer)
            values = resolved.values
            if _is_away(resolved) or len(above) > 3 * HTML_OPEN_ELEMENTS_MAX:
                continue
            is_picture = resolved.tag == "img" and not is_pixel(resolved.attributes, values)
            found.note(resolved.tag, resolved.attributes, values, is_picture)
            if overlaps(values) or (resolved.tag in _COLUMNS and _is_coloured(resolved)):
                taken_out = values.get("position") in ("absolute", "fixed")
                scopes = found.raised_scopes if is_raised(values) else found.scopes
                scopes.add(placed if taken_out else _scope(above, placed))
            here = node.mem_id
            around = (*above[-3:], here) if resolved.tag not in TABLE_PARTS or resolved.tag == "table" else above
            inside = (resolved.element, around, here if is_placed(values) else placed)
            child = node.last_child
            while child is not None:
                if child.is_element_node:
                    pending.append((child, *inside))
                child = child.prev
        return found


class Looks:
    """The look inside an element; elements alike in the same place share one."""

    def __init__(self) -> None:
        # What is known holds on to what it is known by, so that no number of an object stands for another.
        self._known: dict[tuple[object, ...], tuple[Look, Mapping[str, str], Look | None]] = {}

    def inside(self, outer: Look, resolved: Resolved, behind: Behind) -> Look | None:
        """None where nothing in the element is shown."""
        tag, attributes, _, values = resolved
        hints = tuple((key, attributes[key]) for key in _HINTS if key in attributes)
        key = (id(outer), id(values), tag, hints, behind)
        known = self._known.get(key)
        if known is None:
            removed = removes_subtree(attributes, values, tag, outer)
            look = None if removed else look_inside(outer, tag, attributes, values, behind=behind)
            known = self._known[key] = (outer, values, look)
        return known[2]


def _is_away(resolved: Resolved) -> bool:
    """Whether the element is out of sight by itself, so that it covers nothing."""
    if removes_subtree(resolved.attributes, resolved.values, resolved.tag):
        return True
    return bool(resolved.values) and framed(OUTERMOST, resolved.values, ORDINARY, inline=False).is_unseen


def _scope(above: tuple[int, ...], root: int) -> int:
    """The box in which an element that is moved a little may meet others: the second around it, tables taken whole."""
    return above[-2] if len(above) > 1 else above[0] if above else root


def _is_coloured(resolved: Resolved) -> bool:
    return "bgcolor" in resolved.attributes or any(key.startswith("background") for key in resolved.values)


def is_pixel(attributes: Mapping[str, str], values: Mapping[str, str]) -> bool:
    """Whether a picture is so small that nobody sees it."""
    wide = Scale(percent=600.0)
    sizes = (pixels(values.get(key) or attributes.get(key, "").strip(), wide) for key in ("width", "height"))
    return any(size is not None and size < _PIXEL for size in sizes)
