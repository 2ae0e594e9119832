"""From turns to the messages a model may be shown.

Only completed turns are dialogue: an unanswered question must not look answered, and half a reply must not pass for
a whole one. Feedback changes nothing here; what a person would have preferred is a custom context's to use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .._messages import Message
from ..errors import Misuse
from ._turn import Turn


def completed(turns: Iterable[Turn]) -> list[Turn]:
    """The turns that ended in a reply, in order."""
    return [turn for turn in turns if turn.status == "completed"]


def spoken(turn: Turn) -> list[Message]:
    """What people and the model said in a turn: no tool calls, no results."""
    return [message for message in turn.shown_messages if message.role != "tool" and not message.calls]


def dialogue(turns: Sequence[Turn], steps: str = "all") -> list[Message]:
    """The completed turns as messages.

    Args:
        turns: oldest first.
        steps: `all` keeps tool calls and results, `last:N` those of the last N completed turns, `none` none of them,
            nor the words that a model put beside a call.

    Raises:
        Misuse: for any other `steps`.
    """
    answered = completed(turns)
    first_with_steps = len(answered) - turns_with_steps(steps, len(answered))
    said: list[Message] = []
    for i, turn in enumerate(answered):
        said += turn.shown_messages if i >= first_with_steps else spoken(turn)
    return said


def turns_with_steps(steps: str, total: int) -> int:
    """How many of the last turns keep their steps.

    Raises:
        Misuse: if `steps` is not `all`, `none` or `last:N`.
    """
    if not isinstance(steps, str):
        raise Misuse(f"steps={steps!r} is not known", "use 'all', 'none' or 'last:N'")
    if steps in ("all", "none"):
        return total if steps == "all" else 0
    word, _, number = steps.partition(":")
    if word != "last" or not number.isdecimal():
        raise Misuse(f"steps={steps!r} is not known", "use 'all', 'none' or 'last:N'")
    return min(int(number), total)
