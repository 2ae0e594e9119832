"""Entries: one frozen class a fact. What is neither here nor derived from here is never kept.

Facts of the conversation: session.created, session.renamed, turn.accepted, turn.steered, turn.completed, turn.failed,
turn.canceled, feedback.recorded, state.changed, context.compacted, context.cleared. Facts of the run: turn.resumed,
turn.shown, model.replied, tool.asked, tool.decided, tool.started, tool.returned. Deltas, summaries, indexes and built
contexts are neither and are never written.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import msgspec

from .._ids import new_id
from .._jsonable import NULL, Jsonable, thaw, thaw_object
from .._messages import File, Image, Message, StoredInput
from .._usage import Usage

VERSION = 1
"""The journal format that this library reads and writes."""


class _Entry(msgspec.Struct, frozen=True, tag_field="type", rename="camel", omit_defaults=True, kw_only=True):
    # `version` has no default, so that it is written: a later format must be able to tell what it reads.
    version: Literal[1]
    id: str
    session_id: str
    at: str

    @property
    def type(self) -> str:
        """The entry's type, as in `turn.accepted`."""
        return entry_type(type(self))


class _TurnEntry(_Entry, frozen=True, kw_only=True):
    turn_id: str


class Origin(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Where a fork was taken: a session, and the last turn copied from it."""

    session_id: str
    turn_id: str | None = None


class Failure(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Why a turn failed: the error's class by name, and its sentence."""

    kind: str
    text: str


class SessionCreated(_Entry, frozen=True, kw_only=True, tag="session.created"):
    """The first entry of every journal."""

    title: str | None = None
    scope: str | None = None
    metadata_json: msgspec.Raw = msgspec.field(name="metadata", default=NULL)
    forked_from: Origin | None = None

    @property
    def metadata(self) -> dict[str, Jsonable]:
        """The caller's own values, decoded anew on each access."""
        return thaw_object(self.metadata_json)


class SessionRenamed(_Entry, frozen=True, kw_only=True, tag="session.renamed"):
    """A new title, or none."""

    title: str | None = None


class TurnAccepted(_TurnEntry, frozen=True, kw_only=True, tag="turn.accepted"):
    """The input is committed; only now may anything act on it."""

    input: StoredInput
    retry_of: str | None = None
    key: str | None = None
    options_json: msgspec.Raw = msgspec.field(name="options", default=NULL)
    metadata_json: msgspec.Raw = msgspec.field(name="metadata", default=NULL)

    @property
    def options(self) -> dict[str, Jsonable]:
        """What was asked for this turn alone: instructions, model, limits, outputSchema."""
        return thaw_object(self.options_json)

    @property
    def metadata(self) -> dict[str, Jsonable]:
        """The caller's own values, decoded anew on each access."""
        return thaw_object(self.metadata_json)


class TurnResumed(_TurnEntry, frozen=True, kw_only=True, tag="turn.resumed"):
    """A run goes on where it stopped; written before it does anything."""

    by: str | None = None


class TurnSteered(_TurnEntry, frozen=True, kw_only=True, tag="turn.steered"):
    """A person said more while the turn ran. `key`: the caller's idempotency key."""

    input: StoredInput
    key: str | None = None


class TurnShown(_TurnEntry, frozen=True, kw_only=True, tag="turn.shown"):
    """What one model call was shown: the trace, and stable layers' text once per digest."""

    call: int
    model: str
    trace_json: msgspec.Raw = msgspec.field(name="trace", default=NULL)
    texts_json: msgspec.Raw = msgspec.field(name="texts", default=NULL)


class ModelReplied(_TurnEntry, frozen=True, kw_only=True, tag="model.replied"):
    """A model call that did not end the turn. `steered`: how many of the turn's steerings this call was shown."""

    call: int
    message: Message
    usage: Usage | None = None
    model: str | None = None
    steered: int | None = None


class ToolAsked(_TurnEntry, frozen=True, kw_only=True, tag="tool.asked"):
    """A call waits for a person. `arguments`: those it would run with, where the model wrote others."""

    call_id: str
    reason: str
    arguments_json: msgspec.Raw = msgspec.field(name="arguments", default=NULL)


class ToolDecided(_TurnEntry, frozen=True, kw_only=True, tag="tool.decided"):
    """A person decided on a call; `arguments` replace the model's where given."""

    call_id: str
    decision: Literal["allow", "deny", "answer"]
    by: str
    arguments_json: msgspec.Raw = msgspec.field(name="arguments", default=NULL)
    reason: str | None = None


class ToolStarted(_TurnEntry, frozen=True, kw_only=True, tag="tool.started"):
    """These calls are about to have effects."""

    call_ids: tuple[str, ...]


class ToolReturned(_TurnEntry, frozen=True, kw_only=True, tag="tool.returned"):
    """A call has its one result. `ms`: milliseconds it ran. `media`: beside the output. `limit`: most bytes shown."""

    call_id: str
    name: str
    output_json: msgspec.Raw = msgspec.field(name="output", default=NULL)
    is_error: bool = False
    ms: int | None = None
    media: tuple[Image | File, ...] = ()
    limit: int | None = None


class TurnCompleted(_TurnEntry, frozen=True, kw_only=True, tag="turn.completed"):
    """The turn ended in a reply: `output` where that is only text, else `message`."""

    output: str | None = None
    message: Message | None = None
    finish: str | None = None
    usage: Usage | None = None
    model: str | None = None
    steered: int | None = None
    metadata_json: msgspec.Raw = msgspec.field(name="metadata", default=NULL)

    @property
    def metadata(self) -> dict[str, Jsonable]:
        """`responder` says what answered; the rest is the responder's own."""
        return thaw_object(self.metadata_json)

    @property
    def reply(self) -> Message:
        """The reply as a message, whichever way it is kept."""
        return self.message if self.message is not None else Message.of("assistant", self.output or "")


class TurnFailed(_TurnEntry, frozen=True, kw_only=True, tag="turn.failed"):
    """The turn ended in an error; `partial` is what had been said by then."""

    error: Failure | str | None = None
    partial: str | None = None


class TurnCanceled(_TurnEntry, frozen=True, kw_only=True, tag="turn.canceled"):
    """The turn was canceled; `partial` is what had been said by then."""

    reason: str | None = None
    partial: str | None = None


class FeedbackRecorded(_TurnEntry, frozen=True, kw_only=True, tag="feedback.recorded"):
    """What a person thinks of a turn. `preferred` is how the reply should have been."""

    rating: int | float | None = None
    comment: str | None = None
    preferred: str | None = None
    by: str | None = None


class StateChanged(_Entry, frozen=True, kw_only=True, tag="state.changed"):
    """A value of the session's state."""

    key: str
    value_json: msgspec.Raw = msgspec.field(name="value", default=NULL)

    @property
    def value(self) -> Jsonable:
        """The value, decoded anew on each access."""
        return thaw(self.value_json)


class ContextCompacted(_Entry, frozen=True, kw_only=True, tag="context.compacted"):
    """A person asked that turns up to this one be summarised; the summary itself stays derived."""

    up_to: str
    focus: str | None = None


class ContextCleared(_Entry, frozen=True, kw_only=True, tag="context.cleared"):
    """Later contexts start after this; the transcript keeps everything."""


class UnknownEntry(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """An entry of a type that this library does not know: kept byte for byte, and skipped when turns are read."""

    version: Literal[1]
    id: str
    session_id: str
    at: str
    type: str
    data: bytes = msgspec.field(default=b"")


TurnEntry = (
    TurnAccepted
    | TurnResumed
    | TurnSteered
    | TurnShown
    | ModelReplied
    | ToolAsked
    | ToolDecided
    | ToolStarted
    | ToolReturned
    | TurnCompleted
    | TurnFailed
    | TurnCanceled
    | FeedbackRecorded
)
SessionEntry = SessionCreated | SessionRenamed | StateChanged | ContextCompacted | ContextCleared
KnownEntry = TurnEntry | SessionEntry
Entry = KnownEntry | UnknownEntry
"""Anything that a line may hold."""
Outcome = TurnCompleted | TurnFailed | TurnCanceled

TYPES: dict[str, type[Any]] = {str(cls.__struct_config__.tag): cls for cls in get_args(KnownEntry)}
"""Every known entry class by its type."""

TURN_ENTRIES: frozenset[type[Any]] = frozenset(get_args(TurnEntry))
"""The entry classes that belong to a turn."""

_NAMES = {cls: name for name, cls in TYPES.items()}

COMMUTING = frozenset({FeedbackRecorded, SessionRenamed, StateChanged, ToolDecided, ToolReturned})
"""What means the same before or after entries of others: it may be written behind them unseen."""


def entry_type(cls: type[Any]) -> str:
    """The type that an entry class is written under."""
    return _NAMES[cls]


def commutes(entry: Entry) -> bool:
    """Whether a writer may go on behind this entry without deciding anew. Unknown types never commute."""
    return type(entry) in COMMUTING


def heading(session_id: str, at: str) -> dict[str, Any]:
    """The fields that every new entry begins with, a fresh id among them."""
    return {"version": VERSION, "id": new_id(), "session_id": session_id, "at": at}
