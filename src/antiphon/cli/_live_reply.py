"""A running turn, followed to its end: its text as it comes, and what Ctrl-C and a closed pipe make of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from .._messages import ToolResult, input_text
from ..chat import (
    Canceled,
    Compacting,
    Completed,
    Event,
    Failed,
    LiveTurn,
    ModelReplied,
    Reply,
    Retrying,
    Session,
    Steered,
    TextDelta,
    ToolCalled,
    ToolProgress,
    ToolReturned,
    TurnAccepted,
    Waiting,
)
from ..errors import AntiphonError
from ._call_text import called, exact, returned
from ._endings import Interrupted
from ._screen import Ink, Screen
from ._shown_text import cut, one_line
from ._transcript_text import write_said

Tell = Callable[[Event], None]
"""Is told every event of a turn, in order."""
ResultOf = Callable[[str], ToolResult | None]
"""Gives the result of a call of the running turn, by the call's id."""

_NOTE = 200
"""Cells of a progress note that are shown."""
_BETWEEN = 0.2
"""Seconds between two progress notes of a call that are shown; those in between are not."""


async def followed(turn: LiveTurn, tell: Tell) -> Reply:
    """Tell what happens until the turn ends, and give the reply.

    Raises:
        Interrupted: after Ctrl-C; by then the turn is kept as canceled, and its end was told.
        BrokenPipeError: if nobody reads any more; likewise.
        AntiphonError: whatever ended the turn.
    """
    told = 0
    try:
        async for event in turn:
            tell(event)
            told = event.seq
        return await turn.result()
    except asyncio.CancelledError:
        await turn.cancel("Ctrl-C")
        async for event in turn.events(after=told):
            tell(event)
        raise Interrupted(await _left_behind(turn)) from None
    except BrokenPipeError:
        await turn.cancel("nobody reads the reply any more")
        raise


async def _left_behind(turn: LiveTurn) -> str:
    try:
        await turn.result()
    except AntiphonError as error:
        return str(error)
    return f"stopped, but turn {turn.id!r} had ended: its reply is kept"


def result_in(session: Session, call_id: str) -> ToolResult | None:
    """Give the result of a call of the session's last turn, or None."""
    turn = session.turns()[-1]
    results = (each for message in reversed(turn.messages) for each in message.results if each.call_id == call_id)
    return next(results, None)


def as_text(
    screen: Screen | None, *, beside: Screen, heading: str | None = None, result: ResultOf = lambda _: None
) -> Tell:
    """Tell a turn to a person.

    Args:
        screen: where the text goes; None writes none of it.
        beside: where everything else is said.
        heading: said once the input is kept.
        result: looks up what a call gave.
    """
    noted: dict[str, float] = {}

    def tell(event: Event) -> None:
        if isinstance(event, TurnAccepted) and heading is not None:
            beside.sentence(heading)
        if isinstance(event, ToolProgress) and not _due(event, noted):
            return
        if screen is not None and isinstance(event, TextDelta):
            screen.piece(event.text)
        elif screen is not None and isinstance(event, _BREAKS):
            screen.end_line()
        _tell_beside(event, beside)
        _tell_call(event, beside, result=result)

    return tell


_CALLS = (ToolCalled, ToolProgress, ToolReturned)
_BREAKS = (ModelReplied, Completed, Failed, Canceled, Waiting, Retrying, Steered, Compacting, *_CALLS)
"""What does not stand in the middle of a line of the reply."""


def _tell_beside(event: Event, beside: Screen) -> None:
    if isinstance(event, Retrying):
        why = f": {event.reason}" if event.reason else ""
        beside.sentence(f"asked again, what came so far does not count{why}")
    elif isinstance(event, Steered):
        write_said(beside, input_text(event.input), sign="+ ")
    elif isinstance(event, Compacting):
        beside.sentence("earlier turns are being summarised")


def _due(event: ToolProgress, noted: dict[str, float]) -> bool:
    now = time.monotonic()
    if now - noted.get(event.call_id, -_BETWEEN) < _BETWEEN:
        return False
    noted[event.call_id] = now
    return True


def _tell_call(event: Event, beside: Screen, *, result: ResultOf) -> None:
    if isinstance(event, ToolCalled):
        beside.line(*called(event.name, exact(event.arguments, indent=None)))
    elif isinstance(event, ToolProgress):
        done = "" if event.fraction is None else f" ({event.fraction:.0%})"
        beside.line(Ink(f"… {one_line(event.name)}: {cut(one_line(event.note), _NOTE)}{done}", "dim"))
    elif isinstance(event, ToolReturned):
        found = result(event.call_id) or ToolResult(event.call_id, event.name, is_error=event.is_error)
        beside.line(*returned(found, named=True))


def as_json_lines(screen: Screen, *, beside: Screen, heading: str | None) -> Tell:
    """Tell a turn to a program, one event a line."""

    def tell(event: Event) -> None:
        if isinstance(event, TurnAccepted) and heading is not None:
            beside.sentence(heading)
        screen.json_line(event.to_dict())

    return tell
