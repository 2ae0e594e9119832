"""The context that shows everything: every completed turn, whole, in order."""

from __future__ import annotations

from .._trace import Layer
from ..transcript._dialogue import dialogue, turns_with_steps
from ._counting import count_messages
from ._view import Assembled, View


class FullContext:
    """Shows the model every completed turn of the session, and nothing else.

    Args:
        steps: whether tool calls and their results stand between an input and its reply: `all`, `last:N` for the
            last N turns, or `none`.

    Raises:
        Misuse: for any other `steps`.
    """

    def __init__(self, *, steps: str = "all") -> None:
        turns_with_steps(steps, 0)
        self.steps = steps

    def build(self, view: View) -> Assembled:
        """Give the dialogue so far."""
        said = dialogue(view.turns, self.steps)
        if self.steps != "all":
            return Assembled(said)
        line = Layer("history", "", kind="history").kept(count_messages(said, view.budget.counter))
        return Assembled(said, layers=[line])
