"""Elements that may lie over others, and what they may lie on: where there are any, a background is not known.

Nothing is laid out here. An element taken out of its place, or moved, may lie over anything in the box it is placed in,
and that box's other content may lie over it. Whether the text is seen then hangs on what there is to lie on: a picture,
or another colour, anywhere in the mail.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mailgate.mime.html_colour import Colour, parse_colour, parse_legacy_colour
from mailgate.mime.html_geometry import cuts
from mailgate.mime.html_length import Scale, is_length, pixels
from mailgate.mime.html_pieces import split_outside
from mailgate.mime.html_transform import transformed

Values = Mapping[str, str]
Others = tuple[Colour, ...] | None
"""Colours that may lie behind text beside its own background: none, some, or any at all (`None`)."""

_MOVES: Final = re.compile(
    r"absolute|fixed|relative|sticky|grid|translate|matrix|<col|inset|max-height|(?<![-a-z])height\s*:\s*0"
    r"|margin[a-z-]*\s*:[^;}\"]{0,80}-|box-shadow",
    re.IGNORECASE,
)
_PLACED: Final = frozenset({"relative", "absolute", "fixed", "sticky", "-webkit-sticky"})
_COLOURS_MAX: Final = 64
_FLAT: Final = 10.0
"""Pixels of a box out of which its content hangs over what follows."""
_WIDE_SHADOW: Final = 30.0
_MOVED: Final = 3.0
_WIDTH: Final = Scale(percent=600.0)


def may_overlap(markup: str, css: str) -> bool:
    """Whether the document says anything by which elements come to lie over each other."""
    return _MOVES.search(markup) is not None or _MOVES.search(css) is not None


def overlaps(values: Values) -> bool:
    """Whether the element may lie over others, or its content over what follows it."""
    if not values:
        return False
    position = values.get("position", "static")
    if position in ("absolute", "fixed", "sticky", "-webkit-sticky") or any(
        values.get(key, "auto") != "auto" for key in ("grid-area", "grid-row", "grid-column")
    ):
        return True
    if position == "relative" and any(_moves(values.get(side)) for side in ("left", "top", "right", "bottom")):
        return True
    margins = (values.get(f"margin-{side}") for side in ("top", "left", "right", "bottom"))
    if any(margin is not None and (pixels(margin, _WIDTH) or 0.0) < 0 for margin in margins):
        return True
    if "transform" in values or "translate" in values:
        x, y, _ = transformed(values, _WIDTH)
        if max(abs(x), abs(y)) >= _MOVED:
            return True
    # Content that hangs out of a box without height lies over what follows.
    low = any((_size(values, key) or 99.0) <= _FLAT or _size(values, key) == 0 for key in ("height", "max-height"))
    return (low and not cuts(values, "y")) or _casts(values.get("box-shadow", "none"))


def _size(values: Values, key: str) -> float | None:
    return pixels(values[key], _WIDTH) if key in values else None


def _moves(value: str | None) -> bool:
    return value is not None and pixels(value, _WIDTH) not in (None, 0.0)


def _casts(shadow: str) -> bool:
    """Whether a shadow is wide enough to be a background to what is beside it."""
    pieces = split_outside(shadow, ",") if shadow != "none" else []
    lengths = (
        word for piece in pieces if "inset" not in piece for word in split_outside(piece, " ") if is_length(word)
    )
    return any(abs(pixels(word) or 0.0) >= _WIDE_SHADOW for word in lengths)


def is_placed(values: Values) -> bool:
    """Whether elements inside are placed by this one (CSS Positioned Layout, 2.1)."""
    return values.get("position") in _PLACED or values.get("transform", "none") != "none"


class Behind(NamedTuple):
    """What may lie behind the text of an element beside its background: behind all of it, or within; and whether
    something inside is raised above the flow."""

    around: Others = ()
    inside: Others = ()
    raised: bool = False


NOTHING_BEHIND: Final = Behind()


def is_raised(values: Values) -> bool:
    """Whether the element is drawn above those of the flow (CSS 2.2, Appendix E)."""
    placed = values.get("position") in _PLACED or values.get("transform", "none") != "none"
    return placed and not values.get("z-index", "auto").startswith("-")


@dataclass(slots=True)
class Overlaps:
    """`scopes`: nodes in which text of the flow may lie over something; `raised_scopes`: those in which something is
    placed above the flow. The rest is what there is to lie on."""

    scopes: set[int] = field(default_factory=set)
    raised_scopes: set[int] = field(default_factory=set)
    colours: set[Colour] = field(default_factory=set)
    has_picture: bool = False
    is_known: bool = False
    """Somebody looked. Where nobody did, nothing lies over anything."""

    def note(self, tag: str, attributes: Values, values: Values, is_picture: bool) -> None:
        """Look at what an element has to lie on."""
        image = values.get("background-image", "none")
        if is_picture or "(" in image or (attributes.get("background") and "background-image" not in values):
            self.has_picture = True
        if "backdrop" in values or values.get("box-shadow", "none") != "none":
            self.has_picture = True
        written = values.get("background-color")
        colour = parse_legacy_colour(attributes.get("bgcolor", "")) if written is None else parse_colour(written)
        if colour is not None and colour.alpha > 0:
            self.colours.add(Colour(*(float(round(channel)) for channel in colour[:3])))
        elif written is not None and colour is None and "(" in written:
            self.has_picture = True
        self.has_picture = self.has_picture or len(self.colours) > _COLOURS_MAX

    def behind(self, node: int, values: Values, raised: bool) -> Behind:
        """What may lie behind the text of an element. `raised`: something around it is placed above the flow."""
        if not self.is_known:
            return NOTHING_BEHIND
        # What is placed is drawn over the flow, in its order (CSS 2.2, Appendix E): behind it may be what is raised.
        lies_over = overlaps(values) or (raised and (is_placed(values) or "opacity" in values))
        around = self._all if lies_over else ()
        return Behind(around, self._all if node in self.scopes else (), raised or node in self.raised_scopes)

    @property
    def _all(self) -> Others:
        return None if self.has_picture else tuple(sorted(self.colours))
