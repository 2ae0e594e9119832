"""A claim about speed or size: what was measured, its floor, and the most it may be."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """One measured claim.

    Attributes:
        what: the claim in words.
        measured: the figure, in `unit`.
        limit: the most it may be.
        floor: the figure of the same run that the limit comes from, or None.
        unit: of all three.
    """

    what: str
    measured: float
    limit: float
    floor: float | None = None
    unit: str = "µs"

    @property
    def holds(self) -> bool:
        """Whether the figure is within its limit."""
        return self.measured <= self.limit


def median_us(seconds: Sequence[float]) -> float:
    """The median of some durations, in microseconds."""
    return statistics.median(seconds) * 1e6


def report(claims: Sequence[Claim]) -> None:
    """Print a line a claim."""
    print(f"{'':4}{'claim':<66}{'measured':>12}{'at most':>12}{'floor':>12}")
    for claim in claims:
        floor = "" if claim.floor is None else f"{claim.floor:,.2f}"
        mark = "ok" if claim.holds else "OVER"
        print(f"{mark:4} {claim.what:<65}{claim.measured:>12,.2f}{claim.limit:>12,.2f}{floor:>12} {claim.unit}")
