"""A trace as a person reads it."""

from __future__ import annotations

from .._trace import Trace
from ..chat import Session
from ._endings import Refused
from ._screen import Screen
from ._turn_choice import turn_named, turn_numbers


def write_trace(screen: Screen, trace: Trace, *, number: int | None) -> None:
    """Write a trace's table, with the turn's number beside its id; None is a turn that was not sent."""
    first, *table = str(trace).split("\n")
    own = f"turn {trace.turn_id}, call {trace.call}"
    named = "not sent" if number is None else f"turn {number} ({trace.turn_id}), call {trace.call}"
    screen.line(first.replace(own, named, 1))
    for line in table:
        screen.line(line)


def call_of(session: Session, turn: str | None, *, number: int | None) -> Trace:
    """Give what one model call was shown: by default the last of the turn.

    Raises:
        Refused: if there is no such turn or call.
    """
    found = turn_named(session, turn)
    if not found.traces:
        position = turn_numbers(session)[found.id]
        why = "no model was asked in it, or its process died while one was"
        raise Refused(f"turn {position} of chat session {session.id!r} has no trace: {why}")
    if number is None:
        return found.traces[-1]
    trace = next((trace for trace in found.traces if trace.call == number), None)
    if trace is None:
        calls = ", ".join(str(trace.call) for trace in found.traces)
        raise Refused(f"turn {found.id!r} has no model call {number}; it has {calls}")
    return trace
