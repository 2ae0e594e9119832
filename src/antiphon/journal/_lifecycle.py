"""The life of a turn, as two tables: which entry may follow in which phase, and the same for a tool call.

Writer, reader, diagram and tests use these tables. They do not know which side asks: met by the writer a refusal is
`IllegalEntry`, met by the reader `CorruptJournal`. That one turn is open at a time is a rule of the writer alone,
and nobody writes that a turn was interrupted or waits: both are read from the absence of an outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ._entries import (
    FeedbackRecorded,
    ModelReplied,
    ToolAsked,
    ToolDecided,
    ToolReturned,
    ToolStarted,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnEntry,
    TurnFailed,
    TurnResumed,
    TurnShown,
    TurnSteered,
)

Phase = Literal["absent", "running", "calling", "completed", "failed", "canceled"]
CallPhase = Literal["called", "asked", "allowed", "denied", "answered", "started", "returned"]

_MORE: dict[type[Any], Phase] = {TurnResumed: "running", TurnSteered: "running", TurnShown: "running"}

PHASES: dict[Phase, dict[type[Any], Phase]] = {
    "absent": {TurnAccepted: "running"},
    "running": _MORE
    | {
        ModelReplied: "running",
        FeedbackRecorded: "running",
        TurnCompleted: "completed",
        TurnFailed: "failed",
        TurnCanceled: "canceled",
    },
    # A round of calls is open: nothing that shows a model its results, and no reply, until all have returned.
    "calling": {
        TurnResumed: "calling",
        TurnSteered: "calling",
        TurnShown: "calling",
        ToolAsked: "calling",
        ToolDecided: "calling",
        ToolStarted: "calling",
        ToolReturned: "calling",
        FeedbackRecorded: "calling",
        TurnFailed: "failed",
        TurnCanceled: "canceled",
    },
    "completed": {FeedbackRecorded: "completed"},
    "failed": {FeedbackRecorded: "failed"},
    "canceled": {FeedbackRecorded: "canceled"},
}
"""Where each entry leads from each phase. Two moves depend on the calls: a `model.replied` that holds calls leads
from running to calling, and the `tool.returned` that answers the last of them leads back."""

CALLS: dict[CallPhase, dict[type[Any], CallPhase]] = {
    "called": {ToolAsked: "asked", ToolStarted: "started", ToolReturned: "returned"},
    # A newer input answers for the person: the call was not run.
    "asked": {ToolDecided: "allowed", ToolReturned: "returned"},
    "allowed": {ToolStarted: "started", ToolReturned: "returned"},
    "denied": {ToolReturned: "returned"},
    "answered": {ToolReturned: "returned"},
    # A run that died leaves a call started: a person is asked, or it is started once more if it is idempotent.
    "started": {ToolAsked: "asked", ToolStarted: "started", ToolReturned: "returned"},
    "returned": {},
}
"""Where each tool entry leads from each phase of the call it names. A decision leads to what was decided."""

_DECISIONS: dict[str, CallPhase] = {"allow": "allowed", "deny": "denied", "answer": "answered"}


@dataclass(frozen=True, slots=True)
class TurnState:
    """Where one turn stands: its phase, and the phases of the calls of its last reply.

    Attributes:
        phase: the turn's phase.
        calls: the phase of each call of its last reply, while it is calling.
        moves: the moves from here that depend on no call, looked up at once: a long journal is mostly these.
    """

    phase: Phase = "absent"
    calls: Mapping[str, CallPhase] = field(default_factory=dict)
    moves: dict[type[Any], TurnState] = field(default_factory=dict, compare=False, repr=False)

    @property
    def over(self) -> bool:
        """Whether the turn has an outcome."""
        return self.phase in ("completed", "failed", "canceled")

    @property
    def waiting(self) -> bool:
        """Whether a person is asked, and nothing ended the turn since."""
        return self.phase == "calling" and "asked" in self.calls.values()


_PLAIN: dict[Phase, TurnState] = {phase: TurnState(phase) for phase in PHASES if phase != "calling"}
"""The states that hold nothing but their phase: one object each."""

ABSENT, RUNNING = _PLAIN["absent"], _PLAIN["running"]

for _phase, _state in _PLAIN.items():
    for _kind, _following in PHASES[_phase].items():
        if _kind is not ModelReplied:
            _state.moves[_kind] = _PLAIN[_following]


class NotAllowed(Exception):
    """The tables refuse this entry; the caller says whose fault that is."""


def after(state: TurnState, entry: TurnEntry) -> TurnState:
    """Give the state that `entry` leads to.

    Raises:
        NotAllowed: if the tables do not allow it here, with the reason.
    """
    following = state.moves.get(type(entry))
    if following is not None:
        return following
    phase = PHASES[state.phase].get(type(entry))
    if phase is None:
        raise NotAllowed(_why(state, entry))
    if isinstance(entry, ModelReplied):
        return _begun(entry)
    if isinstance(entry, ToolStarted | ToolReturned | ToolAsked | ToolDecided):
        return _with_calls(state, entry)
    return _PLAIN.get(phase, state)


def _begun(entry: ModelReplied) -> TurnState:
    calls: dict[str, CallPhase] = {call.id: "called" for call in entry.message.calls}
    if len(calls) < len(entry.message.calls):
        raise NotAllowed("two calls of one reply have the same id")
    return TurnState("calling", calls) if calls else RUNNING


def _with_calls(state: TurnState, entry: ToolStarted | ToolReturned | ToolAsked | ToolDecided) -> TurnState:
    calls = dict(state.calls)
    for call_id in entry.call_ids if isinstance(entry, ToolStarted) else (entry.call_id,):
        if call_id not in calls:
            raise NotAllowed(f"no call {call_id!r} is open")
        phase = CALLS[calls[call_id]].get(type(entry))
        if phase is None:
            raise NotAllowed(f"call {call_id!r} is {calls[call_id]}")
        calls[call_id] = _DECISIONS[entry.decision] if isinstance(entry, ToolDecided) else phase
    returned = all(phase == "returned" for phase in calls.values())
    return RUNNING if returned else replace(state, calls=calls)


def _why(state: TurnState, entry: TurnEntry) -> str:
    if state.phase == "absent":
        return f"no turn {entry.turn_id!r} was accepted"
    if isinstance(entry, TurnAccepted):
        return f"turn {entry.turn_id!r} was accepted before"
    if state.phase == "calling":
        missing = ", ".join(repr(id) for id, phase in state.calls.items() if phase != "returned")
        return f"turn {entry.turn_id!r} still waits for the calls {missing}"
    return f"turn {entry.turn_id!r} is {state.phase}"
