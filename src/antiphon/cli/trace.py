"""`antiphon trace`: what one model call was shown."""

from __future__ import annotations

import click

from .._trace import Trace
from ..chat import Session
from ..transcript import Turn
from ._as_json import trace_json
from ._endings import Refused
from ._interruptible import run
from ._place import Place, at_a_place
from ._screen import output


@click.command
@click.argument("session", required=False)
@click.argument("turn", required=False)
@click.option("--call", "number", metavar="N", type=click.IntRange(min=1), help="Which model call of the turn.")
@click.option("--json", "as_json", is_flag=True, help="Give one JSON object.")
@at_a_place
def command(place: Place, *, session: str | None, turn: str | None, number: int | None, as_json: bool) -> int:
    """Show every piece of what the model was shown, what each cost, and what was left out.

    SESSION is by default the one that changed last, TURN (a number counted from 1, or a turn's id) its last turn, and
    the call that turn's last.
    """
    found = run(_found(place, session, turn=turn, number=number))
    if as_json:
        output().json(trace_json(found))
    else:
        output().line(str(found))
    return 0


async def _found(place: Place, session_id: str | None, *, turn: str | None, number: int | None) -> Trace:
    async with place.chat() as chat:
        session = await place.open(chat, session_id=session_id)
    return _call(session, _turn(session, turn), number=number)


def _turn(session: Session, named: str | None) -> Turn:
    turns = session.turns()
    if not turns:
        raise Refused(f"chat session {session.id!r} has no turn yet, so no model was shown anything")
    if named is None:
        return turns[-1]
    if named.isdecimal() and named.isascii():
        if 1 <= int(named) <= len(turns):
            return turns[int(named) - 1]
    elif found := next((turn for turn in turns if turn.id == named), None):
        return found
    raise Refused(f"no turn {named!r} in chat session {session.id!r}; it has turns 1 to {len(turns)}")


def _call(session: Session, turn: Turn, *, number: int | None) -> Trace:
    traces = turn.traces
    if not traces:
        position = [each.id for each in session.turns()].index(turn.id) + 1
        raise Refused(f"turn {position} of chat session {session.id!r} has no trace: no model was asked in it")
    if number is None:
        return traces[-1]
    found = next((trace for trace in traces if trace.call == number), None)
    if found is None:
        calls = ", ".join(str(trace.call) for trace in traces)
        raise Refused(f"turn {turn.id!r} has no model call {number}; it has {calls}")
    return found
