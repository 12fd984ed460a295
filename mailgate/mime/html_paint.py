"""Colours of text and of what is behind it, shadows and outlines of letters, filters: whether paint hides text.

Text is lost by its colour only where the background is known. Where a picture, a variable, or something that may lie in
between makes it unknown, the text is taken to be seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from mailgate.mime.html_colour import (
    BLACK,
    BUTTON,
    LINK,
    SEE_THROUGH,
    WHITE,
    YELLOW,
    Colour,
    is_colour,
    is_lost_on,
    parse_colour,
    parse_legacy_colour,
)
from mailgate.mime.html_length import is_length, number, pixels
from mailgate.mime.html_overlap import Behind, Others
from mailgate.mime.html_pieces import split_outside

Values = Mapping[str, str]
_UNSET: Final = frozenset({"inherit", "unset"})
_RESET: Final = frozenset({"initial", "revert", "revert-layer"})
_BACKDROP: Final = "backdrop"
_DARK: Final = Colour(18, 18, 18)
"""Of the page of a mail that is dark by its own word."""
_DEEP_SHADOW: Final = 10.0
"""Pixels from which a shadow inside a box is a background, and not an edge."""
_FILTER: Final = re.compile(r"(invert|brightness|contrast|drop-shadow)\(([^()]{0,80})")


class Paint(NamedTuple):
    """What text inherits of paint; a colour that cannot be known is None. `current`: of the text, `fill`: of its
    letters where that is another. `others`: what may lie behind beside the background. `raised`: a shadow or an
    outline may show the letters in another colour."""

    current: Colour | None = BLACK
    fill: str = ""
    link: Colour = LINK
    background: Colour | None = WHITE
    others: Others = ()
    shadow: str = "none"
    stroke_width: str = "0"
    stroke: str = "currentcolor"
    filters: tuple[tuple[str, float], ...] = ()
    blended: bool = False
    clipped: bool = False
    """The letters are a window to a background."""
    window: Colour | None = None

    @property
    def is_lost(self) -> bool:
        """Whether colour alone hides the text."""
        colour = self.letters
        if colour is None or self.blended:
            return False
        if self.background is None or self.others is None:
            return colour.alpha < SEE_THROUGH and not self._is_raised(colour, None)
        shown = _filtered(colour, self.filters)
        grounds = (self.background, *self.others)
        return all(is_lost_on(shown, ground) and not self._is_raised(colour, ground) for ground in grounds)

    @property
    def letters(self) -> Colour | None:
        """The colour of the letters; None where it cannot be known."""
        if self.clipped and (self.current is None or self.current.alpha < 1 or self.fill):
            return self.window
        if self.fill and self.fill != "currentcolor":
            return parse_colour(self.fill)
        return self.current

    def _is_raised(self, letters: Colour, behind: Colour | None) -> bool:
        """Whether a shadow or an outline of the letters is seen where the letters are not."""
        marks = [self._of(self.stroke)] if (pixels(self.stroke_width) or 0.0) > 0 else []
        for piece in split_outside(self.shadow, ",") if self.shadow not in ("none", "initial", "revert") else []:
            words = split_outside(piece, " ")
            moved = any((pixels(word) or 0.0) != 0 for word in words if is_length(word))
            if moved or letters.alpha < SEE_THROUGH:
                marks.append(self._of(next((word for word in words if is_colour(word)), "currentcolor")))
        return any(
            mark is None or (mark.alpha >= SEE_THROUGH if behind is None else not is_lost_on(mark, behind))
            for mark in marks
        )

    def _of(self, colour: str) -> Colour | None:
        return self.current if colour == "currentcolor" else parse_colour(colour)


PLAIN: Final = Paint()
_KEYS: Final = frozenset(
    (
        "color background-color background-image background-clip box-shadow text-shadow filter mix-blend-mode backdrop"
        " color-scheme -webkit-text-fill-color -webkit-text-stroke-width -webkit-text-stroke-color"
    ).split()
)
_ATTRIBUTES: Final = frozenset({"bgcolor", "background"})
_HINTED: Final = frozenset({"a", "font", "body", "mark", "button"})
"""Elements that have paint of their own, or old attributes for it."""


def painted(outer: Paint, name: str, attributes: Values, values: Values, *, behind: Behind) -> Paint:
    """The paint of text in an element."""
    around, within = behind.around, behind.inside
    if (
        around == within == ()
        and name not in _HINTED
        and not _KEYS & values.keys()
        and not _ATTRIBUTES & attributes.keys()
    ):
        return outer
    filters = outer.filters + tuple(_filters(values)) if "filter" in values else outer.filters
    current = _colour(outer, name, attributes, values)
    stops = _stops(values)
    own = stops[0] if stops else _own_background(name, attributes, values, current)
    background = outer.background
    others = _together(_together(outer.others, around), within)
    if own is None:
        background = None
    elif own.alpha == 1:
        background, others = _filtered(own, filters), _together(within, tuple(stops[1:]))
    elif own.alpha > 0 and background is not None:
        background = _filtered(own, filters).over(background)
    paint = outer._replace(
        current=current,
        fill=_kept(values, "-webkit-text-fill-color", outer.fill, ""),
        link=parse_legacy_colour(attributes.get("link", "")) or outer.link if name == "body" else outer.link,
        background=background,
        others=others,
        filters=filters,
        shadow=_kept(values, "text-shadow", outer.shadow, "none"),
        stroke_width=_kept(values, "-webkit-text-stroke-width", outer.stroke_width, "0"),
        stroke=_kept(values, "-webkit-text-stroke-color", outer.stroke, "currentcolor"),
        blended=outer.blended
        or values.get("mix-blend-mode", "normal") != "normal"
        or "drop-shadow" in values.get("filter", ""),
    )
    if (
        name == "html"
        and values.get("color-scheme", "").split()[:1] == ["dark"]
        and "light" not in values["color-scheme"]
    ):
        dark = paint._replace(background=_DARK if own is not None and own.alpha == 0 else paint.background)
        return dark._replace(current=WHITE) if "color" not in values else dark
    if "text" in values.get("background-clip", "").split():
        return _through_letters(paint, outer, attributes, values)
    if own is None or own.alpha > 0:
        return paint._replace(clipped=outer.clipped)
    return paint


def _together(one: Others, other: Others) -> Others:
    return None if one is None or other is None else tuple({*one, *other}) if other else one


def _through_letters(paint: Paint, outer: Paint, attributes: Values, values: Values) -> Paint:
    """The letters are a window to the element's own background, which is not behind them."""
    image = values.get("background-image", "none")
    colour = parse_colour(values.get("background-color", "transparent")) or Colour(0, 0, 0, 0)
    window = None if image != "none" or values.get("background-color", "").startswith("var(") else colour
    return paint._replace(background=outer.background, others=outer.others, clipped=True, window=window)


def _kept(values: Values, key: str, inherited: str, initial: str) -> str:
    value = values.get(key, "inherit")
    return inherited if value in _UNSET else initial if value in _RESET else value


def _own_background(name: str, attributes: Values, values: Values, current: Colour | None) -> Colour | None:
    """What the element itself lays behind its text; None for a picture, or what might be one."""
    clear = Colour(0, 0, 0, 0)
    if _has_deep_shadow(values.get("box-shadow", "none")) or _BACKDROP in values:
        return None
    if "(" in values.get("background-image", ""):
        return None
    value = values.get("background-color")
    if value is None or value in ("revert", "revert-layer"):
        if attributes.get("background") and "background-image" not in values:
            return None
        legacy = parse_legacy_colour(attributes.get("bgcolor", ""))
        return legacy or {"mark": YELLOW, "button": BUTTON}.get(name, clear)
    if value in ("inherit", "initial", "unset"):
        return clear
    if value == "currentcolor":
        return current
    return parse_colour(value) or parse_colour("#" + value)


def _stops(values: Values) -> list[Colour]:
    """The colours of a background that is one opaque gradient; none where that is not all there is."""
    image = values.get("background-image", "none")
    if "gradient(" not in image or _BACKDROP in values or len(split_outside(image, ",")) != 1:
        return []
    found: list[Colour] = []
    for piece in split_outside(image.partition("(")[2].removesuffix(")"), ","):
        word = split_outside(piece.strip(), " ")[:1]
        colour = parse_colour(word[0]) if word else None
        if colour is not None and colour.alpha == 1:
            found.append(colour)
        elif found or (colour is not None or (word and is_colour(word[0]))):
            return []
    return found if len(found) > 1 else []


def _has_deep_shadow(value: str) -> bool:
    for piece in split_outside(value, ",") if "inset" in value else []:
        words = split_outside(piece, " ")
        if "inset" in words and any(abs(pixels(word) or 0.0) >= _DEEP_SHADOW for word in words if is_length(word)):
            return True
    return False


def _colour(outer: Paint, name: str, attributes: Values, values: Values) -> Colour | None:
    """The colour of the text, from the style, the old attributes, or what holds around it."""
    value = values.get("color", "revert")
    if value in ("revert", "revert-layer"):
        legacy = parse_legacy_colour(attributes.get({"font": "color", "body": "text"}.get(name, ""), ""))
        if legacy is not None:
            return legacy
        if name in ("mark", "button"):
            return BLACK
        return outer.link if name == "a" and "href" in attributes else outer.current
    if value in _UNSET or value == "currentcolor":
        return outer.current
    return BLACK if value == "initial" else parse_colour(value) or parse_colour("#" + value)


# --- filters -----------------------------------------------------------------------------------------------------


def _filters(values: Values) -> list[tuple[str, float]]:
    """Those that change a colour so that it may be another's."""
    found: list[tuple[str, float]] = []
    for name, inside in _FILTER.findall(values["filter"]):
        amount = number(inside.strip()) if inside.strip() else 1.0
        if amount is not None and name != "drop-shadow":
            found.append((name, max(amount, 0.0)))
    return found[:20]


def _filtered(colour: Colour, filters: tuple[tuple[str, float], ...]) -> Colour:
    for name, amount in filters:
        channels = [_channel(channel / 255, name, amount) for channel in colour[:3]]
        red, green, blue = (min(max(channel, 0.0), 1.0) * 255 for channel in channels)
        colour = Colour(red, green, blue, colour.alpha)
    return colour


def _channel(value: float, name: str, amount: float) -> float:
    """Filter Effects, 6."""
    if name == "invert":
        part = min(amount, 1.0)
        return value * (1 - part) + (1 - value) * part
    return value * amount if name == "brightness" else (value - 0.5) * amount + 0.5
