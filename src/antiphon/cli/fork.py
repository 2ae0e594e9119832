"""`antiphon fork`: another session with the turns of one."""

from __future__ import annotations

import click

from ._interruptible import run
from ._place import Place, at_a_place
from ._screen import output
from ._turn_choice import turn_named


@click.command
@click.argument("session")
@click.option("--at", "turn", metavar="TURN", help="The last turn to copy, by its number or id; by default the last.")
@click.option("--id", "new_id", metavar="ID", help="Of the new session; by default a random one.")
@at_a_place
def command(place: Place, *, session: str, turn: str | None, new_id: str | None) -> int:
    """Begin another session with the turns of SESSION, which stays as it is; its id is printed."""
    output().sentence(run(_forked(place, session, turn=turn, new_id=new_id)))
    return 0


async def _forked(place: Place, session_id: str, *, turn: str | None, new_id: str | None) -> str:
    async with place.chat() as chat:
        session = await place.open(chat, session_id=session_id)
        last = None if turn is None else turn_named(session, turn).id
        return (await session.fork(at=last, id=new_id)).id
