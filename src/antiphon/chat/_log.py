"""The log of one turn's run: written once, read by anyone, from anywhere in it, at any pace."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable

from msgspec import structs

from ._events import ENDS, Event, ReasoningDelta, TextDelta

READ_BACK = 1_000_000_000
"""The seq of a last event that is read back from the journal: a reader that had part of the run, in another process
or before, still gets the end."""


class EventLog:
    """Keeps every event of a run; the writer never waits for a reader.

    Args:
        turn_id: see below.
        tap: called with every event as it comes.

    Attributes:
        turn_id: the turn that events are of.
    """

    def __init__(self, turn_id: str, *, tap: Callable[[Event], None] | None = None) -> None:
        self.turn_id = turn_id
        self._tap = tap
        self._next = 1
        self._events: list[Event] = []
        self._news = asyncio.Event()

    @property
    def ended(self) -> bool:
        """Whether the last event is there."""
        return bool(self._events) and isinstance(self._events[-1], ENDS)

    def emit(self, event: Event) -> None:
        """Add an event behind all others."""
        event = structs.replace(event, seq=self._next, turn_id=self.turn_id)
        self._next += 1
        self._events.append(event)
        if self._tap is not None:
            self._tap(event)
        self._news.set()
        self._news = asyncio.Event()

    def read_back(self) -> None:
        """Number what follows behind everything that a reader of the turn's run, elsewhere, can have had."""
        self._next = READ_BACK

    async def read(self, *, after: int = 0) -> AsyncIterator[Event]:
        """Give the events behind `after`, in order, until the last.

        Text that this reader has not had yet comes as one piece, with the seq of its last part: `after` never cuts
        and never repeats text.
        """
        at = bisect_right(self._events, after, key=_seq)
        while True:
            while at < len(self._events):
                event, at = self._joined(at)
                yield event
            if self.ended:
                return
            await self._news.wait()

    def _joined(self, at: int) -> tuple[Event, int]:
        first, end = self._events[at], at + 1
        if not isinstance(first, TextDelta | ReasoningDelta):
            return first, end
        while end < len(self._events) and type(self._events[end]) is type(first):
            end += 1
        if end == at + 1:
            return first, end
        pieces = [piece.text for piece in self._events[at:end] if isinstance(piece, TextDelta | ReasoningDelta)]
        return structs.replace(first, text="".join(pieces), seq=self._events[end - 1].seq), end


def _seq(event: Event) -> int:
    return event.seq
