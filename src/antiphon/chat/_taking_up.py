"""Turns that were left without an outcome: taken up again where they stand, or put aside by a newer input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._jsonable import freeze
from .._messages import ToolResult
from .._usage import Usage
from ..errors import Misuse
from ..journal._entries import KnownEntry, ModelReplied, ToolStarted, TurnCanceled
from ..transcript import Transcript, Turn
from ._loop import Turning
from ._open_calls import open_calls
from ._plan import TurnPlan
from ._returned import returned_entry

NEWER = "not run: a newer message came"
LEFT = "no result: it was started, and then a newer message came; it may have taken effect"
SUPERSEDED = "superseded"


def taken_up(turn: Turn, plan: TurnPlan, *, entry: Callable[..., Any]) -> Turning:
    """What the loop knows of a turn when its run begins: nothing of a new one, all that is journaled of another."""
    replies = [each for each in turn.entries if isinstance(each, ModelReplied)]
    return Turning(
        turn.id,
        plan.limits,
        entry,
        plan.answers.told,
        calls=len(replies),
        usage=sum((each.usage for each in replies if each.usage is not None), Usage()),
        tool_calls=_started(turn),
        last=replies[-1] if replies else None,
    )


def _started(turn: Turn) -> int:
    """How many calls were started, however often each."""
    found, ids = 0, set[str]()
    for entry in turn.entries:
        if isinstance(entry, ModelReplied):
            ids = set()
        elif isinstance(entry, ToolStarted):
            found += len(set(entry.call_ids) - ids)
            ids.update(entry.call_ids)
    return found


def last_turn(transcript: Transcript) -> Turn | None:
    """The session's last turn, or None."""
    turns = transcript.turns()
    return turns[-1] if turns else None


def may_be_resumed(transcript: Transcript, turn_id: str) -> None:
    """Refuse to take up a turn that is over, or that others have come after.

    Raises:
        Misuse: saying which.
    """
    last = last_turn(transcript)
    if last is None or last.id != turn_id:
        raise Misuse(f"turn {turn_id!r} is not the last of its session", "only the last turn can be resumed")
    if last.status not in ("interrupted", "waiting"):
        raise Misuse(f"turn {turn_id!r} is {last.status}", "resume one that is interrupted or waiting; or send anew")


def superseded_by_newer(transcript: Transcript, entry: Callable[..., Any]) -> list[KnownEntry]:
    """The entries that put a waiting turn aside, so that no decision on it counts any more; mostly none."""
    last = last_turn(transcript)
    if last is None or last.status != "waiting":
        return []
    results = [
        ToolResult(each.call.id, each.call.name, freeze(LEFT if each.attempts else NEWER, "output"), is_error=True)
        for each in open_calls(last)
    ]
    made: list[KnownEntry] = [returned_entry(entry, last.id, result=each) for each in results]
    return [*made, entry(TurnCanceled, turn_id=last.id, reason=SUPERSEDED)]
