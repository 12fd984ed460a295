"""Whether a query holds: of media (Media Queries 4), of support (CSS Conditional 3), of a container.

A condition is true, false, or unknown (`None`): what asks for a device or a taste that nobody is known to have is
unknown, and so is its opposite; only what is true holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from mailgate.mime.html_length import is_length, number, pixels
from mailgate.mime.html_pieces import split_outside
from mailgate.mime.html_values import SHORTHANDS, VALID, canonical, longhands

SCREEN_WIDTH: Final = 1024.0
SCREEN_HEIGHT: Final = 768.0
"""Pixels of the screen a reader is taken to have."""
_CONTAINER_WIDTH: Final = 600.0
_DEPTH_MAX: Final = 12

_Leaf = Callable[[str], bool | None]
_IDENT: Final = re.compile(r"-?[a-z_][-a-z0-9_]*")
_RANGE: Final = re.compile(r"(<=|>=|<|>|=)")
_RATIO: Final = re.compile(r"([0-9.]{1,9})(?:\s*/\s*([0-9.]{1,9}))?")
_RESOLUTION: Final = re.compile(r"([0-9.]{1,9})(dpi|dpcm|dppx|x)?")

_WORDS: Final = {
    "orientation": "landscape",
    "prefers-color-scheme": "light",
    "prefers-reduced-motion": "no-preference",
    "prefers-contrast": "no-preference",
    "prefers-reduced-transparency": "no-preference",
    "prefers-reduced-data": "no-preference",
    "hover": "hover",
    "any-hover": "hover",
    "pointer": "fine",
    "any-pointer": "fine",
    "scripting": "none",
    "update": "fast",
    "forced-colors": "none",
    "inverted-colors": "none",
    "overflow-block": "scroll",
    "overflow-inline": "scroll",
    "color-gamut": "srgb",
    "dynamic-range": "standard",
    "display-mode": "browser",
    "scan": "progressive",
    "grid": "0",
    "monochrome": "0",
}
"""Features with words for values, and the word of an ordinary screen."""
_OF_ONE_SYSTEM: Final = frozenset({"-webkit-overflow-scrolling", "-webkit-touch-callout", "-webkit-nbsp-mode"})
_NOTHING: Final = frozenset({"none", "no-preference", "0"})
_NAMES_OF_TYPES: Final = frozenset({"all", "screen"})


def media_holds(queries: str) -> bool:
    """Whether a list of media queries holds for a reader at an ordinary screen."""
    return any(_query(" ".join(query.split())) is True for query in split_outside(queries.lower(), ","))


def supports_holds(condition: str, selector: _Leaf) -> bool:
    """Whether browsers have what is asked for; `selector` judges `selector()`."""

    def leaf(text: str) -> bool | None:
        if text.startswith("selector("):
            return selector(text[9:].removesuffix(")"))
        name, colon, value = text.strip("() ").partition(":") if text.startswith("(") else ("", "", "")
        return _is_supported(name.strip(), " ".join(value.split())) if colon else None

    return _condition(" ".join(condition.split()), leaf, 0) is True


def container_holds(condition: str) -> bool:
    """Whether a query of a container holds for one as wide as mail is; its name is not asked for."""
    words = " ".join(condition.split())
    first = words.partition(" ")[0]
    if _IDENT.fullmatch(first) and first != "not":
        words = words[len(first) :].strip()
    return _condition(words, lambda text: _feature(text, _CONTAINER_WIDTH), 0) is True


def _is_supported(name: str, value: str) -> bool:
    if name.startswith("--"):
        return True
    known = canonical(name)
    if known in VALID or known in SHORTHANDS:
        return "var(" in value or any(True for _ in longhands(known, value.removesuffix("!important").strip()))
    return (
        name not in _OF_ONE_SYSTEM
        and not name.startswith(("-moz-", "-ms-", "-o-", "mso-"))
        and bool(_IDENT.fullmatch(name))
    )


def _query(query: str) -> bool | None:
    """One media query; a malformed one is `not all`."""
    if not query:
        return True
    words = split_outside(query, " ")
    at = 1 if words[0] in ("not", "only") else 0
    if at >= len(words) or not _IDENT.fullmatch(words[at]):
        return _condition(query, _screen_feature, 0) if words[0] != "only" else False
    holds: bool | None = words[at] in _NAMES_OF_TYPES
    rest = words[at + 1 :]
    if rest:
        if rest[0] != "and" or "or" in rest:
            return False
        holds = _both(holds, _condition(" ".join(rest[1:]), _screen_feature, 0))
    return _opposite(holds) if words[0] == "not" else holds


def _screen_feature(text: str) -> bool | None:
    return _feature(text, SCREEN_WIDTH)


# --- conditions --------------------------------------------------------------------------------------------------


def _opposite(value: bool | None) -> bool | None:
    return None if value is None else not value


def _both(one: bool | None, other: bool | None) -> bool | None:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _either(one: bool | None, other: bool | None) -> bool | None:
    return _opposite(_both(_opposite(one), _opposite(other)))


def _condition(text: str, leaf: _Leaf, depth: int) -> bool | None:
    """`not x`, `x and y`, `x or y`, in parentheses or not."""
    words = split_outside(text, " ")
    if not words or depth > _DEPTH_MAX:
        return None
    if words[0] == "not":
        return _opposite(_group(words[1], leaf, depth)) if len(words) == 2 else None
    holds = _group(words[0], leaf, depth)
    signs, others = words[1::2], words[2::2]
    if len(signs) != len(others) or len(set(signs)) > 1 or any(sign not in ("and", "or") for sign in signs):
        return None
    for sign, other in zip(signs, others, strict=True):
        holds = (_both if sign == "and" else _either)(holds, _group(other, leaf, depth))
    return holds


def _group(text: str, leaf: _Leaf, depth: int) -> bool | None:
    if not text.startswith("("):
        return leaf(text)
    inside = text[1:].removesuffix(")").strip()
    if inside.startswith(("(", "not ", "selector(", "style(")):
        return _condition(inside, leaf, depth + 1)
    return leaf(text)


# --- features ----------------------------------------------------------------------------------------------------


def _feature(text: str, width: float) -> bool | None:
    """A feature in its parentheses."""
    inside = text.strip("() ") if text.startswith("(") and "(" not in text[1:] else text[1:].removesuffix(")").strip()
    parts = [part.strip() for part in _RANGE.split(inside)]
    if len(parts) > 1:
        return _in_range(parts, width)
    name, colon, value = inside.partition(":")
    name, value = name.strip(), " ".join(value.split())
    for prefix, sign in (("min-", ">="), ("max-", "<=")):
        bare = name.replace(prefix, "", 1)
        if bare != name and (name.startswith((prefix, "-webkit-" + prefix))):
            return _compared(bare, sign, value, width)
    if name in _WORDS:
        return value == _WORDS[name] if colon else _WORDS[name] not in _NOTHING
    if name == "color" and not colon:
        return True
    if not colon:
        return True if _side(name, width) is not None else None
    return _compared(name, "=", value, width)


def _side(name: str, width: float) -> float | None:
    if name in ("width", "device-width", "inline-size"):
        return width
    return SCREEN_HEIGHT if name in ("height", "device-height", "block-size") else None


def _in_range(parts: list[str], width: float) -> bool | None:
    """`width > 1px`, `1px < width`, `1px < width <= 9px`."""
    mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "="}
    if len(parts) == 3:
        left, sign, right = parts
        if _IDENT.fullmatch(left):
            return _compared(left, sign, right, width)
        return _compared(right, mirrored.get(sign, "="), left, width)
    if len(parts) == 5:
        low, first, name, second, high = parts
        return _both(_compared(name, mirrored.get(first, "="), low, width), _compared(name, second, high, width))
    return None


def _compared(name: str, sign: str, value: str, width: float) -> bool | None:
    side = _side(name, width)
    if side is not None:
        bound = pixels(value) if is_length(value) else None
        return None if bound is None else _holds(side, sign, bound)
    if name in ("aspect-ratio", "device-aspect-ratio"):
        match = _RATIO.fullmatch(value)
        parts = [number(part) for part in match.groups(default="1")] if match else []
        return _holds(width / SCREEN_HEIGHT, sign, (parts[0] or 0) / (parts[1] or 1)) if parts else None
    if name in ("color", "monochrome", "color-index"):
        bound = number(value)
        return None if bound is None else _holds(8.0 if name == "color" else 0.0, sign, bound)
    if name in ("resolution", "-webkit-device-pixel-ratio"):
        match = _RESOLUTION.fullmatch(value)
        bound = number(match[1]) if match else None
        if match is None or bound is None:
            return None
        bound /= {"dpi": 96.0, "dpcm": 37.8}.get(match[2] or "", 1.0)
        # Screens have one or two points a pixel.
        one, two = _holds(1.0, sign, bound), _holds(2.0, sign, bound)
        return one if one == two else None
    return None


def _holds(value: float, sign: str, bound: float) -> bool:
    match sign:
        case ">=":
            return value >= bound
        case "<=":
            return value <= bound
        case ">":
            return value > bound
        case "<":
            return value < bound
        case _:
            return value == bound
