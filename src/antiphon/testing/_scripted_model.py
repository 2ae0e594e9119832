"""A model that answers what a test wrote down."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from .._messages import Message
from ..errors import Misuse
from ..models import ModelEvent, ModelRequest, Replied, TextPiece

Step = ModelEvent | Exception
"""An event that is given, or an error that is raised at this point of the stream."""
ScriptedReply = str | Message | Replied | Exception | Sequence[object] | Callable[[ModelRequest], object]
"""A reply, a sequence of steps, or a function of the request, plain or async, that gives one of these.

The sequence is not typed as one of `Step`: Python's type checkers take a list of events and errors for a list of
objects.
"""

_PIECES = 4


class ScriptedModel:
    """Gives scripted replies in order, one for each call, and keeps the requests.

    A reply is one of: a text, streamed in a few pieces; a `Message`, whose finish is `calls` if it holds tool calls;
    a `Replied`; an exception, raised in place of a reply; a sequence of events and exceptions, given as it is, so
    that a stream can be broken at any event, or end without a reply; a function of the request that gives any of
    these. A function in place of the sequence of replies answers every call.

    Usage is reported only where a `Replied` holds it.

    Args:
        replies: what to answer; a text, a message or an exception alone is a script of one.
        name: how traces and errors call this model.
        window: tokens of request and reply together; None is not known, announced as 0.
        delay: seconds to wait before each event.

    Attributes:
        requests: what was asked, in order of the first event's being asked for.
    """

    def __init__(
        self,
        replies: Sequence[ScriptedReply] | ScriptedReply,
        *,
        name: str = "scripted",
        window: int | None = None,
        delay: float = 0,
    ) -> None:
        self._always = replies if callable(replies) else None
        self._replies = [] if callable(replies) else _listed(replies)
        self._name, self._window, self._delay = name, window, delay
        self.requests: list[ModelRequest] = []

    @property
    def name(self) -> str:
        """How traces and errors call this model."""
        return self._name

    @property
    def window(self) -> int:
        """Tokens of request and reply together; 0 is not known."""
        return self._window or 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Give the next scripted reply.

        Raises:
            Misuse: if every scripted reply was given already, or one is of no kind that can be given.
            Exception: whatever the script holds.
        """
        self.requests.append(request)
        scripted = self._next()
        reply = scripted(request) if callable(scripted) else scripted
        if inspect.isawaitable(reply):
            reply = await reply
        for step in _steps(reply):
            await asyncio.sleep(self._delay)
            if isinstance(step, BaseException):
                raise step
            yield step

    def _next(self) -> ScriptedReply:
        asked = len(self.requests)
        if self._always is not None:
            return self._always
        if asked > len(self._replies):
            scripted = "1 reply was" if len(self._replies) == 1 else f"{len(self._replies)} replies were"
            raise Misuse(
                f"model {self._name!r} was asked {asked} times, but only {scripted} scripted", "script another reply"
            )
        return self._replies[asked - 1]


def _listed(replies: Any) -> list[ScriptedReply]:
    alone = isinstance(replies, str | Message | Replied | Exception)
    return [replies] if alone else list(replies)


def _steps(reply: Any) -> list[Step]:
    if isinstance(reply, Exception):
        return [reply]
    if isinstance(reply, str):
        reply = Message.of("assistant", reply)
    if isinstance(reply, Message):
        reply = Replied(reply, finish="calls" if reply.calls else "stop")
    if isinstance(reply, Replied):
        return [*(TextPiece(piece) for piece in _pieces(reply.message.text)), reply]
    if not isinstance(reply, Sequence) or not all(isinstance(step, Step) for step in reply):
        raise Misuse(
            f"a {type(reply).__name__} was scripted as a reply", "script a text, a message, events or an error"
        )
    return list(reply)


def _pieces(text: str) -> list[str]:
    size = math.ceil(len(text) / _PIECES) or 1
    return [text[start : start + size] for start in range(0, len(text), size)]
