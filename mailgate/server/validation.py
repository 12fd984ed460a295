"""From a call's raw arguments to a model, or to one error that names the argument and the rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from mailgate.errors import CallerError, InvalidArgument, UnknownArgument
from mailgate.server.arguments import A, BrokenRule
from mailgate.server.schemas import Schema
from mailgate.server.tolerance import understand

_NAME_SHOWN_MAX: Final = 40
_CLOSE: Final = 0.7


def validate(model: type[A], schema: Schema, arguments: Mapping[str, Any] | None) -> A:
    """The call's arguments as `model`. Raises `InvalidArgument` or `UnknownArgument`."""
    understood = understand(dict(arguments or {}), schema)
    try:
        return model.model_validate(understood)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
    # Outside the handler, so that the validation error, which knows the values, is not chained to ours.
    raise _first(problems, schema)


def _first(problems: Sequence[ErrorDetails], schema: Schema) -> CallerError:
    """One problem of them all; an unknown name first, for a misspelt name often explains the others."""
    unknown = next((problem for problem in problems if problem["type"] == "extra_forbidden"), None)
    if unknown is not None:
        return _unknown(unknown["loc"], schema)
    return InvalidArgument(_sentence(problems[0]))


def _unknown(location: tuple[str | int, ...], schema: Schema) -> CallerError:
    from difflib import get_close_matches

    *path, name = location
    known = _known(schema, path)
    close = get_close_matches(str(name), known, n=1, cutoff=_CLOSE) if _showable(name) else []
    if not close:
        return UnknownArgument()
    prefix = "".join(f"{step}." for step in path)
    return UnknownArgument(
        f"This tool has no argument `{prefix}{name}`.",
        next_step=f"Did you mean `{prefix}{close[0]}`? Look at the tool's input schema and call again.",
    )


def _showable(name: str | int) -> bool:
    return isinstance(name, str) and name.isascii() and name.isidentifier() and len(name) <= _NAME_SHOWN_MAX


def _known(schema: Schema, path: Sequence[str | int]) -> list[str]:
    for step in path:
        schema = schema["items"] if isinstance(step, int) else schema["properties"][step]
    return list(schema.get("properties", {}))


def _sentence(problem: ErrorDetails) -> str:
    context = problem.get("ctx", {})
    rule = _RULES.get(problem["type"], _wrong_form)(context)
    name = ".".join(str(step) for step in problem["loc"])
    return f"`{name}` {rule}." if name else f"{rule}."


def _wrong_form(_context: Mapping[str, Any]) -> str:
    return "has the wrong form"


def _own_rule(context: Mapping[str, Any]) -> str:
    error = context.get("error")
    return str(error) if isinstance(error, BrokenRule) else "has the wrong form"


def _says(text: str) -> Callable[[Mapping[str, Any]], str]:
    # The placeholders are bounds and choices of ours; pydantic puts no input into `ctx` for these types.
    return lambda context: text.format_map(context)


_RULES: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "missing": _says("is required"),
    "int_type": _says("must be an integer"),
    "int_from_float": _says("must be an integer"),
    "bool_type": _says("must be true or false"),
    "string_type": _says("must be a string"),
    "list_type": _says("must be an array"),
    "model_type": _says("must be an object"),
    "greater_than_equal": _says("must be at least {ge}"),
    "less_than_equal": _says("must be at most {le}"),
    "too_short": _says("must have at least {min_length} of them"),
    "too_long": _says("must have at most {max_length} of them"),
    "literal_error": _says("must be {expected}"),
    "value_error": _own_rule,
}
