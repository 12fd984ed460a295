"""The published schemas as they are written down in `published.json`, so that a cold start need not make them anew.

Making them of the models takes as long as loading everything else of ours. `scripts/schemas` writes the file, and a
test compares it with the models. A model that is not in it has its schemas made.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from mailgate.server.schemas import Schema, input_schema, output_schema

FILE: Final = Path(__file__).with_name("published.json")


def published_input(name: str, model: Callable[[], type[BaseModel]]) -> Schema:
    """What a tool says of the arguments that it takes: the schema written down under the model's name, or a new one."""
    return _written()["input"].get(name) or input_schema(model())


def published_output(name: str, model: Callable[[], type[BaseModel]]) -> Schema:
    """What a tool says of its result, as `published_input`."""
    return _written()["output"].get(name) or output_schema(model())


@functools.cache
def _written() -> dict[str, dict[str, Schema]]:
    try:
        written: dict[str, dict[str, Schema]] = json.loads(FILE.read_bytes())
    except OSError:
        return {"input": {}, "output": {}}
    return written


def made(pairs: Iterable[tuple[type[BaseModel], type[BaseModel]]]) -> str:
    """The file's text, for these models of arguments and results."""
    pairs = list(pairs)
    schemas = {
        "input": {model.__name__: input_schema(model) for model, _ in pairs},
        "output": {model.__name__: output_schema(model) for _, model in pairs},
    }
    return json.dumps(schemas, indent=1, ensure_ascii=True) + "\n"


def main() -> None:
    """Write the file."""
    from mailgate.server.catalog import TOOLS

    FILE.write_text(made((tool.arguments, tool.result) for tool in TOOLS), encoding="ascii")
    sys.stderr.write(f"{FILE.name}: {len(TOOLS)} tools\n")


if __name__ == "__main__":
    main()
