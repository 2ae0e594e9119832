"""From positions to messages: the part of earlier turns that a call is shown word for word."""

from __future__ import annotations

from collections.abc import Sequence

from .._messages import Message
from ..transcript._sizes import tools_run
from ..transcript._turn import Turn
from ._boundary import Measured, Position
from ._stubs import stubs_of
from ._units import unfinished_note, units_of


def shown_history(
    turns: Sequence[Turn], measured: Measured, *, position: Position, end: int | None = None
) -> list[Message]:
    """The messages from the boundary on, with stubs up to where they end.

    Args:
        turns: earlier turns.
        measured: their sizes.
        position: where history stands.
        end: the unit before which to stop, by default behind the last.
    """
    found: list[Message] = []
    until = measured.units if end is None else end
    for at in range(measured.turn_of(position.boundary), len(turns)):
        first, behind = measured.starts[at], min(measured.start_of(at + 1), until)
        if first >= until:
            break
        skipped, stubs = max(position.boundary - first, 0), max(position.stubbed - first, 0)
        if first < behind:
            found += _of_turn(
                turns[at], measured.start_of(at + 1) - first, shown=range(skipped, behind - first), stubs=stubs
            )
    return found


def _of_turn(turn: Turn, units: int, *, shown: range, stubs: int) -> Sequence[Message]:
    if turn.status != "completed":
        return [unfinished_note(turn)] if any(tools_run(turn)) else []
    if len(shown) == units and not stubs:
        return turn.shown_messages
    whole = units_of(turn.shown_messages)
    short = units_of(stubs_of(turn.id, turn.shown_messages)) if stubs else []
    return [message for at in shown for message in (short if at < stubs else whole)[at]]


def place(turns: Sequence[Turn], measured: Measured, *, unit: int) -> str | None:
    """How traces call the place before a unit: a turn's id, with `#2` before its second reply; None at the start."""
    if unit <= 0:
        return None
    at = measured.turn_of(unit)
    if at >= len(turns):
        return turns[-1].id + "#end"
    behind = unit - measured.starts[at]
    return turns[at].id if behind == 0 else f"{turns[at].id}#{behind + 1}"


def left_out_note(turns: int, *, within: bool) -> Message:
    """The line that stands for earlier turns which nothing else tells of."""
    what = "the beginning of this turn" if not turns else f"{turns:,} earlier turn{'s' if turns > 1 else ''}"
    more = " and the beginning of the next" if within and turns else ""
    return Message.of("user", f"[Note: {what}{more} of this conversation are left out here.]")
