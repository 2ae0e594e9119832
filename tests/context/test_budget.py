"""The room of one model call."""

import pytest

from antiphon import Budget
from antiphon.context._budget import UNBOUNDED, UNKNOWN_WINDOW, budget_for

WARNING = "the model's window is unknown, so 8,192 tokens are assumed"


@pytest.mark.parametrize("window", [0, None])
def test_unknown_window_is_never_unlimited(window: int | None) -> None:
    """0 and None mean the same: nobody knows, so 8,192 tokens are assumed, with a warning."""
    assert budget_for(window) == Budget(UNKNOWN_WINDOW, 1_024, 716, warning=WARNING, known=False)


@pytest.mark.parametrize(
    ("window", "most", "reserve", "margin"),
    [
        (8_192, None, 1_024, 716),
        (32_000, None, 4_000, 2_800),
        (128_000, None, 4_096, 12_390),
        (1_000_000, None, 4_096, 99_590),
        (32_000, 500, 500, 3_150),
        (32_000, 0, 4_000, 2_800),
        (8, None, 1, 0),
    ],
)
def test_reserve_and_margin(window: int, most: int | None, reserve: int, margin: int) -> None:
    """The reply has an eighth of the window, at most 4,096, unless asked otherwise; a tenth of the rest is margin."""
    budget = budget_for(window, max_output_tokens=most)
    assert (budget.window, budget.reserve, budget.margin, budget.warning) == (window, reserve, margin, None)


def test_limits_are_what_is_left() -> None:
    """What may be sent is the window less the reserve; what is sent by choice is less by the margin."""
    budget = Budget(window=1_000, reserve=200, margin=80)
    assert (budget.hard_limit, budget.packed_limit) == (800, 720)


def test_nothing_bounds_a_responder_of_ones_own() -> None:
    """Where a caller's own function answers, the window is 0: what it sends on is its affair."""
    assert (UNBOUNDED.window, UNBOUNDED.reserve, UNBOUNDED.margin) == (0, 0, 0)
