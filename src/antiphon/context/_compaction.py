"""Summaries of what stands before the boundary: found where they are kept, else asked for once.

A summary costs quality when it fails, never the turn: what it was to cover is then left out, an earlier summary
stands in its place if there is one, and it is tried again when the boundary moves or when a person asks.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from .._jsonable import encode
from .._messages import Message
from ..errors import SummaryFailed
from ..transcript._turn import Turn
from ._boundary import Measured, Move, Position
from ._history import shown_history
from ._summarizing import INSTRUCTIONS, Summaries, Summary, marked
from ._view import Summarizer, View, summarizer_name

PATIENCE = 30.0
"""Seconds that a summarizer has."""

_TRIED = "summaries tried"
_MISSED = "summaries missed"


class Told(NamedTuple):
    """What is told of the turns before the boundary.

    Attributes:
        summary: the summary, or None.
        covers: how many units it covers.
        failure: why there is none that covers them all, in one sentence, or None.
    """

    summary: Summary | None = None
    covers: int = 0
    failure: str | None = None


NOTHING_TOLD = Told()


class History(NamedTuple):
    """Earlier turns, their sizes, and where the boundary has been; the last move is where it is."""

    turns: Sequence[Turn]
    measured: Measured
    moves: Sequence[Move]

    @property
    def now(self) -> Move:
        """The last move."""
        return self.moves[-1]


class Teller:
    """Gets summaries.

    Args:
        summarizer: a model, a model's name or a function; None is the model of the turn being answered.
        summaries: where they are kept.
        room: most tokens that one may take, its mark included.
    """

    def __init__(self, summarizer: Summarizer | None, summaries: Summaries, *, room: int) -> None:
        self._summarizer = summarizer
        self._summaries = summaries
        self._room = room
        self._name = summarizer_name(summarizer)

    async def told(self, view: View, history: History, *, insist: bool = False) -> Told:
        """Give the summary of what stands before the boundary.

        Args:
            view: whose summarizer is asked, where it may be.
            history: what is to be covered.
            insist: ask again where it has failed before.
        """
        key = self._key(history, history.now)
        kept = await self._kept(view, key)
        if kept is not None:
            return Told(kept, history.now.boundary)
        tried: dict[str, str] = view.cache.setdefault(_TRIED, {})
        before, covers = await self._before(view, history)
        if view.ask is None:
            return Told(before, covers, "nobody is asked in a preview")
        if key in tried and not insist:
            return Told(before, covers, tried[key])
        try:
            written = await self._ask(view, history, before=(before, covers))
        except SummaryFailed as error:
            tried[key] = str(error)
            return Told(before, covers, str(error))
        tried.pop(key, None)
        await self._summaries.put(view, key, summary=written)
        return Told(written, history.now.boundary)

    async def _kept(self, view: View, key: str) -> Summary | None:
        kept = await self._summaries.get(view, key)
        return kept if kept is not None and self._fits(view, kept.text) else None

    def _fits(self, view: View, text: str) -> bool:
        return view.budget.counter(marked(text).text) <= self._room

    async def _before(self, view: View, history: History) -> tuple[Summary | None, int]:
        """The newest summary of an earlier boundary that is still kept, and how many units it covers."""
        # A long session has moved often: where none was kept, it is not looked for again in each of its calls.
        missed: set[object] = view.cache.setdefault(_MISSED, set())
        first = history.turns[0].entries[0].id
        for move in reversed(history.moves[:-1]):
            place = (first, move, self._name, self._room)
            if place in missed:
                continue
            kept = await self._kept(view, self._key(history, move))
            if kept is not None:
                return kept, move.boundary
            missed.add(place)
        return None, 0

    async def _ask(self, view: View, history: History, *, before: tuple[Summary | None, int]) -> Summary:
        assert view.ask is not None  # a preview does not come here
        said = self._to_be_told(history, before=before)
        words = max(20, self._room * 6 // 10)
        wanted = f"{INSTRUCTIONS} Write at most {words:,} words."
        if history.now.focus:
            wanted += f" Keep above all what concerns this: {history.now.focus}"
        try:
            async with asyncio.timeout(PATIENCE):
                text = await view.ask(self._summarizer, said, instructions=wanted)
        except TimeoutError:
            raise SummaryFailed(self._name, f"it gave nothing within {PATIENCE:g} s") from None
        if not self._fits(view, text):
            size = view.budget.counter(text)
            raise SummaryFailed(self._name, f"its text costs {size:,} tokens, more than {self._room:,}")
        turns, last = history.turns, history.measured.turn_of(history.now.boundary - 1)
        by = view.model if self._summarizer is None else self._name
        return Summary(text, turns[0].id, turns[last].id, turns=last + 1, model=by, at=view.at)

    def _to_be_told(self, history: History, *, before: tuple[Summary | None, int]) -> list[Message]:
        summary, covers = before
        end = history.now.boundary
        # Long results become stubs: a summary of them would be most of its cost and little of its worth.
        stubs = Position(covers, end)
        behind = shown_history(history.turns, history.measured, position=stubs, end=end)
        return [marked(summary.text), *behind] if summary is not None else behind

    def _key(self, history: History, move: Move) -> str:
        """Name a summary by what it covers: journals only grow, so the first and the last place tell it all."""
        turns, measured = history.turns, history.measured
        last = measured.turn_of(move.boundary - 1)
        within = move.boundary - measured.starts[last]
        ends = [turns[0].entries[0].id, turns[last].entries[0].id, within]
        covered = encode([*ends, move.focus, self._name, "layered"])
        return "summary:" + hashlib.sha256(covered).hexdigest()
