"""Histories that may be sent: every call has its one result right behind it, and nothing is there that cannot go. Pure.

What trimming, crashes, cancellations and other providers leave behind is repaired without inventing content.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..._messages import File, Image, Message, Part, Text, ToolCall, ToolResult

NO_RESULT = "[no result: this call was not finished]"
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""https://platform.openai.com/docs/guides/images-vision: what a data URL may hold."""


class Repaired(NamedTuple):
    """Messages that may be sent, and one sentence for each thing that had to be changed for it."""

    messages: Sequence[Message]
    warnings: Sequence[str]


def repaired(messages: Sequence[Message]) -> Repaired:
    """Put calls and their results together, and mark what chat completions cannot carry.

    - A call's result stands right behind it, all of a round in one message, in the order of the calls. A call without
      one gets a marked stand-in; a result without a call, or a second one, is left out
      (BerriAI/litellm#10083, miurla/morphic#136, camel-ai/camel#3339).
    - Pictures, files and words in a tool message follow in a user message behind the round: results hold text alone
      (strands-agents/sdk-python#320).
    - A picture or file that only another provider or the journal holds becomes a marked line of text; so does any
      that a model said, and a picture that is not PNG, JPEG, GIF or WebP.

    Messages that are in order come back with the same content and no warning.

    Args:
        messages: in order; not changed.
    """
    repairing = _Repairing(messages)
    return Repaired(list(repairing.run()), repairing.warnings)


class _Repairing:
    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = messages
        self._taken: set[tuple[int, int]] = set()
        self.warnings: list[str] = []

    def run(self) -> Iterator[Message]:
        for i, message in enumerate(self._messages):
            if message.role == "assistant":
                yield from self._spoken(i)
            else:
                yield from self._told(i)

    def _spoken(self, i: int) -> Iterator[Message]:
        message = self._messages[i]
        parts = [part for j, part in enumerate(message.parts) if not self._stands_elsewhere(part, (i, j))]
        yield Message("assistant", tuple(self._sendable(part, i) for part in parts))
        if message.calls:
            yield Message("tool", tuple(self._answers(i)))

    def _told(self, i: int) -> Iterator[Message]:
        message = self._messages[i]
        parts = [part for j, part in enumerate(message.parts) if not self._stands_elsewhere(part, (i, j))]
        if any(isinstance(part, ToolCall) for part in parts):
            self._warn(i, f"a call in a {message.role} message was left out")
        kept = tuple(self._sendable(part, i) for part in parts if not isinstance(part, ToolCall))
        if message.role == "system":
            yield Message("system", kept)
        elif message.role == "user" and (kept or not message.results):
            yield Message("user", kept)
        elif kept:
            names = " and ".join(dict.fromkeys(result.name for result in message.results)) or "a tool"
            yield Message("user", (Text(f"[{names} gave:]"), *kept))

    def _stands_elsewhere(self, part: Part, place: tuple[int, int]) -> bool:
        """Whether this is a result, which goes behind its call or, with a warning, nowhere."""
        if not isinstance(part, ToolResult):
            return False
        if place not in self._taken:
            self._warn(place[0], f"the result of {part.call_id!r} answers no open call and was left out")
        return True

    def _answers(self, i: int) -> Iterator[ToolResult]:
        waiting = self._results_behind(i)
        for call in self._messages[i].calls:
            found = waiting.get(call.id)
            if not found:
                self._warn(i, f"call {call.id!r} of {call.name!r} had no result and got a stand-in")
                yield ToolResult.of(call.id, call.name, output=NO_RESULT, is_error=True)
                continue
            place, result = found.popleft()
            self._taken.add(place)
            yield result

    def _results_behind(self, i: int) -> dict[str, deque[tuple[tuple[int, int], ToolResult]]]:
        """The results up to the model's next message, by call id: steering may stand between a call and its result."""
        found: dict[str, deque[tuple[tuple[int, int], ToolResult]]] = {}
        for k in range(i + 1, len(self._messages)):
            if self._messages[k].role == "assistant":
                break
            for j, part in enumerate(self._messages[k].parts):
                if isinstance(part, ToolResult):
                    found.setdefault(part.call_id, deque()).append(((k, j), part))
        return found

    def _sendable(self, part: Part, i: int) -> Part:
        if not isinstance(part, Image | File):
            return part
        why = _why_not(part, self._messages[i].role)
        if not why:
            return part
        what = "an image" if isinstance(part, Image) else f"the file {part.name!r}" if part.name else "a file"
        self._warn(i, f"{what} was left out: {why}")
        return Text(f"[{what} was left out: {why}]")

    def _warn(self, i: int, what: str) -> None:
        self.warnings.append(f"messages[{i}]: {what}")


def _why_not(part: Image | File, role: str) -> str:
    if role in ("assistant", "system"):
        return f"{'an' if role == 'assistant' else 'a'} {role} message holds only text"
    if part.blob is not None:
        return "it is kept elsewhere"
    if isinstance(part, File):
        return "" if part.url is None else "chat completions take no file by its address"
    if part.file_id is not None:
        return "chat completions take no image by a file id"
    if part.data is not None and part.media_type not in _IMAGES:
        return f"{part.media_type} is no picture that models see"
    return ""
