"""The entry of a call's one result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._messages import ToolResult
from ..journal._entries import KnownEntry, ToolReturned


def returned_entry(entry: Callable[..., Any], turn_id: str, *, result: ToolResult, ms: int | None = None) -> KnownEntry:
    """The entry of a result; `ms`: how many milliseconds its call ran."""
    made: KnownEntry = entry(
        ToolReturned,
        turn_id=turn_id,
        call_id=result.call_id,
        name=result.name,
        output_json=result.output_json,
        is_error=result.is_error,
        media=result.media,
        ms=ms,
        limit=result.limit,
    )
    return made
