"""Selectors of a style sheet: which elements a rule is about (Selectors Level 4, the part that mail uses).

Understood are types, classes, ids, attributes that the scan keeps, `:first-child`, `:last-child`, `:not()` of one
compound, and the four combinators. A selector with anything else is not followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborNode

from mailgate.mime.html_css import unescaped

_SELECTOR_CHARS_MAX: Final = 500
_COMPOUNDS_MAX: Final = 10
_OUTER_NAMES_MAX: Final = 1000
_IDENT: Final = r"(?:[-_a-z0-9]|[^\x00-\x7f]|\\[0-9a-f]{1,6} ?|\\[^0-9a-f\n])+"
_PART: Final = re.compile(
    rf"(?P<combinator>\s*[>+~]\s*|\s+)|(?P<tag>\*|{_IDENT})|(?P<name>[.#]{_IDENT})|\[(?P<attribute>[^\[\]]*)\]"
    rf"|(?P<pseudo>::?[-a-z]+)(?:\((?P<inside>[^()]*)\))?"
)
_ATTRIBUTE: Final = re.compile(
    r"\s*([-a-z0-9]+)\s*(?:([~|^$*]?=)\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"']+))\s*[is]?\s*)?"
)


@dataclass(frozen=True, slots=True)
class Compound:
    """What one element must be: all of it. `names`: type, `.class` and `#id`; none for `*`."""

    names: frozenset[str] = frozenset()
    attributes: tuple[tuple[str, str, str], ...] = ()
    pseudo: tuple[str, ...] = ()
    none_of: tuple[Compound, ...] = ()

    @property
    def asks_more(self) -> bool:
        """Whether the names are not all."""
        return bool(self.attributes or self.pseudo or self.none_of)

    @property
    def specificity(self) -> tuple[int, int, int]:
        """Ids, classes, types (Selectors, 17)."""
        ids = sum(name[0] == "#" for name in self.names)
        classes = sum(name[0] == "." for name in self.names) + len(self.attributes) + len(self.pseudo)
        inner = [compound.specificity for compound in self.none_of]
        types = len(self.names) - ids - sum(name[0] == "." for name in self.names)
        return (
            ids + sum(each[0] for each in inner),
            classes + sum(each[1] for each in inner),
            types + sum(each[2] for each in inner),
        )


@dataclass(frozen=True, slots=True)
class Selector:
    """Compounds from the last to the first, the combinators between them, and what its ancestors must include."""

    compounds: tuple[Compound, ...]
    combinators: tuple[str, ...] = ()

    @property
    def specificity(self) -> tuple[int, int, int]:
        """The sum over its compounds."""
        sums = [sum(each) for each in zip(*(compound.specificity for compound in self.compounds), strict=True)]
        return sums[0], sums[1], sums[2]

    @property
    def key(self) -> str:
        """A name that every element it matches has: an id before a class before a type."""
        names = self.compounds[0].names
        return min(names, key=lambda name: ("#.".find(name[0]) % 3, name)) if names else "*"

    @property
    def is_simple(self) -> bool:
        """Whether an element's own names are all it asks for."""
        return len(self.compounds) == 1 and not self.compounds[0].asks_more

    @property
    def is_of_path(self) -> bool:
        """Whether the names of an element and of those around it are all it asks for."""
        inner = all(combinator in (" ", ">") for combinator in self.combinators)
        return inner and not any(compound.asks_more for compound in self.compounds)

    @property
    def outer_names(self) -> frozenset[str]:
        """Names that must be found among the ancestors: those of every compound that is one."""
        found: set[str] = set()
        for compound, combinator in zip(self.compounds[1:], self.combinators, strict=True):
            if combinator not in (" ", ">"):
                break  # from here on it may be about siblings
            found |= compound.names
        return frozenset(found)


def parse_selector(text: str) -> Selector | None:
    """A selector in lower case; None for what is not followed."""
    text = text.strip()
    if not text or len(text) > _SELECTOR_CHARS_MAX:
        return None
    compounds: list[Compound] = []
    combinators: list[str] = []
    parts: list[re.Match[str]] = []
    at = 0
    while at < len(text):
        match = _PART.match(text, at)
        if match is None:
            return None
        at = match.end()
        if match["combinator"] is None:
            parts.append(match)
            continue
        if not _append(compounds, parts):
            return None
        combinators.append(match["combinator"].strip() or " ")
        parts = []
    if not _append(compounds, parts) or len(compounds) > _COMPOUNDS_MAX:
        return None
    return Selector(tuple(reversed(compounds)), tuple(reversed(combinators)))


def _append(compounds: list[Compound], parts: list[re.Match[str]]) -> bool:
    compound = _compound(parts)
    if compound is not None:
        compounds.append(compound)
    return compound is not None


def _compound(parts: list[re.Match[str]]) -> Compound | None:
    names: set[str] = set()
    attributes: list[tuple[str, str, str]] = []
    pseudo: list[str] = []
    none_of: list[Compound] = []
    for part in parts:
        if part["tag"] or part["name"]:
            names.add(unescaped(part["tag"] or part["name"]).lower())
        elif part["attribute"] is not None:
            match = _ATTRIBUTE.fullmatch(part["attribute"])
            if match is None:
                return None
            attributes.append((match[1], match[2] or "", match[3] or match[4] or match[5] or ""))
        elif part["pseudo"] in (":first-child", ":last-child", ":link", ":any-link"):
            pseudo.append(part["pseudo"])
        elif part["pseudo"] == ":not" and part["inside"]:
            inner = parse_selector(part["inside"]) if ":not" not in part["inside"] else None
            if inner is None or len(inner.compounds) > 1:
                return None
            none_of.append(inner.compounds[0])
        else:
            return None
    return Compound(frozenset(names - {"*"}), tuple(attributes), tuple(pseudo), tuple(none_of)) if parts else None


# --- elements ----------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Element:
    """An element as selectors see it. `outer_names`: all names of its ancestors; None when they are too many.
    `path`: the same for all elements with the same names within the same path; given by the style sheet."""

    node: LexborNode
    tag: str
    attributes: Mapping[str, str]
    parent: Element | None = None
    path: int = 0
    names: frozenset[str] = field(init=False)
    outer_names: frozenset[str] | None = field(init=False)

    def __post_init__(self) -> None:
        names = {self.tag, *("." + name for name in self.attributes.get("class", "").lower().split())}
        if "id" in self.attributes:
            names.add("#" + self.attributes["id"].strip().lower())
        self.names = frozenset(names)
        self.outer_names = _names_above(self.parent)

    def elder(self) -> Element | None:
        """The element before it under the same parent."""
        node = _beside(self.node, back=True)
        return None if node is None else element_of(node, self.parent)


def _names_above(parent: Element | None) -> frozenset[str] | None:
    if parent is None:
        return frozenset()
    above = parent.outer_names
    if above is None or parent.names <= above:
        return above
    return above | parent.names if len(above) + len(parent.names) <= _OUTER_NAMES_MAX else None


def element_of(node: LexborNode, parent: Element | None) -> Element:
    """The element of a node of the parsed scan, under the name it had before the scan renamed it."""
    attributes = {key: value or "" for key, value in node.attributes.items()}
    tag = node.tag or ""
    return Element(node, attributes.get("was") or tag.removeprefix("x-"), attributes, parent)


def _beside(node: LexborNode, *, back: bool) -> LexborNode | None:
    other = node.prev if back else node.next
    while other is not None and not other.is_element_node:
        other = other.prev if back else other.next
    return other


def fits(compound: Compound, element: Element) -> bool:
    """Whether the element is all that the compound asks for."""
    if not compound.names <= element.names:
        return False
    if not compound.asks_more:
        return True
    return (
        all(_has(element, *attribute) for attribute in compound.attributes)
        and all(_stands(element, pseudo) for pseudo in compound.pseudo)
        and not any(fits(inner, element) for inner in compound.none_of)
    )


def _has(element: Element, name: str, operator: str, value: str) -> bool:
    if name not in element.attributes:
        return False
    found = element.attributes[name].lower()
    match operator:
        case "=":
            return found == value
        case "~=":
            return value in found.split()
        case "|=":
            return found == value or found.startswith(value + "-")
        case "^=":
            return bool(value) and found.startswith(value)
        case "$=":
            return bool(value) and found.endswith(value)
        case "*=":
            return bool(value) and value in found
        case _:
            return True


def _stands(element: Element, pseudo: str) -> bool:
    if pseudo in (":link", ":any-link"):
        return element.tag == "a" and "href" in element.attributes
    return _beside(element.node, back=pseudo == ":first-child") is None


def matches(selector: Selector, element: Element) -> tuple[bool, int]:
    """Whether the selector is about the element, and the steps it took to know.

    A set of places goes outward compound by compound, so nothing is tried twice.
    """
    steps = 1
    if not fits(selector.compounds[0], element):
        return False, steps
    places = [element]
    for combinator, compound in zip(selector.combinators, selector.compounds[1:], strict=True):
        found: list[Element] = []
        for place in _places(places, combinator):
            steps += _STEPS[combinator]
            if fits(compound, place):
                found.append(place)
        if not found:
            return False, steps
        places = found
    return True, steps


_STEPS: Final = {" ": 1, ">": 1, "+": 10, "~": 10}
"""What is beside an element has to be built before it can be looked at."""


def _places(places: list[Element], combinator: str) -> Iterator[Element]:
    """Where the next compound may stand, the innermost first and none twice."""
    if combinator == " ":
        # What is around the innermost place is around, or is, every other one.
        yield from _outward(places[0])
        return
    if combinator == "~":
        seen: set[int] = set()
        for origin in places:
            if id(origin.parent) not in seen:
                seen.add(id(origin.parent))
                yield from _backward(origin)
        return
    for origin in places:
        other = origin.parent if combinator == ">" else origin.elder()
        if other is not None:
            yield other


def _outward(element: Element) -> Iterator[Element]:
    place = element.parent
    while place is not None:
        yield place
        place = place.parent


def _backward(element: Element) -> Iterator[Element]:
    place = element.elder()
    while place is not None:
        yield place
        place = place.elder()
