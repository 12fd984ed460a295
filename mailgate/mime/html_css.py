"""As much of CSS as says whether text can be seen: declarations, rules, media queries.

Everything is read in one pass with patterns that cannot go back, so work is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from mailgate.mime.html_colour import is_colour

_SCREEN_WIDTH: Final = 1024.0
"""Pixels of the screen a reader is taken to have."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """A value in lower case without superfluous blanks, and whether it is `!important`."""

    value: str
    important: bool = False


Declarations = Mapping[str, Declaration]

_STRING: Final = re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"|\'[^\'\\\n]*+(?:\\.[^\'\\\n]*+)*+\'', re.DOTALL)
_URL: Final = re.compile(r"url\([^()]*\)")
_IMPORTANT: Final = re.compile(r"!\s*important\Z")
_ESCAPE: Final = re.compile(r"\\(?:([0-9a-f]{1,6})[ \t\n]?|(.))", re.DOTALL)
_LENGTH: Final = re.compile(
    r"([+-]?(?:[0-9]{1,40}(?:\.[0-9]{1,40})?|\.[0-9]{1,40})(?:e[+-]?[0-9]{1,2})?)(%|[a-z]{1,4})?"
)
_UNITS: Final = {
    "": 1.0,
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 37.8,
    "mm": 3.78,
    "q": 0.945,
    "em": 16.0,
    "rem": 16.0,
    "ex": 8.0,
    "ch": 8.0,
    "lh": 19.0,
    "vw": 10.24,
    "vh": 7.68,
    "vmin": 7.68,
    "vmax": 10.24,
}
"""Pixels in a unit (CSS Values, 6), those of fonts and of the window as on an ordinary screen."""
_BACKGROUND_COLOUR: Final = re.compile(r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl)a?\([^()]*\)|(?<![-\w])[a-z]+(?![-\w(])")
_PICTURE: Final = re.compile(r"url\(|gradient\(|image|element\(|\bvar\(")


def length(value: str) -> tuple[float, str] | None:
    """A number and its unit (`%` too), also when wrapped in `calc()`; None for anything else."""
    if value.startswith("calc(") and value.endswith(")"):
        value = value[5:-1].strip()
    match = _LENGTH.fullmatch(value)
    if match is None:
        return None
    unit = match[2] or ""
    return (float(match[1]), unit) if unit == "%" or unit in _UNITS else None


def pixels(value: str, of_percent: float = 16.0) -> float | None:
    """A length in pixels; a percentage is one of `of_percent`."""
    found = length(value)
    if found is None:
        return None
    number, unit = found
    return number * (of_percent / 100 if unit == "%" else _UNITS[unit])


# --- declarations ------------------------------------------------------------------------------------------------


def _keyword(*words: str) -> Callable[[str], bool]:
    allowed = frozenset((*words, "inherit", "initial", "unset", "revert"))
    return lambda value: value in allowed


def _measure(value: str) -> bool:
    return length(value) is not None or "(" in value or value.replace("-", "").isalpha()


def _any(value: str) -> bool:
    return bool(value)


_DISPLAYS: Final = (
    "none block inline inline-block flex inline-flex grid inline-grid flow-root contents table inline-table table-row"
    " table-cell table-caption table-column table-column-group table-row-group table-header-group table-footer-group"
    " list-item run-in -webkit-box -webkit-inline-box -webkit-flex -ms-flexbox -ms-grid"
).split()
_LENGTHS: Final = (
    "height min-height max-height width min-width max-width font-size text-indent left right top bottom margin-left"
    " margin-top letter-spacing"
).split()
VALID: Final[Mapping[str, Callable[[str], bool]]] = {
    "display": _keyword(*_DISPLAYS),
    "visibility": _keyword("visible", "hidden", "collapse"),
    "content-visibility": _keyword("visible", "hidden", "auto"),
    "mso-hide": _keyword("all", "none"),
    "position": _keyword("static", "relative", "absolute", "fixed", "sticky", "-webkit-sticky"),
    "opacity": lambda value: length(value) is not None or "(" in value,
    "color": is_colour,
    "-webkit-text-fill-color": is_colour,
    "background-color": is_colour,
    **dict.fromkeys(_LENGTHS, _measure),
    **dict.fromkeys(("overflow-x", "overflow-y"), _keyword("visible", "hidden", "clip", "scroll", "auto")),
    **dict.fromkeys(
        (
            "background-image background-clip clip clip-path transform translate scale zoom filter font-size-adjust"
        ).split(),
        _any,
    ),
}
"""Properties that decide what is seen. A value that is none is passed over, as a browser does (CSS Syntax, 9)."""


def declarations(style: str) -> dict[str, Declaration]:
    """What a style attribute, or the block of a rule, declares of the properties in `VALID`; shorthands spelled out."""
    text = without_comments(style.lower())
    if '"' in text or "'" in text:
        text = _STRING.sub("''", text)
    if "url(" in text:
        text = _URL.sub("url()", text)
    found: dict[str, Declaration] = {}
    for piece in text.split(";"):
        name, colon, value = piece.partition(":")
        if not colon:
            continue
        name, value = unescaped(name).strip(), " ".join(unescaped(value).split())
        bare = _IMPORTANT.sub("", value).strip()
        important = bare != value
        for key, part in _longhands(name.removeprefix("-webkit-") if "clip" in name else name, bare):
            valid = VALID.get(key)
            previous = found.get(key)
            if valid is not None and valid(part) and (important or previous is None or not previous.important):
                found[key] = Declaration(part, important)
    return found


def _longhands(name: str, value: str) -> Iterator[tuple[str, str]]:
    """One declaration, or those a shorthand stands for."""
    if name == "background":
        colours = (match[0] for match in _BACKGROUND_COLOUR.finditer(value))
        yield "background-color", next((colour for colour in colours if is_colour(colour)), "transparent")
        yield "background-image", "url()" if _PICTURE.search(value) else "none"
        if "text" in value.split():
            yield "background-clip", "text"
    elif name == "font":
        sizes = (word.partition("/")[0] for word in value.split())
        yield from (("font-size", size) for size in sizes if length(size) is not None and not _is_weight(size))
    elif name == "overflow":
        words = value.split()
        yield from zip(("overflow-x", "overflow-y"), (words * 2)[:2], strict=False)
    elif name in ("margin", "inset"):
        words = (value.split() or ["0"])[:4]
        keys = ("margin-top", "margin-left") if name == "margin" else ("top", "left")
        yield keys[0], words[0]
        yield keys[1], words[(0, 1, 1, 3)[len(words) - 1]]
    else:
        yield name, value


def _is_weight(size: str) -> bool:
    """`700` in a `font` shorthand is a weight: a size has a unit, or is zero."""
    return size.isdigit() and int(size[:9]) > 0


def without_comments(style: str) -> str:
    """CSS without its comments; one without end goes on to the end (CSS Syntax, 4.3.2)."""
    first, *others = style.split("/*")
    # A piece without an end lies within a comment, which then goes on in the next piece.
    return first + "".join(piece.partition("*/")[2] for piece in others)


def unescaped(text: str) -> str:
    """CSS Syntax, 4.3.7: up to six hexadecimal digits, or the character itself."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    if not match[1]:
        return match[2]
    number = int(match[1], 16)
    return chr(number).lower() if 0 < number < 0xD800 or 0xDFFF < number <= 0x10FFFF else ""


# --- rules -------------------------------------------------------------------------------------------------------

_BRACE: Final = re.compile(r"([{}])")
_WIDTH: Final = re.compile(r"\(\s*(min|max)-(?:device-)?width\s*:\s*([^()]{1,40}?)\s*\)")
_FEATURE: Final = re.compile(r"\([^()]*\)")
_TYPES: Final = frozenset({"", "all", "screen", "only all", "only screen"})


def rules(css: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of every rule that holds; what is under a query that does not hold is passed over."""
    text = without_comments(css.lower()).replace("<!--", " ").replace("-->", " ")
    passed_over = 0
    open_rules: list[str] = []
    pieces = _BRACE.split(text)
    # What is open at the end is closed there (CSS Syntax, 5.4).
    for piece, brace in zip_longest(pieces[::2], pieces[1::2], fillvalue="}"):
        if passed_over:
            passed_over += 1 if brace == "{" else -1
        elif brace == "{":
            outer = open_rules[-1] if open_rules else ""
            declared, _, selector = piece.rpartition(";")
            if outer:
                yield outer, declared
            if not selector.lstrip().startswith("@"):
                open_rules.append(_nested(outer, selector.strip()))
            elif _group_holds(selector.strip()):
                open_rules.append(outer)
            else:
                passed_over = 1
        elif open_rules:
            selector = open_rules.pop()
            if selector:
                yield selector, piece


def _nested(outer: str, selector: str) -> str:
    """The selector of a rule within a rule (CSS Nesting, 3); empty where it is not followed."""
    if not outer or not selector:
        return selector
    if "," in outer or "," in selector or len(outer) > 200:
        return ""
    return selector.replace("&", outer) if "&" in selector else f"{outer} {selector}"


def _group_holds(rule: str) -> bool:
    name, _, rest = rule.partition(" ")
    if rule.startswith("@media"):
        return media_holds(rule.removeprefix("@media"))
    return name == "@layer" or (name == "@supports" and "not" not in rest)


def media_holds(queries: str) -> bool:
    """Whether a list of media queries holds for a reader at an ordinary screen; an unknown feature does not."""
    return any(_query_holds(query) for query in queries.lower().split(","))


def _query_holds(query: str) -> bool:
    words = " ".join(query.split())
    negated = words.startswith("not ")
    words = words.removeprefix("not ")
    widths = _WIDTH.findall(words)
    # Any other feature is one of a device or a taste nobody is known to have.
    known = len(_FEATURE.findall(words)) == len(widths)
    kind = " ".join(word for word in _FEATURE.sub(" ", words).split() if word != "and")
    holds = known and kind in _TYPES and all(_width_holds(*width) for width in widths)
    return holds != negated and known


def _width_holds(bound: str, value: str) -> bool:
    size = pixels(value)
    if size is None:
        return False
    return size <= _SCREEN_WIDTH if bound == "min" else size >= _SCREEN_WIDTH
