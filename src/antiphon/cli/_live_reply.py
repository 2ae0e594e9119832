"""A running turn, followed to its end: its text as it comes, and what Ctrl-C and a closed pipe make of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .._messages import input_text
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
    Steered,
    TextDelta,
    TurnAccepted,
)
from ..errors import AntiphonError
from ._endings import Interrupted
from ._screen import Screen
from ._transcript_text import write_said

Tell = Callable[[Event], None]
"""Is told every event of a turn, in order."""


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


def as_text(screen: Screen | None, *, beside: Screen, heading: str | None = None) -> Tell:
    """Tell a turn to a person.

    Args:
        screen: where the text goes; None writes none of it.
        beside: where everything else is said.
        heading: said once the input is kept.
    """

    def tell(event: Event) -> None:
        if isinstance(event, TurnAccepted) and heading is not None:
            beside.sentence(heading)
        if screen is not None and isinstance(event, TextDelta):
            screen.piece(event.text)
        elif screen is not None and isinstance(event, _BREAKS):
            screen.end_line()
        _tell_beside(event, beside)

    return tell


_BREAKS = (ModelReplied, Completed, Failed, Canceled, Retrying, Steered, Compacting)
"""What does not stand in the middle of a line of the reply."""


def _tell_beside(event: Event, beside: Screen) -> None:
    if isinstance(event, Retrying):
        why = f": {event.reason}" if event.reason else ""
        beside.sentence(f"asked again, what came so far does not count{why}")
    elif isinstance(event, Steered):
        write_said(beside, input_text(event.input), sign="+ ")
    elif isinstance(event, Compacting):
        beside.sentence("earlier turns are being summarised")


def as_json_lines(screen: Screen, *, beside: Screen, heading: str) -> Tell:
    """Tell a turn to a program, one event a line."""

    def tell(event: Event) -> None:
        if isinstance(event, TurnAccepted):
            beside.sentence(heading)
        screen.json_line(event.to_dict())

    return tell
