"""Time as the journal writes it. Clocks are handed in; order never comes from them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Gives the present as an aware datetime in UTC."""


def system_clock() -> datetime:
    """Give the machine's time in UTC."""
    return datetime.now(UTC)


def written(moment: datetime) -> str:
    """Give `moment` as journals hold it: ISO 8601, UTC, milliseconds, ending in Z."""
    text = moment.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"
