"""`antiphon why`: where some words were in every model call, and where they got lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from ..chat import Fate, Session
from ._as_json import fate_json
from ._endings import Refused
from ._fate_table import write_fates
from ._interruptible import run
from ._place import Place, at_a_place
from ._screen import output
from ._turn_choice import turn_numbers


@click.command
@click.argument("named", nargs=-1, required=True, metavar="[SESSION] WORDS")
@click.option("--json", "as_json", is_flag=True, help="Give a JSON array, one object a model call.")
@at_a_place
def command(place: Place, *, named: tuple[str, ...], as_json: bool) -> int:
    """Show where WORDS were in every model call of SESSION, and where they got lost.

    SESSION is by default the one that changed last. Put WORDS in quotes if there are several; upper and lower case
    are the same.
    """
    if len(named) > 2:
        raise click.UsageError("put the words in quotes, they are looked for as they stand")
    *sessions, words = named
    fates, numbers = run(_fates(place, sessions[0] if sessions else None, words=words))
    if as_json:
        output().json([fate_json(fate, number=numbers[fate.turn_id]) for fate in fates])
    else:
        write_fates(output(), fates, numbers=numbers)
    return 0


async def _fates(place: Place, session_id: str | None, *, words: str) -> tuple[Sequence[Fate], Mapping[str, int]]:
    async with place.chat() as chat:
        return await fates_of(await place.open(chat, session_id=session_id), words)


async def fates_of(session: Session, words: str) -> tuple[Sequence[Fate], Mapping[str, int]]:
    """Give what became of the words in every call, and every turn's number by its id.

    Raises:
        Refused: if no model was asked anything yet.
        Misuse: if nothing is looked for.
    """
    await session.summaries()  # What they say is then known, too.
    fates = session.why(words)
    if not fates:
        raise Refused(f"in chat session {session.id!r} no model was asked anything yet")
    return fates, turn_numbers(session)
