"""Earlier turns, measured and folded once: what a session keeps of it while its process lives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..transcript._turn import Turn
from ._boundary import START, Fold, Marks, Measured
from ._view import View


class Folded:
    """The sizes of a session's turns, and their folds. It goes on from where it was, or begins anew.

    Attributes:
        measured: the sizes.
    """

    def __init__(self, *, note: bool) -> None:
        self.measured = Measured(note)
        self._folds: dict[Marks, Fold] = {}
        self._ends: tuple[Any, ...] = ()

    def continues(self, turns: Sequence[Turn]) -> bool:
        """Whether these are the turns that were measured, or those and more."""
        measured = len(self.measured.starts)
        return measured <= len(turns) and (not measured or self._ends == _ends(turns[:1], turns[measured - 1]))

    def extend(self, turns: Sequence[Turn]) -> None:
        """Measure the turns that have come since."""
        self.measured.extend(turns)
        if turns:
            self._ends = _ends(turns[:1], turns[-1])

    def fold(self, marks: Marks, view: View) -> Fold:
        """The fold for some marks, up to now."""
        fold = self._folds.setdefault(marks, Fold(marks))
        fold.extend(self.measured, view.compactions)
        return fold


def folded(view: View, *, note: bool) -> Folded:
    """The turns of a view, measured; kept in its cache."""
    key = ("folded", note)
    found: Folded | None = view.cache.get(key)
    if found is None or not found.continues(view.turns):
        found = view.cache[key] = Folded(note=note)
    found.extend(view.turns)
    return found


def _ends(first: Sequence[Turn], last: Turn) -> tuple[Any, ...]:
    # Only the last turn can still change, and only while it has no reply.
    length = 0 if last.status == "completed" else len(last.entries)
    return (first[0].entries[0].id, last.entries[0].id, last.status, length)


def unfolded(measured: Measured) -> Fold:
    """A fold that never moves, for a context that shows everything."""
    return Fold(Marks(0, 0, 0, len(measured.starts)), START)
