"""The dispatcher: one order of steps for every call, whatever it came in by.

look up -> permit -> configured? -> validate -> run under a deadline -> shape -> fit the result budget

It never raises but for an unknown tool: every failure is an answer.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from mailgate.errors import LimitExceeded, NotConfigured, UpstreamTimeout
from mailgate.limits import RESULT_ENVELOPE_BYTES
from mailgate.policy import Principal, Requirement, permit
from mailgate.server import strict_json, telemetry
from mailgate.server.backend import Backend, Call
from mailgate.server.catalog import TOOLS, Tool
from mailgate.server.failures import failure_of

_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


class UnknownTool(LookupError):
    """No row of that name; the surface answers JSON-RPC -32602. The name is not repeated."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call came to. `structured` is None exactly for a failure."""

    text: str
    structured: dict[str, Any] | None = None

    @property
    def failed(self) -> bool:
        """Whether `text` is an error."""
        return self.structured is None


class Dispatcher:
    """Carries out calls against one deployment."""

    def __init__(self, backend: Backend, tools: tuple[Tool, ...] = TOOLS) -> None:
        self.backend = backend
        self.tools = tools
        self._by_name = {tool.name: tool for tool in tools}

    def find(self, name: str) -> Tool:
        """The row for `name`. Raises `UnknownTool`."""
        tool = self._by_name.get(name)
        if tool is None:
            raise UnknownTool
        return tool

    async def call(self, name: str, arguments: Mapping[str, Any] | None, principal: Principal) -> Answer:
        """The answer to one call. Raises `UnknownTool` and nothing else."""
        tool = self.find(name)
        began = time.monotonic()
        code = "cancelled"
        try:
            answer = await self._answer(tool, arguments, principal)
            code = "ok"
        except Exception as error:
            failure = failure_of(error)
            code, answer = failure.code, Answer(failure.text)
        finally:
            telemetry.log_call(tool=tool.name, code=code, seconds=time.monotonic() - began, principal=principal)
        return answer

    async def _answer(self, tool: Tool, arguments: Mapping[str, Any] | None, principal: Principal) -> Answer:
        settings = self.backend.settings
        self._authorize(tool.requirement_of(arguments), principal)
        if tool.needs_mailbox and self.backend.connected is None:
            raise NotConfigured(settings.missing)
        from mailgate.server.validation import validate

        model = validate(tool.arguments, tool.input_schema, arguments)
        self._authorize(tool.requirement_for(model), principal)
        fit = partial(fitted, tool, budget=settings.max_result_bytes)
        value = await self._run(tool, Call(self.backend, principal, self.tools, require_fit=fit), model)
        return fit(value)

    def _authorize(self, requirement: Requirement, principal: Principal) -> None:
        denial = permit(requirement, principal.scopes, self.backend.settings.gates)
        if denial is not None:
            raise denial.error()

    async def _run(self, tool: Tool, call: Call, model: Any) -> Any:
        try:
            async with asyncio.timeout(tool.seconds(self.backend.settings)) as deadline:
                return await tool.handler(call, model)
        except TimeoutError:
            # A TimeoutError that is not this deadline's is a fault of ours and stays one.
            if deadline.expired():
                # A change that was under way may have happened; "did not answer in time" would sound as if not.
                raise call.change.in_doubt or UpstreamTimeout() from None
            raise


# --- the shape and size of an answer ------------------------------------------------------------------------------


def fitted(tool: Tool, value: Any, budget: int) -> Answer:
    """The answer that shows `value` in at most `budget` octets as they travel: both halves and what is around them.

    A tool that can cut its value is cut to the most that fits. Raises `LimitExceeded` for the others.
    """
    answer = _shaped(tool, value)
    room = budget - RESULT_ENVELOPE_BYTES
    if encoded_size(answer) <= room:
        return answer
    if tool.cut is not None:
        low, high = -1, tool.cut.length(value)
        while high - low > 1:
            middle = (low + high) // 2
            smaller = _shaped(tool, tool.cut.to(value, middle))
            low, high = (middle, high) if encoded_size(smaller) <= room else (low, middle)
        if low > 0:
            return _shaped(tool, tool.cut.to(value, low))
    raise LimitExceeded(
        "The result passes this deployment's MAIL_MAX_RESULT_BYTES.",
        next_step="Ask for less (a smaller limit, other filters); the arguments are otherwise in order.",
    )


def encoded_size(answer: Answer) -> int:
    """Octets of both halves in the longest encoding a transport uses: JSON with everything beyond ASCII escaped."""
    return len(json.dumps(answer.text)) + len(json.dumps(answer.structured, separators=(",", ":"), allow_nan=False))


def _shaped(tool: Tool, value: Any) -> Answer:
    result = tool.result.of(value)
    answer = Answer(text=tool.render(result), structured=result.plain())
    # Escaped, a surrogate begins with these; so does half of a pair, and then the look below finds nothing.
    if "\\ud" not in json.dumps([answer.text, answer.structured]):
        return answer
    return Answer(text=_encodable(answer.text), structured=_encodable(answer.structured))


def _encodable(value: Any) -> Any:
    """The value with every lone surrogate replaced: UTF-8 cannot carry one, and one would spoil the whole response."""
    if isinstance(value, str):
        return strict_json.SURROGATE.sub(_REPLACEMENT, value)
    if isinstance(value, dict):
        return {key: _encodable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_encodable(inner) for inner in value]
    return value
