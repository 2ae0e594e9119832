"""Decisions on one call, as options say them: which call, who decides, and what is to be done next."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol

import click

from ..chat import Session
from ._call_text import called, exact, written
from ._deciding import system_user
from ._endings import Refused
from ._place import Place
from ._screen import output
from ._shown_text import one_line
from ._waiting_calls import WaitingCall, all_waiting, waiting_in


class Decide(Protocol):
    """Keeps a decision on a call of a session."""

    def __call__(self, session: Session, call: WaitingCall, /, *, by: str) -> Awaitable[None]:
        """Keep it, and who decided."""
        ...


class Named(NamedTuple):
    """Which call is meant, and who decides.

    Attributes:
        call: the call's id.
        session: its session; None where the id says enough.
        by: who decides.
    """

    call: str
    session: str | None
    by: str


def on_a_call(command: Callable[..., int]) -> Callable[..., int]:
    """Add the argument CALL and the options `--session` and `--by`; the command gets what they name."""

    @functools.wraps(command)
    def naming(place: Place, /, *, call: str, session: str | None, by: str | None, **options: Any) -> int:
        return command(place, Named(call, session, system_user() if by is None else by), **options)

    for option in (
        click.option("--by", metavar="NAME", help="Who decides; by default the user of this system."),
        click.option("--session", metavar="ID", help="The session of the call, where several have one of this id."),
    ):
        option(naming)
    return naming


async def decided(place: Place, named: Named, *, what: str, decide: Decide, arguments: Any = None) -> int:
    """Decide on a call, and say what is to be done next.

    Args:
        place: where its session is.
        named: which call.
        what: what is said to have become of it, as in `approved`.
        decide: keeps the decision.
        arguments: what stands in the place of the call's own, or None.

    Raises:
        Refused: if no such call waits, or several do.
        AntiphonError: if the decision could not be kept.
    """
    async with place.chat() as chat:
        if named.session is None:
            waiting = await all_waiting(chat, place)
        else:
            waiting = waiting_in(await place.open(chat, session_id=named.session))
        call = _meant(named, waiting)
        session = await place.open(chat, session_id=call.session)
        await decide(session, call, by=named.by)
        left = waiting_in(session)
    screen = output()
    # Ids come again in other turns: what was decided on is shown, and not only named.
    own = written(call.call) if arguments is None else exact(arguments, indent=None)
    screen.line(*called(call.pending.name, own, full=True))
    screen.sentence(f"call {call.pending.id!r} of {call.pending.name!r} is {what} by {named.by}")
    if left:
        screen.sentence(f"in the same turn {_listed(left)} still wait{'s' if len(left) == 1 else ''}")
    again = f"antiphon resume {shlex.quote(call.session)}{place.again}"
    screen.sentence(f"to go on, with the --tools and --mcp that it was asked with: {again}")
    return 0


def _meant(named: Named, waiting: Sequence[WaitingCall]) -> WaitingCall:
    found = [each for each in waiting if each.pending.id == named.call]
    if len(found) == 1:
        return found[0]
    if found:
        sessions = ", ".join(each.session for each in found)
        raise Refused(f"call {named.call!r} waits in several sessions; say which with --session: {sessions}")
    where = "" if named.session is None else f" in chat session {named.session!r}"
    raise Refused(f"no call {named.call!r} waits for a decision{where}; those that wait: {_listed(waiting) or 'none'}")


def _listed(waiting: Sequence[WaitingCall]) -> str:
    return ", ".join(f"{each.pending.id!r} ({one_line(each.pending.name)}, session {each.session})" for each in waiting)
