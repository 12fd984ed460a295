"""JSON that means one thing: no duplicate keys, no NaN, no lone surrogates, bounded depth, numbers and size.

RFC 8259 leaves the meaning of repeated names, of unpaired surrogates and of huge numbers to the reader (4, 8.2, 6);
two readers that choose differently let a request pass a gate as one thing and run as another.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final, NoReturn

from mailgate.limits import JSON_DEPTH_MAX

NUMBER_CHARS_MAX: Final = 300
"""Characters of one number. What is merely too large is for validation to say, which knows the argument; a 5,000-digit
integer costs quadratic time to convert."""
VALUES_MAX: Final = 20_000
"""Values in one document; the largest legal call has a few hundred."""

SURROGATE: Final = re.compile("[\ud800-\udfff]")


class NotStrictJson(ValueError):
    """The text is not JSON in the strict sense. The message names the rule and holds nothing of the text."""


def loads(text: bytes | str) -> Any:
    """The value of a strict JSON document. Raises `NotStrictJson`."""
    try:
        # `utf-8`, not detection: a BOM or UTF-16 is read by some parsers and refused by others (RFC 8259, 8.1).
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(
            decoded,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_real,
            parse_constant=_constant,
        )
    except NotStrictJson:
        raise
    except (ValueError, RecursionError):
        # The decoder's own message quotes the document, so it is dropped.
        raise NotStrictJson("the text is not valid JSON") from None
    _check(value)
    return value


def has_surrogate(text: str) -> bool:
    """Whether the text holds a code point that UTF-8 cannot carry."""
    return SURROGATE.search(text) is not None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise NotStrictJson("an object has a key twice")
    return result


def _integer(digits: str) -> int:
    if len(digits) > NUMBER_CHARS_MAX:
        raise NotStrictJson("a number is too long")
    return int(digits)


def _real(digits: str) -> float:
    value = float(digits) if len(digits) <= NUMBER_CHARS_MAX else math.inf
    if not math.isfinite(value):
        raise NotStrictJson("a number is too long or out of range")
    return value


def _constant(_name: str) -> NoReturn:
    raise NotStrictJson("a number is not finite")


def _check(root: Any) -> None:
    """Depth, number of values and surrogates, without recursion."""
    level = _containers([root])
    seen = depth = 0
    while level:
        depth += 1
        if depth > JSON_DEPTH_MAX:
            raise NotStrictJson("the JSON is nested too deeply")
        below = [child for container in level for child in _children(container)]
        seen += len(below)
        if seen > VALUES_MAX:
            raise NotStrictJson("the JSON has too many values")
        level = _containers(below)


def _containers(values: list[Any]) -> list[dict[str, Any] | list[Any]]:
    if any(isinstance(value, str) and has_surrogate(value) for value in values):
        raise NotStrictJson("a string holds half a surrogate pair")
    return [value for value in values if isinstance(value, dict | list)]


def _children(container: dict[str, Any] | list[Any]) -> list[Any]:
    return [*container, *container.values()] if isinstance(container, dict) else container
