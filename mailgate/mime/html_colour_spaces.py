"""Colours given in other spaces than sRGB, as sRGB (CSS Color 4, 8 to 10 and 18)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

Triple = tuple[float, float, float]
_Rows = tuple[Triple, Triple, Triple]

_XYZ_TO_SRGB: Final[_Rows] = (
    (3.2409699, -1.5373832, -0.4986108),
    (-0.9692436, 1.8759675, 0.0415551),
    (0.0556301, -0.2039770, 1.0569715),
)
_D50_TO_D65: Final[_Rows] = (
    (0.9554734, -0.0230985, 0.0632593),
    (-0.0283697, 1.0099955, 0.0210414),
    (0.0123140, -0.0205077, 1.3303659),
)
_TO_XYZ: Final[Mapping[str, _Rows]] = {
    "display-p3": ((0.4865709, 0.2656677, 0.1982173), (0.2289746, 0.6917385, 0.0792869), (0.0, 0.0451134, 1.0439444)),
    "a98-rgb": (
        (0.5766690, 0.1855582, 0.1882286),
        (0.2973450, 0.6273636, 0.0752915),
        (0.0270314, 0.0706889, 0.9913375),
    ),
    "rec2020": ((0.6369580, 0.1446169, 0.1688810), (0.2627002, 0.6779981, 0.0593017), (0.0, 0.0280727, 1.0609851)),
    "prophoto-rgb": ((0.7977605, 0.1351857, 0.0313493), (0.2880711, 0.7118432, 0.0000857), (0.0, 0.0, 0.8251046)),
}
_WHITE_D50: Final = (0.9642956, 1.0, 0.8251046)


def _times(rows: _Rows, values: Triple) -> Triple:
    first, second, third = (sum(one * other for one, other in zip(row, values, strict=True)) for row in rows)
    return first, second, third


def _gamma(value: float) -> float:
    size = abs(value)
    bent = 12.92 * size if size <= 0.0031308 else 1.055 * size ** (1 / 2.4) - 0.055
    return math.copysign(bent, value)


def _linear(value: float) -> float:
    size = abs(value)
    return math.copysign(size / 12.92 if size <= 0.04045 else ((size + 0.055) / 1.055) ** 2.4, value)


def _of_xyz(values: Triple) -> Triple:
    red, green, blue = (_gamma(value) for value in _times(_XYZ_TO_SRGB, values))
    return red, green, blue


def _lab(lightness: float, a: float, b: float) -> Triple:
    """CSS Color 4, 9.3."""
    middle = (lightness + 16) / 116
    parts = (a / 500 + middle, middle, middle - b / 200)
    cut, slope = 216 / 24389, 24389 / 27
    x, y, z = (
        white * (part**3 if part**3 > cut else (116 * part - 16) / slope)
        for part, white in zip(parts, _WHITE_D50, strict=True)
    )
    return _of_xyz(_times(_D50_TO_D65, (x, y, z)))


def _oklab(lightness: float, a: float, b: float) -> Triple:
    """CSS Color 4, 9.4."""
    long = (lightness + 0.3963378 * a + 0.2158038 * b) ** 3
    medium = (lightness - 0.1055613 * a - 0.0638542 * b) ** 3
    short = (lightness - 0.0894842 * a - 1.2914855 * b) ** 3
    return (
        _gamma(4.0767417 * long - 3.3077116 * medium + 0.2309699 * short),
        _gamma(-1.2684380 * long + 2.6097574 * medium - 0.3413194 * short),
        _gamma(-0.0041961 * long - 0.7034186 * medium + 1.7076147 * short),
    )


def _polar(space: Callable[[float, float, float], Triple]) -> Callable[[float, float, float], Triple]:
    def of_polar(lightness: float, chroma: float, hue: float) -> Triple:
        angle = math.radians(hue)
        return space(lightness, chroma * math.cos(angle), chroma * math.sin(angle))

    return of_polar


SPACES: Final[Mapping[str, Callable[[float, float, float], Triple]]] = {
    "lab": _lab,
    "lch": _polar(_lab),
    "oklab": _oklab,
    "oklch": _polar(_oklab),
}
"""Red, green and blue from 0 to 1, possibly outside of it, of a colour in each functional space."""


def of_profile(profile: str, values: Triple) -> Triple | None:
    """`color(profile a b c)`: red, green and blue; None for a profile that is not known."""
    match profile:
        case "srgb":
            return values
        case "srgb-linear":
            return _gamma(values[0]), _gamma(values[1]), _gamma(values[2])
        case "xyz" | "xyz-d65":
            return _of_xyz(values)
        case "xyz-d50":
            return _of_xyz(_times(_D50_TO_D65, values))
        case "display-p3":
            straight: Triple = (_linear(values[0]), _linear(values[1]), _linear(values[2]))
        case "a98-rgb" | "rec2020" | "prophoto-rgb":
            power = 1.8 if profile == "prophoto-rgb" else 2.2
            red, green, blue = (math.copysign(abs(value) ** power, value) for value in values)
            straight = (red, green, blue)
        case _:
            return None
    xyz = _times(_TO_XYZ[profile], straight)
    return _of_xyz(_times(_D50_TO_D65, xyz) if profile == "prophoto-rgb" else xyz)
