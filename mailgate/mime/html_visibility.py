"""Whether text can be seen: what an element's style does to it, and what it leaves to the elements inside.

Two kinds of hiding are told apart. One takes the element with all that is in it (`display:none`, no opacity, no size).
The other is inherited and can be undone further inside (`visibility`, a size of the font, colours, a place off the
screen): newsletters set `font-size:0` on cells to close gaps, and a size again on the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from mailgate.mime.html_colour import SEE_THROUGH, Colour, parse_colour
from mailgate.mime.html_geometry import Values, cuts, is_inline, is_out_of_sight, opacity_of
from mailgate.mime.html_length import ORDINARY, Scale, is_length, number, pixels
from mailgate.mime.html_overlap import NOTHING_BEHIND, Behind
from mailgate.mime.html_paint import PLAIN, Paint, painted
from mailgate.mime.html_placing import OUTERMOST, Frame, framed
from mailgate.mime.html_rules import TABLE_PARTS

_FONT_PIXELS: Final = 16.0
_SMALLEST_FONT: Final = 4 / 3 + 0.01
"""Pixels, a point: preheaders are hidden in a font so small that nobody reads it."""
_OFF: Final = -500.0
_TIGHTEST: Final = -0.45
"""Of the font's size: letters closer than this lie on each other."""
_APART: Final = -100.0
_SIZES: Final = {
    "xx-small": 9.0,
    "x-small": 10.0,
    "small": 13.0,
    "medium": 16.0,
    "large": 18.0,
    "x-large": 24.0,
    "xx-large": 32.0,
    "xxx-large": 48.0,
    "-webkit-xxx-large": 48.0,
    "initial": 16.0,
}
_FONT_SIZES: Final = (10.0, 10.0, 13.0, 16.0, 18.0, 24.0, 32.0, 48.0)
"""Of `font size`, from 0 to 7 (HTML Standard, 15.3.4)."""
_UNSET: Final = frozenset({"inherit", "unset"})
_HIDDEN_DISPLAYS: Final = frozenset({"rp", "dialog"})
"""Elements that are not shown unless a style says so; a dialog is when it is open (HTML Standard, 15.3.1)."""


class Look(NamedTuple):
    """What text inside inherits. `size`: of the font, in pixels, `root` that of the root's. `invisible`: by
    `visibility`, which hides pictures too. `floored`: an opaque ground lies between this and the layer it is drawn in,
    under which it is `buried` when it is sent below the flow (CSS 2.2, Appendix E). `far_line`: the first line of a
    block is off the screen. `in_flex`: elements inside are boxes. `unseen`: text is not seen, for whatever reason."""

    invisible: bool = False
    size: float = _FONT_PIXELS
    root: float = _FONT_PIXELS
    paint: Paint = PLAIN
    frame: Frame = OUTERMOST
    opacity: float = 1.0
    indent: str = "0"
    cut_indent: bool = False
    line: float = 1.2
    flat_box: bool = False
    spacing: float = 0.0
    apart: float = 0.0
    keeps_line: bool = False
    masked: bool = False
    floored: bool = False
    buried: bool = False
    in_flex: bool = False
    far_line: bool = False
    unseen: bool = False

    @property
    def colour(self) -> Colour | None:
        """Of the letters; None where it cannot be known."""
        return self.paint.letters

    @property
    def background(self) -> Colour | None:
        """Behind the letters; None where it cannot be known."""
        return self.paint.background

    @property
    def scale(self) -> Scale:
        """What relative lengths are of."""
        return Scale(em=self.size, rem=self.root)


ORDINARY_LOOK: Final = Look()


def removes_subtree(attributes: Values, values: Values, name: str = "div", outer: Look = ORDINARY_LOOK) -> bool:
    """Whether nothing inside the element `name` can be seen, whatever it says of itself."""
    display = values.get("display", "revert")
    if display == "none":
        return True
    if display in ("revert", "revert-layer") and _is_hidden_by_itself(attributes, name):
        return True
    if not values or display == "contents":
        return False
    scale = (
        ORDINARY if outer is ORDINARY_LOOK else Scale(em=_font_size(name, attributes, values, outer), rem=outer.root)
    )
    in_flex = outer.in_flex
    if values.get("content-visibility") == "hidden" and not is_inline(name, values, in_flex=in_flex):
        return True
    return is_out_of_sight(name, values, scale)


def _is_hidden_by_itself(attributes: Values, name: str) -> bool:
    if "hidden" in attributes or "popover" in attributes:
        return True
    return name in _HIDDEN_DISPLAYS and not (name == "dialog" and "open" in attributes)


def look_inside(outer: Look, name: str, attributes: Values, values: Values, *, behind: Behind = NOTHING_BEHIND) -> Look:
    """The look of text in an element that is itself shown."""
    hints = name in _HINTED or "bgcolor" in attributes or "background" in attributes
    if not values and not hints and behind.around == behind.inside == () and not outer.in_flex:
        return outer
    size = _font_size(name, attributes, values, outer)
    root = size if name == "html" else outer.root
    scale = Scale(em=size, rem=root, percent=size)
    boxless = values.get("display") == "contents"
    inline = is_inline(name, values, in_flex=outer.in_flex)
    inner = outer._replace(
        invisible=_invisible(values, outer.invisible),
        size=size,
        root=root,
        paint=painted(outer.paint, name, attributes, values, behind=behind),
        frame=framed(outer.frame, values, scale, inline=inline, grows=name in TABLE_PARTS),
        opacity=outer.opacity if boxless else outer.opacity * opacity_of(values),
        spacing=_spacing(values, "letter-spacing", outer.spacing, scale),
        apart=_spacing(values, "word-spacing", outer.apart, scale),
        line=_line(values, outer.line, scale),
        keeps_line=_keeps_line(values, outer.keeps_line),
        masked=_masked(values, outer.masked),
        buried=outer.buried or (outer.floored and values.get("z-index", "").startswith("-") and _is_layer(values)),
        floored=_floored(name, values, outer.floored),
        indent=_indent(values, outer.indent),
        in_flex="flex" in values.get("display", "") or "grid" in values.get("display", ""),
    )
    if not inline or "text-indent" in values:
        inner = _in_box(inner, values, scale)
    return inner._replace(unseen=_is_unseen(inner))


_HINTED: Final = frozenset("a font body html mark button h1 h2 h3 h4 h5 h6 big small sub sup".split())
"""Elements that look otherwise than what is around them, or whose old attributes do."""


def _is_unseen(look: Look) -> bool:
    return (
        look.invisible
        or look.masked
        or look.buried
        or look.size <= _SMALLEST_FONT
        or look.opacity < SEE_THROUGH
        or look.spacing < _TIGHTEST * look.size
        or look.apart < _APART
        or look.frame.is_unseen
        or (look.flat_box and look.line * look.size <= 2.0)
        or look.paint.is_lost
    )


# --- what is inherited -------------------------------------------------------------------------------------------


def _invisible(values: Values, inherited: bool) -> bool:
    value = values.get("visibility", "inherit")
    return inherited if value in _UNSET else value in ("hidden", "collapse")


def _masked(values: Values, inherited: bool) -> bool:
    value = values.get("-webkit-text-security", "inherit")
    return inherited if value in _UNSET else value in ("disc", "circle", "square")


def _keeps_line(values: Values, inherited: bool) -> bool:
    value = values.get("white-space", "inherit")
    return inherited if value in _UNSET else value in ("nowrap", "pre") or "nowrap" in value.split()


def _is_layer(values: Values) -> bool:
    """Whether what is inside is drawn in a layer of its own (CSS Positioned Layout, 4)."""
    position = values.get("position", "static")
    if position in ("fixed", "sticky", "-webkit-sticky"):
        return True
    if position in ("relative", "absolute") and values.get("z-index", "auto") != "auto":
        return True
    apart = values.get("isolation") == "isolate" or values.get("mix-blend-mode", "normal") != "normal"
    return apart or opacity_of(values) < 1 or any(values.get(key, "none") != "none" for key in ("transform", "filter"))


def _floored(name: str, values: Values, inherited: bool) -> bool:
    if _is_layer(values):
        return False
    ground = parse_colour(values.get("background-color", "transparent"))
    # The ground of these two is that of the page.
    return inherited or (name not in ("html", "body") and ground is not None and ground.alpha == 1)


def _spacing(values: Values, key: str, inherited: float, scale: Scale) -> float:
    value = values.get(key, "inherit")
    return inherited if value in _UNSET else pixels(value, scale) or 0.0


def _indent(values: Values, inherited: str) -> str:
    value = values.get("text-indent", "inherit")
    if value in _UNSET:
        return inherited
    return next((word for word in value.split(" ") if is_length(word, quirks=True)), value if "(" in value else "0")


def _line(values: Values, inherited: float, scale: Scale) -> float:
    """The height of a line, as a multiple of the font's size."""
    value = values.get("line-height", "inherit")
    if value in _UNSET:
        return inherited
    multiple = number(value)
    if multiple is not None:
        return multiple
    size = pixels(value, scale)
    return 1.2 if size is None else size / (scale.em or 1.0)


def _font_size(name: str, attributes: Values, values: Values, outer: Look) -> float:
    if pixels(values.get("font-size-adjust", "")) == 0:
        return 0.0
    value = values.get("font-size", "revert")
    if value in ("revert", "revert-layer"):
        return _size_by_itself(name, attributes, outer.size)
    if value in _UNSET:
        return outer.size
    if value in _SIZES:
        return _SIZES[value]
    if value in ("smaller", "larger"):
        return outer.size * (1.2 if value == "larger" else 1 / 1.2)
    found = pixels(value, Scale(em=outer.size, rem=outer.root, percent=outer.size))
    return _FONT_PIXELS if found is None else max(found, 0.0)


_RELATIVE: Final[Mapping[str, float]] = {
    **dict(zip(("h1", "h2", "h3", "h4", "h5", "h6"), (2.0, 1.5, 1.17, 1.0, 0.83, 0.67), strict=True)),
    **dict.fromkeys(("small", "sub", "sup"), 1 / 1.2),
    "big": 1.2,
}


def _size_by_itself(name: str, attributes: Values, outer: float) -> float:
    if name == "button":
        return 13.3
    if name == "font" and attributes.get("size"):
        text = attributes["size"].strip()
        digits = text.lstrip("+-")[:3]
        if digits.isascii() and digits.isdigit():
            step = int(digits) * (-1 if text[0] == "-" else 1) + (3 if text[0] in "+-" else 0)
            return _FONT_SIZES[min(max(step, 1), 7)]
    return outer * _RELATIVE.get(name, 1.0)


# --- boxes -------------------------------------------------------------------------------------------------------


def _in_box(look: Look, values: Values, scale: Scale) -> Look:
    """What a box does to its lines: a first one that is off the screen, or lines without height that are cut off."""
    cut = cuts(values, "y")
    if cut:
        grown = any(values.get(key, "auto") not in ("auto", "none") for key in ("height", "min-height"))
        padded = any((pixels(values.get(key, ""), scale) or 0.0) > 0 for key in ("padding-top", "padding-bottom"))
        look = look._replace(flat_box=not grown and not padded, cut_indent=True)
    wide = scale._replace(percent=600.0)
    indent = pixels(look.indent, wide) or 0.0
    # A line that may break goes on below its indent; one that may not is beyond the edge of its box.
    beyond = look.keeps_line and look.cut_indent and indent >= (pixels(values.get("width", ""), wide) or 600.0)
    return look._replace(far_line=indent <= _OFF or beyond)
