"""Whether text can be seen: what an element's style does to it, and what it leaves to the elements inside.

Two kinds of hiding are told apart. One takes the element with all that is in it (`display:none`, no opacity, no size,
outside of the screen). The other is inherited and can be undone further inside (`visibility`, a size of the font,
colours): newsletters set `font-size:0` on cells to close gaps, and a size again on the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mailgate.mime.html_colour import (
    BLACK,
    LINK,
    SEE_THROUGH,
    WHITE,
    Colour,
    is_lost_on,
    parse_colour,
    parse_legacy_colour,
)
from mailgate.mime.html_css import length, pixels
from mailgate.mime.html_rules import TABLE_PARTS

Values = Mapping[str, str]
"""What holds for one element: property and value, after the cascade."""

_FONT_PIXELS: Final = 16.0
_SMALLEST_FONT: Final = 4 / 3 + 0.01
"""Pixels, a point: preheaders are hidden in a font so small that nobody reads it."""
_SMALLEST_BOX: Final = 2.0
"""Pixels of a box that cuts off what does not fit."""
_SMALLEST_SCALE: Final = 0.1
_OFF: Final = -500.0
_FAR_OFF: Final = 3000.0
"""Pixels to the left or above, and to the right or below, at which nothing is on the screen any more."""
_TIGHTEST: Final = -20.0

_SIDES: Final = ("left", "top", "right", "bottom")
_SIZES: Final = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
    "initial": 16.0,
    "revert": 16.0,
}
_CUTS: Final = frozenset({"hidden", "clip"})
_RECT: Final = re.compile(r"rect\(([^()]{1,80})\)")
_NUMBERS: Final = re.compile(r"[+-]?(?:[0-9]{1,20}(?:\.[0-9]{1,20})?|\.[0-9]{1,20})[a-z%]{0,4}")
_CALL: Final = re.compile(r"([a-z0-9-]{1,20})\(([^()]{0,200})\)")
_OPACITY: Final = re.compile(
    r"opacity ?(?:\( ?(?P<part>[0-9]{0,9}\.?[0-9]{1,9})(?P<percent>%?) ?\)|= ?(?P<old>[0-9]{0,9}\.?[0-9]{1,9}))"
)


@dataclass(frozen=True, slots=True)
class Look:
    """What text inside inherits. `size`: of the font, in pixels. A colour that cannot be known is None.

    `invisible`: by `visibility`, which hides pictures too. `unseen`: text is not seen, for whatever reason.
    """

    invisible: bool = False
    size: float = _FONT_PIXELS
    colour: Colour | None = BLACK
    background: Colour | None = WHITE
    opacity: float = 1.0
    unseen: bool = False


def removes_subtree(attributes: Values, values: Values, name: str = "div") -> bool:
    """Whether nothing inside the element `name` can be seen, whatever it says of itself."""
    display = values.get("display")
    if display == "none" or (display is None and ("hidden" in attributes or "popover" in attributes)):
        return True
    if not values:
        return False
    return (
        # On a link it is the button for everybody but Outlook, which has one of its own in a conditional comment.
        (values.get("mso-hide") == "all" and "href" not in attributes)
        or values.get("content-visibility") == "hidden"
        or _opacity(values) < SEE_THROUGH
        or _is_squeezed(name, values)
        or _is_off_screen(values)
        or _is_clipped(values)
        or _is_shrunk(values)
    )


def look_inside(outer: Look, name: str, attributes: Values, values: Values) -> Look:
    """The look of text in an element that is itself shown."""
    hints = name in ("a", "font", "body") or "bgcolor" in attributes or "background" in attributes
    if not values and not hints:
        return outer
    invisible = _invisible(values, outer.invisible)
    size = _font_size(values, outer.size)
    background = _background(outer, attributes, values)
    opacity = outer.opacity * _opacity(values)
    colour = _colour(outer, name, attributes, values)
    unseen = invisible or size <= _SMALLEST_FONT or opacity < SEE_THROUGH or _is_lost(colour, background)
    return Look(invisible, size, colour, background, opacity, unseen)


def _is_lost(colour: Colour | None, background: Colour | None) -> bool:
    """Whether the colour alone hides the text; where one of the two is not known, only if it is no colour at all."""
    if colour is None:
        return False
    return colour.alpha < SEE_THROUGH if background is None else is_lost_on(colour, background)


# --- what is inherited -------------------------------------------------------------------------------------------


def _invisible(values: Values, inherited: bool) -> bool:
    value = values.get("visibility", "inherit")
    return inherited if value in ("inherit", "unset") else value in ("hidden", "collapse")


def _font_size(values: Values, inherited: float) -> float:
    adjusted = length(values.get("font-size-adjust", ""))
    if adjusted is not None and adjusted[0] == 0:
        return 0.0
    value = values.get("font-size", "inherit")
    if value in _SIZES:
        return _SIZES[value]
    if value in ("smaller", "larger"):
        return inherited * (1.2 if value == "larger" else 1 / 1.2)
    found = length(value)
    if found is None:
        return _FONT_PIXELS if "(" in value else inherited
    number, unit = found
    if unit == "%":
        return inherited * number / 100
    return inherited * number if unit == "em" else pixels(value) or 0.0


def _background(outer: Look, attributes: Values, values: Values) -> Colour | None:
    """The colour behind the text; None where a picture is, or might be."""
    if values.get("background-clip") == "text":
        return outer.background
    if "url" in values.get("background-image", "") or "(" in values.get("background-image", ""):
        return None
    value = values.get("background-color")
    if value is None and "background" in attributes:
        return None
    own = parse_legacy_colour(attributes.get("bgcolor", "")) if value is None else parse_colour(value)
    if value is not None and own is None:
        return outer.background if value in ("inherit", "initial", "unset", "revert") else None
    if own is None or own.alpha == 0:
        return outer.background
    if own.alpha == 1:
        return own
    return own.over(outer.background) if outer.background is not None else None


def _colour(outer: Look, name: str, attributes: Values, values: Values) -> Colour | None:
    """The colour of the text, from the style, the old attributes, or what holds around it."""
    if values.get("background-clip") == "text":
        # The letters are a window to the element's own background.
        behind = values.get("background-color", "transparent")
        return None if "background-image" in values and values["background-image"] != "none" else parse_colour(behind)
    value = values.get("-webkit-text-fill-color") or values.get("color")
    if value is None or value in ("revert", "currentcolor"):
        legacy = parse_legacy_colour(attributes.get({"font": "color", "body": "text"}.get(name, ""), ""))
        if legacy is not None:
            return legacy
        return LINK if name == "a" and "href" in attributes else outer.colour
    if value in ("inherit", "unset"):
        return outer.colour
    return BLACK if value == "initial" else parse_colour(value)


# --- what takes all inside ---------------------------------------------------------------------------------------


def _opacity(values: Values) -> float:
    """How opaque the element is, by `opacity` and `filter`."""
    found = length(values.get("opacity", ""))
    opacity = 1.0 if found is None else found[0] / 100 if found[1] == "%" else found[0]
    match = _OPACITY.search(values.get("filter", ""))
    if match and match["old"]:
        opacity *= float(match["old"]) / 100  # `alpha(opacity=0)`
    elif match:
        opacity *= float(match["part"]) / (100 if match["percent"] else 1)
    return min(max(opacity, 0.0), 1.0)


def _is_squeezed(name: str, values: Values) -> bool:
    """No room inside, and what does not fit is cut off."""
    if values.get("overflow-x") not in _CUTS and values.get("overflow-y") not in _CUTS:
        return False
    if name in TABLE_PARTS and "display" not in values:
        # A cell grows with what is in it, and its table with the cell (CSS 2.2, 17.5); a greatest height is another
        # matter to mail programs, and nothing but a means of hiding.
        return _is_flat({key: value for key, value in values.items() if key == "max-height"}, "height")
    return _is_flat(values, "height") or _is_flat(values, "width")


def _is_flat(values: Values, side: str) -> bool:
    """A least size wins over the others (CSS 2.2, 10.4 and 10.7)."""
    least = pixels(values.get(f"min-{side}", ""), of_percent=600)
    if least is not None and least > _SMALLEST_BOX:
        return False
    sizes = (pixels(values.get(key, ""), of_percent=600) for key in (side, f"max-{side}"))
    return any(size is not None and size <= _SMALLEST_BOX for size in sizes)


def _is_off_screen(values: Values) -> bool:
    keys: tuple[str, ...] = ("text-indent", "margin-left", "margin-top")
    # Offsets do nothing to an element that stands in the flow (CSS Positioned Layout, 3.1).
    if values.get("position", "static") not in ("static", "sticky", "inherit", "initial", "unset", "revert"):
        keys += _SIDES
    for key in keys:
        offset = pixels(values.get(key, ""), of_percent=600)
        if offset is not None and not _OFF < offset < _FAR_OFF:
            return True
    spacing = pixels(values.get("letter-spacing", ""))
    return spacing is not None and spacing < _TIGHTEST


def _is_clipped(values: Values) -> bool:
    positioned = values.get("position") in ("absolute", "fixed")
    match = _RECT.search(values.get("clip", "")) if positioned else None
    if match:
        edges = [pixels(word) for word in match[1].replace(",", " ").split()]
        top, right, bottom, left = edges if len(edges) == 4 else [None] * 4
        low = top is not None and bottom is not None and bottom - top <= _SMALLEST_BOX
        narrow = left is not None and right is not None and right - left <= _SMALLEST_BOX
        if low or narrow:
            return True
    call = _CALL.search(values.get("clip-path", ""))
    return call is not None and _cuts_all(call[1], call[2])


def _cuts_all(shape: str, inside: str) -> bool:
    """Whether a basic shape has no area to speak of (CSS Shapes, 3)."""
    words = inside.partition(" round ")[0].partition(" at ")[0]
    if shape == "inset":
        sides = [pixels(word, of_percent=600) or 0.0 for word in words.split()[:4]]
        if not sides:
            return False
        top, right = sides[0], sides[min(1, len(sides) - 1)]
        bottom, left = (sides[2] if len(sides) > 2 else top), (sides[3] if len(sides) > 3 else right)
        return top + bottom >= 600 or left + right >= 600
    if shape in ("circle", "ellipse"):
        radii = [pixels(word, of_percent=600) for word in words.split()]
        return any(radius is not None and radius <= _SMALLEST_BOX for radius in radii)
    if shape == "polygon":
        points = {" ".join(point.split()) for point in words.split(",")}
        return len(points) < 3
    return False


def _is_shrunk(values: Values) -> bool:
    """Scaled, turned or moved out of sight."""
    for key in ("scale", "zoom"):
        if any(_is_small(word) for word in values.get(key, "").split()):
            return True
    if any((pixels(word, 600) or 0.0) <= _OFF for word in values.get("translate", "").split()):
        return True
    return any(_transforms_away(call[1], call[2]) for call in _CALL.finditer(values.get("transform", "")))


def _is_small(word: str) -> bool:
    found = length(word)
    return found is not None and abs(found[0] / 100 if found[1] == "%" else found[0]) <= _SMALLEST_SCALE


def _transforms_away(function: str, inside: str) -> bool:
    arguments = inside.replace(",", " ").split()
    if function in ("scale", "scalex", "scaley", "scale3d"):
        return any(_is_small(word) for word in arguments[:2])
    if function.startswith("translate"):
        return any(not _OFF < (pixels(word, 600) or 0.0) < _FAR_OFF for word in arguments)
    if function == "matrix":
        flat = [_is_small(word) for word in arguments]
        return len(flat) == 6 and ((flat[0] and flat[1]) or (flat[2] and flat[3]))
    return function in ("rotatex", "rotatey") and arguments in (["90deg"], ["-90deg"], ["270deg"], ["0.25turn"])
