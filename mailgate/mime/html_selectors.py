"""Selectors of a style sheet as they are written (Selectors Level 4).

A list with one selector in it that a browser does not know is no list, and its rule is none. A selector that is known
and never holds of a mail that lies still, like `:hover`, is kept as one that matches nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from mailgate.mime.html_pieces import split_outside, unescaped

_SELECTOR_CHARS_MAX: Final = 2000
_COMPOUNDS_MAX: Final = 20
_DEPTH_MAX: Final = 6
_ESCAPED: Final = r"\\[0-9a-fA-F]{1,6}[ \t\n]?|\\[^\n0-9a-fA-F]"
_LETTER: Final = rf"[_a-zA-Z]|[^\x00-\x7f]|{_ESCAPED}"
_IDENT: Final = rf"(?:--|-?(?:{_LETTER}))(?:[-0-9]|{_LETTER})*+"
_PART: Final = re.compile(
    rf"(?P<combinator>\s*[>+~]\s*|\s+)|(?P<tag>(?:\*\|)?(?:\*|{_IDENT}))|(?P<name>\.{_IDENT}|\#(?:[-0-9]|{_LETTER})++)"
    rf"|\[(?P<attribute>[^\[\]]*+)\]?|(?P<pseudo>::?-?[a-zA-Z][-a-zA-Z]*+)(?P<opening>\()?"
)
_ATTRIBUTE: Final = re.compile(
    rf"\s*(?:\*?\|)?({_IDENT})\s*(?:([~|^$*]?=)\s*(?:\"([^\"]*)\"?|'([^']*)'?|({_IDENT}))\s*([isIS]?)\s*)?"
)
_NTH: Final = re.compile(r"([+-]?[0-9]{0,6})n(?:\s*([+-])\s*([0-9]{1,6}))?|([+-]?[0-9]{1,6})")

STANDING: Final = frozenset(
    (
        ":first-child :last-child :only-child :first-of-type :last-of-type :only-of-type :root :scope :empty :link"
        " :any-link :-webkit-any-link :checked :disabled :enabled :required :optional :read-only :read-write :defined"
        " :open :placeholder-shown"
    ).split()
)
"""Pseudo-classes that hold of an element by where it stands or what it is."""
_NEVER: Final = frozenset(
    (
        ":hover :active :focus :focus-within :focus-visible :visited :target :target-within :target-current :fullscreen"
        " :modal :popover-open :current :past :future :playing :paused :seeking :buffering :stalled :muted"
        " :volume-locked :autofill :-webkit-autofill :default :indeterminate :valid :invalid :user-valid :user-invalid"
        " :in-range :out-of-range :local-link :host :blank :picture-in-picture :-webkit-full-screen :-webkit-drag"
        " :defined-not :xr-overlay"
    ).split()
)
_NEVER_CALLED: Final = frozenset(
    ":dir :host :host-context :state :current :active-view-transition-type :-webkit-any-x".split()
)
_NTHS: Final = frozenset({":nth-child", ":nth-last-child", ":nth-of-type", ":nth-last-of-type"})
_LISTS: Final = frozenset({":is", ":where", ":matches", ":-webkit-any", ":not", ":has"})
_OLD_ELEMENTS: Final = frozenset({":before", ":after", ":first-line", ":first-letter"})
_ELEMENTS: Final = frozenset(
    (
        "before after first-line first-letter marker selection placeholder backdrop cue cue-region file-selector-button"
        " grammar-error spelling-error target-text part slotted highlight view-transition details-content checkmark"
        " picker picker-icon column scroll-marker view-transition-group view-transition-image-pair view-transition-old"
        " view-transition-new"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Attribute:
    """What an attribute must be. `folded`: letter case does not count."""

    name: str
    operator: str = ""
    value: str = ""
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Compound:
    """What one element must be: all of it. `names`: type, `.class` and `#id`; none for `*`. `any_of`: of each of these
    lists, one. `nth`: pseudo-class, step and offset. `is_anchor`: the element that `:has()` was asked of."""

    names: frozenset[str] = frozenset()
    attributes: tuple[Attribute, ...] = ()
    pseudo: tuple[str, ...] = ()
    nth: tuple[tuple[str, int, int], ...] = ()
    none_of: tuple[Selector, ...] = ()
    any_of: tuple[tuple[Selector, ...], ...] = ()
    having: tuple[tuple[Selector, ...], ...] = ()
    is_never: bool = False
    is_anchor: bool = False
    specificity: tuple[int, int, int] = (0, 0, 0)

    @property
    def asks_more(self) -> bool:
        """Whether the names are not all."""
        return bool(
            self.attributes or self.pseudo or self.nth or self.none_of or self.any_of or self.having or self.is_never
        )


@dataclass(frozen=True, slots=True)
class Selector:
    """Compounds from the last to the first, the combinators between them, and the pseudo-element it ends in."""

    compounds: tuple[Compound, ...]
    combinators: tuple[str, ...] = ()
    element: str = ""

    @property
    def specificity(self) -> tuple[int, int, int]:
        """The sum over its compounds (17)."""
        ids, classes, types = (sum(each) for each in zip(*(one.specificity for one in self.compounds), strict=True))
        return ids, classes, types

    @property
    def key(self) -> str:
        """A name that every element it matches has: an id before a class before a type."""
        names = self.compounds[0].names
        return min(names, key=lambda name: ("#.".find(name[0]) % 3, name)) if names else "*"

    @property
    def is_never(self) -> bool:
        """Whether it matches nothing."""
        return any(compound.is_never for compound in self.compounds)

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


class _InvalidSelector(Exception):
    """A browser knows no such selector."""


def parse_selectors(text: str, *, quirks: bool = True) -> list[Selector] | None:
    """The selectors of a list; None where a browser drops the rule. In quirks mode classes and ids are the same in
    either letter case (Selectors, 6.6)."""
    try:
        return [_complex(piece, quirks, 0) for piece in split_outside(text, ",")]
    except _InvalidSelector:
        return None


def parse_selector(text: str, *, quirks: bool = True) -> Selector | None:
    """One selector; None for what is none."""
    try:
        return _complex(text, quirks, 0)
    except _InvalidSelector:
        return None


_NOTHING: Final = Selector((Compound(is_never=True),))


def _complex(text: str, quirks: bool, depth: int, *, relative: bool = False) -> Selector:
    text = text.strip(" \t\n\r\f")
    if not text or depth > _DEPTH_MAX:
        raise _InvalidSelector
    if len(text) > _SELECTOR_CHARS_MAX:
        return _NOTHING
    parts: list[Compound] = []
    combinators: list[str] = []
    if relative:
        parts.append(Compound(is_anchor=True))
        combinators.append(text[0] if text[0] in ">+~" else " ")
        text = text.lstrip(">+~ \t\n\r\f")
    builder = _Builder(quirks, depth)
    at = 0
    while at < len(text):
        match = _PART.match(text, at)
        if match is None or match.end() == at:
            raise _InvalidSelector
        at = match.end()
        if match["combinator"] is None:
            at = builder.add(match, text, at)
            continue
        parts.append(builder.finished())
        combinators.append(match["combinator"].strip() or " ")
        if builder.element or len(parts) > _COMPOUNDS_MAX:
            raise _InvalidSelector
        builder = _Builder(quirks, depth)
    parts.append(builder.finished())
    return Selector(tuple(reversed(parts)), tuple(reversed(combinators)), builder.element)


@dataclass(slots=True)
class _Builder:
    """One compound while it is read."""

    quirks: bool
    depth: int
    names: set[str] = field(default_factory=set)
    attributes: list[Attribute] = field(default_factory=list)
    pseudo: list[str] = field(default_factory=list)
    nth: list[tuple[str, int, int]] = field(default_factory=list)
    none_of: list[Selector] = field(default_factory=list)
    any_of: list[tuple[Selector, ...]] = field(default_factory=list)
    having: list[tuple[Selector, ...]] = field(default_factory=list)
    weights: list[tuple[int, int, int]] = field(default_factory=list)
    element: str = ""
    is_never: bool = False
    is_empty: bool = True

    def add(self, match: re.Match[str], text: str, at: int) -> int:
        """Take one part; where the next one is."""
        if match["tag"] is not None:
            self._tag(match["tag"])
        elif self.element and match["pseudo"] is None:
            raise _InvalidSelector
        elif match["name"] is not None:
            name = unescaped(match["name"])
            self.names.add(name.lower() if self.quirks else name)
            self.weights.append((1, 0, 0) if name[0] == "#" else (0, 1, 0))
        elif match["attribute"] is not None:
            self._attribute(match["attribute"])
        elif match["opening"]:
            end = _closing(text, at)
            self._call(match["pseudo"].lower(), text[at:end].strip())
            at = end + 1
        else:
            self._pseudo(match["pseudo"].lower())
        self.is_empty = False
        return at

    def _tag(self, tag: str) -> None:
        if not self.is_empty:
            raise _InvalidSelector
        name = unescaped(tag.removeprefix("*|")).lower()
        if name != "*":
            self.names.add(name)
            self.weights.append((0, 0, 1))

    def _attribute(self, text: str) -> None:
        match = _ATTRIBUTE.fullmatch(text)
        if match is None:
            raise _InvalidSelector
        value = match[3] if match[3] is not None else match[4] if match[4] is not None else match[5] or ""
        name = unescaped(match[1]).lower()
        folded = match[6].lower() == "i" if match[6] else name in _FOLDED
        if match[2] == "~=" and name == "class" and self.quirks:
            folded = True
        value = unescaped(value)
        self.attributes.append(Attribute(name, match[2] or "", value.lower() if folded else value, folded))
        self.weights.append((0, 1, 0))

    def _pseudo(self, name: str) -> None:
        if name.startswith("::") or name in _OLD_ELEMENTS:
            self._pseudo_element(name.lstrip(":"))
            return
        if name in STANDING:
            self.pseudo.append(name)
        elif name in _NEVER:
            self.is_never = True
        else:
            raise _InvalidSelector
        self.weights.append((0, 1, 0))

    def _pseudo_element(self, name: str) -> None:
        # Any of `::-webkit-` is taken for known (Selectors, Appendix: compatibility).
        if name not in _ELEMENTS and not name.startswith("-webkit-"):
            raise _InvalidSelector
        self.element = name
        self.weights.append((0, 0, 1))

    def _call(self, name: str, inside: str) -> None:
        if name.startswith("::"):
            if name.startswith("::-webkit-"):
                raise _InvalidSelector
            self._pseudo_element(name[2:])
        elif name in _NTHS:
            self._nth(name, inside.lower())
        elif name in _LISTS:
            self._list(name, inside)
        elif name == ":lang":
            ranges = "|".join(unescaped(piece).strip(" \"'").lower() for piece in split_outside(inside, ","))
            self.attributes.append(Attribute("lang", "lang", ranges))
            self.weights.append((0, 1, 0))
        elif name in _NEVER_CALLED:
            self.is_never = True
            self.weights.append((0, 1, 0))
        else:
            raise _InvalidSelector

    def _nth(self, name: str, inside: str) -> None:
        inside, of, _ = inside.partition(" of ")
        inside = {"odd": "2n+1", "even": "2n"}.get(inside.strip(), inside.strip())
        match = _NTH.fullmatch(inside)
        if match is None:
            raise _InvalidSelector
        if of:
            self.is_never = True
        if match[4] is not None:
            step, offset = 0, int(match[4])
        else:
            step = int(match[1] + "1") if match[1] in ("", "+", "-") else int(match[1])
            offset = int((match[2] or "") + (match[3] or "0"))
        self.nth.append((name, step, offset))
        self.weights.append((0, 1, 0))

    def _list(self, name: str, inside: str) -> None:
        found: list[Selector] = []
        for piece in split_outside(inside, ",") if inside else []:
            try:
                selector = _complex(piece, self.quirks, self.depth + 1, relative=name == ":has")
                if selector.element:
                    raise _InvalidSelector
                found.append(selector)
            except _InvalidSelector:
                # These two forgive (Selectors, 3.9).
                if name not in (":is", ":where"):
                    raise
        if not found and name not in (":is", ":where"):
            raise _InvalidSelector
        if name == ":not":
            self.none_of += found
        elif name == ":has":
            self.having.append(tuple(found))
        else:
            self.any_of.append(tuple(found))
        if name != ":where" and found:
            self.weights.append(max(selector.specificity for selector in found))

    def finished(self) -> Compound:
        """The compound."""
        if self.is_empty:
            raise _InvalidSelector
        ids, classes, types = (sum(each) for each in zip((0, 0, 0), *self.weights, strict=True))
        return Compound(
            frozenset(self.names),
            tuple(self.attributes),
            tuple(self.pseudo),
            tuple(self.nth),
            tuple(self.none_of),
            tuple(self.any_of),
            tuple(self.having),
            self.is_never,
            specificity=(ids, classes, types),
        )


def _closing(text: str, at: int) -> int:
    """Where the parenthesis closes that was opened before; at the end, where it does not."""
    depth = 1
    for match in re.compile(r"[()\[\]]").finditer(text, at):
        depth += 1 if match[0] in "([" else -1
        if not depth:
            return match.start()
    return len(text)


_FOLDED: Final = frozenset(
    (
        "accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare defer dir"
        " direction disabled enctype face frame hreflang http-equiv lang language link media method multiple nohref"
        " noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign"
        " valuetype vlink"
    ).split()
)
"""Attributes of HTML whose values are the same in either letter case (HTML Standard, 4.16.2)."""
