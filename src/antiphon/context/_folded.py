"""Earlier turns, measured and folded once: what a session keeps of it while its process lives."""

from __future__ import annotations

from collections.abc import Sequence

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
        self._first = ""
        self._open: dict[int, tuple[str, str, int]] = {}

    def continues(self, turns: Sequence[Turn]) -> bool:
        """Whether these are the turns that were measured, or those and more."""
        measured = len(self.measured.starts)
        if not measured:
            return True
        if measured > len(turns) or turns[0].entries[0].id != self._first:
            return False
        return all(_as_it_was(turns[at]) == was for at, was in self._open.items())

    def extend(self, turns: Sequence[Turn]) -> None:
        """Measure the turns that have come since."""
        before = len(self.measured.starts)
        self.measured.extend(turns)
        if before < len(turns):
            self._first = turns[0].entries[0].id
            self._open = {at: was for at, was in self._open.items() if _may_change(turns[at])}
        for at in range(before, len(turns)):
            # The last one is looked at again, too: it tells these turns from others that begin alike.
            if at == len(turns) - 1 or _may_change(turns[at]):
                self._open[at] = _as_it_was(turns[at])

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


def _may_change(turn: Turn) -> bool:
    return turn.status in ("running", "waiting", "interrupted")


def _as_it_was(turn: Turn) -> tuple[str, str, int]:
    # What people say of a turn that is over adds entries to it and changes nothing here.
    return turn.id, turn.status, len(turn.entries) if _may_change(turn) else 0


def unfolded(measured: Measured) -> Fold:
    """A fold that never moves, for a context that shows everything."""
    return Fold(Marks(0, 0, 0, len(measured.starts)), START)
