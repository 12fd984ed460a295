"""The schemas that are written down are those of the models."""

from __future__ import annotations

from pydantic import BaseModel

from mailgate.server import published
from mailgate.server.catalog import TOOLS


def test_the_written_schemas_are_those_of_the_models() -> None:
    made = published.made((tool.arguments, tool.result) for tool in TOOLS)
    assert published.FILE.read_text(encoding="ascii") == made, "scripts/schemas writes them anew"


def test_no_two_models_share_a_name() -> None:
    for models in ([tool.arguments for tool in TOOLS], [tool.result for tool in TOOLS]):
        assert len({model.__name__ for model in models}) == len(set(models))


def test_a_model_that_is_not_written_down_has_its_schema_made() -> None:
    class Unwritten(BaseModel):
        """Of this test."""

        count: int

    assert published.published_input("Unwritten", lambda: Unwritten)["properties"] == {"count": {"type": "integer"}}
    assert published.published_output("Unwritten", lambda: Unwritten)["required"] == ["count"]


def test_a_package_without_the_file_makes_them_all() -> None:
    published._written.cache_clear()
    before, published.FILE = published.FILE, published.FILE.with_name("absent.json")
    try:
        assert published.published_input("SearchArguments", lambda: TOOLS[2].arguments) == TOOLS[2].input_schema
    finally:
        published.FILE = before
        published._written.cache_clear()
