"""`antiphon answer`: say what a call gave that waits, without running it."""

from __future__ import annotations

from typing import Any

import click

from .._jsonable import loads
from ..chat import Session
from ..errors import AntiphonError
from ._decision import Named, decided, on_a_call
from ._endings import Refused
from ._interruptible import run
from ._place import Place, at_a_place
from ._waiting_calls import WaitingCall


@click.command
@click.argument("call")
@click.argument("output")
@click.option("--json", "as_json", is_flag=True, help="OUTPUT is JSON, and no text.")
@at_a_place
@on_a_call
def command(place: Place, named: Named, /, *, output: str, as_json: bool) -> int:
    """Say what CALL gave: it was done by hand, or had taken effect before. It is not run.

    `antiphon pending` lists the calls.
    """
    gave = _read(output) if as_json else output

    async def answer(session: Session, _: WaitingCall, *, by: str) -> None:
        await session.answer(named.call, gave, by=by)

    return run(decided(place, named, what="answered", decide=answer))


def _read(text: str) -> Any:
    try:
        return loads(text.encode())
    except (AntiphonError, ValueError, RecursionError) as error:
        raise Refused(f"the output is not JSON that can be kept: {error}") from None
