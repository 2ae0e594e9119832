"""Results as models are shown them: the middle of what is longer than its tool allows is left out, and says so.

The wording here is written for models: it may change in any version and is not to be parsed.
"""

from __future__ import annotations

from collections.abc import Sequence

from .._jsonable import freeze
from .._messages import Message, Part, ToolResult


def result_ref(turn_id: str, number: int) -> str:
    """How a model names a result of a turn, the first being number 1, to read it back."""
    return f"{turn_id[-8:]}.{number}"


def within_limits(turn_id: str, messages: Sequence[Message]) -> list[Message]:
    """The messages of a turn, no result longer than its own limit."""
    found = []
    number = 0
    for message in messages:
        results = len(message.results)
        found.append(_within_limits(turn_id, message, after=number) if results else message)
        number += results
    return found


def _within_limits(turn_id: str, message: Message, *, after: int) -> Message:
    """A message of results within their limits. It keeps this: a running turn is read anew after each entry."""
    place, known = message.__dict__.get("_limited", (None, None))
    if place != (turn_id, after):
        parts: list[Part] = []
        number = after
        for part in message.parts:
            number += isinstance(part, ToolResult)
            if isinstance(part, ToolResult) and part.limit is not None:
                parts.append(_shorter(part, part.limit, ref=result_ref(turn_id, number)))
            else:
                parts.append(part)
        changed = any(new is not old for new, old in zip(parts, message.parts, strict=True))
        known = Message(message.role, tuple(parts)) if changed else None
        message.__dict__["_limited"] = ((turn_id, after), known)
    return known or message


def _shorter(result: ToolResult, limit: int, *, ref: str) -> ToolResult:
    text = result.text
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= limit:
        return result
    # Cut between characters: a half at either end is dropped.
    start = data[: limit * 2 // 3].decode("utf-8", "ignore")
    end = data[len(data) - limit // 3 :].decode("utf-8", "ignore")
    left = len(text) - len(start) - len(end)
    line = f"{start}\n[… {left:,} of {len(text):,} characters left out; read_result gives them: ref {ref} …]\n{end}"
    return ToolResult(result.call_id, result.name, freeze(line, "result"), result.is_error, result.media, limit)
