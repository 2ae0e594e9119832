"""The life of a turn: both tables exhaustively, what they say of calls, and why an entry is refused."""

from typing import Any, get_args

import pytest

from antiphon import Message, ToolCall
from antiphon.journal import (
    FeedbackRecorded,
    ModelReplied,
    ToolAsked,
    ToolDecided,
    ToolReturned,
    ToolStarted,
    TurnAccepted,
    TurnCanceled,
    TurnCompleted,
    TurnFailed,
    TurnResumed,
    TurnShown,
    TurnSteered,
)
from antiphon.journal._entries import TurnEntry
from antiphon.journal._lifecycle import ABSENT, CALLS, PHASES, CallPhase, NotAllowed, Phase, TurnState, after
from tests.journal.sample import made

STATES: dict[Phase, TurnState] = {
    "absent": ABSENT,
    "running": TurnState("running"),
    "calling": TurnState("calling", {"c1": "called", "c2": "called"}),
    "completed": TurnState("completed"),
    "failed": TurnState("failed"),
    "canceled": TurnState("canceled"),
}
ALWAYS = (TurnResumed, TurnSteered, TurnShown, FeedbackRecorded)
ENDS: dict[type[Any], Phase] = {TurnFailed: "failed", TurnCanceled: "canceled"}
ALLOWED: dict[Phase, dict[type[Any], Phase]] = {
    "absent": {TurnAccepted: "running"},
    "running": {**dict.fromkeys((*ALWAYS, ModelReplied), "running"), TurnCompleted: "completed", **ENDS},
    "calling": {**dict.fromkeys((*ALWAYS, ToolAsked, ToolStarted, ToolReturned), "calling"), **ENDS},
    "completed": {FeedbackRecorded: "completed"},
    "failed": {FeedbackRecorded: "failed"},
    "canceled": {FeedbackRecorded: "canceled"},
}
"""What may follow where both calls of a round wait to be run: the rules of the journal format, said once more."""


def replied(*call_ids: str) -> ModelReplied:
    """A reply that asks for these calls."""
    calls = [ToolCall.of(id, "t", arguments={}) for id in call_ids]
    return made(ModelReplied, call=1, message=Message.of("assistant", calls))


def example(cls: type[Any], call_id: str = "c1", **fields: Any) -> Any:
    """An entry of a turn, of any class."""
    needed: dict[type[Any], dict[str, Any]] = {
        TurnAccepted: {"input": "hi"},
        TurnSteered: {"input": "shorter"},
        TurnShown: {"call": 1, "model": "m"},
        ModelReplied: {"call": 1, "message": Message.of("assistant", "wait")},
        ToolAsked: {"call_id": call_id, "reason": "refunds"},
        ToolDecided: {"call_id": call_id, "decision": "allow", "by": "ana"},
        ToolStarted: {"call_ids": (call_id,)},
        ToolReturned: {"call_id": call_id, "name": "t"},
    }
    return made(cls, **(needed.get(cls, {}) | fields))


def life(*entries: Any) -> TurnState:
    """The state that entries lead to, from nothing."""
    state = ABSENT
    for entry in entries:
        state = after(state, entry)
    return state


@pytest.mark.parametrize("phase", STATES)
@pytest.mark.parametrize("cls", get_args(TurnEntry), ids=lambda cls: cls.__name__)
def test_every_entry_in_every_phase(cls: type[Any], phase: Phase) -> None:
    """In each phase exactly the entries of the table are allowed, and each leads where the table says."""
    state = STATES[phase]
    if (expected := ALLOWED[phase].get(cls)) is None:
        with pytest.raises(NotAllowed):
            after(state, example(cls))
    else:
        assert after(state, example(cls)).phase == expected


CALL_MOVES: dict[CallPhase, dict[str, CallPhase]] = {
    "called": {"ask": "asked", "start": "started", "return": "returned"},
    "asked": {"allow": "allowed", "deny": "denied", "answer": "answered", "return": "returned"},
    "allowed": {"start": "started", "return": "returned"},
    "denied": {"return": "returned"},
    "answered": {"return": "returned"},
    "started": {"ask": "asked", "start": "started", "return": "returned"},
    "returned": {},
}
MOVES: dict[str, Any] = {
    "ask": example(ToolAsked),
    "allow": example(ToolDecided),
    "deny": example(ToolDecided, decision="deny"),
    "answer": example(ToolDecided, decision="answer"),
    "start": example(ToolStarted),
    "return": example(ToolReturned),
}


@pytest.mark.parametrize("phase", get_args(CallPhase))
@pytest.mark.parametrize("move", MOVES)
def test_every_move_in_every_phase_of_a_call(move: str, phase: CallPhase) -> None:
    """A call moves as its table says, and while another call is open the turn stays where it is."""
    state = TurnState("calling", {"c1": phase, "c2": "started"})
    if (expected := CALL_MOVES[phase].get(move)) is None:
        with pytest.raises(NotAllowed, match=f"call 'c1' is {phase}"):
            after(state, MOVES[move])
    else:
        assert after(state, MOVES[move]) == TurnState("calling", {"c1": expected, "c2": "started"})


def test_tables_are_complete() -> None:
    """Every phase of a turn and of a call has its row in the tables."""
    assert tuple(PHASES) == get_args(Phase) == tuple(STATES)
    assert tuple(CALLS) == get_args(CallPhase)


@pytest.mark.parametrize("phase", STATES)
def test_states_are_never_changed(phase: Phase) -> None:
    """What follows is a new state; the one before stays as it was, and so does every table."""
    state = STATES[phase]
    before = (state.phase, dict(state.calls))
    for cls in get_args(TurnEntry):
        try:
            after(state, example(cls))
        except NotAllowed:
            continue
    assert (state.phase, dict(state.calls)) == before


@pytest.mark.parametrize("phase", STATES)
def test_only_an_outcome_ends_a_turn(phase: Phase) -> None:
    """A turn is over with an outcome, and only then."""
    assert STATES[phase].over == (phase in ("completed", "failed", "canceled"))


@pytest.mark.parametrize("phase", get_args(CallPhase))
def test_turn_waits_while_a_question_is_open(phase: CallPhase) -> None:
    """A turn waits exactly while a person was asked about one of its calls and has not decided."""
    assert TurnState("calling", {"c1": "returned", "c2": phase}).waiting == (phase == "asked")


def test_outcome_ends_the_waiting() -> None:
    """A turn that was canceled while a question was open waits for nobody."""
    state = life(example(TurnAccepted), replied("c1"), example(ToolAsked), example(TurnCanceled))
    assert (state.over, state.waiting) == (True, False)


def test_last_result_leads_back_to_the_model() -> None:
    """The round is open until each of its calls has returned, in any order; then the model may reply again."""
    start = [example(TurnAccepted), replied("c1", "c2"), example(ToolStarted, call_ids=("c1", "c2"))]
    assert life(*start, example(ToolReturned, "c2")).calls == {"c1": "started", "c2": "returned"}
    assert life(*start, example(ToolReturned, "c2"), example(ToolReturned, "c1")) == TurnState("running")


def test_reply_without_calls_opens_no_round() -> None:
    """A reply that asks for no tool leaves the turn running: steering may have come meanwhile."""
    assert life(example(TurnAccepted), replied(), replied()).phase == "running"


def test_call_ids_of_one_reply_differ() -> None:
    """Two calls of one reply with the same id are refused, for a result could not say which it answers."""
    with pytest.raises(NotAllowed, match="two calls of one reply have the same id"):
        life(example(TurnAccepted), replied("c1", "c1"))


def test_call_ids_may_come_again_in_the_next_reply() -> None:
    """A later reply may use an id again: servers without ids of their own count from one each time."""
    first = [example(TurnAccepted), replied("c1"), example(ToolReturned)]
    assert life(*first, replied("c1")).calls == {"c1": "called"}


def test_call_that_started_may_start_again() -> None:
    """After a crash a started call is started once more, or a person is asked; both are in the table (A01)."""
    start = [example(TurnAccepted), replied("c1"), example(ToolStarted), example(TurnResumed)]
    assert life(*start, example(ToolStarted)).calls == {"c1": "started"}
    assert life(*start, example(ToolAsked)).waiting


REFUSALS: dict[str, tuple[list[Any], str]] = {
    "no turn": ([example(TurnSteered)], "no turn 't1' was accepted"),
    "accepted twice": ([example(TurnAccepted), example(TurnAccepted)], "turn 't1' was accepted before"),
    "two outcomes": (
        [example(TurnAccepted), example(TurnCompleted), example(TurnFailed)],
        "turn 't1' is completed",
    ),
    "reply to an open round": (
        [example(TurnAccepted), replied("c1", "c2"), example(ToolReturned), example(TurnCompleted)],
        "turn 't1' still waits for the calls 'c2'",
    ),
    "no such call": ([example(TurnAccepted), replied("c1"), example(ToolReturned, "c9")], "no call 'c9' is open"),
    "returned twice": (
        [example(TurnAccepted), replied("c1", "c2"), example(ToolReturned), example(ToolReturned)],
        "call 'c1' is returned",
    ),
    "decided without a question": (
        [example(TurnAccepted), replied("c1"), example(ToolDecided)],
        "call 'c1' is called",
    ),
    "one of several": (
        [example(TurnAccepted), replied("c1"), example(ToolStarted, call_ids=("c1", "c9"))],
        "no call 'c9' is open",
    ),
}


@pytest.mark.parametrize(("entries", "why"), REFUSALS.values(), ids=REFUSALS)
def test_refusal_says_why(entries: list[Any], why: str) -> None:
    """An entry that may not stand where it does is refused with the reason, in words."""
    *before, last = entries
    state = life(*before)
    with pytest.raises(NotAllowed) as caught:
        after(state, last)
    assert str(caught.value) == why
