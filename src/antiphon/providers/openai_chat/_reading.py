"""An answer's bytes, cut anywhere, as events. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ..._jsonable import loads
from ...errors import CorruptJournal, MalformedReply
from ...models import ModelEvent
from .._sse import MAX_EVENT, SseDecoder
from ._decode import Decoder

_DONE = b"[DONE]"
_BEFORE = b"\xef\xbb\xbf \t\r\n"
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


class Reading:
    """Reads one answer: a stream of events, or one JSON object from a server that does not stream.

    Which it is shows in the first character; content types are often wrong.

    Args:
        decoder: what the chunks are fed to.
        model: how errors call the model.
        hide: takes out of a server's words what must not be repeated.

    Attributes:
        over: whether the server has said that nothing more comes.
    """

    def __init__(self, decoder: Decoder, *, model: str, hide: Callable[[str], str] = str) -> None:
        self._decoder, self._model, self._hide = decoder, model, hide
        self._sse = SseDecoder()
        self._first: list[bytes] = []
        self._streams: bool | None = None
        self.over = False

    @property
    def whole(self) -> bool:
        """Whether the reply is complete, should the connection break now."""
        return self._decoder.whole

    def feed(self, chunk: bytes) -> list[ModelEvent]:
        """Give the events that these bytes complete.

        Raises:
            ModelError: what the answer says went wrong.
            MalformedReply: if it is not what the endpoint promises.
        """
        if self._streams:
            return self._events(chunk)
        self._first.append(chunk)
        if self._streams is None:
            self._streams = _is_stream(b"".join(self._first))
        if self._streams:
            return self._events(b"".join(self._first))
        if sum(map(len, self._first)) > MAX_EVENT:
            raise MalformedReply(self._model, f"an answer of more than {MAX_EVENT:,} bytes")
        return []

    def end(self) -> list[ModelEvent]:
        """Give what is left and, last, the whole reply.

        Raises:
            ModelError: as `feed`.
        """
        if self._streams:
            return [*self._last_events(), *self._decoder.end()]
        body = b"".join(self._first)
        if not body.strip(_BEFORE):
            raise MalformedReply(self._model, "the answer is empty")
        return [*self._decoder.feed(_not_streamed(self._object(body))), *self._decoder.end()]

    def _events(self, chunk: bytes) -> list[ModelEvent]:
        try:
            found = self._sse.feed(chunk)
        except ValueError as why:
            raise MalformedReply(self._model, str(why)) from None
        events: list[ModelEvent] = []
        for each in found:
            if self.over or each.strip() == _DONE:
                self.over = True
            elif each.strip():
                events += self._decoder.feed(self._object(each))
        return events

    def _last_events(self) -> list[ModelEvent]:
        """What a last event without its blank line holds; one that is cut is no reply's fault."""
        events: list[ModelEvent] = []
        for each in self._sse.end():
            found = _parsed(each)
            if isinstance(found, dict) and not self.over:
                events += self._decoder.feed(found)
        return events

    def _object(self, text: bytes) -> Mapping[str, Any]:
        found = _parsed(text)
        # Google's compatible endpoint puts an error into a list.
        if isinstance(found, list) and len(found) == 1:
            found = found[0]
        if not isinstance(found, dict):
            raise MalformedReply(self._model, self._hide(_described(text)))
        return found


def _is_stream(begun: bytes) -> bool | None:
    """Whether an answer that begins so is a stream of events; None while nothing tells."""
    head = begun.lstrip(_BEFORE)
    return head[:1] not in (b"{", b"[", b"<") if head else None


def _parsed(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        # msgspec refuses half a character, which a stream may hold in two pieces.
        try:
            return loads(text.decode("utf-8-sig", "replace").encode())
        except (ValueError, RecursionError, CorruptJournal):
            return None


def _not_streamed(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """A whole answer as a chunk: each of its calls is one, whatever ids they have."""
    choices = answer.get("choices")
    if not isinstance(choices, list):
        return answer
    return {**answer, "choices": [_with_indexes(choice) for choice in choices]}


def _with_indexes(choice: Any) -> Any:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict) or not isinstance(message.get("tool_calls"), list):
        return choice
    calls = [{**call, "index": i} if isinstance(call, dict) else call for i, call in enumerate(message["tool_calls"])]
    return {**choice, "message": {**message, "tool_calls": calls}}


def _described(text: bytes) -> str:
    """What stands where a chunk belongs, in few words."""
    if text.lstrip(_BEFORE).startswith(b"<"):
        title = _TITLE.search(text)
        named = f" titled {' '.join(title[1].decode(errors='replace').split())[:80]!r}" if title else ""
        return f"a web page{named} instead of a chat completion; is the address right?"
    return "what came is not JSON"
