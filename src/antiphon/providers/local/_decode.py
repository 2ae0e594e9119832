"""What llama.cpp's chat completion stream says, as events. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._messages import Message, Part, Reasoning, Text
from ..._usage import Usage
from ...errors import ContextTooLong, InvalidRequest, MalformedReply, ModelError, Overloaded
from ...models import FinishReason, ModelEvent, ReasoningPiece, Replied, TextPiece

_FINISH: Mapping[str, FinishReason] = {"stop": "stop", "length": "length"}


class Decoder:
    """Folds the chunks of one stream: `feed` each of them, then ask for the `reply`.

    Args:
        model: how errors call the model.
        answered_by: what the reply names as the model; the engine itself would name a path on this machine.
    """

    def __init__(self, model: str = "local", *, answered_by: str | None = None) -> None:
        self._model = model
        self._answered_by = answered_by
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._finish: FinishReason | None = None
        self._usage: Usage | None = None
        self._last: Mapping[str, Any] = {}

    def feed(self, chunk: Mapping[str, Any]) -> list[ModelEvent]:
        """Give the events that a chunk holds; none for progress, usage and the like.

        Raises:
            ContextTooLong: if the engine says that the prompt is longer than the window.
            InvalidRequest: if it says that the request is wrong.
            Overloaded: if it failed.
            MalformedReply: if the chunk is not of the form that the engine promises.
        """
        if "error" in chunk:
            raise _error(self._model, chunk["error"])
        self._last = chunk
        try:
            return self._read(chunk)
        except (KeyError, TypeError, AttributeError, IndexError) as why:
            raise MalformedReply(self._model, f"a chunk with the keys {sorted(chunk)}") from why

    def _read(self, chunk: Mapping[str, Any]) -> list[ModelEvent]:
        if chunk.get("usage"):
            self._usage = _usage(chunk["usage"])
        if not chunk["choices"]:
            return []
        choice = chunk["choices"][0]
        if choice.get("finish_reason"):
            self._finish = _FINISH.get(choice["finish_reason"], "stop")
        return self._pieces(choice.get("delta") or {})

    def _pieces(self, delta: Mapping[str, Any]) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        if thought := delta.get("reasoning_content"):
            self._reasoning.append(thought)
            events.append(ReasoningPiece(thought))
        if text := delta.get("content"):
            self._text.append(text)
            events.append(TextPiece(text))
        return events

    def reply(self) -> Replied:
        """Give the whole reply, once the stream has ended.

        Raises:
            MalformedReply: if the stream broke off before the engine said why it stopped.
        """
        if self._finish is None:
            raise MalformedReply(self._model, "the stream broke off before its end")
        parts: list[Part] = []
        if self._reasoning:
            parts.append(Reasoning("".join(self._reasoning), provider="local", model=self._answered_by))
        if self._text:
            parts.append(Text("".join(self._text)))
        message = Message.of("assistant", parts)
        return Replied(message, self._usage, self._finish, model=self._answered_by, raw=self._last)


def _usage(told: Mapping[str, Any]) -> Usage:
    cached = (told.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return Usage(input=told["prompt_tokens"], output=told["completion_tokens"], cached=cached)


def _error(model: str, told: Any) -> ModelError:
    found = told if isinstance(told, Mapping) else {"message": str(told)}
    code, message = found.get("code"), str(found.get("message", ""))
    client_fault = isinstance(code, int) and 400 <= code < 500
    if found.get("type") == "exceed_context_size_error":
        return ContextTooLong(model, _sizes(found) or message)
    if client_fault:
        return InvalidRequest(model, message)
    return Overloaded(model, message)


def _sizes(found: Mapping[str, Any]) -> str:
    asked, window = found.get("n_prompt_tokens"), found.get("n_ctx")
    return "" if asked is None or window is None else f"{asked:,} tokens, but it holds {window:,}"
