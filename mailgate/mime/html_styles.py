"""The cascade: what a mail's own style sheet and its style attributes declare of an element (CSS Cascade, 6).

Bounded by counting: so many selectors are kept, and so many elements looked at. Rules with the same selector are one,
rules are found by a name of the element, and elements alike share what was found, so that neither many rules nor many
elements multiply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from mailgate.mime.html_css import Declaration, Declarations, declarations, declarations_of
from mailgate.mime.html_matching import Element, matches
from mailgate.mime.html_pieces import split_outside
from mailgate.mime.html_selectors import Selector, parse_selector
from mailgate.mime.html_sheet import FRAMES, UNLAYERED, rules
from mailgate.mime.html_values import reset
from mailgate.mime.html_variables import resolved

CSS_CHARS_MAX: Final = 256 * 1024
SELECTORS_MAX: Final = 4000
STEPS_MAX: Final = 200_000

BACKDROP: Final = "backdrop"
"""Stands among the values of an element where a pseudo-element of it has a background of its own."""

_Rank = tuple[bool, bool, int, tuple[int, int, int], int]
"""Important, from the style attribute, layer, specificity, order: of two declarations the greater one holds."""
_Ranked = dict[str, tuple[_Rank, Declaration]]
_Variables = Mapping[str, str]
_NONE: Final[_Variables] = {}


@dataclass(slots=True)
class _Rule:
    """A selector, and its declarations with their rank."""

    selector: Selector
    specificity: tuple[int, int, int]
    outer_names: frozenset[str]
    """Names that must be found among the ancestors."""
    is_simple: bool
    is_of_path: bool
    ranked: _Ranked = field(default_factory=dict)

    def declare(self, declared: Declarations, layer: int, order: int) -> None:
        """Add the declarations of a rule with this selector."""
        for key, declaration in declared.items():
            # Among important declarations the first layer wins over the later ones, and over what is in none.
            weight = -layer if declaration.important else layer
            rank = (declaration.important, False, weight, self.specificity, order)
            if key not in self.ranked or rank > self.ranked[key][0]:
                self.ranked[key] = (rank, declaration)


class StyleSheet:
    """The rules of one document. `limited`: there were more than are kept. `exhausted`: so much had to be looked at
    that nothing more is, and what follows in the document cannot be judged. `quirks`: whether the page is in that mode;
    `inline`: whether style attributes have variables, so that even without a rule elements must be known."""

    def __init__(self, css: str = "", *, steps: int = STEPS_MAX, quirks: bool = True, inline: bool = False) -> None:
        self.limited = len(css) > CSS_CHARS_MAX
        self.quirks = quirks
        self._inline_variables = inline
        self._given = self._steps = steps
        self._rules: dict[str, _Rule | None] = {}
        self._index: dict[str, list[_Rule]] = {}
        self._alike: dict[frozenset[str], tuple[_Ranked, list[_Rule]]] = {}
        self._paths: dict[tuple[int, frozenset[str]], int] = {}
        self._on_path: dict[int, tuple[_Ranked, list[_Rule]]] = {}
        self._inline: dict[str, Declarations] = {}
        self._plain: dict[str, Mapping[str, str]] = {}
        self._blocks: dict[str, Declarations] = {}
        self._frames: dict[str, Declarations] = {}
        # What is settled holds on to what it is known by, so that no number of an object stands for another.
        self._settled: dict[tuple[int, int], tuple[_Ranked, _Variables, Mapping[str, str], _Variables]] = {}
        self._read(css[:CSS_CHARS_MAX])

    @property
    def is_empty(self) -> bool:
        """Whether style attributes without variables are all there is."""
        return not self._index and not self._inline_variables

    @property
    def exhausted(self) -> bool:
        """Whether the steps are spent."""
        return self._steps < 0

    @property
    def selectors(self) -> int:
        """How many selectors are kept."""
        return sum(map(len, self._index.values()))

    @property
    def steps_taken(self) -> int:
        """How much was looked at."""
        return self._given - self._steps

    def _read(self, css: str) -> None:
        for order, rule in enumerate(rules(css, self._knows)):
            declared = self._blocks.get(rule.declared)
            if declared is None:
                declared = self._blocks[rule.declared] = declarations_of(rule.declared, quirks=self.quirks)
            if rule.selectors.startswith(FRAMES):
                self._frames[rule.selectors.removeprefix(FRAMES)] = declared
            elif declared:
                self._add(rule.selectors, declared, rule.layer, order)

    def _knows(self, text: str) -> bool:
        return parse_selector(text) is not None

    def _add(self, selectors: str, declared: Declarations, layer: int, order: int) -> None:
        found: list[_Rule] = []
        for text in split_outside(selectors, ","):
            key = " ".join(text.split())
            if key not in self._rules:
                if len(self._rules) >= SELECTORS_MAX:
                    self.limited = True
                    break
                self._rules[key] = self._rule(key)
            rule = self._rules[key]
            if rule is None:
                return  # one that is none makes the whole list none (Selectors, 3.9)
            found.append(rule)
        for rule in found:
            if rule.selector.is_never:
                continue
            if not rule.ranked:
                self._index.setdefault(rule.selector.key, []).append(rule)
            rule.declare(_of_part(declared, rule.selector.element), layer, order)

    def _rule(self, text: str) -> _Rule | None:
        selector = parse_selector(text, quirks=self.quirks)
        if selector is None:
            return None
        return _Rule(selector, selector.specificity, selector.outer_names, selector.is_simple, selector.is_of_path)

    def inline(self, style: str) -> Declarations:
        """What a style attribute declares."""
        if style not in self._inline:
            self._inline[style] = declarations(style, quirks=self.quirks)
        return self._inline[style]

    def values(self, style: str, element: Element | None = None) -> Mapping[str, str]:
        """Property and value for an element with that style attribute; without an element no rule is asked."""
        declared = self.inline(style) if style else {}
        if element is None or self.exhausted:
            if style not in self._plain:
                self._plain[style] = reset({key: each.value for key, each in declared.items() if not each.of})
            return self._plain[style]
        ranked, others = self._of_path(element)
        matching = [rule.ranked for rule in others if self._matches(rule, element)]
        if declared or matching:
            self._steps -= sum(map(len, matching)) // 8
            own: _Ranked = {
                key: ((each.important, True, UNLAYERED, (0, 0, 0), 0), each) for key, each in declared.items()
            }
            return self._resolved(_highest([ranked, *matching, own]), element)
        outer = element.parent.variables if element.parent is not None else _NONE
        key = (id(ranked), id(outer))
        if key not in self._settled:
            self._settled[key] = (ranked, outer, self._resolved(ranked, element), element.variables)
        _, _, values, element.variables = self._settled[key]
        return values

    def _resolved(self, ranked: _Ranked, element: Element) -> Mapping[str, str]:
        self._steps -= len(ranked) // 8
        if "all" in ranked:
            # What has the same rank was declared after it in the same block.
            least = ranked["all"][0]
            ranked = {key: entry for key, entry in ranked.items() if entry[0] >= least or key.startswith("--")}
        values, element.variables = resolved(
            {key: declaration for key, (_, declaration) in ranked.items()},
            element.parent.variables if element.parent is not None else _NONE,
            quirks=self.quirks,
        )
        values = reset(values)
        return {**values, **self._after_animation(values)} if self._frames else values

    def _after_animation(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """What an animation leaves when it has ended, where it leaves anything (CSS Animations, 4.8)."""
        words = [word for key in ("animation", "animation-name", "animation-fill-mode") for word in _words(values, key)]
        if not {"forwards", "both"} & set(words):
            return {}
        last = [self._frames[word] for word in words if word in self._frames]
        return {key: each.value for declared in last for key, each in declared.items() if not each.of}

    def _of_path(self, element: Element) -> tuple[_Ranked, list[_Rule]]:
        """What holds for every element with these names under elements with those names, and the rules that ask for
        more: rows of a table are alike, and one of them is enough."""
        outer = element.parent.path if element.parent is not None else 0
        element.path = self._paths.setdefault((outer, element.names), len(self._paths) + 1)
        known = self._on_path.get(element.path)
        if known is None:
            ranked, others = self._of_names(element)
            found = [rule.ranked for rule in others if rule.is_of_path and self._matches(rule, element)]
            more = [rule for rule in others if not rule.is_of_path]
            known = self._on_path[element.path] = (_highest([ranked, *found]) if found else ranked, more)
        return known

    def _of_names(self, element: Element) -> tuple[_Ranked, list[_Rule]]:
        """What holds for every element with these names, and the rules that ask for more."""
        known = self._alike.get(element.names)
        if known is None:
            candidates = [rule for name in (*element.names, "*") for rule in self._index.get(name, ())]
            self._steps -= len(candidates)
            simple = [
                rule.ranked
                for rule in candidates
                if rule.is_simple and rule.selector.compounds[0].names <= element.names
            ]
            known = self._alike[element.names] = (_highest(simple), [rule for rule in candidates if not rule.is_simple])
        return known

    def _matches(self, rule: _Rule, element: Element) -> bool:
        self._steps -= 1
        above = element.outer_names
        if self._steps < 0 or (above is not None and not rule.outer_names <= above):
            return False
        found, steps = matches(rule.selector, element, max(self._steps, 1))
        self._steps -= steps
        return found


def _words(values: Mapping[str, str], key: str) -> list[str]:
    return values.get(key, "").replace(",", " ").split()


def _of_part(declared: Declarations, part: str) -> Declarations:
    """What the declarations of a pseudo-element mean to its element: a background of its own may lie behind it."""
    if not part:
        return declared
    painted = any(
        key in declared and declared[key].value not in ("none", "transparent")
        for key in ("background-color", "background-image", "box-shadow")
    )
    return {BACKDROP: Declaration("some")} if part in ("before", "after") and painted else {}


def _highest(all_ranked: Iterable[_Ranked]) -> _Ranked:
    best: _Ranked = {}
    for ranked in all_ranked:
        for key, entry in ranked.items():
            if key not in best or entry[0] > best[key][0]:
                best[key] = entry
    return best
