"""The strict reader understands what our files use, and refuses what it could misread."""

from __future__ import annotations

import pytest

from tests.deploy.plain_yaml import parse_yaml

DOCUMENT = """\
# a comment
name: mailgate
count: 3
ready: true
empty: {}
list:
  - plain
  - "quoted: yes"
  - key: value
    other: ["a", "b"]
nested:
  deeper:
    deepest: redis://:x@host:6379/0
"""


def test_what_our_files_use_is_understood() -> None:
    assert parse_yaml(DOCUMENT) == {
        "name": "mailgate",
        "count": 3,
        "ready": True,
        "empty": {},
        "list": ["plain", "quoted: yes", {"key": "value", "other": ["a", "b"]}],
        "nested": {"deeper": {"deepest": "redis://:x@host:6379/0"}},
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a: yes",
        "a: 'single'",
        "a: &anchor b",
        "a: *alias",
        "a: |\n  block",
        "a: b: c",
        "a: 1.5",
        "a: 010",
        "a: b # comment",
        "a:\nb: c",
        "a: 1\na: 2",
        "a:\n  b: 1\n    c: 2",
        "a:\n\tb: 1",
        "- a\n b: 1",
    ],
)
def test_what_could_be_misread_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"line [0-9]+|empty"):
        parse_yaml(text)
