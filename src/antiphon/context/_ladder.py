"""What gives way when a call does not fit by real counts: earlier turns step by step, then the running turn's rounds.

The fold over the turns knows sizes in bytes; here tokens are counted. A step is the same fold with smaller marks, so
that a history which had to become shorter still begins at the same place for many turns. Within a turn the same is
done again whenever its rounds have outgrown the window; then as much is made free as lies between the two marks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from .._messages import Message
from ..transcript._turn import Turn
from ._boundary import HIGH, LOW, Fold, Measured, Move, Position
from ._counting import PER_MESSAGE, count_messages
from ._history import left_out_note, shown_history
from ._stubs import arguments_left_out, results_within, stubs_of
from ._tokens import TokenCounter
from ._units import units_of

STEPS = (1.0, 1.25, 1.6, 2.0, 2.5, 4.0, 6.4, 10.0)
"""What the marks are divided by. One step leaves more than the low mark of what a step before could not have."""

NOTHING, BARE = len(STEPS), len(STEPS) + 1
"""Steps at which nothing of earlier turns is shown: with a line that says so, and without any."""

_SOFT = STEPS.index(4.0)
"""Earlier turns give way as far as this before the running turn's own rounds do."""


class Shorter(NamedTuple):
    """Earlier turns as a call is shown them.

    Attributes:
        position: from where on.
        moves: where the boundary has been, if this is where a fold stands; else the summary is not its own.
        messages: what is shown word for word.
        tokens: what they cost, framing included, and what tells of the turns before them.
        noted: whether there is room for a line on what is left out.
    """

    position: Position
    moves: Sequence[Move]
    messages: Sequence[Message]
    tokens: int
    noted: bool = True


class Histories:
    """Earlier turns at each step, made when they are asked for.

    Args:
        turns: earlier turns.
        measured: their sizes.
        fold: gives the fold of a step.
        summary: most tokens that a summary of the turns before the boundary takes; 0 where none is written.
        counter: counts.
    """

    def __init__(
        self,
        turns: Sequence[Turn],
        measured: Measured,
        *,
        fold: Callable[[float], Fold],
        summary: int,
        counter: TokenCounter,
    ) -> None:
        self._counter = counter
        self.turns = turns
        self.measured = measured
        self.summary = summary
        self._note_cost = self._cost([left_out_note(len(turns), within=True)])
        self._fold = fold
        self._known: dict[int, Shorter] = {}

    def at(self, step: int) -> Shorter:
        """Earlier turns at a step; behind the last one none of them, and one further not even a line on that."""
        if step not in self._known:
            self._known[step] = self._made(step)
        return self._known[step]

    def _made(self, step: int) -> Shorter:
        if step >= NOTHING:
            end = self.measured.units
            noted = step == NOTHING and end > 0
            return Shorter(Position(end, end), (), (), self._note_cost if noted else 0, noted=noted)
        fold = self._fold(STEPS[step])
        return self._shorter(fold.position, tuple(fold.moves))

    def _shorter(self, position: Position, moves: Sequence[Move]) -> Shorter:
        shown = shown_history(self.turns, self.measured, position=position)
        telling = self._note_cost if position.boundary else 0
        if position.boundary and moves and self.summary:
            telling += self.summary + PER_MESSAGE
        return Shorter(position, moves, shown, self._cost(shown) + telling)

    def _cost(self, messages: Sequence[Message]) -> int:
        return count_messages(messages, self._counter) + PER_MESSAGE * len(messages)

    def fitting(self, room: int, *, first: int = 0) -> tuple[int, Shorter]:
        """The first step, from `first` on, at which earlier turns cost no more than `room`, and what it gives.

        Behind the last step, as many of the newest units as there is room for.
        """
        for step in range(first, NOTHING):
            if self.at(step).tokens <= room:
                return step, self.at(step)
        return NOTHING, self._newest(room)

    def _newest(self, room: int) -> Shorter:
        end = self.measured.units
        boundary = end
        left = room - self._note_cost
        floor = self.at(len(STEPS) - 1).position.boundary
        while boundary > floor:
            unit = Position(boundary - 1, end - 1)
            left -= self._cost(shown_history(self.turns, self.measured, position=unit, end=boundary))
            if left < 0:
                break
            boundary -= 1
        found = self._shorter(Position(boundary, max(end - 1, boundary)), ())
        return found if found.tokens <= room else Shorter(Position(end, end), (), (), 0, noted=False)


class Running(NamedTuple):
    """The running turn's rounds as a call is shown them.

    Attributes:
        step: at which earlier turns are shown with them.
        messages: what stands behind the input.
        stubbed: how many of the first rounds have stubs.
        left_out: how many of the first rounds are left out.
        shortened: whether the last round's results had to be shortened.
        over: tokens by which all of it is still too much.
    """

    step: int
    messages: Sequence[Message]
    stubbed: int = 0
    left_out: int = 0
    shortened: bool = False
    over: int = 0


class _Rounds:
    """The rounds of the running turn, with running sums of what they cost."""

    def __init__(self, turn_id: str, messages: Sequence[Message], *, counter: TokenCounter) -> None:
        self.whole = units_of(messages)
        self.short = units_of(stubs_of(turn_id, messages))
        self.steering = [[message for message in unit if message.role == "user"] for unit in self.whole]
        self._sums = [self._summed(units, counter) for units in (self.whole, self.short, self.steering)]

    @staticmethod
    def _summed(units: Sequence[Sequence[Message]], counter: TokenCounter) -> list[int]:
        costs = (count_messages(unit, counter) + PER_MESSAGE * len(unit) for unit in units)
        return list(accumulate(costs, initial=0))

    def cost(self, end: int, *, stubbed: int, left_out: int, note: int) -> int:
        """Tokens of the first `end` rounds."""
        whole, short, steering = self._sums
        stubs = max(stubbed, left_out)
        kept = steering[left_out] + short[stubs] - short[left_out] + whole[end] - whole[stubs]
        return kept + (note if left_out else 0)

    def shown(self, *, stubbed: int, left_out: int, noted: bool) -> list[Message]:
        """The messages of all rounds; what a person said stays where its round is left out."""
        found = [rounds_note(left_out)] if left_out and noted else []
        for unit in self.steering[:left_out]:
            found += unit
        for at in range(left_out, len(self.whole)):
            found += (self.short if at < stubbed else self.whole)[at]
        return found


def rounds_note(left_out: int) -> Message:
    """The line that stands for rounds of the running turn that are left out."""
    some = "1 earlier step" if left_out == 1 else f"{left_out:,} earlier steps"
    return Message.of("user", f"[Note: {some} of this turn, with tool calls and results, are left out here.]")


def running(
    turn_id: str, messages: Sequence[Message], *, histories: Histories, first: int, room: int, counter: TokenCounter
) -> Running:
    """Fit the running turn's rounds, and earlier turns with them, into `room` tokens.

    It goes through the rounds as they came, so that the same turn gives the same whenever it is looked at.

    Args:
        turn_id: the running turn.
        messages: what it has said behind its input.
        histories: earlier turns.
        first: the step at which they were shown in the turn's first call.
        room: tokens for both.
        counter: counts.
    """
    rounds = _Rounds(turn_id, messages, counter=counter)
    state = _State(first)
    note = count_messages([rounds_note(len(rounds.whole))], counter) + PER_MESSAGE
    for end in range(1, len(rounds.whole) + 1):
        if _cost(state, rounds, histories=histories, end=end, note=note) > room:
            state = _given_way(state, rounds, histories=histories, end=end, note=note, room=room)
    shown = rounds.shown(stubbed=state.stubbed, left_out=state.left_out, noted=state.step < BARE)
    over = _cost(state, rounds, histories=histories, end=len(rounds.whole), note=note) - room
    if over <= 0:
        return Running(state.step, shown, state.stubbed, state.left_out)
    last = rounds.whole[-1]
    kept = _last_round(last, room=count_messages(last, counter) - over, counter=counter)
    over -= count_messages(last, counter) - count_messages(kept, counter)
    whole = [*shown[: len(shown) - len(last)], *kept]
    return Running(state.step, whole, state.stubbed, state.left_out, shortened=True, over=max(over, 0))


class _State(NamedTuple):
    step: int
    stubbed: int = 0
    left_out: int = 0


def _cost(state: _State, rounds: _Rounds, *, histories: Histories, end: int, note: int) -> int:
    earlier = histories.at(state.step).tokens
    note = note if state.step < BARE else 0
    return earlier + rounds.cost(end, stubbed=state.stubbed, left_out=state.left_out, note=note)


def _given_way(state: _State, rounds: _Rounds, *, histories: Histories, end: int, note: int, room: int) -> _State:
    """The first state in the ladder's order that leaves the room between the marks free; else the last one."""
    wanted = int(room * LOW / HIGH)
    stubs = max(state.stubbed, end - 1)
    ladder = [state._replace(step=step) for step in range(state.step, _SOFT + 1)]
    hard = max(state.step, _SOFT)
    ladder.append(_State(hard, stubs, state.left_out))
    ladder += [_State(step, stubs, state.left_out) for step in range(hard + 1, NOTHING + 1)]
    ladder += [_State(max(NOTHING, hard), stubs, left_out) for left_out in range(state.left_out + 1, end)]
    ladder.append(_State(BARE, stubs, max(state.left_out, end - 1)))
    for limit in (wanted, room):
        for lower in ladder:
            if _cost(lower, rounds, histories=histories, end=end, note=note) <= limit:
                return lower
    return ladder[-1]


def _last_round(messages: Sequence[Message], *, room: int, counter: TokenCounter) -> list[Message]:
    """The last round within `room` tokens: its results give way, and if that is not enough its arguments, too."""
    found = list(messages)
    for shorten in (lambda message: message, arguments_left_out):
        found = [shorten(message) if message.role == "assistant" else message for message in messages]
        fixed = count_messages([message for message in found if message.role != "tool"], counter)
        found = [
            results_within(message, room=room - fixed, counter=counter) if message.role == "tool" else message
            for message in found
        ]
        if count_messages(found, counter) <= room:
            return found
    return found
