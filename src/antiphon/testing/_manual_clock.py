"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualClock:
    """Gives the same moment until `move` is called; handed to a `Chat` as its clock.

    Attributes:
        now: the present moment.
    """

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Give the present moment."""
        return self.now

    def move(self, seconds: float) -> None:
        """Go on by so many seconds, or back by a negative number of them."""
        self.now += timedelta(seconds=seconds)
