"""Times as a person says them."""

from __future__ import annotations

from datetime import datetime

_UNITS = ((60, "s"), (60, "min"), (24, "h"), (7, "d"), (52, "w"))


def ago(seconds: float) -> str:
    """Say how long ago something was, in its largest whole unit: `5 min ago`."""
    if seconds < 10:
        return "just now"
    left = seconds
    for size, unit in _UNITS:
        if left < size:
            return f"{int(left)} {unit} ago"
        left /= size
    return f"{int(left)} y ago"


def local(moment: str) -> str:
    """Write a journal's time (ISO 8601, UTC) in the local zone, to the minute; what is none stays as it is."""
    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return moment
