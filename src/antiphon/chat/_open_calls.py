"""Which calls of a turn's last reply have no result, where each of them stands, and which wait for a person."""

from __future__ import annotations

from collections import Counter

import msgspec

from .._jsonable import NULL, Jsonable, thaw_object
from .._messages import ToolCall
from ..journal._entries import ModelReplied, ToolAsked, ToolDecided, ToolStarted, TurnEntry
from ..journal._lifecycle import RUNNING, CallPhase, after
from ..tools._policy import PendingCall
from ..transcript._turn import Turn
from ._effects import OpenCall


def open_calls(turn: Turn) -> tuple[OpenCall, ...]:
    """The calls of the last reply that have no result, in their order; none of a turn that is over."""
    found = _last_round(turn)
    if found is None:
        return ()
    reply, since = found
    # From the last reply on, for a long turn has many rounds before it; what stands there was checked when it was read.
    state = RUNNING
    for entry in (reply, *since):
        state = after(state, entry)
    if state.over or not state.calls:
        return ()
    started = Counter(id for entry in since if isinstance(entry, ToolStarted) for id in entry.call_ids)
    asked = {entry.call_id: entry.arguments_json for entry in since if isinstance(entry, ToolAsked)}
    decided = {entry.call_id: entry for entry in since if isinstance(entry, ToolDecided)}
    return tuple(
        _open(
            call,
            decided.get(call.id),
            phase=state.calls[call.id],
            attempts=started[call.id],
            asked=asked.get(call.id, NULL),
        )
        for call in reply.message.calls
        if state.calls[call.id] != "returned"
    )


def _open(
    call: ToolCall, decided: ToolDecided | None, *, phase: CallPhase, attempts: int, asked: msgspec.Raw
) -> OpenCall:
    # What a person was shown is what they decide on, unless they give other arguments.
    arguments = None if asked == NULL else asked
    if decided is None:
        return OpenCall(call, phase, arguments, attempts)
    if decided.arguments_json != NULL:
        arguments = decided.arguments_json
    return OpenCall(call, phase, arguments, attempts, decided.by, decided.reason)


def _last_round(turn: Turn) -> tuple[ModelReplied, list[TurnEntry]] | None:
    for at in range(len(turn.entries) - 1, 0, -1):
        reply = turn.entries[at]
        if isinstance(reply, ModelReplied):
            return reply, list(turn.entries[at + 1 :])
    return None


def pending_calls(turn: Turn) -> tuple[PendingCall, ...]:
    """The calls that wait for a person, each with the reason why."""
    asked = {entry.call_id: entry.reason for entry in turn.entries if isinstance(entry, ToolAsked)}
    return tuple(
        PendingCall(each.call.id, turn.id, each.call.name, _arguments(each), asked.get(each.call.id, ""))
        for each in open_calls(turn)
        if each.phase == "asked"
    )


def _arguments(open: OpenCall) -> dict[str, Jsonable]:
    return open.call.arguments if open.arguments is None else thaw_object(open.arguments)


def round_of(turn: Turn) -> int:
    """The number of the turn's last model call that asked for tools."""
    return sum(isinstance(entry, ModelReplied) for entry in turn.entries)


def as_decided(open: OpenCall) -> ToolCall:
    """A call with the arguments that a person gave, where one did."""
    return open.call if open.arguments is None else ToolCall(open.call.id, open.call.name, open.arguments)
