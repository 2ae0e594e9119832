"""`antiphon trace`: what one model call was shown, and what differs between two."""

from __future__ import annotations

import click

from ..chat import Session
from ._as_json import diff_json, trace_json
from ._interruptible import run
from ._place import Place, at_a_place
from ._screen import output
from ._trace_diff import write_changes
from ._trace_table import Asked, asked_of, write_calls, write_trace


@click.command
@click.argument("session", required=False)
@click.argument("turn", required=False)
@click.option("--call", "number", metavar="N", type=click.IntRange(min=1), help="Which model call of the turn.")
@click.option("--diff", nargs=2, metavar="T1 T2", help="What differs between the last calls of two turns.")
@click.option("--full", is_flag=True, help="Show arguments and results of tools whole.")
@click.option("--json", "as_json", is_flag=True, help="Give one JSON object.")
@at_a_place
def command(
    place: Place,
    /,
    *,
    session: str | None,
    turn: str | None,
    number: int | None,
    diff: tuple[str, str] | None,
    **form: bool,
) -> int:
    """Show every piece of what the model was shown, what each cost, and what was left out.

    SESSION is by default the one that changed last, TURN (a number counted from 1, or a turn's id) its last turn, and
    the call that turn's last.
    """
    if diff and (turn is not None or number is not None):
        raise click.UsageError("--diff names its turns itself, and takes their last calls")
    found = run(_opened(place, session))
    calls = [asked_of(found, each, number=number) for each in diff or (turn,)]
    _write(calls, as_json=form["as_json"], full=form["full"])
    return 0


async def _opened(place: Place, session_id: str | None) -> Session:
    async with place.chat() as chat:
        return await place.open(chat, session_id=session_id)


def _write(calls: list[Asked], *, as_json: bool, full: bool) -> None:
    screen, asked = output(), calls[-1]
    if len(calls) == 2 and as_json:
        screen.json(diff_json(calls[0], asked))
    elif len(calls) == 2:
        write_changes(screen, before=calls[0], now=asked)
    elif as_json:
        screen.json(trace_json(asked.trace, number=asked.number, usage=asked.usage))
    else:
        write_trace(screen, asked.trace, number=asked.number, usage=asked.usage)
        write_calls(screen, asked, full=full)
