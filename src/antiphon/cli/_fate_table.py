"""Where some words were in every model call, as a person reads it: calls of one fate in one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..chat import Fate
from ._screen import Ink, Screen, Words
from ._table import write_table

_SHOWN = ("included", "truncated")
HINT = (
    "hint: instructions are never compacted and never cut: put such words into -s,"
    " in Python into instructions= or a pinned layer"
)


@dataclass(frozen=True, slots=True)
class Span:
    """Calls in a row that share a fate.

    Attributes:
        first, last: numbers of the first and last turn.
        calls: numbers of the calls in that turn, where the span is a part of one turn's; else empty.
        count: how many calls there are.
        fate: the first one's.
        lost: whether the words were there in the call before, and are no longer.
    """

    first: int
    last: int
    calls: tuple[int, ...]
    count: int
    fate: Fate
    lost: bool

    @property
    def named(self) -> str:
        """Which turns, or which calls of a turn."""
        if self.first != self.last:
            return f"turns {self.first}-{self.last}"
        if not self.calls:
            return f"turn {self.first}"
        first, last = self.calls[0], self.calls[-1]
        return f"turn {self.first}, " + (f"call {first}" if first == last else f"calls {first}-{last}")


def spans(fates: Sequence[Fate], numbers: Mapping[str, int]) -> list[Span]:
    """Join the calls in a row that share a fate; `numbers` gives each turn's number by its id."""
    of_turn = Counter(fate.turn_id for fate in fates)
    groups: list[list[Fate]] = []
    for fate in fates:
        if groups and _what(groups[-1][-1]) == _what(fate):
            groups[-1].append(fate)
        else:
            groups.append([fate])
    found: list[Span] = []
    before: Fate | None = None
    for group in groups:
        first, last = group[0], group[-1]
        part = first.turn_id == last.turn_id and len(group) < of_turn[first.turn_id]
        calls = tuple(fate.call for fate in group) if part else ()
        lost = before is not None and before.status in _SHOWN and first.status not in _SHOWN
        found.append(Span(numbers[first.turn_id], numbers[last.turn_id], calls, len(group), first, lost))
        before = last
    return found


def _what(fate: Fate) -> tuple[str, str, str]:
    return fate.layer, fate.status, fate.reason


def write_fates(screen: Screen, fates: Sequence[Fate], *, numbers: Mapping[str, int]) -> None:
    """Write the table, and a hint where words were lost."""
    found = spans(fates, numbers)
    rows: list[list[Words]] = [[span.named, span.fate.layer, _told(span)] for span in found]
    write_table(screen, ["calls in", "where", "what became of the words"], rows=rows, last="wrapped")
    if any(span.lost for span in found):
        screen.line(Ink(HINT, "dim"))


def _told(span: Span) -> Words:
    text = span.fate.reason + (f" ({span.count} calls)" if span.count > 1 else "")
    return Ink(f"{text} <- lost here", "red") if span.lost else text
