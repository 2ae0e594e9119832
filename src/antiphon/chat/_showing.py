"""Builds what each model call of a turn is shown, and notes it for the journal."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from .._jsonable import NULL, freeze
from .._messages import input_text
from .._trace import Trace
from ..context._assembly import Call, Shown, assemble
from ..context._view import Built as Strategy
from ..context._view import View
from ..journal._entries import TurnShown
from ..transcript import Transcript, Turn
from ._effects import Built
from ._plan import TurnPlan
from ._recorder import Recorder


class Showing:
    """The contexts of one turn. A strategy is asked once a turn; what the turn says since stands behind the input."""

    def __init__(self, plan: TurnPlan, recorder: Recorder, *, scope: str | None) -> None:
        self._plan = plan
        self._recorder = recorder
        self._scope = scope
        self._strategy: Strategy | None = None
        self._instructions = ""

    async def build(self, number: int) -> Built:
        """Build what call `number` is shown, and let its trace travel with the next append."""
        if self._strategy is None:
            self._strategy = await self._ask_strategy()
        turn = self._recorder.transcript.turn(self._plan.turn_id, live=(self._plan.turn_id,))
        assert turn is not None  # a turn is accepted before it is shown to anyone
        call = Call(self._plan.turn_id, number, model=self._plan.answers.name, budget=self._plan.answers.budget)
        shown = assemble(self._strategy, turn.messages, instructions=self._instructions, call=call)
        self._note(number, shown)
        return Built(shown, len(turn.steering))

    async def _ask_strategy(self) -> Strategy:
        view = view_of(self._plan, self._recorder.transcript, scope=self._scope)
        given = self._plan.instructions
        self._instructions = given(view) if callable(given) else given
        built: Any = self._plan.build(view)
        found: Strategy = await built if inspect.isawaitable(built) else built
        return found

    def _note(self, number: int, shown: Shown) -> None:
        texts = self._new_texts(shown.trace)
        self._recorder.defer(
            self._recorder.entry(
                TurnShown,
                turn_id=self._plan.turn_id,
                call=number,
                model=self._plan.answers.name,
                trace_json=shown.trace.to_json(),
                texts_json=freeze(texts, "texts") if texts else NULL,
            )
        )

    def _new_texts(self, trace: Trace) -> dict[str, str]:
        if self._plan.keep_texts == "none":
            return {}
        kept = self._recorder.transcript.kept_texts
        return {
            layer.digest: layer.text
            for layer in trace.layers
            if layer.where == "system" and layer.digest is not None and layer.digest not in kept
        }


def view_of(plan: TurnPlan, transcript: Transcript, *, scope: str | None) -> View:
    """What the context of a turn may look at: the turn itself is not among the earlier ones."""
    turns = transcript.turns(live=(plan.turn_id,))
    cleared = transcript.cleared
    return View(
        session_id=transcript.session_id,
        scope=scope,
        turns=_without(turns[cleared:], plan.turn_id),
        input=plan.input,
        query=input_text(plan.input),
        deps=plan.deps,
        budget=plan.answers.budget,
        metadata=plan.metadata,
    )


def _without(turns: Sequence[Turn], turn_id: str) -> Sequence[Turn]:
    # The running turn is the last, unless others write to the session without holding it.
    if turns and turns[-1].id == turn_id:
        return turns[:-1]
    return tuple(turn for turn in turns if turn.id != turn_id)
