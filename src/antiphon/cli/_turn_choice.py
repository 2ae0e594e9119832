"""Which turn of a session is meant, and what its number is."""

from __future__ import annotations

from ..chat import Session
from ..transcript import Turn
from ._endings import Refused


def turn_named(session: Session, named: str | None) -> Turn:
    """Give the turn of this number, counted from 1, or of this id; None is the last.

    Raises:
        Refused: if there is none.
    """
    turns = session.turns()
    if not turns:
        raise Refused(f"chat session {session.id!r} has no turn yet")
    if named is None:
        return turns[-1]
    if named.isdecimal() and named.isascii():
        if 1 <= int(named) <= len(turns):
            return turns[int(named) - 1]
    elif found := next((turn for turn in turns if turn.id == named), None):
        return found
    raise Refused(f"no turn {named!r} in chat session {session.id!r}; it has turns 1 to {len(turns)}")


def turn_numbers(session: Session) -> dict[str, int]:
    """Give every turn's number, by its id."""
    return {turn.id: number for number, turn in enumerate(session.turns(), 1)}
