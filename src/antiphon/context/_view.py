"""The seam to contexts: what a context may look at, and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

from .._messages import Message, StoredInput
from .._trace import Layer
from ..transcript._turn import Turn
from ._budget import UNBOUNDED, Budget


@dataclass(frozen=True, slots=True)
class View:
    """What a context or a source may look at for one turn. Nothing in it can be changed.

    Attributes:
        session_id: the session.
        scope: the owner that the session was created for, or None.
        turns: earlier turns of every status, oldest first; the turn being answered is not among them.
        input: the newest input.
        query: the words of the newest input.
        deps: what the caller handed in with the turn.
        budget: the room there is, and the counter.
        metadata: what the caller gave with the input.
    """

    session_id: str
    scope: str | None
    turns: Sequence[Turn]
    input: StoredInput
    query: str
    deps: object = None
    budget: Budget = UNBOUNDED
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Assembled(NamedTuple):
    """What a context gives: everything but the newest input, which only the driver adds.

    Attributes:
        before_input: messages that stand before the newest input.
        system: system text behind the instructions.
        with_input: a block behind the input's own parts, in the same message.
        layers: the trace's lines for all of this; made from what is above where left out.
        warnings: sentences for the trace.
    """

    before_input: Sequence[Message | Mapping[str, Any]]
    system: str = ""
    with_input: str = ""
    layers: Sequence[Layer] = ()
    warnings: Sequence[str] = ()


Built = Assembled | Sequence[Message | Mapping[str, Any]]


@runtime_checkable
class Context(Protocol):
    """A strategy: what the model is shown.

    `build` may be sync or async. It gives an `Assembled`, or only the messages before the input, as `Message`s or as
    plain `{"role", "content"}` dicts. What it raises fails the turn. A function of a View is a context too.
    """

    def build(self, view: View) -> Built | Awaitable[Built]:
        """Decide what this turn's model is shown."""
        ...


ContextFunction = Callable[[View], Built | Awaitable[Built]]
"""A context that needs no object of its own."""
