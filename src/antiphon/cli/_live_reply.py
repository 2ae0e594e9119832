"""A running turn, followed to its end: its text as it comes, and what Ctrl-C and a closed pipe make of it."""

from __future__ import annotations

import asyncio

from ..chat import Event, LiveTurn, ModelReplied, Reply, Retrying, TextDelta
from ..errors import AntiphonError
from ._endings import Interrupted
from ._screen import Screen


async def followed(turn: LiveTurn, screen: Screen | None, *, beside: Screen, heading: str) -> Reply:
    """Write the reply as it comes, and give it.

    Args:
        turn: the running turn.
        screen: where the text goes; None writes none of it.
        beside: where everything else is said.
        heading: said once the input is kept.

    Raises:
        Interrupted: after Ctrl-C; by then the turn is kept as canceled.
        BrokenPipeError: if nobody reads any more; likewise.
        AntiphonError: whatever ended the turn.
    """
    try:
        await turn.accepted()
        beside.sentence(heading)
        async for event in turn:
            _tell(event, screen, beside=beside)
        return await turn.result()
    except asyncio.CancelledError:
        await turn.cancel("Ctrl-C")
        raise Interrupted(await _left_behind(turn)) from None
    except BrokenPipeError:
        await turn.cancel("nobody reads the reply any more")
        raise
    finally:
        _end_line(screen)


def _tell(event: Event, screen: Screen | None, *, beside: Screen) -> None:
    if isinstance(event, Retrying):
        _end_line(screen)
        why = f": {event.reason}" if event.reason else ""
        beside.sentence(f"asked again, what came so far does not count{why}")
    elif isinstance(event, TextDelta) and screen is not None:
        screen.piece(event.text)
    elif isinstance(event, ModelReplied):
        _end_line(screen)


def _end_line(screen: Screen | None) -> None:
    if screen is not None:
        screen.end_line()


async def _left_behind(turn: LiveTurn) -> str:
    try:
        await turn.result()
    except AntiphonError as error:
        return str(error)
    return f"stopped, but turn {turn.id!r} had ended: its reply is kept"
