"""Summarising earlier turns because a person asked for it."""

from __future__ import annotations

import asyncio

from ..context._summarizing import Compacts, Summary
from ..errors import Misuse
from ..journal import ContextCompacted
from ._ground import Ground
from ._hold import held
from ._plan import TurnPlan
from ._showing import Services, view_of
from ._summarizer import SummarizerOf


class Compactions:
    """The compactions of one session, one at a time."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._one_at_a_time = asyncio.Lock()

    async def compact(self, plan: TurnPlan, context: object, *, focus: str | None) -> Summary:
        """See `Session.compact`."""
        if not isinstance(context, Compacts):
            raise Misuse(f"{type(context).__name__} writes no summaries on demand", "use a LayeredContext")
        recorder = self._ground.recorder
        session_id = recorder.transcript.session_id
        async with self._one_at_a_time, held(self._ground.store, session_id, wait=False):
            await recorder.catch_up()
            services = Services(SummarizerOf(plan, self._ground.listening.emit), self._ground.derived)
            view = view_of(plan, recorder.transcript, scope=self._ground.scope, services=services)
            if not view.turns:
                raise Misuse(f"chat session {session_id!r} has nothing to summarise", "send something first")
            summary = await context.compact(view, focus=focus)
            last = view.compactions[-1] if view.compactions else None
            if last is None or (last.covers, last.focus) != (len(view.turns), focus):
                await recorder.write(recorder.entry(ContextCompacted, up_to=view.turns[-1].id, focus=focus))
            return summary
