"""What takes an element out of sight with all that is in it: no size, no opacity, cut off, clipped, masked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from mailgate.mime.html_colour import SEE_THROUGH, parse_colour
from mailgate.mime.html_length import ORDINARY, Scale, number, pixels
from mailgate.mime.html_pieces import split_outside
from mailgate.mime.html_rules import BLOCKS, TABLE_PARTS
from mailgate.mime.html_transform import transformed

Values = Mapping[str, str]
"""What holds for one element: property and value, after the cascade."""

SMALLEST_BOX: Final = 2.0
"""Pixels of a box that cuts off what does not fit."""
_SMALLEST_SCALE: Final = 0.1
_BLURRED: Final = 6.0
"""Pixels of blur at which letters are not read any more."""
_WIDTH: Final = 600.0
"""Pixels a box of mail is taken to be wide, for a percentage of it."""
_CUTS: Final = frozenset({"hidden", "clip", "auto", "scroll", "overlay"})
_RECT: Final = re.compile(r"rect\(([^()]{1,80})\)?")
_CALL: Final = re.compile(r"([a-z0-9-]{1,20})\((.{0,1000}?)\)?\Z", re.DOTALL)
_OPACITY: Final = re.compile(
    r"opacity ?(?:\( ?(?P<part>[0-9]{0,9}\.?[0-9]{1,9})(?P<percent>%?) ?\)|= ?(?P<old>[0-9]{0,9}\.?[0-9]{1,9}))"
)
_BLUR: Final = re.compile(r"blur\( ?([^()]{1,40}) ?\)")
_STOP: Final = re.compile(r"#[0-9a-f]{3,8}\b|(?:rgb|hsl)a?\([^()]*\)|(?<![-\w])[a-z]+(?![-\w(])")
_BOXES: Final = frozenset("img button input object marquee video canvas iframe select textarea legend html".split())
"""Elements that are boxes though they stand in a line, and others that no list of blocks has."""


def is_inline(name: str, values: Values, *, in_flex: bool = False) -> bool:
    """Whether the element is a part of a line, to which no height and no clipping apply (CSS 2.2, 10 and 11)."""
    display = values.get("display", "")
    if in_flex or values.get("position") in ("absolute", "fixed") or values.get("float", "none") != "none":
        return False
    if display in ("inline", "initial", "unset", "contents"):
        return True
    return not display and name not in BLOCKS and name not in TABLE_PARTS and name not in _BOXES


def opacity_of(values: Values) -> float:
    """How opaque the element is, by `opacity` and `filter`."""
    found = number(values.get("opacity", ""))
    opacity = 1.0 if found is None else found
    for match in _OPACITY.finditer(values.get("filter", "")):
        if match["old"]:
            opacity *= float(match["old"]) / 100  # `alpha(opacity=0)`
        else:
            opacity *= float(match["part"]) / (100 if match["percent"] else 1)
    return min(max(opacity, 0.0), 1.0)


def is_out_of_sight(name: str, values: Values, scale: Scale = ORDINARY) -> bool:
    """Whether nothing inside the box can be seen, whatever it says of itself."""
    if opacity_of(values) < SEE_THROUGH:
        return True
    if any((pixels(word) or 0.0) >= _BLURRED for word in _BLUR.findall(values.get("filter", ""))):
        return True
    scale = scale._replace(percent=_WIDTH)
    if _is_clipped(values, scale) or _is_masked(values):
        return True
    # Heights and transforms do nothing to a part of a line, in a browser; whoever writes them means to hide, and mail
    # programs turn parts of lines into boxes.
    small = number(values.get("zoom", ""))
    if small is not None and 0 < small <= _SMALLEST_SCALE:
        return True
    return _is_squeezed(name, values, scale) or transformed(values, scale)[2] <= _SMALLEST_SCALE


# --- boxes -------------------------------------------------------------------------------------------------------


def cuts(values: Values, axis: str) -> bool:
    """Whether what does not fit is not seen; a box that cuts in one direction cuts in the other (CSS Overflow, 3.1)."""
    return values.get(f"overflow-{axis}") in _CUTS or values.get(f"overflow-{'x' if axis == 'y' else 'y'}") in _CUTS


def _is_squeezed(name: str, values: Values, scale: Scale) -> bool:
    """No room inside, and what does not fit is cut off."""
    if not cuts(values, "x"):
        return False
    if name in TABLE_PARTS and "display" not in values:
        # A cell grows with what is in it, and its table with the cell (CSS 2.2, 17.5); a greatest height is another
        # matter to mail programs, and nothing but a means of hiding.
        values = {key: value for key, value in values.items() if key == "max-height"}
    return _is_flat(values, "height", "top", "bottom", scale) or _is_flat(values, "width", "left", "right", scale)


def _is_flat(values: Values, side: str, before: str, after: str, scale: Scale) -> bool:
    """Whether the room for text, from the padding before it to the edge, is nothing to speak of."""
    room = room_of(values, side, before, after, scale)
    if room is None or room > SMALLEST_BOX:
        return False
    # What is placed inside by itself stands in the padding, as films of a fixed shape do.
    padded = (pixels(values.get(f"padding-{before}", ""), scale) or 0.0) > SMALLEST_BOX
    return not (padded and values.get("position", "static") != "static")


def room_of(values: Values, side: str, before: str, after: str, scale: Scale) -> float | None:
    """Pixels of a box in which text is seen; None where it grows with the text. A least size wins over the others (CSS
    2.2, 10.4 and 10.7)."""
    least = pixels(values.get(f"min-{side}", ""), scale) or 0.0
    sizes = [pixels(values.get(key, ""), scale) for key in (side, f"max-{side}")]
    known = [size for size in sizes if size is not None]
    if not known:
        return None
    ahead, behind = (pixels(values.get(f"padding-{edge}", ""), scale) or 0.0 for edge in (before, after))
    size = max(min(known), least)
    if values.get("box-sizing") == "border-box":
        size = max(size - ahead - behind, 0.0)
    return size + behind


# --- clipping and masks ------------------------------------------------------------------------------------------


def _is_clipped(values: Values, scale: Scale) -> bool:
    if values.get("position") in ("absolute", "fixed"):
        match = _RECT.search(values.get("clip", ""))
        if match and _is_thin(match[1].replace(",", " ").split(), scale):
            return True
    call = _CALL.match(values.get("clip-path", ""))
    return call is not None and _cuts_all(call[1], call[2], scale)


def _is_thin(words: list[str], scale: Scale) -> bool:
    """A rectangle given by its four edges."""
    edges = [pixels(word, scale) for word in words[:4]]
    top, right, bottom, left = edges if len(edges) == 4 else [None] * 4
    low = top is not None and bottom is not None and bottom - top <= SMALLEST_BOX
    return low or (left is not None and right is not None and right - left <= SMALLEST_BOX)


def _cuts_all(shape: str, inside: str, scale: Scale) -> bool:
    """Whether a basic shape has no area to speak of (CSS Shapes, 3)."""
    words = split_outside(inside.partition(" round ")[0].partition("at ")[0].strip(), " ")
    if shape == "inset":
        sides = [pixels(word, scale) or 0.0 for word in words[:4]]
        if not sides:
            return False
        top, right = sides[0], sides[min(1, len(sides) - 1)]
        bottom, left = (sides[2] if len(sides) > 2 else top), (sides[3] if len(sides) > 3 else right)
        return top + bottom >= _WIDTH or left + right >= _WIDTH
    if shape == "rect":
        return _is_thin(words, scale)
    if shape == "xywh":
        return any((pixels(word, scale) or 9.0) <= SMALLEST_BOX or pixels(word, scale) == 0 for word in words[2:4])
    if shape in ("circle", "ellipse"):
        radii = [pixels(word, scale) for word in words]
        return any(radius is not None and radius <= SMALLEST_BOX for radius in radii)
    return shape == "polygon" and _has_no_area(inside, scale)


def _has_no_area(inside: str, scale: Scale) -> bool:
    points: list[tuple[float, float]] = []
    for piece in split_outside(inside, ","):
        words = split_outside(piece.strip(), " ")
        if words in (["nonzero"], ["evenodd"]):
            continue
        x, y = (pixels(word, scale) for word in words) if len(words) == 2 else (None, None)
        if x is None or y is None:
            return False
        points.append((x, y))
    ring = zip(points, points[1:] + points[:1], strict=True)
    area = abs(sum(one[0] * other[1] - other[0] * one[1] for one, other in ring)) / 2
    outside = all(x <= 0 for x, _ in points) or all(y <= 0 for _, y in points)
    return area <= SMALLEST_BOX * SMALLEST_BOX or outside


def _is_masked(values: Values) -> bool:
    """Whether a mask lets nothing through: one of no size, or a gradient of nothing but transparency."""
    image = values.get("mask-image", "none")
    if image in ("none", "inherit", "initial", "unset", "revert"):
        return False
    if any(pixels(word) == 0 for word in split_outside(values.get("mask-size", ""), " ")):
        return True
    layers = split_outside(image, ",")
    return all("gradient(" in layer and _is_clear(layer) for layer in layers)


def _is_clear(gradient: str) -> bool:
    inside = gradient.partition("(")[2]
    colours = [colour for word in _STOP.findall(inside) if (colour := parse_colour(word)) is not None]
    return bool(colours) and all(colour.alpha < SEE_THROUGH for colour in colours)
