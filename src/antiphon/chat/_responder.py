"""Responders: a function of the caller's own in the place of a model."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from dataclasses import dataclass, field
from typing import Any

from .._jsonable import Jsonable
from .._messages import Message, StoredInput
from .._trace import Trace
from ..errors import Misuse
from ..models._events import ModelEvent, Replied, TextPiece
from ..models._request import ModelRequest
from ._reply import Reply


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a responder is given.

    Attributes:
        session_id: the session.
        turn_id: the turn.
        messages: what the context shows; the newest input stands in it already, last unless the turn was steered.
        input: the newest input.
        instructions: the system text.
        deps: what the caller handed in with the turn.
        metadata: what the caller gave with the input.
        trace: where every token of it comes from.
    """

    session_id: str
    turn_id: str
    messages: Sequence[Message]
    input: StoredInput
    instructions: str
    trace: Trace
    deps: object = None
    metadata: Mapping[str, Jsonable] = field(default_factory=dict)


Answer = str | Message | Reply | Replied
Responder = Callable[[TurnRequest], Awaitable[Answer] | AsyncIterator[str]]
"""An async function that gives the reply, or an async generator of its text.

The reply is text, an assistant `Message`, or a `Replied(message, usage=Usage(…), finish="stop", model="…")`, which
also says what the call consumed. A sync function will do where nothing is waited for.
"""


@dataclass(frozen=True, slots=True)
class Responding:
    """A responder as a model, for one turn."""

    responder: Responder
    request: TurnRequest

    @property
    def name(self) -> str:
        """The function's name."""
        return responder_name(self.responder)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:  # noqa: ARG002 - a model's method
        """Run the responder; what it gives becomes a model's events."""
        given = self.responder(self.request)
        if isinstance(given, AsyncIterator):
            pieces = []
            async with closing(given) as stream:
                async for piece in stream:
                    pieces.append(_text(piece, self.name))
                    yield TextPiece(piece)
            yield Replied(Message.of("assistant", "".join(pieces)))
            return
        replied = _replied(await _answer(given), self.name)
        if replied.message.text:
            yield TextPiece(replied.message.text)
        yield replied


def closing(stream: Any) -> AbstractAsyncContextManager[Any]:
    """Close a stream when its reader is done, if it can be closed: only generators must be."""
    return aclosing(stream) if hasattr(stream, "aclose") else nullcontext(stream)


def responder_name(responder: Responder) -> str:
    """How traces call a responder."""
    return getattr(responder, "__name__", type(responder).__name__)


def _text(piece: object, name: str) -> str:
    if not isinstance(piece, str):
        raise Misuse(f"responder {name!r} gave a {type(piece).__name__} as a piece of text", "yield text only")
    return piece


async def _answer(given: Any) -> object:
    return await given if inspect.isawaitable(given) else given


def _replied(given: object, name: str) -> Replied:
    match given:
        case str():
            return Replied(Message.of("assistant", given))
        case Message(role="assistant"):
            return Replied(given)
        case Replied():
            return given
        case Reply():
            finish = given.finish_reason if given.finish_reason in ("length", "refusal") else "stop"
            return Replied(given.message, given.usage, finish, given.model)
        case _:
            raise Misuse(
                f"responder {name!r} gave a {type(given).__name__}",
                "return text, an assistant Message or a Replied, or be an async generator of text",
            )
