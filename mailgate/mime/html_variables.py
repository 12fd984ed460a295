"""Custom properties, and the values that are written with them (CSS Custom Properties)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from mailgate.mime.html_css import Declaration
from mailgate.mime.html_pieces import split_outside, unescaped
from mailgate.mime.html_values import GLOBAL, VALID, longhands

_VARIABLES_MAX: Final = 300
"""Custom properties that hold for one element; more are not followed."""
_CHARS_MAX: Final = 4000
_DEPTH_MAX: Final = 16
_CALLS_MAX: Final = 60
"""Variables set for one value."""
_CALL: Final = re.compile(r"\bvar\(", re.IGNORECASE)
_UNKNOWN_STAYS: Final = frozenset(
    "color background-color background-image -webkit-text-fill-color text-shadow -webkit-text-stroke-color".split()
)
"""Properties of paint: where a variable of theirs is not set, what is seen is not known."""


def resolved(
    declared: Mapping[str, Declaration], outer: Mapping[str, str], *, quirks: bool
) -> tuple[dict[str, str], Mapping[str, str]]:
    """The values of an element, and the custom properties that hold inside, of what won the cascade."""
    variables = outer
    if any(key.startswith("--") for key in declared):
        own = {key: each.value for key, each in declared.items() if key.startswith("--")}
        if len(own) > _VARIABLES_MAX:
            own = dict(list(own.items())[:_VARIABLES_MAX])
        variables = _merged(outer, own)
    values: dict[str, str] = {}
    expanded: dict[tuple[str, str], Mapping[str, str]] = {}
    for key, each in declared.items():
        if not each.of:
            if not key.startswith("--"):
                values[key] = each.value
            continue
        if (each.of, each.value) not in expanded:
            expanded[each.of, each.value] = _expanded(each, variables, quirks)
        value = expanded[each.of, each.value].get(key)
        if value is None and key in _UNKNOWN_STAYS and (key == each.of or each.of == "background"):
            value = "var(--)"
        # A declaration that comes to nothing with its variables is unset (3.1).
        values[key] = "unset" if value is None else value
    return values, variables


def _merged(outer: Mapping[str, str], own: Mapping[str, str]) -> Mapping[str, str]:
    """Those from outside with the element's own, which may be written with others; a circle is none (3.2)."""
    both = {**outer, **{key: value for key, value in own.items() if value.lower() not in ("inherit", "unset")}}
    for key, value in own.items():
        if value.lower() == "initial":
            both.pop(key, None)
    if len(both) > _VARIABLES_MAX:
        both = dict(list(both.items())[:_VARIABLES_MAX])
    settled = dict(both)
    for key in own:
        if key in both and _CALL.search(both[key]):
            settled_value = _substituted(both[key], both, 0, [_CALLS_MAX])
            if settled_value is None:
                del settled[key]
            else:
                settled[key] = settled_value
    return settled


def _expanded(each: Declaration, variables: Mapping[str, str], quirks: bool) -> Mapping[str, str]:
    text = _substituted(each.value, variables, 0, [_CALLS_MAX])
    if text is None:
        return {}
    value = unescaped(" ".join(text.split())).lower()
    if value in GLOBAL and each.of in VALID:
        return {each.of: value}
    return dict(longhands(each.of, value, quirks=quirks))


def _substituted(text: str, variables: Mapping[str, str], depth: int, left: list[int]) -> str | None:
    """The text with each variable in it set; None where one has no value, or all is too deep or too long. `left`: how
    many more may be set."""
    found: list[str] = []
    at = 0
    while (match := _CALL.search(text, at)) is not None:
        left[0] -= 1
        found.append(text[at : match.start()])
        end = _closing(text, match.end())
        name, *rest = split_outside(text[match.end() : end], ",")
        value = variables.get(name.strip())
        if value is None and rest:
            value = ",".join(rest)
        if value is not None and _CALL.search(value):
            value = _substituted(value, variables, depth + 1, left) if depth < _DEPTH_MAX and left[0] > 0 else None
        if value is None or sum(map(len, found)) + len(value) > _CHARS_MAX:
            return None
        found.append(value)
        at = end + 1
    return "".join((*found, text[at:]))


def _closing(text: str, at: int) -> int:
    depth = 1
    while at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return at
        at += 1
    return at
