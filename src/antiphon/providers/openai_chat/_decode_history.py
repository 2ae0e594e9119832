"""Histories in OpenAI's chat form, as ours. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ..._jsonable import Jsonable
from ..._messages import Image, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult, read_message
from ...errors import NotStorable
from .._history import History
from ._decode import PROVIDER

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_CARRIED = {"role", "content", "tool_calls", "tool_call_id", "function_call", "refusal", "reasoning_content"}

_CARRIED_OF_PARTS = {"type", "text", "image_url", "file"}


def decode_history(items: Sequence[Any]) -> History:
    """Read messages that were written for chat completions.

    Args:
        items: dicts, or the SDK's own message objects, in order.

    Returns:
        The messages, and one sentence for each thing that could not be carried: nothing is left out in silence.
    """
    reading = _Reading()
    messages = [message for i, item in enumerate(items) if (message := reading.message(item, i)) is not None]
    return History(messages, tuple(reading.lost))


class _Reading:
    def __init__(self) -> None:
        self.lost: list[str] = []
        self._called: dict[str, str] = {}
        """Names of tools by call id: results do not name theirs."""

    def message(self, item: Any, i: int) -> Message | None:
        """The message that an item is, or None where it is none."""
        dump = getattr(item, "model_dump", None)
        found = dump(exclude_none=True) if dump is not None else item
        role = _ROLES.get(str(found.get("role"))) if isinstance(found, Mapping) else None
        if not isinstance(found, Mapping) or role is None:
            self._lose(f"messages[{i}]", "it is no message with a role")
            return None
        for key in found:
            if key not in _CARRIED and found[key] not in (None, [], ""):
                self._lose(f"messages[{i}].{key}", "there is no place for it")
        if role == "tool":
            return self._result(found, i)
        return Message(role, (*self._reasoned(found), *self._content(found, i), *self._calls(found, i)))

    def _reasoned(self, found: Mapping[str, Any]) -> list[Part]:
        text = found.get("reasoning_content")
        return [Reasoning(text, provider=PROVIDER)] if isinstance(text, str) and text else []

    def _content(self, found: Mapping[str, Any], i: int) -> list[Part]:
        content = found.get("content")
        parts: list[Part] = []
        if isinstance(content, str):
            parts += [Text(content)] if content else []
        elif isinstance(content, Sequence):
            parts += [
                read for j, part in enumerate(content) if (read := self._part(part, f"messages[{i}].content[{j}]"))
            ]
        elif content is not None:
            self._lose(f"messages[{i}].content", "it is neither text nor a list of parts")
        refusal = found.get("refusal")
        if isinstance(refusal, str) and refusal:
            parts.append(Text(refusal))
            self._lose(f"messages[{i}].refusal", "it was kept as plain text")
        return parts

    def _part(self, part: Any, place: str) -> Part | None:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "refusal" and isinstance(part.get("refusal"), str):
            self._lose(place, "a refusal was kept as plain text")
            return Text(part["refusal"])
        try:
            (read,) = read_message({"role": "user", "content": [part]}).parts
        except NotStorable:
            self._lose(place, f"a part of type {kind!r} has no place")
            return None
        for key in part.keys() - _CARRIED_OF_PARTS:
            self._lose(f"{place}.{key}", "there is no place for it")
        detail = part["image_url"].get("detail") if isinstance(read, Image) else None
        if detail in ("low", "high", "auto"):
            return replace(read, detail=detail)
        if detail is not None:
            self._lose(f"{place}.image_url.detail", "there is no place for it")
        return read

    def _calls(self, found: Mapping[str, Any], i: int) -> list[ToolCall]:
        given = list(found.get("tool_calls") or ())
        if found.get("function_call"):
            # The older form has no ids: the name is what pairs a call with its result.
            given.append({"id": str(found["function_call"].get("name", "")), "function": found["function_call"]})
        calls = []
        for j, call in enumerate(given):
            read = self._call(call, f"messages[{i}].tool_calls[{j}]")
            if read is not None:
                self._called[read.id] = read.name
                calls.append(read)
        return calls

    def _call(self, call: Any, place: str) -> ToolCall | None:
        custom = call.get("custom") if isinstance(call, Mapping) else None
        if isinstance(custom, Mapping):
            self._lose(place, "a custom tool's input, which is no object, was kept as raw text")
            return ToolCall.of(
                str(call.get("id", "")), str(custom.get("name", "")), arguments={}, raw=str(custom.get("input", ""))
            )
        try:
            return read_message({"role": "assistant", "tool_calls": [call]}).calls[0]
        except NotStorable:
            self._lose(place, "it is no call")
            return None

    def _result(self, found: Mapping[str, Any], i: int) -> Message:
        name = str(found.get("name") or "")
        id = str(found.get("tool_call_id") or name)
        output: Jsonable = found.get("content")
        if isinstance(output, Sequence) and not isinstance(output, str):
            texts = [part for part in self._content(found, i) if isinstance(part, Text)]
            output = "".join(part.text for part in texts)
        return Message("tool", (ToolResult.of(id, name or self._called.get(id, ""), output=output or ""),))

    def _lose(self, place: str, why: str) -> None:
        self.lost.append(f"{place}: {why}")
