"""What a reader of a running turn is told. Names equal the journal's types where both exist."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar, Literal

import msgspec

from .._jsonable import Jsonable
from .._messages import Message, StoredInput
from .._trace import Trace
from ..tools._policy import PendingCall
from ._hooks import Phase
from ._reply import Reply


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """Something happened in a turn.

    Attributes:
        seq: place in the turn's log, from 1; `events(after=seq)` goes on behind it.
        turn_id: the turn.
    """

    seq: int = 0
    turn_id: str = ""
    type: ClassVar[str] = "event"

    def to_dict(self) -> dict[str, Jsonable]:
        """The event as JSON: type, seq, turn_id and its own fields."""
        own = {name: _plain(getattr(self, name)) for name in self.__struct_fields__}
        return {"type": self.type, **own}


class TurnAccepted(Event, frozen=True, kw_only=True):
    """The input is committed."""

    type: ClassVar[str] = "turn.accepted"


class ContextBuilt(Event, frozen=True, kw_only=True):
    """A model is about to be asked; `trace` says what it is shown."""

    trace: Trace
    type: ClassVar[str] = "turn.shown"


class TextDelta(Event, frozen=True):
    """More of the reply's text. What one reader has not had yet comes joined."""

    text: str
    type: ClassVar[str] = "text.delta"


class ReasoningDelta(Event, frozen=True):
    """More of the model's visible reasoning."""

    text: str
    type: ClassVar[str] = "reasoning.delta"


class ModelReplied(Event, frozen=True, kw_only=True):
    """A model call ended that did not end the turn; text since the one before belongs to it."""

    message: Message
    type: ClassVar[str] = "model.replied"


class Steered(Event, frozen=True, kw_only=True):
    """A person said more, and it is committed."""

    input: StoredInput
    type: ClassVar[str] = "turn.steered"


class Retrying(Event, frozen=True, kw_only=True):
    """The model is asked again; text since the last `ModelReplied` is void. `delay` is in seconds."""

    attempt: int
    delay: float
    reason: str = ""
    type: ClassVar[str] = "model.retrying"


class ToolCalled(Event, frozen=True, kw_only=True):
    """A tool is started; that is committed."""

    call_id: str
    name: str
    arguments: Jsonable
    type: ClassVar[str] = "tool.started"


class ToolReturned(Event, frozen=True, kw_only=True):
    """A call has its result, and that is committed."""

    call_id: str
    name: str
    is_error: bool
    output: Jsonable = None
    type: ClassVar[str] = "tool.returned"


class ToolProgress(Event, frozen=True, kw_only=True):
    """A running tool says how far it is; `fraction` is from 0 to 1, or None."""

    call_id: str
    name: str
    note: str
    fraction: float | None
    type: ClassVar[str] = "tool.progress"


class Compacting(Event, frozen=True, kw_only=True):
    """Earlier turns are being summarised; the turn waits for it. `messages`: how many are."""

    messages: int = 0
    type: ClassVar[str] = "context.compacting"


class Compacted(Event, frozen=True, kw_only=True):
    """Earlier turns are summarised. `summary` is the text that stands for them from now on, if it is of use."""

    summary: str
    type: ClassVar[str] = "context.compacted"


class StateChanged(Event, frozen=True, kw_only=True):
    """A value of the session's state is another one now; on `session.events` only. `old`: the one before."""

    key: str
    value: Jsonable
    old: Jsonable = None
    type: ClassVar[str] = "state.changed"


class Completed(Event, frozen=True, kw_only=True):
    """The turn ended in a reply; the last event."""

    reply: Reply
    type: ClassVar[str] = "turn.completed"


class Failed(Event, frozen=True, kw_only=True):
    """The turn ended in an error, or its outcome could not be written; the last event.

    `phase`: where the error came up; `accept` where the turn did not even begin.
    """

    error: str
    phase: Phase | Literal["accept"] = "send"
    partial: str = ""
    type: ClassVar[str] = "turn.failed"


class Canceled(Event, frozen=True, kw_only=True):
    """The turn was canceled; the last event."""

    reason: str | None
    partial: str = ""
    type: ClassVar[str] = "turn.canceled"


class Waiting(Event, frozen=True, kw_only=True):
    """The run ended, and the turn did not: a person must decide on these calls; the last event."""

    pending: tuple[PendingCall, ...]
    reply: Reply
    type: ClassVar[str] = "turn.waiting"


ENDS = (Completed, Failed, Canceled, Waiting)
"""Exactly one of these is the last event of a turn's run."""


def _plain(value: Any) -> Jsonable:
    if isinstance(value, Trace):
        return value.rows()
    if isinstance(value, Reply):
        return {
            "text": value.text,
            "finish_reason": value.finish_reason,
            "model": value.model,
            "usage": _plain(value.usage),
        }
    if isinstance(value, Message):
        return value.to_json()
    if isinstance(value, PendingCall):
        return asdict(value)
    if isinstance(value, tuple) and all(isinstance(each, PendingCall) for each in value):
        return [_plain(each) for each in value]
    if isinstance(value, msgspec.Struct):
        return {name: _plain(getattr(value, name)) for name in value.__struct_fields__}
    return Message("user", value).to_json()["content"] if isinstance(value, tuple) else value
