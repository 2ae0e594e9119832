"""One turn as it is read back: a view over its entries, in which nothing can be changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from .._jsonable import NULL, Jsonable
from .._messages import Message, StoredInput, ToolCall, ToolResult, input_text
from .._trace import Trace
from .._usage import Usage
from ..journal._entries import (
    FeedbackRecorded,
    ModelReplied,
    ToolDecided,
    ToolReturned,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnEntry,
    TurnFailed,
    TurnShown,
    TurnSteered,
)
from ._limited import within_limits

TurnStatus = Literal["running", "waiting", "completed", "failed", "canceled", "interrupted"]
"""Where a turn stands, as far as its journal and this process know."""


class Turn:
    """What a person said and what came of it.

    Attributes:
        id: the turn.
        status: running, waiting (for a person), completed, failed, canceled, or interrupted: without an outcome.
        entries: the turn's journal entries, in order.
    """

    __slots__ = ("_messages", "_shown", "_traces", "entries", "id", "status")

    id: str
    status: TurnStatus
    entries: tuple[TurnEntry, ...]
    _messages: tuple[Message, ...] | None
    _shown: tuple[Message, ...] | None
    _traces: tuple[Trace, ...] | None

    def __init__(self, entries: Sequence[TurnEntry], status: TurnStatus) -> None:
        object.__setattr__(self, "id", entries[0].turn_id)
        object.__setattr__(self, "status", status)
        object.__setattr__(self, "entries", tuple(entries))
        object.__setattr__(self, "_messages", None)
        object.__setattr__(self, "_shown", None)
        object.__setattr__(self, "_traces", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Turn is read from the journal and cannot be changed; {name!r} was not set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Turn is read from the journal and cannot be changed; {name!r} stays")

    def __repr__(self) -> str:
        return f"Turn({self.id!r}, {self.status}, {input_text(self.input)[:40]!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Turn) and (self.status, self.entries) == (other.status, other.entries)

    def __hash__(self) -> int:
        return hash((self.id, self.status, len(self.entries)))

    @property
    def _accepted(self) -> TurnAccepted:
        first = self.entries[0]
        assert isinstance(first, TurnAccepted)  # replay begins every turn with it
        return first

    @property
    def _outcome(self) -> TurnCompleted | TurnFailed | TurnCanceled | None:
        ends = (each for each in reversed(self.entries) if isinstance(each, TurnCompleted | TurnFailed | TurnCanceled))
        return next(ends, None)

    @property
    def input(self) -> StoredInput:
        """What the person said first."""
        return self._accepted.input

    @property
    def accepted_at(self) -> str:
        """When the input was committed: ISO 8601, UTC."""
        return self._accepted.at

    @property
    def key(self) -> str | None:
        """The caller's idempotency key."""
        return self._accepted.key

    @property
    def retry_of(self) -> str | None:
        """The turn that this one tries again."""
        return self._accepted.retry_of

    @property
    def options(self) -> dict[str, Jsonable]:
        """What was asked for this turn alone."""
        return self._accepted.options

    @property
    def steering(self) -> tuple[StoredInput, ...]:
        """What the person said while the turn ran, in order."""
        return tuple(entry.input for entry in self.entries if isinstance(entry, TurnSteered))

    @property
    def output(self) -> str | None:
        """The reply's text, or None if the turn did not complete."""
        end = self._outcome
        return end.reply.text if isinstance(end, TurnCompleted) else None

    @property
    def reply(self) -> Message | None:
        """The reply as a message, or None if the turn did not complete."""
        end = self._outcome
        return end.reply if isinstance(end, TurnCompleted) else None

    @property
    def partial(self) -> str | None:
        """What had been said when the turn failed or was canceled."""
        end = self._outcome
        return end.partial if isinstance(end, TurnFailed | TurnCanceled) else None

    @property
    def error(self) -> str | None:
        """Why the turn failed or was canceled, in one sentence."""
        end = self._outcome
        if isinstance(end, TurnCanceled):
            return end.reason
        if not isinstance(end, TurnFailed) or end.error is None:
            return None
        return end.error if isinstance(end.error, str) else f"{end.error.kind}: {end.error.text}"

    @property
    def finish_reason(self) -> str | None:
        """Why the reply ended: stop, length, refusal or limit."""
        end = self._outcome
        return (end.finish or "stop") if isinstance(end, TurnCompleted) else None

    @property
    def model(self) -> str | None:
        """The model that gave the reply."""
        end = self._outcome
        return end.model if isinstance(end, TurnCompleted) else None

    @property
    def usage(self) -> Usage | None:
        """Tokens of all the turn's model calls, or None if none was reported."""
        reported = [
            entry.usage
            for entry in self.entries
            if isinstance(entry, ModelReplied | TurnCompleted) and entry.usage is not None
        ]
        return sum(reported, Usage()) if reported else None

    @property
    def metadata(self) -> dict[str, Jsonable]:
        """The caller's values given with the input, and over them what the outcome carries."""
        end = self._outcome
        return self._accepted.metadata | (end.metadata if isinstance(end, TurnCompleted) else {})

    @property
    def feedback(self) -> tuple[FeedbackRecorded, ...]:
        """What people thought of it, in order."""
        return tuple(entry for entry in self.entries if isinstance(entry, FeedbackRecorded))

    @property
    def traces(self) -> tuple[Trace, ...]:
        """What each of its model calls was shown."""
        if self._traces is None:
            shown = (_trace(entry) for entry in self.entries if isinstance(entry, TurnShown))
            object.__setattr__(self, "_traces", tuple(shown))
        return self._traces or ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything said in this turn, in order, whatever its status.

        The input; each model reply with the steering it had been shown before it and the results of its calls after
        it; steering that no reply has seen; and the final reply, or what there was of it.
        """
        if self._messages is None:
            object.__setattr__(self, "_messages", tuple(_in_order(self)))
        return self._messages or ()

    @property
    def shown_messages(self) -> tuple[Message, ...]:
        """The same as models are shown them.

        A result that is longer than its tool allows has its middle left out, and a call that a person let run with
        other arguments has those.
        """
        if self._shown is None:
            limited = any(type(entry) is ToolReturned and entry.limit is not None for entry in self.entries)
            found = within_limits(self.id, self.messages) if limited else self.messages
            found = _with_decided(self, found) if any(type(each) is ToolDecided for each in self.entries) else found
            object.__setattr__(self, "_shown", tuple(found))
        return self._shown or ()


def _trace(entry: TurnShown) -> Trace:
    return Trace.from_json(entry.trace_json, turn_id=entry.turn_id, call=entry.call, model=entry.model)


def _in_order(turn: Turn) -> list[Message]:
    said = [Message.of("user", turn.input)]
    steering: list[Message] = []
    placed = 0
    asked: Message | None = None
    returned: dict[str, ToolReturned] = {}
    for entry in turn.entries:
        if isinstance(entry, TurnSteered):
            steering.append(Message.of("user", entry.input))
        elif isinstance(entry, ToolReturned):
            returned[entry.call_id] = entry
        elif isinstance(entry, ModelReplied | TurnCompleted):
            said += _results(asked, returned)
            # Journals of other writers do not say what a reply had seen; there all steering before it counts as seen.
            seen = len(steering) if entry.steered is None else entry.steered
            said += steering[placed:seen]
            placed = max(placed, seen)
            reply = entry.reply if isinstance(entry, TurnCompleted) else entry.message
            said.append(reply)
            asked, returned = reply, {}
    said += [*_results(asked, returned), *steering[placed:]]
    return said if not turn.partial else [*said, Message.of("assistant", turn.partial)]


def _with_decided(turn: Turn, messages: Sequence[Message]) -> list[Message]:
    """The messages with the arguments that calls were run with, where a person gave others: results answer to those."""
    rounds: list[dict[str, msgspec.Raw]] = []
    for entry in turn.entries:
        if isinstance(entry, ModelReplied):
            rounds.append({})
        elif isinstance(entry, ToolDecided) and entry.decision == "allow" and entry.arguments_json != NULL:
            rounds[-1][entry.call_id] = entry.arguments_json
    left = iter(rounds)
    given = [next(left, {}) if message.role == "assistant" else {} for message in messages]
    return [_called_with(message, own) if own else message for message, own in zip(messages, given, strict=True)]


def _called_with(message: Message, given: Mapping[str, msgspec.Raw]) -> Message:
    parts = (
        ToolCall(part.id, part.name, given[part.id]) if isinstance(part, ToolCall) and part.id in given else part
        for part in message.parts
    )
    return Message(message.role, tuple(parts))


def _results(reply: Message | None, returned: Mapping[str, ToolReturned]) -> list[Message]:
    """The message behind a round's reply. Ids tell the calls of one reply apart, and may come again in the next.

    The reply keeps it: a running turn is read anew after each entry, and what was counted of it stays counted.
    """
    if reply is None or not returned:
        return []
    found = tuple(returned[call.id] for call in reply.calls if call.id in returned)
    entries, message = reply.__dict__.get("_answered", ((), None))
    if len(entries) != len(found) or any(kept is not entry for kept, entry in zip(entries, found, strict=True)):
        message = Message("tool", tuple(map(_result, found)))
        reply.__dict__["_answered"] = (found, message)
    return [message] if message is not None else []


def _result(entry: ToolReturned) -> ToolResult:
    return ToolResult(entry.call_id, entry.name, entry.output_json, entry.is_error, entry.media, entry.limit)
