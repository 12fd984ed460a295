"""The properties that decide what is seen, and which values a browser takes for each: it passes over any other (CSS
Syntax, 9), so that an earlier one holds. Shorthands and logical names are spelled out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from mailgate.mime.html_colour import is_colour
from mailgate.mime.html_length import is_length, number
from mailgate.mime.html_pieces import split_outside

GLOBAL: Final = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})
"""Values that every property takes (CSS Cascade, 7)."""
Check = Callable[[str, bool], bool]
"""Whether a value is one, given whether the page is in quirks mode."""

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,12}")
_CALL: Final = re.compile(r"(-?[a-z][-a-z0-9]{0,30})\(")
_ARGUMENTS: Final = re.compile(r"[^()]*+(?:\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)[^()]*+)*+\)?")


def _keyword(words: str) -> Check:
    allowed = frozenset(words.split())
    return lambda value, quirks: value in allowed


def _keywords(words: str) -> Check:
    """One or several of them."""
    allowed = frozenset(words.split())
    return lambda value, quirks: bool(value) and all(word in allowed for word in value.replace(",", " ").split())


def _length(words: str = "", *, negative: bool = False, loose: bool = True) -> Check:
    """A length or one of the words; `loose`: a bare number is one in quirks mode."""
    allowed = frozenset(words.split())
    return lambda value, quirks: value in allowed or is_length(value, quirks=quirks and loose, negative=negative)


def _functions(words: str, alone: str = "none") -> Check:
    """Calls of these functions only, at least one, or one of the words."""
    names, plain = frozenset(words.split()), frozenset(alone.split())

    def check(value: str, quirks: bool) -> bool:
        if value in plain:
            return True
        pieces = split_outside(value, " ")
        calls = [_CALL.match(piece) for piece in pieces]
        return bool(pieces) and all(
            (call is not None and call[1] in names) or piece in plain for call, piece in zip(calls, pieces, strict=True)
        )

    return check


def is_picture(value: str) -> bool:
    """Whether it is one image (CSS Images, 2), which a browser takes under that name."""
    call = _CALL.match(value)
    if call is None or call[1].startswith(("-moz-", "-o-", "-ms-")):
        return False
    name = call[1].removeprefix("-webkit-")
    return name.endswith("gradient") or name in ("url", "image", "image-set", "cross-fade", "element", "paint", "src")


def _pictures(value: str, quirks: bool) -> bool:
    return all(piece.strip() == "none" or is_picture(piece.strip()) for piece in split_outside(value, ","))


def _number(value: str, quirks: bool) -> bool:
    return number(value) is not None


def _colour(value: str, quirks: bool) -> bool:
    # The hashless colour quirk (Quirks Mode Standard, 3.2).
    return is_colour(value) or (quirks and len(value) in (3, 6) and is_colour("#" + value))


def _any(value: str, quirks: bool) -> bool:
    return bool(value)


def _font_size(value: str, quirks: bool) -> bool:
    words = "xx-small x-small small medium large x-large xx-large xxx-large smaller larger math -webkit-xxx-large"
    return value in words.split() or is_length(value, quirks=quirks, negative=False)


def _indent(value: str, quirks: bool) -> bool:
    words = [word for word in split_outside(value, " ") if word not in ("hanging", "each-line")]
    return len(words) == 1 and is_length(words[0], quirks=quirks)


def _display(value: str, quirks: bool) -> bool:
    if value in _DISPLAYS:
        return True
    words = value.split()
    return 1 < len(words) <= 3 and all(word in _DISPLAY_PARTS for word in words)


def _shadows(value: str, quirks: bool) -> bool:
    return value == "none" or all(_shadow(piece) for piece in split_outside(value, ","))


def _shadow(value: str) -> bool:
    words = split_outside(value, " ")
    lengths = [word for word in words if is_length(word)]
    rest = [word for word in words if not is_length(word) and word != "inset"]
    return 2 <= len(lengths) <= 4 and len(rest) <= 1 and all(is_colour(word) for word in rest)


def _layer(value: str, quirks: bool) -> bool:
    return value == "auto" or bool(_INTEGER.fullmatch(value))


_DISPLAYS: Final = frozenset(
    (
        "none block inline inline-block flex inline-flex grid inline-grid flow-root contents table inline-table"
        " table-row table-cell table-caption table-column table-column-group table-row-group table-header-group"
        " table-footer-group list-item run-in -webkit-box -webkit-inline-box -webkit-flex -webkit-inline-flex ruby math"
        " ruby-text ruby-base flow -ms-flexbox -ms-grid"
    ).split()
)
_DISPLAY_PARTS: Final = frozenset("block inline flow flow-root table flex grid ruby list-item math".split())
_SIZE_WORDS: Final = (
    "auto none min-content max-content fit-content stretch -webkit-fill-available -webkit-min-content"
    " -webkit-max-content -webkit-fit-content intrinsic min-intrinsic"
)
_TRANSFORMS: Final = (
    "matrix matrix3d translate translatex translatey translatez translate3d scale scalex scaley scalez scale3d rotate"
    " rotatex rotatey rotatez rotate3d skew skewx skewy perspective"
)
_FILTERS: Final = "blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia url alpha"
_LINES: Final = "visible hidden clip scroll auto overlay"
_SIDES: Final = ("top", "right", "bottom", "left")

VALID: Final[Mapping[str, Check]] = {
    "all": lambda value, quirks: False,
    "display": _display,
    "visibility": _keyword("visible hidden collapse"),
    "content-visibility": _keyword("visible hidden auto"),
    "mso-hide": _keyword("all none"),
    "position": _keyword("static relative absolute fixed sticky -webkit-sticky"),
    "float": _keyword("none left right inline-start inline-end"),
    "opacity": _number,
    "zoom": lambda value, quirks: value in ("normal", "reset") or number(value) is not None,
    **dict.fromkeys(("color", "-webkit-text-fill-color", "-webkit-text-stroke-color", "background-color"), _colour),
    "-webkit-text-stroke-width": _length("thin medium thick", loose=False),
    "-webkit-text-security": _keyword("none disc circle square"),
    "text-shadow": _shadows,
    "box-shadow": _shadows,
    "background-image": _pictures,
    "background-clip": _keywords("border-box padding-box content-box text border-area"),
    "mask-image": _pictures,
    "mask-size": _any,
    "isolation": _keyword("auto isolate"),
    "color-scheme": _any,
    "animation": _any,
    "animation-name": _any,
    "animation-fill-mode": _any,
    "mix-blend-mode": _keyword(
        "normal multiply screen overlay darken lighten color-dodge color-burn hard-light soft-light difference"
        " exclusion hue saturation color luminosity plus-darker plus-lighter"
    ),
    "font-size": _font_size,
    "font-size-adjust": _any,
    "line-height": lambda value, quirks: value == "normal" or (number(value) or -1) >= 0 or is_length(value),
    "white-space": _keywords("normal nowrap pre pre-wrap pre-line break-spaces collapse preserve wrap"),
    "text-indent": _indent,
    **dict.fromkeys(("letter-spacing", "word-spacing"), _length("normal", negative=True)),
    **dict.fromkeys(("height", "width", "min-height", "min-width", "max-height", "max-width"), _length(_SIZE_WORDS)),
    "box-sizing": _keyword("content-box border-box"),
    **dict.fromkeys((*_SIDES, *(f"margin-{side}" for side in _SIDES)), _length("auto", negative=True)),
    **dict.fromkeys((f"padding-{side}" for side in _SIDES), _length()),
    **dict.fromkeys(("overflow-x", "overflow-y"), _keyword(_LINES)),
    "z-index": _layer,
    "clip": lambda value, quirks: value == "auto" or value.startswith("rect("),
    "clip-path": _functions(
        "inset circle ellipse polygon path url rect xywh shape",
        "none border-box padding-box content-box margin-box fill-box stroke-box view-box",
    ),
    "transform": _functions(_TRANSFORMS),
    "transform-origin": _any,
    "translate": lambda value, quirks: value == "none" or all(is_length(word) for word in split_outside(value, " ")),
    "scale": lambda value, quirks: (
        value == "none" or all(number(word) is not None for word in split_outside(value, " "))
    ),
    "rotate": _any,
    "filter": _functions(_FILTERS, "none"),
    **dict.fromkeys(("grid-area", "grid-row", "grid-column", "container-type"), _any),
}
"""Each property that decides what is seen, and which values it has beside the global ones."""


_RESET: Final = (
    "display visibility color -webkit-text-fill-color -webkit-text-stroke-color -webkit-text-stroke-width text-shadow"
    " font-size line-height white-space text-indent letter-spacing word-spacing -webkit-text-security"
).split()
"""What an element has without a declaration of its own, most of it from around, so that `all` has to undo it."""


def reset(values: dict[str, str]) -> dict[str, str]:
    """The values with what `all` says of those that are not declared (CSS Cascade, 3.2)."""
    return {**dict.fromkeys(_RESET, values["all"]), **values} if "all" in values else values


def is_valid(name: str, value: str, *, quirks: bool = False) -> bool:
    """Whether a browser takes the value for that property."""
    return value in GLOBAL or VALID[name](value, quirks)


# --- shorthands --------------------------------------------------------------------------------------------------

_LOGICAL: Final = {
    "block-size": "height",
    "inline-size": "width",
    **{
        f"{bound}-{side}-size": f"{bound}-{real}"
        for bound in ("min", "max")
        for side, real in (("block", "height"), ("inline", "width"))
    },
    "overflow-block": "overflow-y",
    "overflow-inline": "overflow-x",
    **{
        f"{kind}-{flow}": f"{kind.removeprefix('inset-') if kind != 'inset' else ''}-{side}".removeprefix("-")
        for kind in ("margin", "padding", "inset")
        for flow, side in zip(("block-start", "inline-end", "block-end", "inline-start"), _SIDES, strict=True)
    },
    "word-wrap": "overflow-wrap",
    "-webkit-text-stroke-colour": "-webkit-text-stroke-color",
}
_UNPREFIXED: Final = frozenset(
    (
        "transform transform-origin filter clip-path mask mask-image mask-size background-clip box-shadow box-sizing"
        " opacity"
    ).split()
)
SHORTHANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "background": ("background-color", "background-image", "background-clip"),
    "mask": ("mask-image", "mask-size"),
    "font": ("font-size", "line-height"),
    "overflow": ("overflow-x", "overflow-y"),
    "-webkit-text-stroke": ("-webkit-text-stroke-width", "-webkit-text-stroke-color"),
    "text-wrap": ("white-space",),
    **{kind: tuple(f"{kind}-{side}" for side in _SIDES) for kind in ("margin", "padding")},
    "inset": _SIDES,
    **{
        f"{kind}-{axis}": tuple(f"{kind}-{side}".removeprefix("inset-") for side in sides)
        for kind in ("margin", "padding", "inset")
        for axis, sides in (("block", ("top", "bottom")), ("inline", ("left", "right")))
    },
}
"""What each shorthand sets."""
_PLACING: Final = frozenset(
    (
        "repeat repeat-x repeat-y no-repeat space round scroll fixed local border-box padding-box content-box text"
        " border-area left right top bottom center auto cover contain none / alpha luminance match-source add subtract"
        " intersect exclude no-clip"
    ).split()
)
_SYSTEM_FONTS: Final = frozenset("caption icon menu message-box small-caption status-bar".split())


def canonical(name: str) -> str:
    """The name under which a property is known here."""
    bare = name.removeprefix("-webkit-")
    name = bare if bare in _UNPREFIXED else name
    return _LOGICAL.get(name, name)


def longhands(name: str, value: str, *, quirks: bool = False) -> Iterator[tuple[str, str]]:
    """What a declaration sets, in valid values only; nothing where a browser would pass it over."""
    if name not in SHORTHANDS:
        if name in VALID and is_valid(name, value, quirks=quirks):
            yield name, value
        return
    parts = SHORTHANDS[name]
    if value in GLOBAL:
        yield from ((part, value) for part in parts)
        return
    found = _expanded(name, value, quirks)
    if found and all(is_valid(part, word, quirks=quirks) for part, word in found.items()):
        yield from found.items()


def _expanded(name: str, value: str, quirks: bool) -> dict[str, str]:
    if name == "background":
        return _background(value, quirks)
    if name == "font":
        return _font(value, quirks)
    if name == "mask":
        layers = split_outside(value, ",")
        return {"mask-image": _images(layers), "mask-size": (value.partition("/")[2].split() or ["auto"])[0]}
    if name == "-webkit-text-stroke":
        words = split_outside(value, " ")
        widths = [word for word in words if is_length(word)] or ["0"]
        colours = [word for word in words if is_colour(word)] or ["currentcolor"]
        good = len(words) <= 2
        return {"-webkit-text-stroke-width": widths[0], "-webkit-text-stroke-color": colours[0]} if good else {}
    if name == "text-wrap":
        return {"white-space": "nowrap" if "nowrap" in value.split() else "normal"}
    words = split_outside(value, " ")
    parts = SHORTHANDS[name]
    if not 1 <= len(words) <= len(parts):
        return {}
    if len(parts) == 2:
        return dict(zip(parts, (words[0], words[-1]), strict=True))
    places = ((0, 0, 0, 0), (0, 1, 0, 1), (0, 1, 2, 1), (0, 1, 2, 3))[len(words) - 1]
    return {part: words[place] for part, place in zip(parts, places, strict=True)}


def _images(layers: list[str]) -> str:
    """Those of all layers; `none` where there are none."""
    words = [word for layer in layers for word in split_outside(layer, " ") if is_picture(word)]
    return ",".join(words) or "none"


def _background(value: str, quirks: bool) -> dict[str, str]:
    """Colour, images and clip; nothing where a word is none of a background's (CSS Backgrounds, 2.10)."""
    if not value.strip():
        return {}  # an empty value is invalid, and what was declared before it holds
    colours: list[str] = []
    layers = split_outside(value.replace("/", " / ") if "/" in value and "(" not in value else value, ",")
    for layer in layers:
        for word in split_outside(layer, " "):
            if _colour(word, quirks) and word not in GLOBAL:
                colours.append(word)
            elif not (word in _PLACING or is_picture(word) or is_length(word, quirks=True) or _is_placed(word)):
                return {}
    # The colour is the last layer's.
    if len(colours) > 1 or (colours and colours[0] not in split_outside(layers[-1], " ")):
        return {}
    return {
        "background-color": colours[0] if colours else "transparent",
        "background-image": _images(layers),
        "background-clip": "text" if any("text" in layer.split() for layer in layers) else "border-box",
    }


def _is_placed(word: str) -> bool:
    """`center/cover`, written without blanks."""
    return "/" in word and all(part in _PLACING or not part or is_length(part, quirks=True) for part in word.split("/"))


def _font(value: str, quirks: bool) -> dict[str, str]:
    """A size, and a line height, before the names of fonts (CSS Fonts, 2.7)."""
    if value in _SYSTEM_FONTS:
        return {"font-size": "small", "line-height": "normal"}
    words = split_outside(value, " ")
    for index, word in enumerate(words):
        size, slash, height = word.partition("/")
        if not _font_size(size, quirks=False) or (size.isdigit() and int(size[:9]) > 0):
            continue
        rest = words[index + 1 :]
        if slash and not height:
            height, rest = (rest or [""])[0], rest[1:]
        elif rest[:1] == ["/"]:
            height, rest = (rest[1:] or [""])[0], rest[2:]
        elif rest and rest[0].startswith("/"):
            height, rest = rest[0][1:], rest[1:]
        return {"font-size": size, "line-height": height or "normal"} if rest else {}
    return {}
