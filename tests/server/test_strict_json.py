from __future__ import annotations

import json

import pytest

from mailgate.limits import JSON_DEPTH_MAX
from mailgate.server import strict_json
from mailgate.server.strict_json import NotStrictJson, loads


@pytest.mark.parametrize(
    "text",
    ["{}", '{"a":[1,2.5,true,null,"x"]}', '"\\ud83d\\ude00"', "-0", "1e3", '{"a":{"a":1}}'],
)
def test_ordinary_documents_mean_what_the_standard_parser_says(text: str) -> None:
    assert loads(text) == json.loads(text)
    assert loads(text.encode()) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('{"secret":1,"secret":2}', "twice"),
        ('{"a":{"secret":1,"secret":1}}', "twice"),
        ("NaN", "finite"),
        ("[-Infinity]", "finite"),
        ("1e999", "range"),
        ("9" * 301, "long"),
        ("0." + "1" * 300, "long"),
        ('"\\ud800secret"', "surrogate"),
        ('{"\\udfffsecret":1}', "surrogate"),
        ("[" * 100_000, "valid"),
        ("[" * (JSON_DEPTH_MAX + 1) + "]" * (JSON_DEPTH_MAX + 1), "deeply"),
        ("[" + "0," * strict_json.VALUES_MAX + "0]", "many"),
        ('{"secret":', "valid"),
        ("", "valid"),
        ("{'secret':1}", "valid"),
    ],
)
def test_what_two_readers_could_read_differently_is_refused_without_an_echo(text: str, rule: str) -> None:
    with pytest.raises(NotStrictJson, match=rule) as caught:
        loads(text)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_the_deepest_allowed_document_is_read() -> None:
    text = "[" * JSON_DEPTH_MAX + "]" * JSON_DEPTH_MAX
    assert loads(text) == json.loads(text)


@pytest.mark.parametrize("body", [b"\xef\xbb\xbf{}", "{}".encode("utf-16"), b'{"a":"\xff"}'])
def test_only_plain_utf_8_is_read(body: bytes) -> None:
    with pytest.raises(NotStrictJson, match="valid JSON"):
        loads(body)
