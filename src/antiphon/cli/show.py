"""`antiphon show`: the transcript of one session."""

from __future__ import annotations

import click

from ..chat import Session
from ._as_json import turn_json
from ._interruptible import run
from ._place import Place, at_a_place
from ._screen import output
from ._transcript_text import write_transcript


@click.command
@click.argument("session", required=False)
@click.option("--full", is_flag=True, help="Show arguments and results of tools whole.")
@click.option("--json", "as_json", is_flag=True, help="Give a JSON array of turns.")
@at_a_place
def command(place: Place, *, session: str | None, full: bool, as_json: bool) -> int:
    """Show every turn of SESSION, by default of the one that changed last."""
    opened = run(_opened(place, session))
    if as_json:
        output().json([turn_json(turn) for turn in opened.turns()])
    else:
        write_transcript(output(), opened, full=full)
    return 0


async def _opened(place: Place, session_id: str | None) -> Session:
    async with place.chat() as chat:
        return await place.open(chat, session_id=session_id)
