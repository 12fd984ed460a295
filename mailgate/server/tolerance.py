"""Arguments as clients really send them, brought to the types the schema wants, and no further.

Some clients send every value as a string of JSON. Such a string is read only where the published schema wants a number,
a boolean, an array or an object: the word `null` as a subject stays a word, and `[1]` as a search term stays text.
Validation comes afterwards and is strict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from mailgate.server import strict_json


def understand(value: Any, schema: Mapping[str, Any]) -> Any:
    """`value` with every JSON string read that stands where `schema` wants another type.

    Whatever does not fit is left as it is, for validation to refuse.
    """
    wanted = schema.get("type")
    if isinstance(value, str):
        value = _read(value, wanted)
    if wanted == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if wanted == "object" and isinstance(value, dict):
        fields, required = schema.get("properties", {}), schema.get("required", ())
        # Clients that fill in every argument write null for "not given".
        given = {
            name: inner for name, inner in value.items() if inner is not None or name not in fields or name in required
        }
        return {name: understand(inner, fields.get(name, {})) for name, inner in given.items()}
    if wanted == "array" and isinstance(value, list):
        return [understand(inner, schema.get("items", {})) for inner in value]
    return value


def _read(text: str, wanted: object) -> Any:
    fits = _FITS.get(wanted) if isinstance(wanted, str) else None
    if fits is None:
        return text
    try:
        value = strict_json.loads(text)
    except strict_json.NotStrictJson:
        return text
    return value if fits(value) else text


def _number(value: Any) -> bool:
    # In Python a boolean is an integer; in JSON it is not.
    return isinstance(value, int | float) and not isinstance(value, bool)


_FITS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "integer": _number,
    "number": _number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}
