"""`antiphon deny`: refuse a call that waits."""

from __future__ import annotations

import click

from ..chat import Session
from ._decision import Named, decided, on_a_call
from ._interruptible import run
from ._place import Place, at_a_place
from ._waiting_calls import WaitingCall


@click.command
@click.argument("call")
@click.option("--reason", metavar="TEXT", help="Why; the model is told.")
@at_a_place
@on_a_call
def command(place: Place, named: Named, /, *, reason: str | None) -> int:
    """Refuse CALL; the model is told so when the turn is resumed. `antiphon pending` lists the calls."""

    async def deny(session: Session, _: WaitingCall, *, by: str) -> None:
        await session.deny(named.call, by=by, reason=reason)

    return run(decided(place, named, what="denied", decide=deny))
