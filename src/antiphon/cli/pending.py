"""`antiphon pending`: the calls that wait for a person."""

from __future__ import annotations

import click

from ._interruptible import run
from ._place import Place, at_a_place
from ._screen import errors, output
from ._shown_text import one_line
from ._waiting_calls import WaitingCall, all_waiting, how_to_decide, waiting_in, write_waiting


@click.command
@click.argument("session", required=False)
@click.option("--json", "as_json", is_flag=True, help="Give a JSON array.")
@at_a_place
def command(place: Place, *, session: str | None, as_json: bool) -> int:
    """List the calls that wait for a decision, of SESSION or of all, with their whole arguments.

    `antiphon approve`, `deny` and `answer` decide on one, `antiphon resume` goes on.
    """
    found = run(_found(place, session))
    if as_json:
        output().json([each.to_json() for each in found])
        return 0
    by_session: dict[str, list[WaitingCall]] = {}
    for call in found:
        by_session.setdefault(call.session, []).append(call)
    for session_id, calls in by_session.items():
        for call in calls:
            output().line(f"call {one_line(call.pending.id)} · session {session_id}")
            write_waiting(output(), call)
        errors().sentence(how_to_decide(calls, again=place.again))
    if not found:
        errors().sentence(f"no call waits for a decision in {place.shown if session is None else session}")
    return 0


async def _found(place: Place, session_id: str | None) -> list[WaitingCall]:
    async with place.chat() as chat:
        if session_id is None:
            return await all_waiting(chat, place)
        return waiting_in(await place.open(chat, session_id=session_id))
