"""JSON strings are read only where the schema wants another type."""

from __future__ import annotations

from typing import Any

import pytest

from mailgate.server.tolerance import understand

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "flag": {"type": "boolean"},
        "names": {"type": "array", "items": {"type": "string"}},
        "inner": {"type": "object", "properties": {"uid": {"type": "integer"}, "name": {"type": "string"}}},
    },
}


@pytest.mark.parametrize(
    ("name", "sent", "understood"),
    [
        ("text", "null", "null"),
        ("text", "678", "678"),
        ("text", "true", "true"),
        ("text", "[1,2]", "[1,2]"),
        ("text", '{"a":1}', '{"a":1}'),
        ("count", "678", 678),
        ("count", "25.0", 25),
        ("count", 25.0, 25),
        ("count", "1.5", 1.5),
        ("count", 1.5, 1.5),
        ("count", "true", "true"),
        ("count", "null", "null"),
        ("count", "12 apples", "12 apples"),
        ("count", True, True),
        ("share", "0.5", 0.5),
        ("flag", "true", True),
        ("flag", "false", False),
        ("flag", "1", "1"),
        ("flag", "True", "True"),
        ("flag", "null", "null"),
        ("names", '["a","b"]', ["a", "b"]),
        ("names", "a", "a"),
        ("names", '"a"', '"a"'),
        ("names", ["null", "1"], ["null", "1"]),
        ("inner", '{"uid":"678","name":"null"}', {"uid": 678, "name": "null"}),
        ("inner", {"uid": "7"}, {"uid": 7}),
        ("inner", '{"uid":1,"uid":2}', '{"uid":1,"uid":2}'),
        ("inner", "null", "null"),
        ("inner", "[1]", "[1]"),
        ("unheard", "1", "1"),
    ],
)
def test_a_string_is_read_where_the_schema_wants_another_type_and_nowhere_else(
    name: str, sent: Any, understood: Any
) -> None:
    result = understand({name: sent}, SCHEMA)[name]
    assert result == understood
    assert type(result) is type(understood)


def test_the_arguments_given_are_not_changed_in_place() -> None:
    sent = {"inner": {"uid": "7"}}
    understand(sent, SCHEMA)
    assert sent == {"inner": {"uid": "7"}}


@pytest.mark.requirement("A9")
def test_null_for_an_argument_that_may_be_left_out_means_left_out() -> None:
    schema = {**SCHEMA, "required": ["flag"]}
    sent = {"text": None, "count": None, "names": None, "inner": None, "flag": None, "unknown": None}
    assert understand(sent, schema) == {"flag": None, "unknown": None}
    assert understand({"inner": {"uid": None, "name": "null"}}, SCHEMA) == {"inner": {"name": "null"}}
