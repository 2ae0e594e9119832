"""Time as journals hold it."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from antiphon._clock import system_clock, written


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 3, 1, 9, 5, 7, 123_999, UTC), "2026-03-01T09:05:07.123Z"),
        (datetime(2026, 3, 1, tzinfo=UTC), "2026-03-01T00:00:00.000Z"),
        (datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=2))), "2026-02-28T23:30:00.000Z"),
        (datetime(2026, 3, 1, 1, 30, tzinfo=timezone(timedelta(hours=-9, minutes=-30))), "2026-03-01T11:00:00.000Z"),
        (datetime(999, 3, 1, tzinfo=UTC), "0999-03-01T00:00:00.000Z"),
    ],
)
def test_time_is_written_in_utc(moment: datetime, text: str) -> None:
    """A moment of any time zone is written as ISO 8601 in UTC, cut to milliseconds, ending in Z."""
    assert written(moment) == text


def test_written_time_is_read_by_the_standard_library() -> None:
    """What is written can be read as an aware datetime, less than a millisecond earlier."""
    moment = system_clock()
    lost = moment - datetime.fromisoformat(written(moment))
    assert timedelta(0) <= lost < timedelta(milliseconds=1)


def test_system_clock_is_aware() -> None:
    """The system's clock gives UTC."""
    assert system_clock().tzinfo is UTC
