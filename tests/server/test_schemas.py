"""Published schemas: plain objects, closed on the way in, described on the way out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from mailgate.server.catalog import TOOLS, Tool
from mailgate.server.schemas import full_schema

NULLABLE = [{"type": "object"}, {"type": "null"}]
EVERY = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from nodes(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from nodes(value)


@EVERY
def test_schemas_are_valid_and_hold_no_references_titles_or_unions(tool: Tool) -> None:
    for schema in (tool.input_schema, tool.output_schema, full_schema(tool.result)):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        for node in nodes(schema):
            assert not {"$ref", "$defs", "title", "oneOf", "allOf"} & set(node)
    assert "anyOf" not in json.dumps(tool.input_schema)
    # Whether every client's dialect can say them: each published type is one type, and null is a choice beside it.
    for node in [*nodes(tool.input_schema), *nodes(tool.output_schema)]:
        assert not isinstance(node.get("type"), list)
        assert node.get("anyOf", NULLABLE) == NULLABLE


@EVERY
def test_inputs_are_closed_at_every_level(tool: Tool) -> None:
    objects = [node for node in nodes(tool.input_schema) if node.get("type") == "object"]
    assert objects
    assert all(node["additionalProperties"] is False for node in objects)


@EVERY
def test_every_published_result_field_is_described(tool: Tool) -> None:
    for name, field in tool.output_schema["properties"].items():
        assert field.get("description"), name
        assert field.get("type") or field.get("anyOf"), name


@EVERY
def test_the_published_result_is_the_outline_of_the_whole(tool: Tool) -> None:
    full = full_schema(tool.result)
    assert list(full["properties"]) == list(tool.output_schema["properties"])
    assert full["required"] == tool.output_schema["required"]


def test_null_is_a_type_only_where_it_is_an_answer() -> None:
    capabilities = next(tool for tool in TOOLS if tool.name == "mail_capabilities").output_schema["properties"]
    assert capabilities["imap"]["anyOf"] == NULLABLE
    assert capabilities["store"]["anyOf"] == NULLABLE
    assert capabilities["server"]["type"] == "object"
    search = next(tool for tool in TOOLS if tool.name == "mail_search")
    row = full_schema(search.result)["properties"]["messages"]["items"]["properties"]
    assert row["has_attachments"]["type"] == ["boolean", "null"]
    assert row["modseq"]["type"] == "string"
    assert row["untrusted"]["properties"]["date"]["type"] == ["string", "null"]
