"""Colours as mail writes them, and whether text in one can be told from its background."""

from __future__ import annotations

import colorsys
import re
from functools import lru_cache
from typing import Final, NamedTuple

from mailgate.mime.html_colour_names import NAMED
from mailgate.mime.html_colour_spaces import SPACES, of_profile
from mailgate.mime.html_length import degrees, number
from mailgate.mime.html_pieces import split_outside


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
YELLOW: Final = Colour(255, 255, 0)
LINK: Final = Colour(0, 0, 238)
"""Of a link that says nothing else (HTML Standard, 15.3.3)."""
BUTTON: Final = Colour(239, 239, 239)
"""Of a button that says nothing else."""
SEE_THROUGH: Final = 0.06
"""Text less opaque than this is not seen on any background."""
_CLOSE: Final = 16
_NEAR: Final = 40
_CONTRAST: Final = 1.05
_MIX_DEPTH_MAX: Final = 4

_HEX: Final = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_FUNCTION: Final = re.compile(r"([a-z-]{3,11})\(([^()]{1,200})\)?")
_NESTED: Final = re.compile(r"(color-mix|light-dark)\((.{1,400}?)\)?\Z", re.DOTALL)
_LEGACY: Final = re.compile(r"#?([0-9a-f]{3}|[0-9a-f]{6})")
_UNKNOWN: Final = re.compile(
    r"(?:var|color-mix|light-dark|env|contrast-color|(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)(?=\(.*?\b(?:from|calc|min|max|clamp|none)\b))\("
)
_INHERITED: Final = frozenset({"inherit", "initial", "unset", "revert", "revert-layer"})
# What is 100 % of each part (CSS Color 4, 9.3 and 9.4).
_WHOLE: Final = {
    "lab": (100.0, 125.0, 125.0),
    "lch": (100.0, 150.0, 360.0),
    "oklab": (1.0, 0.4, 0.4),
    "oklch": (1.0, 0.4, 360.0),
}


def is_colour(value: str) -> bool:
    """Whether a browser takes the value for a colour, one that `parse_colour` does not know included."""
    return (
        value in _INHERITED or value == "currentcolor" or parse_colour(value) is not None or bool(_UNKNOWN.match(value))
    )


@lru_cache(maxsize=1024)
def parse_colour(value: str, depth: int = 0) -> Colour | None:
    """A colour in lower case: hexadecimal, a name, `transparent`, or a function; None for any other."""
    if value == "transparent":
        return Colour(0, 0, 0, 0)
    if value in NAMED:
        return _of_number(NAMED[value])
    match = _HEX.fullmatch(value)
    if match:
        return _of_digits(match[1])
    nested = _NESTED.match(value)
    if nested:
        return _mixed(nested[1], nested[2], depth) if depth < _MIX_DEPTH_MAX else None
    match = _FUNCTION.fullmatch(value)
    return _of_function(match[1], match[2]) if match else None


@lru_cache(maxsize=1024)
def parse_legacy_colour(value: str) -> Colour | None:
    """The value of a `color` or `bgcolor` attribute, whatever it is (HTML Standard, 2.3.6)."""
    text = value.strip(" \t\n\r\f").lower()
    if not text or text == "transparent":
        return None
    match = _LEGACY.fullmatch(text)
    if match:
        return _of_digits(match[1])
    if text in NAMED:
        return _of_number(NAMED[text])
    return _of_chaos(text[:128].removeprefix("#"))


def _of_chaos(text: str) -> Colour:
    """Any text is a colour there: what is no digit is zero, and three equal parts are cut to two digits."""
    digits = re.sub("[^0-9a-f]", "0", text)
    digits += "0" * (-len(digits) % 3 or (3 if not digits else 0))
    length = len(digits) // 3
    parts = [digits[index * length : (index + 1) * length][-8:] for index in range(3)]
    while len(parts[0]) > 2 and all(part[0] == "0" for part in parts):
        parts = [part[1:] for part in parts]
    red, green, blue = (int(part[:2], 16) for part in parts)
    return Colour(red, green, blue)


def _of_number(code: int) -> Colour:
    return Colour(code >> 16, code >> 8 & 255, code & 255)


def _of_digits(digits: str) -> Colour:
    if len(digits) < 6:
        digits = "".join(digit * 2 for digit in digits)
    colour = _of_number(int(digits[:6], 16))
    return colour._replace(alpha=int(digits[6:], 16) / 255) if len(digits) == 8 else colour


def _of_function(name: str, inside: str) -> Colour | None:
    words = inside.replace(",", " ").replace("/", " ").split()
    profile = words.pop(0) if name == "color" and words else ""
    if len(words) not in (3, 4):
        return None
    alpha = number(words[3]) if len(words) == 4 and words[3] != "none" else 1.0 if len(words) == 3 else 0.0
    parts = [_part(word, index, name) for index, word in enumerate(words[:3])]
    first, second, third = parts
    if alpha is None or first is None or second is None or third is None:
        return None
    channels = _channels(name.removesuffix("a") if name in ("rgba", "hsla") else name, profile, first, second, third)
    if channels is None:
        return None
    red, green, blue = (min(max(channel, 0.0), 1.0) * 255 for channel in channels)
    return Colour(red, green, blue, min(max(alpha, 0.0), 1.0))


def _channels(name: str, profile: str, first: float, second: float, third: float) -> tuple[float, float, float] | None:
    if name == "rgb":
        return first / 255, second / 255, third / 255
    if name == "hsl":
        saturation, lightness = (min(max(value, 0.0), 1.0) for value in (second, third))
        return colorsys.hls_to_rgb(first % 360 / 360, lightness, saturation)
    if name == "hwb":
        white, black = max(second, 0.0), max(third, 0.0)
        if white + black >= 1:
            return (white / (white + black),) * 3
        red, green, blue = (
            part * (1 - white - black) + white for part in colorsys.hls_to_rgb(first % 360 / 360, 0.5, 1)
        )
        return red, green, blue
    if name == "color":
        return of_profile(profile, (first, second, third))
    return SPACES[name](first, second, third) if name in SPACES else None


def _part(word: str, index: int, name: str) -> float | None:
    """One of three arguments: a channel of `rgb` to 255, an angle in degrees, or a part of what the space has."""
    if word == "none":
        return 0.0
    hue = 0 if name in ("hsl", "hsla", "hwb") else 2 if name in ("lch", "oklch") else None
    if index == hue:
        found = degrees(word)
        return number(word) if found is None else found
    value = number(word)
    if value is None:
        return None
    if word.endswith("%"):
        return value * (255 if name in ("rgb", "rgba") else _WHOLE[name][index] if name in _WHOLE else 1)
    return value / 100 if name in ("hsl", "hsla", "hwb") else value


def _mixed(name: str, inside: str, depth: int) -> Colour | None:
    """`light-dark()`, of which a light page has the first, and `color-mix()`, mixed in sRGB whatever the space."""
    pieces = [piece.strip() for piece in split_outside(inside, ",")]
    if name == "light-dark":
        return parse_colour(pieces[0], depth + 1) if len(pieces) == 2 else None
    if len(pieces) != 3 or not pieces[0].startswith("in "):
        return None
    colours: list[Colour] = []
    shares: list[float | None] = []
    for piece in pieces[1:]:
        words = split_outside(piece, " ")
        share = next((number(word) for word in words if word.endswith("%")), None)
        colour = parse_colour(" ".join(word for word in words if not word.endswith("%")), depth + 1)
        if colour is None:
            return None
        colours.append(colour)
        shares.append(share)
    one, other = shares
    part = one if one is not None else 1 - other if other is not None else 0.5
    whole = part + other if one is not None and other is not None else 1.0
    if not whole:
        return None
    part /= whole
    alpha = colours[0].alpha * part + colours[1].alpha * (1 - part)
    red, green, blue = (
        (first * colours[0].alpha * part + second * colours[1].alpha * (1 - part)) / (alpha or 1.0)
        for first, second in zip(colours[0][:3], colours[1][:3], strict=True)
    )
    return Colour(red, green, blue, alpha * min(whole, 1.0))


@lru_cache(maxsize=1024)
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
