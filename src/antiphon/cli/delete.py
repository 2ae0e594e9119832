"""`antiphon delete`: erase one session for good."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from ..errors import CorruptJournal, UnsupportedVersion
from ._endings import Refused
from ._interruptible import run
from ._place import Place, at_a_place
from ._screen import errors, output
from ._shown_text import one_line


@click.command
@click.argument("session")
@click.option("--yes", is_flag=True, help="Do not ask.")
@at_a_place
def command(place: Place, *, session: str, yes: bool) -> int:
    """Erase SESSION and everything derived from it, for good. A damaged one can be erased too."""
    if not yes and not _agreed(place, session):
        errors().sentence("nothing was erased")
        return 0
    erased = run(_erased(place, session))
    output().line(f"erased from {place.shown}: {', '.join(map(one_line, erased))}")
    return 0


def _agreed(place: Place, session_id: str) -> bool:
    about = run(_about(place, session_id))
    if not (sys.stdin and sys.stdin.isatty()):
        raise Refused(f"chat session {session_id!r} would be erased for good; say --yes, nobody can be asked here")
    return click.confirm(one_line(f"erase {about} from {place.shown} for good?"), err=True)


async def _about(place: Place, session_id: str) -> str:
    async with place.chat() as chat:
        try:
            session = await place.open(chat, session_id=session_id)
        except (CorruptJournal, UnsupportedVersion) as error:
            return f"chat session {session_id!r}, which cannot be read ({error}),"
    count = len(session.turns())
    return f"chat session {session_id!r} ({count} turn{'' if count == 1 else 's'})"


async def _erased(place: Place, session_id: str) -> Sequence[str]:
    async with place.chat() as chat:
        return await chat.delete_session(session_id, scope=place.scope)
