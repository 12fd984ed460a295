"""Published JSON schemas from pydantic models: plain, inlined, and as short as they can be.

Every client pays for `tools/list` in its context, so what pydantic adds for readers of source (titles, `$defs`,
`default: null`) is left out. Nothing here is recursive, so inlining ends.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import BaseModel

Schema = dict[str, Any]

_NOISE: Final = frozenset({"title", "$defs"})


def input_schema(model: type[BaseModel]) -> Schema:
    """The schema a call's arguments are published with; extra arguments are refused, and it says so."""
    return _published(model)


def output_schema(model: type[BaseModel]) -> Schema:
    """The schema that `structuredContent` is published with: its fields, with what is inside them described in words.

    Required fields are always there, null or empty included. The whole depth would cost every client a kilobyte a tool
    for what each result shows anyway; `full_schema` has it.
    """
    full = full_schema(model)
    fields = {name: _outline(field) for name, field in full["properties"].items()}
    return {"type": "object", "properties": fields, "required": full["required"]}


def full_schema(model: type[BaseModel]) -> Schema:
    """The schema of a result in its whole depth, and closed: nothing but what it names."""
    return _published(model)


def _outline(field: Schema) -> Schema:
    kept = {key: value for key, value in field.items() if key in {"type", "description"}}
    if isinstance(kept.get("type"), list):
        # Some model providers translate schemas into a dialect in which `type` names one type.
        return {"anyOf": [{"type": each} for each in kept.pop("type")], **kept}
    return kept


def _published(model: type[BaseModel]) -> Schema:
    raw = model.model_json_schema(by_alias=True, mode="validation")
    schema = _plain(raw, raw.get("$defs", {}))
    # The docstring of a model is for readers of source; a tool has a description of its own.
    schema.pop("description", None)
    schema.setdefault("properties", {})
    return schema


def _plain(node: Schema, definitions: Schema) -> Schema:
    node = _resolved(node, definitions)
    optional = "default" in node and node["default"] is None
    node = _without_null(node, definitions, keep=not optional)
    result: Schema = {}
    for key, value in node.items():
        if key in _NOISE or (key == "default" and optional):
            continue
        result[key] = _value(key, value, definitions)
    return result


def _resolved(node: Schema, definitions: Schema) -> Schema:
    """A `$ref` replaced by what it names; what stands beside it (the field's own description) wins."""
    reference = node.get("$ref")
    if reference is None:
        return node
    target = {key: value for key, value in definitions[reference.rsplit("/", 1)[1]].items() if key != "description"}
    return {**target, **{key: value for key, value in node.items() if key != "$ref"}}


def _without_null(node: Schema, definitions: Schema, *, keep: bool) -> Schema:
    """`T | None` as T where null stands for absence, else as T with `null` among its types."""
    variants = node.get("anyOf")
    if variants is None:
        return node
    others = [variant for variant in variants if variant.get("type") != "null"]
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    if len(others) != 1:
        return node
    merged = _resolved({**others[0], **rest}, definitions)
    return {**merged, "type": [merged["type"], "null"]} if keep else merged


def _value(key: str, value: Any, definitions: Schema) -> Any:
    if key == "properties":
        return {name: _plain(schema, definitions) for name, schema in value.items()}
    if key in {"items", "additionalProperties"} and isinstance(value, dict):
        return _plain(value, definitions)
    return value
