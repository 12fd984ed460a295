"""Which elements a mail's own style sheet hides: enough of CSS to see what a reader on a wide screen would not.

Understood are rules whose selector is one compound of a type, classes and an id, at the top level or under a media
query that holds on a wide screen. The last rule that matches decides, as specificity rarely differs where it matters.
Selectors with combinators, attributes or pseudo-classes are not followed; text hidden by them is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from mailgate.mime import html_rules as rules

_CSS_CHARS_MAX: Final = 256 * 1024
_RULES_MAX: Final = 200
_SELECTORS_MAX: Final = 50
_CLASSES_MAX: Final = 50
_BRACE: Final = re.compile(r"([{}])")
_COMPOUND: Final = re.compile(r"(\*|[a-z][a-z0-9]{0,20})?((?:[.#][-_a-z0-9]{1,100}+){0,5}+)")
_NARROW: Final = re.compile(r"max-(?:device-)?width|\bprint\b|\bspeech\b|\bnot\b|prefers-|orientation")
_DISPLAY: Final = re.compile(r"(?:^|;)(?:display|mso-hide|opacity|max-height|height|font-size|visibility):")


@dataclass(frozen=True, slots=True)
class _Rule:
    """Hides, or shows, the elements that have the type, the id and all classes."""

    order: int
    names: frozenset[str]
    hides: bool


@dataclass(frozen=True, slots=True)
class StyleSheet:
    """The rules that say whether something is shown, under one of the names each asks for."""

    rules: Mapping[str, list[_Rule]] = field(default_factory=dict)

    def hides(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """Whether the last rule for such an element hides it. Class names compare without case, as in old mail."""
        if not self.rules:
            return False
        names = {tag, "*", *("." + name for name in attributes.get("class", "").lower().split()[:_CLASSES_MAX])}
        if "id" in attributes:
            names.add("#" + attributes["id"].strip().lower())
        matching = [rule for name in names for rule in self.rules.get(name, ()) if rule.names <= names]
        return bool(matching) and max(matching, key=lambda rule: rule.order).hides


def parse_styles(css: str) -> StyleSheet:
    """The sheet for the joined content of all style elements; work is linear in it."""
    index: dict[str, list[_Rule]] = {}
    count = 0
    for selectors, declarations in _rules(css[:_CSS_CHARS_MAX].lower()):
        style = rules.normal_style(declarations)
        hides = rules.removes_subtree({}, style) or any(rules.invisible(style, (False, False)))
        # A rule that shows matters only after one that hides.
        if not hides and not (index and _DISPLAY.search(style)):
            continue
        for selector in selectors.split(",")[:_SELECTORS_MAX]:
            names = _names(selector.strip())
            if names and count < _RULES_MAX:
                count += 1
                # An element that matches has all names, so one of them is enough to find the rule.
                index.setdefault(max(names), []).append(_Rule(count, names, hides))
    return StyleSheet(index)


def _names(selector: str) -> frozenset[str]:
    match = _COMPOUND.fullmatch(selector)
    if match is None:
        return frozenset()
    names = re.findall(r"[.#][^.#]+", match[2])
    return frozenset([*names, match[1]] if match[1] else names)


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """Selector and declarations of every rule that holds; what is under a query that does not hold is passed over."""
    text = rules.without_comments(css).replace("<!--", " ").replace("-->", " ")
    passed_over = 0
    selector = ""
    pieces = _BRACE.split(text)
    for piece, brace in zip(pieces[::2], pieces[1::2], strict=False):
        before = piece.strip()
        if passed_over:
            passed_over += 1 if brace == "{" else -1
        elif brace == "{":
            selector = before.rpartition(";")[2].strip()
            is_query = selector.startswith("@")
            passed_over = int(is_query and (not selector.startswith("@media") or bool(_NARROW.search(selector))))
        elif selector and not selector.startswith("@"):
            yield selector, before
            selector = ""
