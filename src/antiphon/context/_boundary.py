"""Where history is made shorter and where it is cut: a fold over the turns, with two positions.

Before `stubbed`, long results and arguments are stubs; before `boundary`, nothing is shown word for word. Both only
move forward, only past the high mark, and then far enough to reach the low one: so the start of what is shown stays
the same for many turns, and providers' caches hold. Sizes are bytes of what the journal holds and marks depend on
options alone: the same journal has the same positions in every process, whatever models and counters come and go.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..transcript._replay import Compaction
from ..transcript._sizes import BYTES_PER_TOKEN, sizes_of
from ..transcript._turn import Turn

HIGH, LOW, SUMMARY = 0.60, 0.40, 0.06
"""Shares of the window less reserve and margin: where history is made shorter, to what, and what a summary may take."""


class Marks(NamedTuple):
    """When history is made shorter.

    Attributes:
        high: bytes above which it is.
        low: bytes that are to be left.
        summary: bytes kept free for a summary, once there is a boundary.
        keep_recent: turns whose results stay whole as long as they fit under the low mark.
    """

    high: int
    low: int
    summary: int
    keep_recent: int


def marks_for(usable: int, *, keep_recent: int, divided_by: float = 1.0, summary: bool = True) -> Marks:
    """The marks of a window.

    Args:
        usable: tokens of the window less reserve and margin.
        keep_recent: see `Marks`.
        divided_by: makes the marks smaller, where the real counts come out higher than the sizes say.
        summary: whether there will be one.
    """
    bytes_ = usable * BYTES_PER_TOKEN / divided_by
    return Marks(int(bytes_ * HIGH), int(bytes_ * LOW), int(bytes_ * SUMMARY) if summary else 0, keep_recent)


class Position(NamedTuple):
    """Where history stands, in units from the first.

    Attributes:
        boundary: the first unit that is shown.
        stubbed: the first unit in which long results and arguments are whole.
    """

    boundary: int = 0
    stubbed: int = 0


START = Position()


class Move(NamedTuple):
    """The boundary moved.

    Attributes:
        boundary: where to, in units.
        focus: what the person who asked for it wants to be kept above all, or None.
        turns: how many turns there were by then.
    """

    boundary: int
    focus: str | None
    turns: int


@dataclass(slots=True)
class Measured:
    """Sizes of all units, as running sums, so that any stretch of history is measured at once.

    Attributes:
        note: whether unfinished turns leave a line.
        full: bytes before each unit, and of all.
        stubbed: the same with stubs.
        starts: the first unit of each turn.
    """

    note: bool
    full: list[int] = field(default_factory=lambda: [0])
    stubbed: list[int] = field(default_factory=lambda: [0])
    starts: list[int] = field(default_factory=list)

    @property
    def units(self) -> int:
        """How many units there are."""
        return len(self.full) - 1

    def extend(self, turns: Sequence[Turn]) -> None:
        """Measure the turns that have come since."""
        for turn in turns[len(self.starts) :]:
            self.starts.append(self.units)
            for size in sizes_of(turn, note=self.note):
                self.full.append(self.full[-1] + size.full)
                self.stubbed.append(self.stubbed[-1] + size.stubbed)

    def start_of(self, turn: int) -> int:
        """The first unit of a turn, or the end where there is none of this number."""
        return self.starts[turn] if turn < len(self.starts) else self.units

    def turn_of(self, unit: int) -> int:
        """The number of the turn that a unit belongs to, from 0; that of the end is the number of turns."""
        return len(self.starts) if unit >= self.units else bisect_right(self.starts, unit) - 1

    def hidden(self, position: Position) -> int:
        """Bytes that stubs stand for."""
        boundary, stubbed = position.boundary, max(position.boundary, position.stubbed)
        return self.full[stubbed] - self.full[boundary] - (self.stubbed[stubbed] - self.stubbed[boundary])

    def size(self, position: Position, end: int) -> int:
        """Bytes of what is shown of the units before `end`."""
        middle = min(max(position.boundary, position.stubbed), end)
        stubs = self.stubbed[middle] - self.stubbed[min(position.boundary, middle)]
        return stubs + self.full[end] - self.full[middle]


@dataclass(slots=True)
class Fold:
    """The positions after each turn, for one set of marks.

    Attributes:
        marks: when they move.
        position: where they are.
        moves: where the boundary has been, oldest first.
    """

    marks: Marks
    position: Position = START
    moves: list[Move] = field(default_factory=list)
    _turns: int = 0
    _compactions: int = 0

    def extend(self, measured: Measured, compactions: Sequence[Compaction]) -> None:
        """Take the turns and compactions that have come since, in their order."""
        turns = len(measured.starts)
        self._ask(measured, compactions)
        while self._turns < turns:
            asked = compactions[self._compactions].after if self._compactions < len(compactions) else turns
            self._turns = min(self._outgrown(measured), max(asked, self._turns + 1), turns)
            self._settle(measured, measured.start_of(self._turns))
            self._ask(measured, compactions)

    def _outgrown(self, measured: Measured) -> int:
        """After how many turns the size is above the high mark; sizes only grow while nothing moves, so it is found
        without looking at each."""
        middle = max(self.position)
        stubs = measured.stubbed[middle] - measured.stubbed[self.position.boundary]
        room = self.marks.high - stubs - (self.marks.summary if self.position.boundary else 0)
        end = bisect_right(measured.full, measured.full[middle] + room)
        return max(bisect_left(measured.starts, end), self._turns + 1)

    def _ask(self, measured: Measured, compactions: Sequence[Compaction]) -> None:
        while self._compactions < len(compactions) and compactions[self._compactions].after <= self._turns:
            asked = compactions[self._compactions]
            self._compactions += 1
            to = measured.start_of(min(asked.covers, self._turns))
            self._move(Position(to, max(self.position.stubbed, to)), focus=asked.focus)

    def _settle(self, measured: Measured, end: int) -> None:
        if self._size(measured, self.position, end=end) <= self.marks.high:
            return
        recent = measured.start_of(max(0, self._turns - self.marks.keep_recent))
        position = self.position._replace(stubbed=max(self.position.stubbed, recent))
        if self._size(measured, position, end=end) > self.marks.low:
            position = self._cut(measured, position, end=end)
            if position.boundary > recent:
                # The recent turns do not fit as they are: their results give way before their words do.
                stubs = Position(self.position.boundary, max(position.stubbed, end - 1))
                position = self._cut(measured, stubs, end=end)
            if position.boundary == end:
                position = self._last_unit(measured, end)
        self._move(position)

    def _cut(self, measured: Measured, position: Position, *, end: int) -> Position:
        """Move the boundary to the first unit from which on everything fits under the low mark."""
        room = self.marks.low - self.marks.summary
        stubbed = min(position.stubbed, end)
        behind = measured.full[end] - measured.full[stubbed]
        if behind > room:
            boundary = bisect_left(measured.full, measured.full[end] - room, stubbed, end)
        else:
            boundary = bisect_left(measured.stubbed, measured.stubbed[stubbed] + behind - room, 0, stubbed)
        return position._replace(boundary=max(position.boundary, boundary))

    def _last_unit(self, measured: Measured, end: int) -> Position:
        """Keep the last unit above the low mark rather than nothing, as long as that stays below the high one."""
        for position in (Position(end - 1, end - 1), Position(end - 1, end)):
            if self._size(measured, position, end=end) <= self.marks.high:
                return position._replace(boundary=max(self.position.boundary, position.boundary))
        return Position(end, end)

    def _size(self, measured: Measured, position: Position, *, end: int) -> int:
        return measured.size(position, end) + (self.marks.summary if position.boundary else 0)

    def _move(self, to: Position, *, focus: str | None = None) -> None:
        boundary = max(self.position.boundary, to.boundary)
        if boundary > self.position.boundary:
            self.moves.append(Move(boundary, focus, self._turns))
        self.position = Position(boundary, max(self.position.stubbed, to.stubbed, boundary))
