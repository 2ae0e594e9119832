"""Units of history: what is kept, made shorter or left out as one, so that no call is ever parted from its result.

A unit is an input with the first model reply to it and the results of that reply's calls, or one later reply with
its results. A turn that completed has one unit or more; of one that did not, nothing is shown but a line that says
which tools had run, and which may have.
"""

from __future__ import annotations

from collections.abc import Sequence

from .._messages import Message
from ..transcript._sizes import tools_run
from ..transcript._turn import Turn


def units_of(messages: Sequence[Message]) -> list[list[Message]]:
    """Part the messages of a turn into units; steering goes with the reply that has seen it."""
    units: list[list[Message]] = [[]]
    replied = False
    for message in messages:
        if message.role == "assistant" and replied:
            units.append(_taken_from(units[-1]))
        replied = replied or message.role == "assistant"
        units[-1].append(message)
    return units


def _taken_from(unit: list[Message]) -> list[Message]:
    behind = len(unit)
    while behind and unit[behind - 1].role == "user":
        behind -= 1
    taken = unit[behind:]
    del unit[behind:]
    return taken


def unfinished_note(turn: Turn) -> Message:
    """The line that stands for a turn that did not complete."""
    ran = tools_run(turn)
    how = {"failed": "failed", "canceled": "was canceled"}.get(turn.status, "was broken off")
    said = [f"an earlier turn {how} and is left out."]
    if ran.gave:
        said.append(f"These tools had run in it: {', '.join(ran.gave)}.")
    if ran.in_doubt:
        said.append(f"These were started, gave no result, and may have taken effect: {', '.join(ran.in_doubt)}.")
    return Message.of("user", f"[Note: {' '.join(said)}]")
