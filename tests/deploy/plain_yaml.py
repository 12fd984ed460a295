"""The part of YAML that our own files use, read strictly: what it does not know is an error, never a guess.

Block mappings, block sequences, quoted and plain scalars, `{}`, and flow sequences of quoted strings (as JSON). Plain
scalars that YAML would not read as text have to be quoted, unless they are `true`, `false` or a whole number.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_KEY = re.compile(r"([A-Za-z0-9_./-]+):(?: +(.*))?")
_PLAIN = re.compile(r"[A-Za-z/._-][^#\"']*")
_ODD = {"yes", "no", "on", "off", "null", "~", "y", "n"}


@dataclass
class _Line:
    number: int
    indent: int
    text: str


def parse_yaml(text: str) -> Any:
    """The one document in `text`. ValueError with the number of the line that is not understood."""
    lines = [_Line(number, len(raw) - len(raw.lstrip(" ")), raw.strip()) for number, raw in _meaningful(text)]
    if not lines:
        raise ValueError("the file is empty")
    value, rest = _block(lines, lines[0].indent)
    if rest:
        raise ValueError(f"line {rest[0].number}: not where it could belong")
    return value


def _meaningful(text: str) -> list[tuple[int, str]]:
    found = []
    for number, raw in enumerate(text.splitlines(), 1):
        if "\t" in raw:
            raise ValueError(f"line {number}: a tab")
        if raw.strip() and not raw.lstrip().startswith("#"):
            found.append((number, raw))
    return found


def _block(lines: list[_Line], indent: int) -> tuple[Any, list[_Line]]:
    if lines[0].text.startswith("- "):
        return _sequence(lines, indent)
    return _mapping(lines, indent)


def _sequence(lines: list[_Line], indent: int) -> tuple[list[Any], list[_Line]]:
    items: list[Any] = []
    while lines and lines[0].indent == indent and lines[0].text.startswith("- "):
        first = lines[0]
        inner = _Line(first.number, indent + 2, first.text[2:].lstrip())
        if _KEY.fullmatch(inner.text):
            value, lines = _mapping([inner, *lines[1:]], indent + 2)
        else:
            value, lines = _scalar(inner), lines[1:]
        items.append(value)
    return items, lines


def _mapping(lines: list[_Line], indent: int) -> tuple[dict[str, Any], list[_Line]]:
    found: dict[str, Any] = {}
    while lines and lines[0].indent == indent and not lines[0].text.startswith("- "):
        line, lines = lines[0], lines[1:]
        match = _KEY.fullmatch(line.text)
        if match is None or match[1] in found:
            raise ValueError(f"line {line.number}: no new key")
        if match[2] is not None:
            found[match[1]] = _scalar(_Line(line.number, indent, match[2]))
        else:
            if not lines or lines[0].indent <= indent:
                raise ValueError(f"line {line.number}: nothing below it")
            found[match[1]], lines = _block(lines, lines[0].indent)
    if lines and lines[0].indent > indent:
        raise ValueError(f"line {lines[0].number}: indented too far")
    return found, lines


def _scalar(line: _Line) -> Any:
    text = line.text
    if text == "{}":
        return {}
    if text.startswith(('"', "[")):
        try:
            return json.loads(text)
        except ValueError:
            raise ValueError(f"line {line.number}: not as in JSON") from None
    if text in ("true", "false"):
        return text == "true"
    if re.fullmatch(r"0|[1-9][0-9]*", text):
        return int(text)
    # `150s` and `512m` are text to YAML as well; anything else that begins with a digit is better quoted.
    if re.fullmatch(r"[1-9][0-9]*(?:s|m|mb|Mi)", text):
        return text
    if not _PLAIN.fullmatch(text) or ": " in text or text.endswith(":") or text.lower() in _ODD:
        raise ValueError(f"line {line.number}: a scalar that wants quotes")
    return text
