"""Lengths, angles and numbers of CSS, arithmetic included (CSS Values and Units, 5 to 10).

An expression is read by descent, to a bounded depth and from a bounded text.
"""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple


class Scale(NamedTuple):
    """What relative units are taken of, in pixels: the font, the root's font, a percentage's whole, the screen."""

    em: float = 16.0
    rem: float = 16.0
    percent: float = 16.0
    width: float = 1024.0
    height: float = 768.0


ORDINARY: Final = Scale()

_TEXT_MAX: Final = 400
_DEPTH_MAX: Final = 12
_NUMBER: Final = r"(?:[0-9]{1,40}(?:\.[0-9]{1,40})?|\.[0-9]{1,40})(?:e[+-]?[0-9]{1,2})?"
_DIMENSION: Final = re.compile(rf"([+-]?{_NUMBER})(%|[a-z]{{1,6}})?")
_NAME: Final = re.compile(r"(-?[a-z][-a-z0-9]{0,20})\(|\(")
_GAP: Final = re.compile(r"[ \t\n\r\f]*")

_ABSOLUTE: Final = {"px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "q": 96 / 101.6}
_OF_FONT: Final = {"em": 1.0, "ex": 0.5, "ch": 0.5, "ic": 1.0, "cap": 0.7, "lh": 1.2}
_ANGLES: Final = {"deg": 1.0, "grad": 0.9, "rad": 180 / math.pi, "turn": 360.0}
_CONSTANTS: Final = {"pi": math.pi, "e": math.e}


class Quantity(NamedTuple):
    """A number with what it measures: a plain `number`, a `length` in pixels, or an `angle` in degrees."""

    value: float
    kind: str


def quantity(text: str, scale: Scale = ORDINARY) -> Quantity | None:
    """A value in lower case: a dimension or an expression; None for anything else."""
    match = _DIMENSION.fullmatch(text)
    if match is not None:
        return _dimension(float(match[1]), match[2] or "", scale)
    if "(" not in text or len(text) > _TEXT_MAX:
        return None
    found, at = _Expression(text, scale).operand(0, 0)
    return found if found is not None and at == len(text) and math.isfinite(found.value) else None


def pixels(text: str, scale: Scale = ORDINARY) -> float | None:
    """A length in pixels. A plain number is one of pixels, as old attributes and programs have it."""
    found = quantity(text, scale)
    return found.value if found is not None and found.kind != "angle" else None


def number(text: str) -> float | None:
    """A number, or a percentage as a part of one."""
    found = quantity(text, Scale(percent=1.0))
    return found.value if found is not None and (found.kind == "number" or "%" in text) else None


def degrees(text: str) -> float | None:
    """An angle; a bare zero is one."""
    found = quantity(text)
    if found is None or (found.kind == "number" and found.value != 0) or found.kind == "length":
        return None
    return found.value


def is_length(text: str, *, quirks: bool = False, negative: bool = True) -> bool:
    """Whether a browser takes it for a length or a percentage; a bare number but zero only in quirks mode (Quirks
    Mode Standard, 3.1). An expression below zero is zero where nothing below is allowed."""
    found = quantity(text)
    if found is None or found.kind == "angle":
        return False
    bare = found.kind == "number" and "(" not in text
    if found.kind == "number" and not (bare and (quirks or found.value == 0)):
        return False
    return negative or found.value >= 0 or "(" in text


def _dimension(value: float, unit: str, scale: Scale) -> Quantity | None:
    if not unit:
        return Quantity(value, "number")
    if unit == "%":
        return Quantity(value * scale.percent / 100, "length")
    if unit in _ANGLES:
        return Quantity(value * _ANGLES[unit], "angle")
    factor = _factor(unit, scale)
    return None if factor is None else Quantity(value * factor, "length")


def _factor(unit: str, scale: Scale) -> float | None:
    if unit in _ABSOLUTE:
        return _ABSOLUTE[unit]
    if unit in _OF_FONT:
        return _OF_FONT[unit] * scale.em
    if unit[0] == "r" and unit[1:] in _OF_FONT:
        return _OF_FONT[unit[1:]] * scale.rem
    # The small, large and dynamic window are one on an ordinary screen, and so is what contains the mail.
    side = unit[1:] if unit[:2] in ("sv", "lv", "dv") else unit
    side = side.replace("cq", "v") if side.startswith("cq") else side
    sides = {
        "vw": scale.width,
        "vi": scale.width,
        "vh": scale.height,
        "vb": scale.height,
        "vmin": min(scale.width, scale.height),
        "vmax": max(scale.width, scale.height),
    }
    return sides[side] / 100 if side in sides else None


class _Expression:
    """One expression. Each method takes where it starts, and gives what is there and where it ends."""

    def __init__(self, text: str, scale: Scale) -> None:
        self._text = text
        self._scale = scale

    def _gap(self, at: int) -> int:
        match = _GAP.match(self._text, at)
        return match.end() if match else at

    def operand(self, at: int, depth: int) -> tuple[Quantity | None, int]:
        """A dimension, a constant, or a function of others."""
        match = _DIMENSION.match(self._text, at)
        if match is not None:
            return _dimension(float(match[1]), match[2] or "", self._scale), match.end()
        opening = _NAME.match(self._text, at)
        if opening is None:
            return self._constant(at)
        if depth >= _DEPTH_MAX:
            return None, at
        arguments, at = self._arguments(opening.end(), depth + 1)
        return (_applied(opening[1] or "calc", arguments) if arguments else None), at

    def _constant(self, at: int) -> tuple[Quantity | None, int]:
        for name, value in _CONSTANTS.items():
            if self._text.startswith(name, at):
                return Quantity(value, "number"), at + len(name)
        return None, at

    def _arguments(self, at: int, depth: int) -> tuple[list[Quantity], int]:
        """What is between parentheses; none where something there is not understood."""
        found: list[Quantity] = []
        while True:
            value, at = self._sum(self._gap(at), depth)
            if value is None:
                return [], at
            found.append(value)
            at = self._gap(at)
            mark = self._text[at : at + 1]
            if mark == ")" or not mark:  # what is open at the end is closed there
                return found, at + 1 if mark else at
            if mark != ",":
                return [], at
            at += 1

    def _sum(self, at: int, depth: int) -> tuple[Quantity | None, int]:
        total, at = self._product(at, depth)
        while total is not None:
            sign = self._gap(at)
            mark = self._text[sign : sign + 1]
            # Blanks around the sign are required (10.1), else it belongs to a number.
            if mark not in ("+", "-") or sign == at or self._gap(sign + 1) == sign + 1:
                break
            other, at = self._product(self._gap(sign + 1), depth)
            if other is None or other.kind != total.kind:
                return None, at
            total = total._replace(value=total.value + (other.value if mark == "+" else -other.value))
        return total, at

    def _product(self, at: int, depth: int) -> tuple[Quantity | None, int]:
        total, at = self.operand(at, depth)
        while total is not None:
            sign = self._gap(at)
            mark = self._text[sign : sign + 1]
            if mark not in ("*", "/") or not mark:
                break
            other, at = self.operand(self._gap(sign + 1), depth)
            if other is None or (mark == "/" and other.kind != "number"):
                return None, at
            if mark == "*" and "number" not in (total.kind, other.kind):
                return None, at
            kind = other.kind if total.kind == "number" else total.kind
            if mark == "/":
                total = Quantity(total.value / other.value if other.value else math.inf, kind)
            else:
                total = Quantity(total.value * other.value, kind)
        return total, at


def _applied(name: str, given: list[Quantity]) -> Quantity | None:
    """A function of CSS Values, 10; None for one that is not followed."""
    kind = given[0].kind
    values = [each.value for each in given]
    if name == "env" or any(each.kind != kind for each in given):
        return None
    match name, len(values):
        case ("calc" | "-webkit-calc", 1):
            return given[0]
        case "abs", 1:
            return Quantity(abs(values[0]), kind)
        case "sign", 1:
            return Quantity(float((values[0] > 0) - (values[0] < 0)), "number")
        case "min", _:
            return Quantity(min(values), kind)
        case "max", _:
            return Quantity(max(values), kind)
        case "clamp", 3:
            return Quantity(max(values[0], min(values[1], values[2])), kind)
        case ("round", 2) if values[1]:
            return Quantity(round(values[0] / values[1]) * values[1], kind)
        case (("mod" | "rem"), 2) if values[1]:
            return Quantity(math.fmod(values[0], values[1]), kind)
        case "hypot", _:
            return Quantity(math.hypot(*values), kind)
    return None
