"""Colours as mail writes them, and whether text in one can be told from its background."""

from __future__ import annotations

import colorsys
import re
from functools import lru_cache
from typing import Final, NamedTuple


class Colour(NamedTuple):
    """Red, green and blue from 0 to 255, and how opaque it is from 0 to 1."""

    red: float
    green: float
    blue: float
    alpha: float = 1.0

    def over(self, behind: Colour) -> Colour:
        """What is seen where this lies on an opaque colour."""
        part = self.alpha
        mixed = [upper * part + lower * (1 - part) for upper, lower in zip(self[:3], behind[:3], strict=True)]
        return Colour(mixed[0], mixed[1], mixed[2])


BLACK: Final = Colour(0, 0, 0)
WHITE: Final = Colour(255, 255, 255)
LINK: Final = Colour(0, 0, 238)
"""Of a link that says nothing else (HTML Standard, 15.3.3)."""
SEE_THROUGH: Final = 0.06
"""Text less opaque than this is not seen on any background."""
_CLOSE: Final = 16
_NEAR: Final = 40
_CONTRAST: Final = 1.05

_NAMED: Final = {
    name: int(code, 16)
    for name, _, code in (
        word.partition(":")
        for word in (
            "black:0 white:ffffff red:ff0000 green:008000 blue:0000ff yellow:ffff00 aqua:00ffff cyan:00ffff"
            " fuchsia:ff00ff magenta:ff00ff gray:808080 grey:808080 silver:c0c0c0 maroon:800000 navy:000080"
            " olive:808000 purple:800080 teal:008080 lime:00ff00 orange:ffa500 pink:ffc0cb brown:a52a2a gold:ffd700"
            " snow:fffafa ivory:fffff0 beige:f5f5dc linen:faf0e6 azure:f0ffff mintcream:f5fffa honeydew:f0fff0"
            " ghostwhite:f8f8ff whitesmoke:f5f5f5 floralwhite:fffaf0 aliceblue:f0f8ff seashell:fff5ee"
            " lavenderblush:fff0f5 oldlace:fdf5e6 cornsilk:fff8dc lightyellow:ffffe0 lightcyan:e0ffff"
            " lavender:e6e6fa gainsboro:dcdcdc lightgray:d3d3d3 lightgrey:d3d3d3 darkgray:a9a9a9 darkgrey:a9a9a9"
            " dimgray:696969 dimgrey:696969 slategray:708090 darkslategray:2f4f4f darkred:8b0000 darkgreen:006400"
            " darkblue:00008b midnightblue:191970 royalblue:4169e1 steelblue:4682b4 dodgerblue:1e90ff"
            " skyblue:87ceeb lightblue:add8e6 crimson:dc143c tomato:ff6347 coral:ff7f50 salmon:fa8072"
            " indigo:4b0082 violet:ee82ee orchid:da70d6 tan:d2b48c chocolate:d2691e khaki:f0e68c wheat:f5deb3"
            " lightgreen:90ee90 limegreen:32cd32 forestgreen:228b22 seagreen:2e8b57 antiquewhite:faebd7"
            " papayawhip:ffefd5 mistyrose:ffe4e1 moccasin:ffe4b5 lemonchiffon:fffacd"
        ).split()
    )
}
_HEX: Final = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_FUNCTION: Final = re.compile(r"(rgb|hsl)a?\(([^()]{1,100})\)")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]{1,20}(?:\.[0-9]{1,20})?|\.[0-9]{1,20})")
_LEGACY: Final = re.compile(r"#?([0-9a-f]{3}|[0-9a-f]{6})")
_UNKNOWN: Final = re.compile(r"(?:var|lab|lch|oklab|oklch|color|color-mix|hwb|light-dark|rgb|hsl)a?\(|currentcolor\Z")
_INHERITED: Final = frozenset({"inherit", "initial", "unset", "revert"})


def is_colour(value: str) -> bool:
    """Whether a browser takes the value for a colour, one that `parse_colour` does not know included."""
    return value in _INHERITED or parse_colour(value) is not None or bool(_UNKNOWN.match(value))


def parse_colour(value: str) -> Colour | None:
    """A colour in lower case: hexadecimal, `rgb()`, `hsl()`, a name, `transparent`; None for any other."""
    if value == "transparent":
        return Colour(0, 0, 0, 0)
    if value in _NAMED:
        return _of_number(_NAMED[value])
    match = _HEX.fullmatch(value)
    if match:
        return _of_digits(match[1])
    match = _FUNCTION.fullmatch(value)
    return _of_function(match[1], match[2]) if match else None


def parse_legacy_colour(value: str) -> Colour | None:
    """The value of a `color` or `bgcolor` attribute, with or without its `#` (HTML Standard, 2.3.6)."""
    text = value.strip().lower()
    match = _LEGACY.fullmatch(text)
    return _of_digits(match[1]) if match else parse_colour(text)


def _of_number(number: int) -> Colour:
    return Colour(number >> 16, number >> 8 & 255, number & 255)


def _of_digits(digits: str) -> Colour:
    if len(digits) < 6:
        digits = "".join(digit * 2 for digit in digits)
    colour = _of_number(int(digits[:6], 16))
    return colour._replace(alpha=int(digits[6:], 16) / 255) if len(digits) == 8 else colour


def _of_function(name: str, inside: str) -> Colour | None:
    words = inside.replace(",", " ").replace("/", " ").replace("deg", "").split()
    values = [_part(word, index, name) for index, word in enumerate(words)]
    if len(values) not in (3, 4) or any(value is None for value in values):
        return None
    first, second, third, *rest = [value for value in values if value is not None]
    alpha = min(max(rest[0], 0.0), 1.0) if rest else 1.0
    if name == "rgb":
        red, green, blue = (min(max(value, 0.0), 255.0) for value in (first, second, third))
        return Colour(red, green, blue, alpha)
    lightness, saturation = (min(max(value, 0.0), 1.0) for value in (third, second))
    red, green, blue = colorsys.hls_to_rgb(first % 360 / 360, lightness, saturation)
    return Colour(red * 255, green * 255, blue * 255, alpha)


def _part(word: str, index: int, name: str) -> float | None:
    """One argument: a channel of `rgb`, an angle or a fraction of `hsl`, or, fourth, how opaque."""
    percent = word.endswith("%")
    if not _NUMBER.fullmatch(word.removesuffix("%")):
        return None
    number = float(word.removesuffix("%"))
    if name == "rgb" and index < 3:
        return number * 2.55 if percent else number
    return number / 100 if percent or (name == "hsl" and index in (1, 2)) else number


@lru_cache(maxsize=256)
def is_lost_on(text: Colour, background: Colour) -> bool:
    """Whether nobody could read text of that colour: no channel differs by more than 16 of 255, or the two are as
    bright as each other (contrast under 1.05, WCAG 2, 1.4.3) and differ by no more than 40."""
    if text.alpha < SEE_THROUGH:
        return True
    shown = text.over(background)
    difference = max(abs(one - other) for one, other in zip(shown[:3], background[:3], strict=True))
    return difference <= _CLOSE or (difference <= _NEAR and _contrast(shown, background) < _CONTRAST)


def _contrast(one: Colour, other: Colour) -> float:
    lights = sorted((_luminance(one), _luminance(other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def _luminance(colour: Colour) -> float:
    """WCAG 2, relative luminance."""
    channels = [channel / 255 for channel in colour[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
