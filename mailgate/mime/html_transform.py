"""What `transform` and its like do to a box: where it goes, and how thin it becomes (CSS Transforms 1 and 2)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from mailgate.mime.html_length import Scale, degrees, number, pixels
from mailgate.mime.html_pieces import split_outside

_CALL: Final = re.compile(r"([a-z0-9]{1,20})\((.{0,400}?)\)?\Z", re.DOTALL)
_FUNCTIONS_MAX: Final = 12
_BOX_HEIGHT: Final = 100.0
"""Pixels a box of text is taken to be high, for a percentage of it."""

Matrix = list[list[float]]
_IDENTITY: Final[Matrix] = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def transformed(values: Mapping[str, str], scale: Scale) -> tuple[float, float, float]:
    """Pixels to the right and down, and the least factor by which the box is scaled in any direction."""
    given = (values.get(key, "") for key in ("transform", "translate", "rotate", "scale", "transform-origin"))
    return _placed(*given, scale)


@lru_cache(maxsize=256)
def _placed(
    transform: str, translate: str, rotate: str, scaled: str, origin: str, scale: Scale
) -> tuple[float, float, float]:
    parts = [
        *(f"translate({word})" for word in _only(translate)),
        *(_turn(word) for word in _only(rotate)),
        *(f"scale({word})" for word in _only(scaled)),
        *split_outside(transform, " ")[:_FUNCTIONS_MAX],
    ]
    if not parts:
        return 0.0, 0.0, 1.0
    matrix = _IDENTITY
    for part in parts:
        call = _CALL.fullmatch(part)
        if call is not None:
            matrix = _times(matrix, _matrix(call[1], _arguments(call[2]), scale))
    x, y = _origin(origin, scale)
    (a, c, _, e), (b, d, _, f) = matrix[0], matrix[1]
    # The point at the upper left, moved about the origin.
    return e + x - a * x - c * y, f + y - b * x - d * y, _thinnest(a, b, c, d)


def _only(value: str) -> list[str]:
    return [] if not value or value in ("none", "inherit", "initial", "unset", "revert", "revert-layer") else [value]


def _turn(value: str) -> str:
    words = split_outside(value, " ")
    axis = {"x": "rotatex", "y": "rotatey", "z": "rotate"}.get(words[0], "")
    if axis:
        return f"{axis}({words[-1]})"
    return f"rotate3d({','.join(words)})" if len(words) == 4 else f"rotate({words[0]})"


def _arguments(text: str) -> list[str]:
    pieces = [piece.strip() for piece in split_outside(text, ",")]
    return split_outside(pieces[0], " ") if len(pieces) == 1 else pieces


def _thinnest(a: float, b: float, c: float, d: float) -> float:
    """The smaller singular value of a 2 x 2 matrix."""
    whole = a * a + b * b + c * c + d * d
    determinant = a * d - b * c
    if not math.isfinite(whole):
        return 1.0
    root = math.sqrt(max(whole * whole - 4 * determinant * determinant, 0.0))
    return math.sqrt(max((whole - root) / 2, 0.0))


def _origin(value: str, scale: Scale) -> tuple[float, float]:
    words = split_outside(value, " ")
    x, y = (pixels(word, scale) if index < len(words) else None for index, word in enumerate([*words, "", ""][:2]))
    return x or 0.0, y or 0.0


def _times(one: Matrix, other: Matrix) -> Matrix:
    columns = list(zip(*other, strict=True))
    return [[a * e + b * f + c * g + d * h for e, f, g, h in columns] for a, b, c, d in one]


def _matrix(name: str, words: list[str], scale: Scale) -> Matrix:
    if name.startswith("translate"):
        return _translation(name, words, scale)
    if name.startswith("scale"):
        factors = [_or(number(word), 1.0) for word in words] or [1.0]
        x = factors[0] if name in ("scale", "scalex", "scale3d") else 1.0
        y = (factors[1] if len(factors) > 1 else x) if name in ("scale", "scale3d") else 1.0
        return _plane(x, 0, 0, factors[0] if name == "scaley" else y)
    if name.startswith("rotate"):
        return _rotation(name, words)
    if name.startswith("skew"):
        angles = [math.tan(math.radians(_or(degrees(word), 0.0))) for word in words] or [0.0]
        x = angles[0] if name != "skewy" else 0.0
        return _plane(1, angles[-1] if name == "skewy" or len(angles) > 1 else 0.0, x, 1)
    numbers = [_or(number(word), 0.0) for word in words]
    if name == "matrix" and len(numbers) == 6:
        return _plane(*numbers[:4], *numbers[4:])
    if name == "matrix3d" and len(numbers) == 16:
        return [[numbers[4 * column + row] for column in range(4)] for row in range(4)]
    return _IDENTITY


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def _plane(a: float, b: float, c: float, d: float, e: float = 0.0, f: float = 0.0) -> Matrix:
    return [[a, c, 0, e], [b, d, 0, f], [0, 0, 1, 0], [0, 0, 0, 1]]


def _translation(name: str, words: list[str], scale: Scale) -> Matrix:
    high = scale._replace(percent=_BOX_HEIGHT)
    across = _or(pixels(words[0], scale), 0.0) if words else 0.0
    if name == "translatey":
        return _plane(1, 0, 0, 1, 0, _or(pixels(words[0], high), 0.0) if words else 0.0)
    if name == "translatez":
        return _IDENTITY
    down = _or(pixels(words[1], high), 0.0) if len(words) > 1 and name != "translatex" else 0.0
    return _plane(1, 0, 0, 1, across, down)


def _rotation(name: str, words: list[str]) -> Matrix:
    if not words:
        return _IDENTITY
    turn = math.radians(_or(degrees(words[-1]), 0.0))
    axis = {"rotatex": (1.0, 0.0, 0.0), "rotatey": (0.0, 1.0, 0.0)}.get(name, (0.0, 0.0, 1.0))
    if name == "rotate3d" and len(words) == 4:
        first, second, third = (_or(number(word), 0.0) for word in words[:3])
        axis = (first, second, third)
    size = math.hypot(*axis)
    if not size:
        return _IDENTITY
    x, y, z = (part / size for part in axis)
    cosine, sine = math.cos(turn), math.sin(turn)
    rest = 1 - cosine
    return [
        [cosine + x * x * rest, x * y * rest - z * sine, x * z * rest + y * sine, 0],
        [y * x * rest + z * sine, cosine + y * y * rest, y * z * rest - x * sine, 0],
        [z * x * rest - y * sine, z * y * rest + x * sine, cosine + z * z * rest, 0],
        [0, 0, 0, 1],
    ]
