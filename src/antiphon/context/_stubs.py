"""Stubs: short lines in place of long results and arguments, which stay in the journal and can be read back.

The wording here is written for models: it may change in any version and is not to be parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from .._jsonable import Jsonable, freeze
from .._messages import Message, Part, ToolCall, ToolResult
from .._tool_spec import ToolSpec
from ..transcript._limited import result_ref
from ..transcript._sizes import LONG
from ..transcript._turn import Turn
from ._summarizing import shortened
from ._tokens import TokenCounter

READ_RESULT = ToolSpec(
    "read_result",
    "Read back a tool result that was left out of the conversation to save room.",
    {
        "type": "object",
        "properties": {
            "ref": {"type": "string", "description": "The reference that stands in place of the result."},
            "start": {"type": "integer", "description": "First character to give, from 0.", "default": 0},
            "length": {"type": "integer", "description": "Most characters to give.", "default": 8000},
        },
        "required": ["ref"],
        "additionalProperties": False,
    },
)
"""Offered wherever stubs are shown, unless there is another tool of this name."""

_KEPT = 80

LAST_SHORTENED = "the last round is shortened"
"""What the running turn's line says where its last round's results, or arguments, had to give way."""


def stubs_of(turn_id: str, messages: Sequence[Message]) -> list[Message]:
    """The messages of a turn with stubs in place of what is long. The same message always gives the same object.

    Args:
        turn_id: the turn.
        messages: all of the turn, or its first ones: references count the results in them.
    """
    found = []
    results = 0
    for message in messages:
        if message.role == "user":
            found.append(message)
            continue
        known = message.__dict__.get("_stub")
        if known is None:
            known = message.__dict__["_stub"] = _stubbed(message, turn_id, after=results)
        results += len(message.results) if message.role == "tool" else 0
        found.append(known)
    return found


def _stubbed(message: Message, turn_id: str, *, after: int) -> Message:
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            after += 1
            parts.append(_result_stub(part, result_ref(turn_id, after)))
        else:
            parts.append(_call_stub(part) if isinstance(part, ToolCall) else part)
    if all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return Message(message.role, tuple(parts))


def _result_stub(result: ToolResult, ref: str) -> ToolResult:
    media = result.media
    if memoryview(result.output_json).nbytes <= LONG and not media:
        return result
    text = result.text
    inside = f" and {len(media)} media" if media else ""
    line = f"[{len(text):,} characters{inside} left out; read_result gives them: ref {ref}] {text[:_KEPT]}"
    return ToolResult(result.call_id, result.name, freeze(line.rstrip(), "stub"), result.is_error)


def _call_stub(call: ToolCall) -> ToolCall:
    if memoryview(call.arguments_json).nbytes <= LONG:
        return call
    short: dict[str, Jsonable] = {name: _short(value) for name, value in call.arguments.items()}
    arguments = freeze(short, "stub")
    if memoryview(arguments).nbytes > LONG:
        arguments = freeze({"left_out": f"{memoryview(call.arguments_json).nbytes:,} bytes of arguments"}, "stub")
    return ToolCall(call.id, call.name, arguments)


def _short(value: Jsonable) -> Jsonable:
    if isinstance(value, str) and len(value) > _KEPT:
        return f"[{len(value):,} characters left out]"
    if isinstance(value, list | dict) and len(freeze(value, "stub")) > _KEPT:
        return f"[{len(value):,} items left out]"
    return value


def result_by_ref(turns: Sequence[Turn], ref: str) -> ToolResult | None:
    """The result that a reference names, or None; the newest where two turns end in the same digits."""
    ending, _, number = ref.strip().rpartition(".")
    if not ending or not number.isdecimal():
        return None
    for turn in reversed(turns):
        if turn.id.endswith(ending):
            results = list(_results(turn))
            return results[int(number) - 1] if 0 < int(number) <= len(results) else None
    return None


def _results(turn: Turn) -> Iterator[ToolResult]:
    return (result for message in turn.messages for result in message.results)


def results_within(message: Message, *, room: int, counter: TokenCounter) -> Message:
    """A message whose results take at most `room` tokens together: the longest give way first.

    The start and the end of each stay, with a mark between; small ones stay whole.
    """
    costs = {n: counter(part.text) for n, part in enumerate(message.parts) if isinstance(part, ToolResult)}
    limit = _water_level(list(costs.values()), room)
    parts = list(message.parts)
    for n, cost in costs.items():
        part: Any = parts[n]
        if cost > limit or part.media:
            text = shortened(part.text, limit=max(limit, 1), counter=counter)
            text = text if counter(text) <= limit else "[…]"
            parts[n] = ToolResult(part.call_id, part.name, freeze(text, "result"), part.is_error)
    return Message(message.role, tuple(parts))


def _water_level(costs: Sequence[int], room: int) -> int:
    """The highest limit for each at which all of them fit."""
    left, waiting = room, sorted(costs)
    while waiting and waiting[0] * len(waiting) <= left:
        left -= waiting.pop(0)
    return max(left, 0) // len(waiting) if waiting else max([*costs, room])


def arguments_left_out(message: Message) -> Message:
    """A reply whose calls keep their names and lose what is long in their arguments."""
    parts = tuple(_bare(part) if isinstance(part, ToolCall) else part for part in message.parts)
    return Message(message.role, parts)


def _bare(call: ToolCall) -> ToolCall:
    size = memoryview(call.arguments_json).nbytes
    return call if size <= _KEPT else ToolCall(call.id, call.name, msgspec.Raw(b'{"left_out":"all"}'))
