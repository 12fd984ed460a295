"""Where a box stands: how far from where it would be, on an ordinary screen and on a large one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from mailgate.mime.html_geometry import cuts, room_of
from mailgate.mime.html_length import Scale, pixels
from mailgate.mime.html_transform import transformed

Values = Mapping[str, str]

_SCREENS: Final = ((1024.0, 768.0), (2560.0, 1440.0))
"""Width and height in pixels: what is off both is off whatever the reader has."""
_WIDTH: Final = 600.0
"""Pixels a box of mail is taken to be wide, for a percentage of it."""
_OFF: Final = -500.0
_OFF_IN_FLOW: Final = -1000.0
"""Pixels to the left or above at which nothing is on the screen; what stands in the flow may have a picture before it,
over which it is drawn."""
_BELOW: Final = 8000.0
"""Pixels below everything at which nobody looks any more."""


class Place(NamedTuple):
    """Pixels to the right and down, on the ordinary and on the large screen; `floats`: taken out of the flow; `fixed`:
    to the screen."""

    x: float = 0.0
    y: float = 0.0
    far_x: float = 0.0
    far_y: float = 0.0
    floats: bool = False
    fixed: bool = False

    @property
    def is_off(self) -> bool:
        """Whether nothing there is on the screen."""
        least = _OFF if self.floats else _OFF_IN_FLOW
        if max(self.x, self.far_x) <= least or max(self.y, self.far_y) <= least:
            return True
        (width, height), (far_width, far_height) = _SCREENS
        if self.x >= width and self.far_x >= far_width:
            return True
        if self.fixed:  # what is fixed cannot be scrolled to
            return self.y >= height and self.far_y >= far_height
        return min(self.y, self.far_y) >= _BELOW


HERE: Final = Place()


_NO_EDGE: Final = float("inf")


class Frame(NamedTuple):
    """What a box is placed in: the box around it, the nearest placed one, and the edges beyond
    which all in either is cut off."""

    place: Place = HERE
    container: Place = HERE
    right: float = _NO_EDGE
    bottom: float = _NO_EDGE
    container_right: float = _NO_EDGE
    container_bottom: float = _NO_EDGE

    @property
    def is_unseen(self) -> bool:
        """Whether text here is off the screen, or beyond the edge of a box that cuts off."""
        return self.place.is_off or self.place.x >= self.right or self.place.y >= self.bottom


OUTERMOST: Final = Frame()
_PLACED: Final = frozenset({"relative", "absolute", "fixed", "sticky", "-webkit-sticky"})
_KEYS: Final = "position transform translate rotate scale overflow-x overflow-y float".split()
_SPACES: Final = "margin-left margin-top margin-right padding-left padding-top".split()


def framed(outer: Frame, values: Values, scale: Scale, *, inline: bool, grows: bool = False) -> Frame:
    """The frame of what is inside an element. `grows`: with what is in it, whatever its size is said to be."""
    if not _is_moved(outer, values) or values.get("display") == "contents":
        return outer
    position = values.get("position", "static")
    ordinary, far = (
        _moved(outer, values, scale._replace(width=width, height=height), inline=inline, far=index == 1)
        for index, (width, height) in enumerate(_SCREENS)
    )
    place = Place(
        *ordinary,
        *far,
        floats=outer.place.floats or position in ("absolute", "fixed"),
        fixed=position == "fixed" or (outer.place.fixed and position != "absolute"),
    )
    right, bottom = outer.right, outer.bottom
    if position == "fixed":
        right, bottom = _NO_EDGE, _NO_EDGE
    elif position == "absolute":  # cut off by the box that places it, and by what is around that one
        right, bottom = outer.container_right, outer.container_bottom
    if not inline and not grows and cuts(values, "x"):
        wide = scale._replace(percent=_WIDTH)
        height, width = (
            room_of(values, "height", "top", "bottom", wide),
            room_of(values, "width", "left", "right", wide),
        )
        # The text starts within the padding: what counts is how far it is pushed from there.
        bottom = min(bottom, place.y + height) if height is not None and "%" not in _sizes(values, "height") else bottom
        right = min(right, place.x + width) if width is not None and "%" not in _sizes(values, "width") else right
    placed = position in _PLACED or values.get("transform", "none") != "none"
    if placed:
        return Frame(place, place, right, bottom, right, bottom)
    return Frame(place, outer.container, right, bottom, outer.container_right, outer.container_bottom)


def _is_moved(outer: Frame, values: Values) -> bool:
    """Whether anything has to be reckoned: ordinary margins and paddings only count where something else does."""
    if any(key in values for key in _KEYS):
        return True
    spaces = [values[key] for key in _SPACES if key in values]
    edged = outer.right != _NO_EDGE or outer.bottom != _NO_EDGE
    return bool(spaces) and (edged or any("-" in space or len(space) > 6 or "v" in space for space in spaces))


def _sizes(values: Values, side: str) -> str:
    return values.get(side, "") + values.get(f"max-{side}", "") + values.get(f"min-{side}", "")


def _moved(outer: Frame, values: Values, scale: Scale, *, inline: bool, far: bool) -> tuple[float, float]:
    position = values.get("position", "static")
    place = HERE if position == "fixed" else outer.container if position == "absolute" else outer.place
    here = outer.place
    across = scale._replace(percent=scale.width if position == "fixed" else _WIDTH)
    down = scale._replace(percent=scale.height if position == "fixed" else 100.0)
    x, y = (here.far_x, here.far_y) if far else (here.x, here.y)
    if position in _PLACED and not position.endswith("sticky"):
        left, right = pixels(values.get("left", ""), across), pixels(values.get("right", ""), across)
        top, bottom = pixels(values.get("top", ""), down), pixels(values.get("bottom", ""), down)
        base_x, base_y = (place.far_x, place.far_y) if far else (place.x, place.y)
        if left is not None or right is not None:
            x = base_x + (
                left if left is not None else _back(right or 0.0, values.get("right", ""), position, scale.width)
            )
        if top is not None or bottom is not None:
            y = base_y + (
                top if top is not None else _back(bottom or 0.0, values.get("bottom", ""), position, scale.height)
            )
    flow = scale._replace(percent=_WIDTH)
    x += _sum(values, ("margin-left", "padding-left"), flow)
    if not inline:
        y += _sum(values, ("margin-top", "padding-top"), flow)
        moved_x, moved_y, _ = transformed(values, flow)
        x, y = x + moved_x, y + moved_y
    if values.get("float") == "right":
        x -= min(_sum(values, ("margin-right",), flow), 0.0)
    return x, y


def _back(distance: float, text: str, position: str, screen: float) -> float:
    """How far a distance from the right or from below moves a box. A percentage of what is around it may well leave it
    on the screen."""
    if position == "fixed":
        # It stands at the other edge of the screen: beyond it, or as far off this one.
        if distance < 0:
            return screen if distance <= _OFF else 0.0
        return min(screen - distance, 0.0) + (_OFF if distance >= screen else 0.0)
    return 0.0 if "%" in text else -distance


def _sum(values: Values, keys: tuple[str, ...], scale: Scale) -> float:
    return sum(pixels(values[key], scale) or 0.0 for key in keys if key in values)
