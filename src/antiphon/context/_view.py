"""The seam to contexts: what a context may look at, and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

from .._messages import Message, StoredInput
from .._tool_spec import ToolSpec
from .._trace import Layer
from ..transcript._replay import Compaction
from ..transcript._turn import Turn
from ._budget import UNBOUNDED, Budget

Summarizer = Any
"""What writes a summary: a model, a model's name, or a function of messages that gives a text, sync or async."""


def summarizer_name(summarizer: Summarizer | None) -> str:
    """How traces and errors call a summarizer; None is the model of the turn being answered."""
    if summarizer is None:
        return "the turn's model"
    if isinstance(summarizer, str):
        return summarizer
    named = getattr(summarizer, "name", None) or getattr(summarizer, "__name__", None)
    return str(named or type(summarizer).__name__)


class Asks(Protocol):
    """Asks a summarizer, and gives its text."""

    async def __call__(
        self, summarizer: Summarizer | None, messages: Sequence[Message], /, *, instructions: str
    ) -> str:
        """Ask once.

        Raises:
            SummaryFailed: if no text came of it.
        """
        ...


class Derived(Protocol):
    """What is kept beside a session's journal and can be made again."""

    async def get(self, key: str) -> bytes | None:
        """Give what was put under `key`; lost or damaged is None."""
        ...

    async def put(self, key: str, content: bytes) -> None:
        """Keep `content` under `key`."""
        ...


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
        model: how traces call what answers.
        at: when the input was accepted: ISO 8601, UTC.
        state: the session's state, by key.
        ask: asks a summarizer; None where no model may be asked, as in a preview.
        derived: what is kept beside the journal; None where the store keeps nothing of the kind.
        turn_id: the turn being answered.
        instructions: the turn's pinned text, which is sent first whatever a context gives.
        tools: what is offered, in order.
        unlockable: what is offered only where a layer unlocks it.
        rounds: what the running turn has said behind its input; empty until a call of it would not fit.
        boundary: the first turn that is shown word for word where earlier ones are not, else None; for sources.
        compactions: where a person asked for what came before to be summarised; counted in `turns`.
        cache: what a context may keep for this session while the process lives. It may be emptied at any time.
    """

    session_id: str
    scope: str | None
    turns: Sequence[Turn]
    input: StoredInput
    query: str
    deps: object = None
    budget: Budget = UNBOUNDED
    metadata: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    at: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)
    ask: Asks | None = None
    derived: Derived | None = None
    turn_id: str = ""
    instructions: str = ""
    unlockable: Sequence[ToolSpec] = ()
    tools: Sequence[ToolSpec] = ()
    rounds: Sequence[Message] = ()
    boundary: str | None = None
    compactions: Sequence[Compaction] = ()
    cache: MutableMapping[Any, Any] = field(default_factory=dict)


class Assembled(NamedTuple):
    """What a context gives: everything but the newest input, which only the driver adds.

    Attributes:
        before_input: messages that stand before the newest input.
        system: system text behind the instructions.
        with_input: a block behind the input's own parts, in the same message.
        layers: the trace's lines for all of this; made from what is above where left out.
        warnings: sentences for the trace.
        tools: what is offered, in order; None offers all that the view has.
        rounds: what stands for the running turn's own messages behind its input; None leaves them as they are.
        budget: the budget that was kept, where it is not the view's.
    """

    before_input: Sequence[Message | Mapping[str, Any]]
    system: str = ""
    with_input: str = ""
    layers: Sequence[Layer] = ()
    warnings: Sequence[str] = ()
    tools: Sequence[ToolSpec] | None = None
    rounds: Sequence[Message | Mapping[str, Any]] | None = None
    budget: Budget | None = None


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
