"""What a chat completion stream says, as events. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._messages import Message, Part, Reasoning, Text
from ..._usage import Usage
from ...errors import MalformedReply, Overloaded
from ...models import FinishReason, ModelEvent, ReasoningPiece, Replied, TextPiece
from .._surrogates import Joiner
from ._calls import CallPieces
from ._refusals import error_in_stream

PROVIDER = "openai_chat"
_FINISH: Mapping[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "calls",
    "function_call": "calls",
    "content_filter": "refusal",
}
# OpenRouter, vLLM and DeepSeek, in this order, for a reply that they could not finish.
_BROKEN = ("error", "abort", "insufficient_system_resource")


class Decoder:
    """Folds the chunks of one stream: `feed` each of them, then ask for the `end`.

    A whole answer, as it comes without streaming, is one chunk too. Only the first choice is read.

    Args:
        model: how errors call the model.
        names: tools by the names that they were sent under, where these differ.
        hide: takes out of a server's words what must not be repeated.
    """

    def __init__(
        self,
        model: str = PROVIDER,
        *,
        names: Mapping[str, str] | None = None,
        hide: Callable[[str], str] = str,
    ) -> None:
        self._model, self._names, self._hide = model, names or {}, hide
        self._said, self._thought = Joiner(), Joiner()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls = CallPieces()
        self._refused = False
        self._finish: FinishReason | None = None
        self._usage: Usage | None = None
        self._answered_by: str | None = None
        self._id = ""
        self._last: Mapping[str, Any] = {}

    @property
    def whole(self) -> bool:
        """Whether the model has said why it stopped: then the reply is complete, but for its usage."""
        return self._finish is not None

    def feed(self, chunk: Mapping[str, Any]) -> list[ModelEvent]:
        """Give the events that a chunk holds; none for usage, pieces of calls and the like.

        Raises:
            ModelError: what the chunk says went wrong.
            MalformedReply: if the chunk is not of the form that the endpoint promises.
        """
        error = error_in_stream(self._model, chunk, hide=self._hide)
        if error is not None:
            raise error
        try:
            return self._read(chunk)
        except (KeyError, TypeError, AttributeError, IndexError, ValueError) as why:
            raise MalformedReply(self._model, f"a chunk with the keys {sorted(map(str, chunk))}") from why

    def end(self) -> list[ModelEvent]:
        """Give what was held back and, last, the whole reply.

        Raises:
            MalformedReply: if the stream ended before the model said why it stopped.
        """
        if self._finish is None:
            raise MalformedReply(self._model, "the stream ended before the model said why it stopped")
        left = self._pieces(self._thought.end(), self._said.end())
        return [*left, self._replied(self._finish)]

    def _read(self, chunk: Mapping[str, Any]) -> list[ModelEvent]:
        self._last = chunk
        self._id = self._id or str(chunk.get("id") or "")
        self._answered_by = chunk.get("model") or self._answered_by
        self._count(chunk.get("usage"))
        events: list[ModelEvent] = []
        for choice in chunk["choices"] or ():
            if not choice.get("index"):
                events += self._choice(choice)
        return events

    def _choice(self, choice: Mapping[str, Any]) -> list[ModelEvent]:
        self._count(choice.get("usage"))
        delta = choice.get("delta") or choice.get("message") or {}
        for piece in delta.get("tool_calls") or ():
            self._calls.feed(piece)
        if delta.get("function_call"):
            self._calls.feed({"index": 0, "function": delta["function_call"]})
        thought, said = _sorted_out(delta.get("content"))
        thought += delta.get("reasoning_content") or delta.get("reasoning") or ""
        refusal = delta.get("refusal") or ""
        self._refused = self._refused or bool(refusal)
        if reason := choice.get("finish_reason"):
            self._finish = self._finish_of(reason)
        return self._pieces(self._thought.feed(thought), self._said.feed(said + refusal))

    def _finish_of(self, reason: str) -> FinishReason:
        if reason in _BROKEN:
            raise Overloaded(self._model, f"it could not finish the reply ({reason})")
        found = _FINISH.get(reason, "stop")
        if found == "stop" and self._refused:
            return "refusal"
        # Some servers say `stop` beside calls, and `tool_calls` beside none.
        return found if found not in ("stop", "calls") else "calls" if self._calls else "stop"

    def _pieces(self, thought: str, said: str) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        if thought:
            self._reasoning.append(thought)
            events.append(ReasoningPiece(thought))
        if said:
            self._text.append(said)
            events.append(TextPiece(said))
        return events

    def _count(self, told: Mapping[str, Any] | None) -> None:
        if told:
            self._usage = usage_of(told)

    def _replied(self, finish: FinishReason) -> Replied:
        parts: list[Part] = []
        if self._reasoning:
            parts.append(Reasoning("".join(self._reasoning), provider=PROVIDER, model=self._answered_by))
        if self._text:
            parts.append(Text("".join(self._text)))
        parts += self._calls.calls(self._names, reply=self._id)
        message = Message.of("assistant", parts)
        return Replied(message, self._usage, finish, model=self._answered_by, raw=self._last)


def usage_of(told: Mapping[str, Any]) -> Usage:
    """Give a server's figures in our form: what was cached is a part of the input, never beside it.

    DeepSeek names the cached part differently, and xAI counts reasoning beside the output instead of in it.
    """
    details = told.get("prompt_tokens_details") or {}
    input, output = _figure(told, "prompt_tokens"), _figure(told, "completion_tokens")
    reasoning = _figure(told.get("completion_tokens_details") or {}, "reasoning_tokens")
    if reasoning and _figure(told, "total_tokens") == input + output + reasoning:
        output += reasoning
    cached = min(input, _figure(details, "cached_tokens") or _figure(told, "prompt_cache_hit_tokens"))
    written = min(input - cached, _figure(details, "cache_write_tokens"))
    return Usage(input=input, output=output, cached=cached, cache_written=written, reasoning=min(reasoning, output))


def _figure(told: Mapping[str, Any], name: str) -> int:
    found = told.get(name)
    return max(0, int(found)) if isinstance(found, int | float) else 0


def _sorted_out(content: str | Sequence[Mapping[str, Any]] | None) -> tuple[str, str]:
    """Reasoning and words of a content, which Mistral gives in parts."""
    if content is None or isinstance(content, str):
        return "", content or ""
    thought = said = ""
    for part in content:
        if part.get("type") == "thinking":
            thought += "".join(inner.get("text") or "" for inner in part.get("thinking") or ())
        else:
            said += part.get("text") or ""
    return thought, said
