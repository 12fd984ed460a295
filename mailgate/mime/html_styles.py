"""The cascade: what a mail's own style sheet and its style attributes declare of an element (CSS Cascade, 6).

Bounded by counting: so many selectors are kept, and so many elements looked at. Rules with the same selector are one,
rules are found by a name of the element, and elements alike share what was found, so that neither many rules nor many
elements multiply.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from mailgate.mime.html_css import Declarations, declarations, rules
from mailgate.mime.html_selectors import Element, Selector, matches, parse_selector

CSS_CHARS_MAX: Final = 256 * 1024
SELECTORS_MAX: Final = 4000
STEPS_MAX: Final = 200_000

_Rank = tuple[bool, bool, tuple[int, int, int], int]
"""Important, from the style attribute, specificity, order: of two declarations the greater one holds."""
_Ranked = dict[str, tuple[_Rank, str]]


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

    def declare(self, declared: Declarations, order: int) -> None:
        """Add the declarations of a rule with this selector."""
        for key, declaration in declared.items():
            rank = (declaration.important, False, self.specificity, order)
            if key not in self.ranked or rank > self.ranked[key][0]:
                self.ranked[key] = (rank, declaration.value)


class StyleSheet:
    """The rules of one document. `limited`: there were more than are kept. `exhausted`: so much had to be looked at
    that nothing more is, and what follows in the document cannot be judged."""

    def __init__(self, css: str = "", *, steps: int = STEPS_MAX) -> None:
        self.limited = len(css) > CSS_CHARS_MAX
        self._given = self._steps = steps
        self._rules: dict[str, _Rule | None] = {}
        self._index: dict[str, list[_Rule]] = {}
        self._alike: dict[frozenset[str], tuple[_Ranked, list[_Rule]]] = {}
        self._paths: dict[tuple[int, frozenset[str]], int] = {}
        self._on_path: dict[int, tuple[_Ranked, list[_Rule]]] = {}
        self._inline: dict[str, Declarations] = {}
        self._read(css[:CSS_CHARS_MAX])

    @property
    def is_empty(self) -> bool:
        """Whether style attributes are all there is."""
        return not self._index

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
        for order, (selectors, block) in enumerate(rules(css)):
            declared = declarations(block)
            if not declared:
                continue
            for text in selectors.split(","):
                rule = self._rule(" ".join(text.split()))
                if rule is not None:
                    rule.declare(declared, order)

    def _rule(self, text: str) -> _Rule | None:
        if text in self._rules:
            return self._rules[text]
        if len(self._rules) >= SELECTORS_MAX:
            self.limited = True
            return None
        selector = parse_selector(text)
        rule = None
        if selector is not None:
            rule = _Rule(selector, selector.specificity, selector.outer_names, selector.is_simple, selector.is_of_path)
            self._index.setdefault(selector.key, []).append(rule)
        self._rules[text] = rule
        return rule

    def inline(self, style: str) -> Declarations:
        """What a style attribute declares."""
        if style not in self._inline:
            self._inline[style] = declarations(style)
        return self._inline[style]

    def values(self, style: str, element: Element | None = None) -> Mapping[str, str]:
        """Property and value for an element with that style attribute; without an element no rule is asked."""
        declared = self.inline(style) if style else {}
        if element is None or self.exhausted:
            return {key: declaration.value for key, declaration in declared.items()}
        ranked, others = self._of_path(element)
        matching = [rule.ranked for rule in others if self._matches(rule, element)]
        if not declared and not matching:
            return {key: value for key, (_, value) in ranked.items()}
        own: _Ranked = {
            key: ((declaration.important, True, (0, 0, 0), 0), declaration.value)
            for key, declaration in declared.items()
        }
        return {key: value for key, (_, value) in _highest([ranked, *matching, own]).items()}

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
        found, steps = matches(rule.selector, element)
        self._steps -= steps
        return found


def _highest(all_ranked: Iterable[_Ranked]) -> _Ranked:
    best: _Ranked = {}
    for ranked in all_ranked:
        for key, entry in ranked.items():
            if key not in best or entry[0] > best[key][0]:
                best[key] = entry
    return best
