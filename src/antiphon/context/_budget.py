"""The budget of one model call: how much room there is, and who counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .._trace import Trace
from ..errors import Misuse
from ._families import ExactCounter, counter_name
from ._tokens import TokenCounter, estimate_tokens

UNKNOWN_WINDOW = 8_192
"""What a model is taken to hold that does not say: unknown is never unlimited."""

MARGIN = 0.10
"""Share of the window kept free because the count is an estimate."""


EXACT_MARGIN = 0.01
"""The same where texts are counted exactly: what frames messages and calls is still an estimate."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Room for one model call, in tokens.

    Attributes:
        window: request and reply together; 0 if nothing bounds them here.
        reserve: kept free for the reply.
        margin: kept free for the error of the count.
        counter: counts a text.
        counter_name: how traces call the counter.
        warning: a sentence for the trace if the window is a guess, else None.
        enforced: whether what does not fit is refused; else it is sent, with a warning.
        known: whether the window is the model's own, and no guess.
    """

    window: int
    reserve: int
    margin: int
    counter: TokenCounter = estimate_tokens
    counter_name: str = "estimate"
    warning: str | None = None
    enforced: bool = True
    known: bool = True

    @property
    def hard_limit(self) -> int:
        """Most that may be sent at all."""
        return self.window - self.reserve

    @property
    def packed_limit(self) -> int:
        """Most that is sent by choice: the hard limit less the margin."""
        return self.hard_limit - self.margin


UNBOUNDED = Budget(window=0, reserve=0, margin=0, known=False)
"""For a responder of the caller's own: what it sends on, and how much that may be, is its affair."""


def budget_for(
    window: int | None, *, max_output_tokens: int | None = None, counter: TokenCounter = estimate_tokens
) -> Budget:
    """The budget of a model.

    Args:
        window: tokens the model holds; None or 0 where unknown, which gives 8,192 and a warning.
        max_output_tokens: what the reply may take; by default an eighth of the window, at most 4,096.
        counter: counts a text; one that counts exactly needs hardly a margin.

    Raises:
        Misuse: if the reply would leave no room for a request.
    """
    known = window or UNKNOWN_WINDOW
    if max_output_tokens is not None and max_output_tokens >= known:
        raise Misuse(f"max_output_tokens={max_output_tokens} leaves nothing of a window of {known}", "give less")
    reserve = max_output_tokens or min(4_096, known // 8)
    warning = None if window else f"the model's window is unknown, so {UNKNOWN_WINDOW:,} tokens are assumed"
    share = EXACT_MARGIN if isinstance(counter, ExactCounter) else MARGIN
    margin = int((known - reserve) * share)
    return Budget(
        known,
        reserve,
        margin,
        counter=counter,
        counter_name=counter_name(counter),
        warning=warning,
        known=bool(window),
    )


def smaller(budget: Budget, refused: Trace) -> Budget:
    """The budget for a call that was refused as too long: the window is taken to be a fifth less than was needed."""
    needed = refused.total + refused.reserve
    window = min(budget.window or needed, int(needed * 0.8))
    said = f"the model found {refused.total:,} tokens too long, so its window is taken to be {window:,}"
    found = budget_for(window, counter=budget.counter)
    return replace(found, counter_name=budget.counter_name, warning=said)
