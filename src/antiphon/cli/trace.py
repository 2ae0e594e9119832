"""`antiphon trace`: what one model call was shown."""

from __future__ import annotations

import click

from .._trace import Trace
from ._as_json import trace_json
from ._interruptible import run
from ._place import Place, at_a_place
from ._screen import output
from ._trace_table import call_of, write_trace
from ._turn_choice import turn_numbers


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
    found, position = run(_found(place, session, turn=turn, number=number))
    if as_json:
        output().json(trace_json(found, number=position))
    else:
        write_trace(output(), found, number=position)
    return 0


async def _found(place: Place, session_id: str | None, *, turn: str | None, number: int | None) -> tuple[Trace, int]:
    async with place.chat() as chat:
        session = await place.open(chat, session_id=session_id)
    trace = call_of(session, turn, number=number)
    return trace, turn_numbers(session)[trace.turn_id]
