"""Correcting: what providers reported for earlier calls tells how far the estimate is off.

The whole of a report is no measure, for it counts what no estimate sees: a chat template, a provider's own system
text. The growth from call to call is. So the next prompt is put at the last reported size plus the growth of the
estimate times a factor, and the factor is learned from growth alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..transcript._calls import CountedCall, calls_of
from ..transcript._turn import Turn

LEAST, MOST = 0.5, 3.0
"""A factor beyond these is some other fault, and no longer an estimate that is off."""

BEFOREHAND = 2_000
"""Tokens of growth that count as estimated well before any was seen: so few calls cannot move the factor far."""

KEPT = 0.99
"""What each thousand tokens of growth leave of the weight of all before: half of it is the last 70,000 tokens."""

SUDDEN, SLACK = 4, 2_000
"""A step of more than four times the estimate's and 2,000 tokens is something else than text: a report that leaves
out the cached part, a provider that dropped old reasoning. Nothing is learned from it."""

STEPS = (1.0, 1.25, 1.6, 2.0, 2.5)


@dataclass(frozen=True, slots=True)
class Correction:
    """How the estimates of a session have to be read.

    Attributes:
        factor: reported growth over estimated growth, from 0.5 to 3; 1 while nothing is known.
        last_reported: input tokens of the last call that was reported, or 0.
        last_estimate: what had been estimated for that call.
    """

    factor: float = 1.0
    last_reported: int = 0
    last_estimate: int = 0

    def expected(self, estimate: int) -> int:
        """Tokens that a provider would report for a prompt of this estimate; never below 0."""
        return max(0, round(self.last_reported + self.factor * (estimate - self.last_estimate)))


UNCORRECTED = Correction()
"""Before anything was reported: an estimate is taken as it is."""


def step_up(factor: float) -> float:
    """Round a factor up to 1, 1.25, 1.6, 2 or 2.5, the largest there is.

    What depends on the step alone changes a few times in a session, and not with every call.
    """
    return next((step for step in STEPS if factor <= step), STEPS[-1])


class CorrectionFold:
    """Folds reported calls, in order, into a correction. One more costs the same however many there were.

    Attributes:
        model: the model of the last reported call, or "". For another model the correction says nothing.
    """

    def __init__(self) -> None:
        self.model = ""
        self._counter = ""
        self._last: CountedCall | None = None
        self._estimated = self._reported = 0.0

    @property
    def correction(self) -> Correction:
        """What is known by now, about `model`."""
        if self._last is None:
            return UNCORRECTED
        factor = (self._reported + BEFOREHAND) / (self._estimated + BEFOREHAND)
        return Correction(min(MOST, max(LEAST, factor)), self._last.reported, self._last.estimated)

    def correction_for(self, model: str) -> Correction:
        """What is known about a model: nothing, where the last call asked another."""
        return self.correction if model == self.model else UNCORRECTED

    def add(self, call: CountedCall) -> None:
        """Take one more call; one that was not reported changes nothing."""
        if call.reported <= 0 or call.estimated <= 0:
            return
        if (call.model, call.counter) != (self.model, self._counter):
            self.model, self._counter = call.model, call.counter
            self._last, self._estimated, self._reported = None, 0.0, 0.0
        if self._last is not None:
            self._learn(call.estimated - self._last.estimated, call.reported - self._last.reported)
        self._last = call

    def _learn(self, estimated: int, reported: int) -> None:
        if abs(reported) > SUDDEN * abs(estimated) + SLACK:
            return
        # A context that shrinks, as by a summary, measures as well as one that grows.
        sign = 1 if estimated >= 0 else -1
        kept = KEPT ** (abs(estimated) / 1_000)
        self._estimated = self._estimated * kept + estimated * sign
        self._reported = self._reported * kept + reported * sign

    def add_turn(self, turn: Turn) -> None:
        """Take the calls of one more turn, which is over."""
        for call in calls_of((turn,)):
            self.add(call)


def correction_of(calls: Iterable[CountedCall]) -> Correction:
    """Fold calls, in order, into the correction for the last one's model."""
    fold = CorrectionFold()
    for call in calls:
        fold.add(call)
    return fold.correction
