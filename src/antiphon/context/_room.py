"""How much room there is: a context's options over the model's window, and what was reported over estimates."""

from __future__ import annotations

from dataclasses import replace

from ..transcript._calls import CountedCall, calls_of
from ._budget import Budget, budget_for
from ._correction import UNCORRECTED, Correction, CorrectionFold, step_up
from ._families import counter_name
from ._tokens import TokenCounter
from ._view import View

CORRECTED_MARGIN = 0.05
"""Share of the window kept free once reports have corrected the estimate."""

LOOKED_AT = 64
"""Model calls that a correction is learned from, the last ones: what an earlier one taught is outweighed by then."""


def budget_of(view: View, *, window: int | None, max_output_tokens: int | None, counter: TokenCounter | None) -> Budget:
    """The budget of a turn as its options alone make it: marks that decide where history is cut rest on it.

    Args:
        view: whose model has a window of its own, or none that is known.
        window: most tokens of request and reply, or None.
        max_output_tokens: kept free for the reply, or None.
        counter: in place of the model's own, or None.

    Raises:
        Misuse: if the reply would leave no room for a request.
    """
    given = view.budget
    known = given.window if given.known else 0
    holds = min(window, known) if window and known else window or known
    used = counter or given.counter
    budget = budget_for(holds, max_output_tokens=max_output_tokens, counter=used)
    name = counter_name(used) if counter is not None or not given.counter_name else given.counter_name
    return replace(budget, counter_name=name, warning=given.warning if known else budget.warning)


def corrected(budget: Budget, correction: Correction) -> Budget:
    """A budget whose margin holds what the estimate is known to miss.

    An estimate that came out too high changes nothing but the margin's share: what is saved by it may be gone with
    the next text.
    """
    if correction == UNCORRECTED or not budget.margin:
        return budget
    margin = min(budget.margin, int(budget.hard_limit * CORRECTED_MARGIN))
    most = budget.hard_limit - margin
    fits = (most - correction.last_reported) / correction.factor + correction.last_estimate
    missed = most - int(min(most, max(fits, budget.hard_limit // 4)))
    return replace(budget, margin=margin + missed)


def correction_of(view: View) -> Correction:
    """What the last reported calls say of the estimates for this turn's model."""
    if not view.turns:
        return UNCORRECTED
    last = view.turns[-1].entries[-1].id
    kept = view.cache.get("correction")
    if kept is None or kept[0] != last:
        kept = view.cache["correction"] = (last, _folded(view))
    fold: CorrectionFold = kept[1]
    return fold.correction_for(view.model)


def _folded(view: View) -> CorrectionFold:
    fold = CorrectionFold()
    for call in reversed(_newest_first(view)[:LOOKED_AT]):
        fold.add(call)
    return fold


def _newest_first(view: View) -> list[CountedCall]:
    found: list[CountedCall] = []
    for turn in reversed(view.turns[-LOOKED_AT:]):
        found += reversed(list(calls_of((turn,))))
        if len(found) >= LOOKED_AT:
            break
    return found


def first_step(correction: Correction) -> float:
    """What the marks of history are divided by, where estimates come out too low."""
    return step_up(correction.factor)
