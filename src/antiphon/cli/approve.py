"""`antiphon approve`: let a call run that waits."""

from __future__ import annotations

import click

from ..chat import Session
from ._deciding import read_arguments
from ._decision import Named, decided, on_a_call
from ._endings import Refused
from ._interruptible import run
from ._place import Place, at_a_place
from ._waiting_calls import WaitingCall


@click.command
@click.argument("call")
@click.option("--arguments", metavar="JSON", help="Run it with these arguments, a JSON object.")
@at_a_place
@on_a_call
def command(place: Place, named: Named, /, *, arguments: str | None) -> int:
    """Let CALL run, once, when its turn is resumed. `antiphon pending` lists the calls, with their arguments."""
    given = None if arguments is None else read_arguments(arguments)

    async def approve(session: Session, call: WaitingCall, *, by: str) -> None:
        if given is None and call.call.raw is not None:
            raise Refused(f"the arguments of call {named.call!r} are no JSON object; give them with --arguments")
        await session.approve(named.call, by=by, arguments=given)

    return run(decided(place, named, what="approved", decide=approve, arguments=given))
