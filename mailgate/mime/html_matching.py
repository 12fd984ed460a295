"""Which elements a selector is about. Every look at an element is counted, and the counting has an end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborNode

from mailgate.mime.html_selectors import Attribute, Compound, Selector

_OUTER_NAMES_MAX: Final = 1000
_BUILT: Final = 10
"""Steps for an element that has to be built before it can be looked at."""
_FIELDS: Final = frozenset({"input", "select", "textarea", "button", "option", "fieldset"})
_NO_VARIABLES: Final[Mapping[str, str]] = {}


@dataclass(slots=True, eq=False)
class Element:
    """An element as selectors see it. `outer_names`: all names of its ancestors; None when they are too many.
    `path`: the same for all elements with the same names within the same path; given by the style sheet, and so are
    the `variables` that hold inside."""

    node: LexborNode
    tag: str
    attributes: Mapping[str, str]
    parent: Element | None = None
    path: int = 0
    folds: bool = True
    """Letter case of classes and ids does not count."""
    variables: Mapping[str, str] = field(default_factory=lambda: _NO_VARIABLES)
    names: frozenset[str] = field(init=False)
    outer_names: frozenset[str] | None = field(init=False)
    places: _Places | None = None

    def __post_init__(self) -> None:
        classes, name = self.attributes.get("class", ""), self.attributes.get("id", "").strip()
        if self.folds:
            classes, name = classes.lower(), name.lower()
        names = {self.tag, *("." + each for each in classes.split())}
        if name:
            names.add("#" + name)
        self.names = frozenset(names)
        self.outer_names = _names_above(self.parent)

    def beside(self, *, back: bool) -> Element | None:
        """The element before or after it under the same parent."""
        node = _beside(self.node, back=back)
        return None if node is None else element_of(node, self.parent, folds=self.folds)

    def place(self, meter: Meter) -> tuple[int, int, int, int]:
        """Which child of its parent it is from the front and from the back, from 1, and the same of its type."""
        if self.parent is None:
            return 1, 1, 1, 1
        if self.parent.places is None:
            self.parent.places = _Places(self.node, meter)
        return self.parent.places.of(self.node)


class _Places:
    """Where each child of one parent stands, counted once for all of them."""

    def __init__(self, child: LexborNode, meter: Meter) -> None:
        first: LexborNode = child
        while first.prev is not None:
            first = first.prev
        self._at: dict[int, tuple[int, int, str]] = {}
        self._of_type: dict[str, int] = {}
        node: LexborNode | None = first
        while node is not None:
            if node.is_element_node:
                kind = tag_of(node)
                self._of_type[kind] = self._of_type.get(kind, 0) + 1
                self._at[node.mem_id] = (len(self._at) + 1, self._of_type[kind], kind)
                meter.taken += 1
            node = node.next

    def of(self, node: LexborNode) -> tuple[int, int, int, int]:
        place, of_type, kind = self._at.get(node.mem_id, (1, 1, ""))
        return place, len(self._at) - place + 1, of_type, self._of_type.get(kind, 1) - of_type + 1


def _names_above(parent: Element | None) -> frozenset[str] | None:
    if parent is None:
        return frozenset()
    above = parent.outer_names
    if above is None or parent.names <= above:
        return above
    return above | parent.names if len(above) + len(parent.names) <= _OUTER_NAMES_MAX else None


def tag_of(node: LexborNode) -> str:
    """The name an element had before the scan renamed it."""
    return (node.attributes.get("was") or (node.tag or "").removeprefix("x-")).lower()


def element_of(node: LexborNode, parent: Element | None, *, folds: bool = True) -> Element:
    """The element of a node of the parsed scan."""
    attributes = {key: value or "" for key, value in node.attributes.items()}
    return Element(node, attributes.get("was") or (node.tag or "").removeprefix("x-"), attributes, parent, folds=folds)


def _beside(node: LexborNode, *, back: bool) -> LexborNode | None:
    other = node.prev if back else node.next
    while other is not None and not other.is_element_node:
        other = other.prev if back else other.next
    return other


@dataclass(slots=True)
class Meter:
    """Steps taken. Beyond `limit` nothing fits any more, and the answer is not to be used."""

    limit: int
    taken: int = 0
    anchor: int = 0
    """The node of the element that `:has()` is asked of."""

    @property
    def is_spent(self) -> bool:
        """Whether there were too many."""
        return self.taken > self.limit


def fits(compound: Compound, element: Element, meter: Meter) -> bool:
    """Whether the element is all that the compound asks for."""
    meter.taken += 1
    if meter.is_spent or compound.is_never or not compound.names <= element.names:
        return False
    if compound.is_anchor:
        return element.node.mem_id == meter.anchor
    if not compound.asks_more:
        return True
    return (
        all(_has(element, attribute) for attribute in compound.attributes)
        and all(_stands(element, pseudo, meter) for pseudo in compound.pseudo)
        and all(_counts(element, *nth, meter) for nth in compound.nth)
        and not any(_is(inner, element, meter) for inner in compound.none_of)
        and all(any(_is(inner, element, meter) for inner in inners) for inners in compound.any_of)
        and all(any(_is_around(inner, element, meter) for inner in inners) for inners in compound.having)
    )


def _has(element: Element, asked: Attribute) -> bool:
    if asked.operator == "lang":
        return _speaks(element, asked.value.split("|"))
    if asked.name not in element.attributes or asked.name == "was":
        return False
    found, value = element.attributes[asked.name], asked.value
    if asked.folded:
        found = found.lower()
    match asked.operator:
        case "=":
            return found == value
        case "~=":
            return bool(value) and value in found.split()
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


def _speaks(element: Element, ranges: list[str]) -> bool:
    """`:lang()`: the language that the nearest element around says it is in."""
    place: Element | None = element
    while place is not None and "lang" not in place.attributes:
        place = place.parent
    spoken = place.attributes["lang"].lower() if place is not None else ""
    return any(spoken == one or (one and spoken.startswith(one + "-")) for one in ranges)


def _stands(element: Element, pseudo: str, meter: Meter) -> bool:
    """Each of `html_selectors.STANDING`."""
    match pseudo:
        case ":link" | ":any-link" | ":-webkit-any-link":
            return element.tag in ("a", "area") and "href" in element.attributes
        case ":root" | ":scope":
            return element.tag == "html" and element.parent is None
        case ":empty":
            return element.node.first_child is None
        case ":checked":
            return element.tag in ("input", "option") and "checked" in element.attributes
        case ":disabled":
            return element.tag in _FIELDS and "disabled" in element.attributes
        case ":enabled":
            return element.tag in _FIELDS and "disabled" not in element.attributes
        case ":required":
            return element.tag in _FIELDS and "required" in element.attributes
        case ":optional":
            return element.tag in ("input", "select", "textarea") and "required" not in element.attributes
        case ":read-write" | ":placeholder-shown":
            return False
        case ":read-only" | ":defined":
            return True
        case ":open":
            return "open" in element.attributes
    place, back, of_type, back_of_type = element.place(meter)
    return {
        ":first-child": place == 1,
        ":last-child": back == 1,
        ":only-child": place == back == 1,
        ":first-of-type": of_type == 1,
        ":last-of-type": back_of_type == 1,
        ":only-of-type": of_type == back_of_type == 1,
    }[pseudo]


def _counts(element: Element, name: str, step: int, offset: int, meter: Meter) -> bool:
    """`an+b` (CSS Syntax, 6): whether the place is `offset` and some whole steps more."""
    places = element.place(meter)
    names = (":nth-child", ":nth-last-child", ":nth-of-type", ":nth-last-of-type")
    difference = places[names.index(name)] - offset
    return difference == 0 if step == 0 else difference % step == 0 and difference // step >= 0


def _is(selector: Selector, element: Element, meter: Meter) -> bool:
    """A set of places goes outward compound by compound, so nothing is tried twice."""
    if not fits(selector.compounds[0], element, meter):
        return False
    places = [element]
    for combinator, compound in zip(selector.combinators, selector.compounds[1:], strict=True):
        found: list[Element] = []
        for place in _places(places, combinator):
            meter.taken += _BUILT if combinator in "+~" else 0
            if meter.is_spent:
                return False
            if fits(compound, place, meter):
                found.append(place)
        if not found:
            return False
        places = found
    return True


def _is_around(selector: Selector, element: Element, meter: Meter) -> bool:
    """`:has()`: whether something inside, or after it, is what the selector says."""
    outer, meter.anchor = meter.anchor, element.node.mem_id
    pending: list[Element] = []
    if selector.combinators[-1] in "+~":
        after = element.beside(back=False)
        while after is not None and not meter.is_spent:
            meter.taken += _BUILT
            pending.append(after)
            after = after.beside(back=False)
    else:
        pending = _inside(element)
    found = False
    while pending and not found and not meter.is_spent:
        place = pending.pop()
        meter.taken += _BUILT
        found = _is(selector, place, meter)
        if not found:
            pending += _inside(place)
    meter.anchor = outer
    return found


def _inside(element: Element) -> list[Element]:
    found: list[Element] = []
    node = element.node.first_child
    while node is not None:
        if node.is_element_node:
            found.append(element_of(node, element, folds=element.folds))
        node = node.next
    return found


def matches(selector: Selector, element: Element, limit: int = 1_000_000) -> tuple[bool, int]:
    """Whether the selector is about the element, and the steps it took to know."""
    meter = Meter(limit)
    return _is(selector, element, meter), meter.taken


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
        other = origin.parent if combinator == ">" else origin.beside(back=True)
        if other is not None:
            yield other


def _outward(element: Element) -> Iterator[Element]:
    place = element.parent
    while place is not None:
        yield place
        place = place.parent


def _backward(element: Element) -> Iterator[Element]:
    place = element.beside(back=True)
    while place is not None:
        yield place
        place = place.beside(back=True)
